"""How many answers out of a fixed set are right: as of labels, and for each kind of question."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from regard.metrics.labels import LabelScores

WORDS_OF_A_KIND = 2  # by which questions begin that are of one kind: "how many"
MOST_KINDS = 20


@dataclass(frozen=True)
class AskedScores(LabelScores):
    """Of answers to `questions`, one of these for each right answer."""

    questions: tuple[str, ...] = ()

    @cached_property
    def kinds(self) -> dict[str, tuple[float, int]]:
        """By how questions begin: the share that is answered rightly, and how many there are; the most frequent first,
        and of many kinds no others."""
        every = [" ".join(question.lower().split()[:WORDS_OF_A_KIND]) for question in self.questions]
        right = Counter(kind for kind, hit in zip(every, self.found == self.right, strict=True) if hit)
        return {kind: (right[kind] / count, count) for kind, count in Counter(every).most_common(MOST_KINDS)}

    def record(self) -> dict[str, Any]:
        kinds = {kind: {"accuracy": share, self.called: count} for kind, (share, count) in self.kinds.items()}
        return {**super().record(), "kinds": kinds}

    def table(self) -> str:
        width = max(len("begins"), *map(len, self.kinds)) + 2
        lines = [f"{kind:<{width}}{share:8.4f}{count:10,}" for kind, (share, count) in self.kinds.items()]
        return "\n".join([super().table(), "", f"{'begins':<{width}}accuracy{self.called:>10}", *lines])
