"""A text as its sentences: where they begin and end, and the tokens that classifiers read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from regard.data.tokenizers import Tokenizer

# White space after a full stop, which a quotation mark or bracket may follow; a new line; the marks of scripts that
# need no space.
BREAK = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’»)\]]))\s+|\s*\n\s*|(?<=[。！？])")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of every sentence, in characters, without the white space around it."""
    found, start = [], 0
    for end, after in [*((gap.start(), gap.end()) for gap in BREAK.finditer(text)), (len(text), len(text))]:
        sentence = text[start:end]
        if sentence.strip():
            left = start + len(sentence) - len(sentence.lstrip())
            found.append((left, left + len(sentence.strip())))
        start = after
    return found


def sentence_tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[list[int]]]:
    """The tokens of each sentence of each text, each ended by the end token; a text has at least one sentence."""
    parts = [[text[start:end] for start, end in sentence_spans(text)] or [""] for text in texts]
    rows = iter(tokenizer.encode([part for some in parts for part in some]))
    return [[[*next(rows), tokenizer.end] for _ in some] for some in parts]


def fitting(sentences: Iterable[Sequence[int]], longest: int) -> tuple[list[int], bool]:
    """The first whole sentences that have at most `longest` tokens together, and whether that is all of them.

    Where not even the first one fits, it is cut.
    """
    row: list[int] = []
    for sentence in sentences:
        if len(row) + len(sentence) > longest:
            return row or [*sentence[: longest - 1], sentence[-1]], False
        row += sentence
    return row, True
