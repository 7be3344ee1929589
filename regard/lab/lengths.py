"""Test sentences by the length of their source, as many of each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regard.data.files import DataError
from regard.data.pairs import Pair

ENOUGH = 20  # times as many sentences as are wanted of a length are looked through, at least, to know the lengths
MOST = 300  # and at most
FEW = 10  # sentences of a length say too little

Open = Callable[[str, int], Iterable[Pair]]  # the pairs of a split, at most so many


@dataclass(frozen=True)
class Group:
    """Sentences of about one length; `trained` says whether such lengths were trained on."""

    name: str
    trained: bool
    pairs: Sequence[Pair]


def by_length(read: Open, splits: Sequence[str], lengths: Sequence[int], wanted: int) -> list[Group]:
    """So many sentences of each length that there is; `lengths` are the last of each group, in words.

    The first split is like the training sentences; a later one adds lengths that those before it lack.
    """
    groups: dict[int, Group] = {}
    for number, split in enumerate(splits):
        found = fill(read(split, MOST * wanted), lengths, wanted, set(groups))
        for place, pairs in found.items():
            if len(pairs) >= min(FEW, wanted):
                low = lengths[place - 1] + 1 if place else 1
                groups[place] = Group(f"{low}–{lengths[place]}", number == 0, pairs)
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
        if seen >= ENOUGH * wanted and all(len(group) == wanted for group in found.values()):
            break
    return found
