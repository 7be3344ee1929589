"""Test sentences by the length of their source, as many of each."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from regard.data.pairs import Pair
from regard.errors import DataError

READ_PER_WANTED = 20  # sentences read for each one wanted of a length, at least, before the lengths are known
MAX_READ_PER_WANTED = 300
MIN_SENTENCES = 10  # of one length; fewer say too little

Open = Callable[[str, int], Iterable[Pair]]  # the pairs of a split, at most so many


@dataclass(frozen=True)
class Group:
    """Sentences of about one length; `trained` says whether such lengths were trained on."""

    name: str
    trained: bool
    pairs: Sequence[Pair]


def by_length(
    read: Open, splits: Sequence[str], lengths: Sequence[int], wanted: int, trained: Collection[str]
) -> list[Group]:
    """So many sentences of each length that there is; `lengths` are the last of each group, in words.

    A later split adds lengths that those before it lack; those that are like training sentences are `trained`.
    """
    groups: dict[int, Group] = {}
    for split in splits:
        found = fill(read(split, MAX_READ_PER_WANTED * wanted), lengths, wanted, set(groups))
        for place, pairs in found.items():
            if len(pairs) >= min(MIN_SENTENCES, wanted):
                low = lengths[place - 1] + 1 if place else 1
                groups[place] = Group(f"{low}–{lengths[place]}", split in trained, pairs)
    if sum(group.trained for group in groups.values()) < 2:
        raise DataError(
            f"there are test sentences of fewer than two of the lengths up to {', '.join(map(str, lengths))}"
        )
    return [groups[place] for place in sorted(groups)]


def fill(pairs: Iterable[Pair], lengths: Sequence[int], wanted: int, known: set[int]) -> dict[int, list[Pair]]:
    """The first sentences of each length that is not yet known."""
    found: dict[int, list[Pair]] = {}
    for seen, pair in enumerate(pairs, 1):
        place = bisect_left(lengths, len(pair.source.split()))
        if place < len(lengths) and place not in known and len(found.setdefault(place, [])) < wanted:
            found[place].append(pair)
        if seen >= READ_PER_WANTED * wanted and all(len(group) == wanted for group in found.values()):
            break
    return found


def evenly(
    sources: Iterable[Iterable[Pair]], lengths: Sequence[int], wanted: int, without: Collection[str]
) -> list[Pair]:
    """About so many sentences, as many words of each length, from one source after the other, `without` these.

    Batches are made by tokens: so a model reads as many batches of each length.
    """
    shares = [1 / (low + high) for low, high in zip((0, *lengths), lengths, strict=False)]
    most = [math.ceil(wanted * share / sum(shares)) for share in shares]
    groups: list[list[Pair]] = [[] for _ in lengths]
    for source in sources:
        for pair in source:
            place = bisect_left(lengths, len(pair.source.split()))
            if place < len(lengths) and len(groups[place]) < most[place] and pair.source not in without:
                groups[place].append(pair)
    return [pair for group in groups for pair in group]
