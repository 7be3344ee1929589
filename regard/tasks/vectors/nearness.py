"""How well nearness goes with what is right: losses that bring vectors together or apart, and where the right text
stands among all others. Vectors have length 1, so that a product is a cosine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.data.related import Related
from regard.metrics.certainty import Indices, SampledScores
from regard.metrics.correlation import correlations
from regard.tasks.base import Done, Say
from regard.tasks.vectors.embedding import Embedder, Vectors

TEXTS_A_BLOCK = 1024  # texts that are compared with all others at a time


def order_loss(near: Tensor, scores: Tensor, temperature: float) -> Tensor:
    """log(1 + Σ exp((near_i - near_j) / temperature)) over all pairs of pairs, where i has the lower score: what is
    scored higher must be nearer; by how much does not matter. CoSENT, Su 2022, kexue.fm/archives/8847."""
    gaps = (near[:, None] - near[None, :]) / temperature
    wrong = gaps[scores[:, None] < scores[None, :]]
    return F.pad(wrong, (1, 0)).logsumexp(0)


def match_loss(firsts: Tensor, others: Tensor, right: Tensor, temperature: float) -> Tensor:
    """Each of N texts (N, D) must be nearest to its own among `others` (M, D), which begin with these; others that are
    `right` for it too (N, M) do not count against it. Then the same from its own to all the texts. Henderson et al.
    2017, arXiv:1705.00652; both ways: Radford et al. 2021, arXiv:2103.00020."""
    count, own = len(firsts), torch.arange(len(firsts), device=firsts.device)
    near = firsts @ others.t() / temperature  # (N, M)
    near = near.masked_fill(right & ~torch.eye(*right.shape, dtype=torch.bool, device=right.device), -torch.inf)
    return (F.cross_entropy(near, own) + F.cross_entropy(near[:, :count].t(), own)) / 2


def right_ones(firsts: Sequence[Hashable], others: Sequence[Hashable]) -> Tensor:
    """(N, M): which of the others belong to each of N texts: its own, at the same place, and those of equal texts."""
    names: dict[Hashable, int] = {}
    left, right = (torch.tensor([names.setdefault(one, len(names)) for one in side]) for side in (firsts, others))
    alike = (left[:, None] == left[None, :]).float()
    own = (right[: len(left), None] == right[None, :]).float()
    return (alike @ own) > 0


# --- scores -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nearness(SampledScores):
    """What vectors make of N pairs: those of both texts (N, D) and their cosines, beside the right scores; or, of pairs
    that belong together, where each second text stands among all of them and all negatives, from 1 on, and which text
    stands first."""

    called = "pairs"

    firsts: Vectors
    seconds: Vectors
    gold: NDArray[np.float64] | None = None
    places: Indices | None = None
    nearest: tuple[str, ...] = ()

    @cached_property
    def cosines(self) -> NDArray[np.float64]:
        cosines: NDArray[np.float64] = (self.firsts.astype(np.float64) * self.seconds).sum(1)
        return cosines

    def __len__(self) -> int:
        return len(self.firsts)

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        """Of the chosen pairs: correlations with the right scores; or the mean of 1/place, and how many stand first."""
        if self.gold is not None:
            found = correlations(self.gold[chosen], self.cosines[chosen])
            return {name: found[name] for name in ("spearman", "pearson")}
        assert self.places is not None
        places = self.places[chosen]
        return {"mrr": float((1 / places).mean()), "recall_at_1": float((places == 1).mean())}


def nearness(
    embedder: Embedder,
    pairs: Sequence[Related],
    batch: int = 64,
    done: Done | None = None,
    say: Say | None = None,
) -> Nearness:
    """Of pairs of one kind; every text is read once, however many pairs have it. `say` hears of texts that are cut."""
    texts = list(dict.fromkeys(text for pair in pairs for text in texts_of(pair)))
    number, vectors = {text: i for i, text in enumerate(texts)}, embedder(texts, batch=batch, say=say, done=done)
    firsts, seconds = np.array([[number[pair.first], number[pair.second]] for pair in pairs]).T
    both = vectors[firsts], vectors[seconds]
    if pairs[0].score is not None:
        return Nearness(*both, gold=np.array([pair.score for pair in pairs], dtype=np.float64))
    among = dict.fromkeys(text for pair in pairs for text in texts_of(pair)[1:])
    others = np.array([number[text] for text in among])
    places, nearest = standing(vectors, firsts, seconds, others)
    return Nearness(*both, places=places, nearest=tuple(texts[i] for i in nearest))


def standing(vectors: Vectors, firsts: Indices, seconds: Indices, others: Indices) -> tuple[Indices, Indices]:
    """Where the second text of each pair stands among `others` by its nearness to the first, and which of them stands
    first. What belongs to the same first text does not stand before it; of equally near ones it is the last."""
    place = {int(number): i for i, number in enumerate(others)}
    belongs: dict[int, list[int]] = defaultdict(list)
    for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True):
        belongs[first].append(place[second])
    places, nearest = np.empty(len(firsts), dtype=np.int64), np.empty(len(firsts), dtype=np.int64)
    for start in range(0, len(firsts), TEXTS_A_BLOCK):
        block = slice(start, start + TEXTS_A_BLOCK)
        near = vectors[firsts[block]] @ vectors[others].T  # (block, others)
        nearest[block] = others[near.argmax(1)]
        own = near[np.arange(len(near)), [place[second] for second in seconds[block].tolist()]]
        for row, first in enumerate(firsts[block].tolist()):
            near[row, belongs[first]] = -np.inf
        places[block] = 1 + (near >= own[:, None]).sum(1)
    return places, nearest


def texts_of(pair: Related) -> tuple[str, ...]:
    return (pair.first, pair.second) if pair.negative is None else (pair.first, pair.second, pair.negative)
