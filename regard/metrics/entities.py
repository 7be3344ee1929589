"""Entities that tags mark word by word, and how many of them were found: BIO (IOB1, IOB2), IOBES and BILOU.

B- begins an entity and I- goes on with it; E- or L- ends it, and S- or U- is one of a single word; O is none. Ramshaw
and Marcus 1995, cmp-lg/9505040; Ratinov and Roth 2009. Tags that do not follow each other as they should are read as
CoNLL's evaluation and seqeval read them: a word goes on with the entity before it where that is not over and is of its
type; else it begins one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.certainty import Indices
from regard.metrics.labels import LabelScore

NONE = "O"
SCHEMES = {"BIO": set("BI"), "IOBES": set("BIES"), "BILOU": set("BILU")}
ALIKE = {"L": "E", "U": "S"}  # what BILOU calls otherwise


@dataclass(frozen=True)
class Entity:
    """What it is, its first word and the one behind its last, counted from 0."""

    type: str
    start: int
    end: int


def scheme_of(labels: Iterable[str]) -> str | None:
    """The way in which these tags mark entities; None where they do not, as parts of speech."""
    marks = [label for label in labels if label != NONE]
    if not marks or not all(label[1:2] in ("", "-") for label in marks):
        return None
    used = {label[0] for label in marks}
    return next((name for name, letters in SCHEMES.items() if used <= letters), None)


def entities_in(tags: Sequence[str]) -> list[Entity]:
    """Those of a sentence, from first to last; types are what follows the hyphen."""
    found: list[Entity] = []
    start, before = 0, ("", "")  # where the entity under way began, and the last letter and type
    for place, tag in enumerate([*tags, NONE]):
        letter, kind = ALIKE.get(tag[0], tag[0]), tag[2:]
        goes_on = letter in "IE" and before[0] in ("B", "I") and before[1] == kind
        if before[0] not in ("", NONE) and not goes_on:
            found.append(Entity(before[1], start, place))
        if not goes_on:
            start = place
        before = letter, kind
    return found


# --- scores -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EntityCounts:
    """Of N sentences: how many entities were found rightly, how many were found and how many are there (N, 3); and the
    same of each type (3,)."""

    sentences: NDArray[np.int64]
    types: dict[str, tuple[int, int, int]]

    def scores(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        """Over all entities of the chosen sentences: an entity is right where its words and its type are."""
        one = self.overall(chosen)
        return {"entity_f1": one.f1, "entity_precision": one.precision, "entity_recall": one.recall}

    def labels(self) -> list[LabelScore]:
        """The scores of each type, in the order of the alphabet."""
        return [LabelScore.of(name, counts) for name, counts in sorted(self.types.items())]

    def by_type(self) -> dict[str, dict[str, Any]]:
        return {one.name: one.record("entities") for one in self.labels()}

    def overall(self, chosen: Indices | slice = slice(None)) -> LabelScore:
        """Of all types together."""
        return LabelScore.of("all", self.sentences[chosen].sum(0))


def count_entities(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> EntityCounts:
    """Of sentences by their right tags and the ones that were found."""
    rows: list[tuple[int, int, int]] = []
    right, given, wanted = Counter[str](), Counter[str](), Counter[str]()
    for tags, others in zip(gold, found, strict=True):
        there, seen = set(entities_in(tags)), set(entities_in(others))
        rows.append((len(there & seen), len(seen), len(there)))
        for counter, some in ((right, there & seen), (given, seen), (wanted, there)):
            counter.update(entity.type for entity in some)
    types = {name: (right[name], given[name], wanted[name]) for name in {*given, *wanted}}
    return EntityCounts(np.array(rows, dtype=np.int64).reshape(-1, 3), types)
