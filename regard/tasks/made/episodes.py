"""Episodes of few-shot learning: which classes, which of their examples are shown, which are asked for; and a baseline
without training."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.data.labelled import Labelled
from regard.errors import DataError

Vector = dict[str, float]
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Episode:
    """By number: examples with their labels, in a random order, then one query of each label in turn.

    `classes` are the names behind the labels.
    """

    classes: tuple[str, ...]
    examples: NDArray[np.int64]
    labels: NDArray[np.int64]
    queries: NDArray[np.int64]


class ClassExamples:
    """The examples of some classes, by number, from which episodes of `ways` classes with `shots` examples each are
    drawn."""

    def __init__(self, classes: dict[str, list[int]], ways: int, shots: int, called: str) -> None:
        if len(classes) < ways:
            raise DataError(f"there are {len(classes)} classes for {called}; {ways} ways need as many at least")
        self.classes, self.ways, self.shots = classes, ways, shots
        self.names = sorted(classes)

    def draw(self, seed: Sequence[int]) -> Episode:
        random = np.random.default_rng(seed)
        chosen = tuple(self.names[i] for i in random.choice(len(self.names), self.ways, replace=False))
        texts = np.stack([random.choice(self.classes[name], self.shots + 1, replace=False) for name in chosen])
        order = random.permutation(self.ways * self.shots)
        labels = np.repeat(np.arange(self.ways), self.shots)
        return Episode(chosen, texts[:, :-1].flatten()[order], labels[order], texts[:, -1])


def by_class(texts: Iterable[Labelled], least: int) -> tuple[list[str], dict[str, list[int]]]:
    """The texts, and the numbers of those of each class that has at least so many different ones."""
    every: list[str] = []
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for text in texts:
        if text.text not in found[text.label]:
            found[text.label][text.text] = len(every)
            every.append(text.text)
    return every, {name: list(own.values()) for name, own in found.items() if len(own) >= least}


def divided(names: Iterable[str], test: int, valid: int, division: int) -> tuple[list[str], list[str], list[str]]:
    """Classes to train on, to choose the best weights by, and to test on: no class is in two of them."""
    ordered = sorted(names)
    if len(ordered) <= test + valid:
        raise DataError(f"{len(ordered)} classes are too few to hold {test + valid} of them out")
    shuffled = [ordered[i] for i in np.random.default_rng(division).permutation(len(ordered))]
    return shuffled[test + valid :], shuffled[test : test + valid], shuffled[:test]


# --- a baseline without training --------------------------------------------------------------------------------------


class TermWeights:
    """Texts as bags of words, weighed by how rare a word is: tf · idf. Salton and Buckley 1988."""

    def __init__(self, texts: Sequence[str]) -> None:
        documents = [set(words_of(text)) for text in texts]
        counts = Counter(word for document in documents for word in document)
        self.usual = math.log(1 + len(documents)) + 1  # of a word that was never seen
        self.rarity = {word: math.log((1 + len(documents)) / (1 + n)) + 1 for word, n in counts.items()}

    def vector(self, text: str) -> Vector:
        """Of length one."""
        return scaled({word: n * self.rarity.get(word, self.usual) for word, n in Counter(words_of(text)).items()})

    def nearest(self, episode: Episode, texts: Sequence[str]) -> NDArray[np.int64]:
        """For each query, the label whose examples have the mean that is nearest by its cosine."""
        means: list[Vector] = [defaultdict(float) for _ in episode.classes]
        for text, label in zip(episode.examples.tolist(), episode.labels.tolist(), strict=True):
            for word, weight in self.vector(texts[text]).items():
                means[label][word] += weight
        means = [scaled(mean) for mean in means]
        queries = [self.vector(texts[text]) for text in episode.queries.tolist()]
        return np.array([int(np.argmax([product(query, mean) for mean in means])) for query in queries])


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


def scaled(vector: Vector) -> Vector:
    size = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
    return {word: weight / size for word, weight in vector.items()}


def product(one: Vector, other: Vector) -> float:
    return sum(weight * other.get(word, 0.0) for word, weight in one.items())
