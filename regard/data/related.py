"""Texts that are near to each other: pairs with a score, or pairs that belong together; their files."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from regard.data.columns import is_number
from regard.data.files import TableFile, text_of
from regard.data.forms import Line
from regard.data.judged import LABELS, SCORES, STSB, TEXTS, JudgedPair
from regard.data.pairs import Pair, again
from regard.errors import DataError

NEGATIVE = "negative"
NO_SCORES = ("nan", "inf", "-inf")
MIN_REPEATS_OF_A_LABEL = 3  # a third column in which every text stands so often holds labels, not negatives


@dataclass(frozen=True)
class Related:
    """Two texts: how near they are where a `score` says so; else they belong together, and a `negative`, where there is
    one, does not belong to the first."""

    first: str
    second: str
    score: float | None = None
    negative: str | None = None


class RelatedFile(TableFile[Related]):
    """The pairs of one file. What kind they are follows from the third column: numbers are scores, texts are negatives,
    and pairs that belong together may have none.

    Columns are "text_a", "text_b" and "score" or "negative", or as GLUE's files call them, or "anchor", "positive" and
    "negative"; without names they stand in this order.
    """

    usual = ("text_a", "text_b", "third column")
    also = (
        *((*texts, third) for texts in TEXTS for third in (*SCORES, *LABELS)),
        *(
            (*texts, *third)
            for texts in (*TEXTS, ("anchor", "positive"), ("query", "positive"), ("source", "target"))
            for third in ((NEGATIVE,), ())
        ),
    )
    bare = (STSB,)
    needed = 2
    called = "pair of texts"

    def __iter__(self) -> Iterator[Related]:
        first: Related | None = None
        negatives: Counter[str] = Counter()
        for number, pair in enumerate(super().__iter__(), 1):
            first = first or pair
            if pair.negative is not None:
                negatives[pair.negative] += 1
            if (pair.score is None) != (first.score is None):
                kinds = ("has no score", "has one") if pair.score is None else ("has a score", "has none")
                raise DataError(
                    f"{self.path}: pair {number}, {pair.first[:40]!r}, {kinds[0]}, and the first {kinds[1]}: "
                    "the third column holds scores or texts, not both"
                )
            yield pair
        if (
            self.columns[2:] != (NEGATIVE,)
            and all(count >= MIN_REPEATS_OF_A_LABEL for count in negatives.values())
            and negatives
        ):
            names = ", ".join(map(repr, itertools.islice(negatives, 3)))
            raise DataError(
                f"{self.path}: the third column says {names} again and again: `pair` learns labels, `similar` scores; "
                f"texts that do not belong to the first stand in a column named {NEGATIVE!r}"
            )

    def example(self, line: Line, where: str) -> Related | None:
        first, second = (text_of(line, column, where).strip() for column in self.columns[:2])
        if not first and not second:
            return None
        if not first or not second:
            raise DataError(f"{where}: one of the two texts is empty; give it one or take the line out")
        third = line.get(self.columns[2]) if len(self.columns) > 2 else None
        if isinstance(third, int | float) and not isinstance(third, bool):
            if not math.isfinite(third):
                raise DataError(f"{where}: the score {third} is no number")
            return Related(first, second, float(third))
        text = "" if third is None else text_of(line, self.columns[2], where).strip()
        if is_number(text) and self.columns[2] != NEGATIVE:
            return Related(first, second, float(text))
        if text.lower() in NO_SCORES:
            raise DataError(f"{where}: the score {text} is no number")
        if text and self.columns[2] in (*SCORES, *LABELS):
            raise DataError(f"{where}: {text[:40]!r} is no score; `similar` learns numbers, `pair` learns labels")
        return Related(first, second, negative=text or None)


@again
def from_judged(name: str, pairs: Iterable[JudgedPair]) -> Iterator[Related]:
    """Judged pairs of a named set, whose scores say how near they are; labels do not."""
    for pair in pairs:
        if not pair.scored:
            raise DataError(f"{name} has labels, such as {pair.label!r}, where scores are needed")
        yield Related(pair.first, pair.second, pair.score)


@again
def from_pairs(pairs: Iterable[Pair]) -> Iterator[Related]:
    """Sentences and their translations, which belong together."""
    for pair in pairs:
        yield Related(pair.source, pair.target)
