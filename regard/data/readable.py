"""A text as the parts that a translator reads one by one, and what stands between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.data.given import is_blank
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")


@dataclass(frozen=True)
class Parts:
    """`texts` are translated one by one; `gaps` are what stands before each of them, and last what stands behind all.

    A text in which there is nothing to read has no part. `cut` tells whether a line was too long to be read at once.
    """

    texts: tuple[str, ...]
    gaps: tuple[str, ...]
    cut: bool = False

    def with_these(self, texts: Sequence[str]) -> str:
        """The whole text with these texts, the translations, in the places of its parts."""
        return "".join(gap + text for gap, text in zip(self.gaps, [*texts, ""], strict=True))


def readable(tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> list[Parts]:
    """Each text line by line, as a translator learns single lines and would lose the breaks between several; a line of
    more than `longest` tokens sentence by sentence."""
    split = [text.splitlines(keepends=True) for text in texts]
    bodies = [line.splitlines()[0] for lines in split for line in lines]
    read = iter(zip(bodies, tokenizer.encode(bodies), strict=True))
    return [parts_of(tokenizer, [(line, *next(read)) for line in lines], longest) for lines in split]


def parts_of(tokenizer: Tokenizer, lines: Sequence[tuple[str, str, list[int]]], longest: int) -> Parts:
    """Of one text, by its lines with their ends, without them, and as tokens."""
    texts, gaps, cut = [], [""], False
    for line, body, ids in lines:
        if is_blank(body) or not ids:
            gaps[-1] += line
            continue
        parts = [body] if len(ids) <= longest else list(shorter(tokenizer, body, longest))
        cut = cut or len(parts) > 1
        texts += parts
        gaps += [" "] * (len(parts) - 1) + [line[len(body) :]]
    return Parts(tuple(texts), tuple(gaps), cut) if texts else Parts((), ("",))


def shorter(tokenizer: Tokenizer, text: str, longest: int) -> Iterator[str]:
    """Sentences; what is still too long is halved, between words where it has several."""
    sentences = [part for part in SENTENCE_END.split(text) if part.strip()]
    for sentence in sentences:
        if len(tokenizer.encode([sentence])[0]) <= longest:
            yield sentence
        elif len(sentences) > 1:
            yield from shorter(tokenizer, sentence, longest)
        else:
            halves = halved(sentence)
            if not all(halves):
                raise DataError(f"{sentence!r} has more than the {longest} tokens that the model reads")
            for half in halves:
                yield from shorter(tokenizer, half, longest)


def halved(text: str) -> tuple[str, str]:
    """Two halves, cut between words where there is white space."""
    words = text.split()
    middle = len(words) // 2
    if middle:
        return " ".join(words[:middle]), " ".join(words[middle:])
    return text[: len(text) // 2], text[len(text) // 2 :]
