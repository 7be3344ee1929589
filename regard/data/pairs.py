"""Pairs of sentences: what a translation data set yields, with or without gold annotation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from itertools import islice
from typing import Any, Generic, ParamSpec, TypeVar

E = TypeVar("E")
P = ParamSpec("P")


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation; with gold words, alignment and tags where they are known.

    Words are finer than white space ("l'homme" is "l'" and "homme", a full stop is a word). `alignment` links
    (source word, target word), sorted; tags are the universal parts of speech, one a word. `others` are further
    targets that are as right.
    """

    source: str
    target: str
    source_words: tuple[str, ...] = ()
    target_words: tuple[str, ...] = ()
    alignment: tuple[tuple[int, int], ...] = ()
    source_tags: tuple[str, ...] = ()
    target_tags: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class First(Generic[E]):
    """The first `count` examples of a source; they can be iterated again and again."""

    examples: Iterable[E]
    count: int

    def __iter__(self) -> Iterator[E]:
        return islice(iter(self.examples), self.count)

    @property
    def skipped(self) -> int:
        return skipped(self.examples)


@dataclass(frozen=True)
class Again(Generic[E]):
    """Examples that can be iterated again and again: each pass is a new call of `read`."""

    read: Callable[[], Iterator[E]]

    def __iter__(self) -> Iterator[E]:
        return self.read()


def again(read: Callable[P, Iterator[E]]) -> Callable[P, Again[E]]:
    """Makes of a generator a function whose examples can be iterated again and again."""

    @wraps(read)
    def opened(*given: P.args, **named: P.kwargs) -> Again[E]:
        return Again(partial(read, *given, **named))

    return opened


@dataclass(frozen=True)
class TextsOf:
    """All texts of all examples, as often as one iterates; `texts` gives those of an example."""

    examples: Iterable[Any]
    texts: Callable[[Any], Iterable[str]]

    def __iter__(self) -> Iterator[str]:
        return (text for example in self.examples for text in self.texts(example))


class Sides:
    """The sentences of pairs, source and target in turn; `pairs` counts those of the last pass."""

    def __init__(self, examples: Iterable[Pair]) -> None:
        self.examples, self.pairs = examples, 0

    def __iter__(self) -> Iterator[str]:
        self.pairs = 0
        for pair in self.examples:
            self.pairs += 1
            yield pair.source
            yield pair.target


def skipped(examples: Iterable[Any]) -> int:
    """How many empty lines the last pass over a source of examples left out."""
    return int(getattr(examples, "skipped", 0))


def say_skipped(examples: Iterable[Any], which: str, say: Callable[[str], None]) -> None:
    """Tell of the empty lines that the last pass over `which` ("training texts") examples left out."""
    if count := skipped(examples):
        say(f"{count:,} empty lines of the {which} were skipped")


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """The character spans (start, end) of `words`, which occur in `text` in this order; ValueError if one does not."""
    found = []
    end = 0
    for word in words:
        start = text.find(word, end)
        if start < 0:
            raise ValueError(f"word {word!r} does not occur in {text!r} after character {end}")
        end = start + len(word)
        found.append((start, end))
    return found
