"""More pairs from few: sentences with what trained translators make of them.

Target sentences with their translation back into the source language, Sennrich et al. 2016, arXiv:1511.06709; both
sides of the pairs one has, each translated into the other, Nguyen et al. 2020, arXiv:1911.01986.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from regard.data.pairs import Pair
from regard.decoding import Decoding
from regard.tasks.writing.translator import Translator

SENTENCES_A_CHUNK = 1000  # sentences that are sorted by length together


def translated(
    sentences: Iterable[str],
    translator: Translator,
    options: Decoding,
    turned: bool = False,
    batch: int = 32,
    done: Callable[[int], None] | None = None,
) -> Iterator[Pair]:
    """Each sentence with its translation; `turned`, the translation is the source. What becomes nothing is left out."""
    rest = (sentence for sentence in sentences if sentence.strip())
    while chunk := list(islice(rest, SENTENCES_A_CHUNK)):
        for sentence, made in zip(chunk, translator.texts(chunk, options, batch, done), strict=True):
            if made.strip():
                yield Pair(made, sentence) if turned else Pair(sentence, made)
