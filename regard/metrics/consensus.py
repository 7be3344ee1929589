"""How much a text has in common with what several people wrote of the same thing: CIDEr-D and ROUGE-L, of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean as mean

import numpy as np
from numpy.typing import NDArray

Words = Sequence[str]
NGram = tuple[str, ...]

ORDERS = 4  # of n-grams that CIDEr-D counts
SIGMA = 6.0  # how far lengths may differ, as the deviation of a Gaussian
CIDER_SCALE = 10.0  # that its authors multiply with
RECALL = 1.2  # β: how much more than precision recall counts in ROUGE-L of captions


def cider_d(found: Sequence[Words], references: Sequence[Sequence[Words]]) -> NDArray[np.float64]:
    """(N,): of each text the mean likeness to its references: cosines of n-grams, weighed by how rare they are among
    the things that were written of; none counts more often than in the reference, and other lengths count less.
    Vedantam et al. 2015, arXiv:1411.5726."""
    occurs = Counter(gram for texts in references for gram in {gram for text in texts for gram in ngrams(text)})
    rare = {gram: math.log(len(references) / count) for gram, count in occurs.items()}
    unseen = math.log(max(len(references), 1))

    def weighed(words: Words) -> Weighed:
        return Weighed({gram: count * rare.get(gram, unseen) for gram, count in ngrams(words).items()}, len(words))

    pairs = zip(found, references, strict=True)
    return np.array([mean(likeness(weighed(own), weighed(other)) for other in others) for own, others in pairs])


def ngrams(words: Words) -> Counter[NGram]:
    """Those of all lengths."""
    return Counter(tuple(words[i : i + n]) for n in range(1, ORDERS + 1) for i in range(len(words) - n + 1))


class Weighed:
    """The weights of a text's n-grams, the length of their vector for each length of n-grams, and how many `words`."""

    def __init__(self, weights: Mapping[NGram, float], words: int) -> None:
        self.weights = weights
        self.pairs = max(words - 1, 0)  # of words, by which lengths are compared
        squares = [0.0] * ORDERS
        for gram, weight in weights.items():
            squares[len(gram) - 1] += weight**2
        self.norms = [math.sqrt(square) for square in squares]


def likeness(own: Weighed, other: Weighed) -> float:
    """Of a text to a reference."""
    products = [0.0] * ORDERS
    for gram, weight in own.weights.items():
        theirs = other.weights.get(gram, 0.0)
        products[len(gram) - 1] += min(weight, theirs) * theirs
    norms = [one * two for one, two in zip(own.norms, other.norms, strict=True)]
    cosines = [product / norm if norm else 0.0 for product, norm in zip(products, norms, strict=True)]
    return CIDER_SCALE * mean(cosines) * math.exp(-((own.pairs - other.pairs) ** 2) / (2 * SIGMA**2))


def rouge_l(found: Sequence[Words], references: Sequence[Sequence[Words]]) -> NDArray[np.float64]:
    """(N,): the F of the longest common subsequence, by the best precision and the best recall over the references.
    Lin 2004, aclanthology.org/W04-1013, with the β of caption evaluation."""
    pairs = zip(found, references, strict=True)
    return np.array([rouge_l_of(own, others) for own, others in pairs])


def rouge_l_of(own: Words, others: Sequence[Words]) -> float:
    common = [common_words(own, other) for other in others]
    precision = max(common) / max(len(own), 1)
    recall = max(count / max(len(other), 1) for count, other in zip(common, others, strict=True))
    if not precision or not recall:
        return 0.0
    return (1 + RECALL**2) * precision * recall / (recall + RECALL**2 * precision)


def common_words(one: Words, other: Words) -> int:
    """The length of the longest common subsequence."""
    best = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for place, theirs in enumerate(other, 1):
            before, best[place] = best[place], before + 1 if word == theirs else max(best[place], best[place - 1])
    return best[-1]


def exact(found: Iterable[Words], references: Iterable[Sequence[Words]]) -> NDArray[np.float64]:
    """(N,): one where a text is one of its references, word by word."""
    pairs = zip(found, references, strict=True)
    return np.array([float(any(list(own) == list(other) for other in others)) for own, others in pairs])
