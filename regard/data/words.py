"""The words of a text, in scripts that leave spaces between them and in those that do not.

Of a script without spaces (Chinese, Japanese, Thai, Lao, Burmese, Khmer) every character is a word, with the marks that
stand on it: where its words end is a matter of dictionaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
OTHERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a\u30fc"
WORD = re.compile(f"[{HAN}{OTHERS}][{MARKS}]*|[^\\s{HAN}{OTHERS}]+")
UNSPACED, LETTER = re.compile(f"[{HAN}{OTHERS}]"), re.compile(r"[^\W\d_]")


def words(text: str) -> list[str]:
    """What white space parts, and of scripts without it every character."""
    return WORD.findall(text) if UNSPACED.search(text) else text.split()


def unspaced(texts: Iterable[str]) -> str:
    """Of which script without spaces most letters of these texts are: "han", "other" ones, or "" for neither."""
    han = others = letters = 0
    for text in texts:
        letters += len(LETTER.findall(text))
        found = UNSPACED.findall(text)
        own = sum(re.match(f"[{HAN}]", one) is not None for one in found)
        han, others = han + own, others + len(found) - own
    if 2 * (han + others) <= letters:
        return ""
    return "han" if 20 * others < han else "other"
