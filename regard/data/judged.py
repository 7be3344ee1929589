"""Judged pairs: two texts and what they are to each other, a label or a score; their files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from regard.data.columns import Bare, is_number
from regard.data.files import column_of, text_of
from regard.data.forms import Line
from regard.data.labelled import LabelFile
from regard.errors import DataError


@dataclass(frozen=True)
class JudgedPair:
    """Two texts and the name of their relation, which is a number where `scored`; `where` is their place in a file."""

    first: str
    second: str
    label: str
    scored: bool = False
    where: str = field(default="", compare=False, repr=False)

    @property
    def score(self) -> float:
        """Of a label that is a number."""
        try:
            value = float(self.label)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            place = f"{self.where}: " if self.where else ""
            raise DataError(
                f"{place}the pair {self.first[:40]!r} has {self.label!r} where a score is needed: give it a number"
            )
        return value


SCORES = ("score", "similarity", "relatedness_score")  # columns whose numbers are scores, not names of labels
TEXTS = (  # what GLUE's files and their relatives call two texts
    ("text_a", "text_b"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("premise", "hypothesis"),
    ("#1 String", "#2 String"),
    ("sentence_A", "sentence_B"),
)
LABELS = ("gold_label", "label", "is_duplicate", "Quality")


def _stsb(cells: Sequence[str]) -> bool:
    return len(cells) >= 7 and is_number(cells[4]) and bool(cells[5].strip() and cells[6].strip())


STSB = Bare(("sentence1", "sentence2", "score"), (5, 6, 4), _stsb)  # genre, file, year, identity, score, two sentences


class JudgedFile(LabelFile[JudgedPair]):
    """The pairs of one file, in the columns "text_a", "text_b" and "label", or as GLUE's files have them: MRPC, QQP,
    STS-B, MNLI, QNLI, RTE, WNLI, and STS-B as it came, without a header. JSON may have numbers as labels.

    A column that is called a score has scores. A line without either text is an empty one; a pair without a label is an
    error.
    """

    usual = ("text_a", "text_b", "label")
    also = tuple((*texts, judged) for texts in TEXTS for judged in (*LABELS, *SCORES))
    bare = (STSB,)
    called = "pair of texts"

    def example(self, line: Line, where: str) -> JudgedPair | None:
        first, second = (text_of(line, column, where).strip() for column in self.columns[:2])
        value = column_of(line, self.columns[2], where)
        number = isinstance(value, int | float)
        label = str(value).lower() if number else text_of(line, self.columns[2], where).strip()
        if not first and not second:
            return None
        if not first or not second:
            raise DataError(f"{where}: one of the two texts is empty; give it one or take the line out")
        if not label:
            raise DataError(f"{where}: the pair has no label; give it one or take the line out")
        self.refuse_name(label, where)
        return JudgedPair(first, second, label, self.columns[2] in SCORES, where)
