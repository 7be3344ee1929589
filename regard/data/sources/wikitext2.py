"""WikiText-2: good and featured articles of the English Wikipedia, two million words. Merity et al. 2016,
arXiv:1609.07843

A document for each article, which begins with a line " = Title = "; deeper headings have more signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.documents import Document, in_memory
from regard.data.files import lines, locate

ABOUT = "articles of the English Wikipedia, two million words, a document each"
SPLITS = ("train", "valid", "test")
_TITLE = re.compile(r" = [^=].*[^=] = \s*$")


def texts(languages: str, split: str) -> Iterable[Document]:
    names = [f"wiki.{split}.{ending}" for ending in ("tokens", "raw", "tokens.gz", "raw.gz")]
    return _Articles(locate("wikitext-2", *names))


@dataclass(frozen=True)
class _Articles:
    path: Path

    def __iter__(self) -> Iterator[Document]:
        waiting: list[str] = []
        for line in lines(self.path, ends=True):
            if _TITLE.match(line) and waiting:
                yield from self.document(waiting)
                waiting = []
            waiting.append(line)
        yield from self.document(waiting)

    def document(self, waiting: list[str]) -> list[Document]:
        text = "".join(waiting)
        return [in_memory(str(self.path), text)] if text.strip() else []
