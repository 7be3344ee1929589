"""Glances: how a question looks at a picture, and what a classifier is told of both."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Part, Rate, Size, Weight
from regard.nn.call.context import Context
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear

LEAST_TO_COMPARE = 3  # rows of a batch: a question, one that is near and one that is far


@dataclass(frozen=True)
class GlanceConfig(Part, family="glance"):
    """How a question looks at a picture."""

    def build(self, cells: int, question: int) -> Glance:
        """For cells of a picture and words of a question that are so wide."""
        raise TypeError(f"{type(self).__name__} is a family, not a glance")


class Glance(nn.Module):
    """Maps the cells (B, N, C) of pictures, and questions as their states and summaries (B, Q), to what is told of both
    (B, `width`). `heads` are how many maps of the picture each of its steps makes, which a watcher sees by the number
    of the step."""

    width: int
    heads: tuple[int, ...]

    def forward(self, cells: Tensor, question: Memory, context: Context) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not say how it looks")

    def attention_heads(self, name: str) -> dict[str, int]:
        return {f"{name}.{step}": count for step, count in enumerate(self.heads)}


def seen(step: int, weights: Tensor, values: Tensor, context: Context) -> Tensor:
    """Values (B, N, D) of the cells, weighed by the maps (B, H, N) of a step → (B, H, D)."""
    return context.attended(str(step), weights @ values, lambda: weights.unsqueeze(2))


def summary_of(question: Memory) -> Tensor:
    assert question.summary is not None
    return question.summary


@dataclass(frozen=True)
class Stacked(GlanceConfig, kind="stacked"):
    """Attention in `hops`, each of which asks with what the one before has seen: h = tanh(W_I v + W_Q u + b),
    p = softmax(W_P h), and the next u is Σ p v + u. The first u is the question. Yang et al. 2016, arXiv:1511.02274.

    `hidden` is the width of h, `dropout` falls on it. The cells v are brought to the width of the question by a layer
    and tanh.
    """

    hidden: Size = 512
    hops: Size = 2
    dropout: Rate = 0.0

    def build(self, cells: int, question: int) -> Glance:
        return StackedGlance(cells, question, self)


class Hop(nn.Module):
    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.cells = Linear(width, hidden, bias=False)
        self.question = Linear(width, hidden)
        self.dropout = Dropout(dropout)
        self.score = Linear(hidden, 1, bias=False)

    def forward(self, cells: Tensor, asked: Tensor) -> Tensor:
        """(B, 1, N): its map."""
        hidden = (self.cells(cells) + self.question(asked).unsqueeze(1)).tanh()
        scores: Tensor = self.score(self.dropout(hidden))
        return scores.softmax(1).transpose(1, 2)


class StackedGlance(Glance):
    def __init__(self, cells: int, question: int, config: Stacked) -> None:
        super().__init__()
        self.width, self.heads = question, (1,) * config.hops
        self.enter = Linear(cells, question)
        self.hops = nn.ModuleList(Hop(question, config.hidden, config.dropout) for _ in range(config.hops))

    def forward(self, cells: Tensor, question: Memory, context: Context) -> Tensor:
        values, asked, maps = self.enter(cells).tanh(), summary_of(question), []
        for step, hop in enumerate(self.hops):
            maps.append(hop(values, asked))
            asked = asked + seen(step, maps[-1], values, context).squeeze(1)
        if self.training:
            self.compare(torch.cat(maps, 1), cells, summary_of(question), context)
        return asked

    def compare(self, maps: Tensor, cells: Tensor, asked: Tensor, context: Context) -> None:
        """Hear the maps (B, hops, N) of a batch that is learnt from."""


@dataclass(frozen=True)
class Differential(Stacked, kind="differential"):
    """Stacked attention that learns from exemplars too: a question should look where a near one does, and not where a
    far one does. The triplet loss max(0, |p - p+|² + margin - |p - p-|²) of their maps p is added with a `weight`.
    Patro and Namboodiri 2018, arXiv:1804.00298; there exemplars come from all of the training questions, here from the
    same batch.

    Near is the question that is most alike, far the one that is least, by the cosines of the questions' vectors and of
    the pictures' means.
    """

    margin: Weight = 0.2
    weight: Weight = 0.1

    def build(self, cells: int, question: int) -> Glance:
        return DifferentialGlance(cells, question, self)


class DifferentialGlance(StackedGlance):
    def __init__(self, cells: int, question: int, config: Differential) -> None:
        super().__init__(cells, question, config)
        self.margin, self.weight = config.margin, config.weight

    def compare(self, maps: Tensor, cells: Tensor, asked: Tensor, context: Context) -> None:
        if len(maps) < LEAST_TO_COMPARE:
            return
        near, far = exemplars(cells.mean(1), asked)
        p = maps.flatten(1)
        apart = (p - p[near]).square().sum(-1) - (p - p[far]).square().sum(-1)
        context.leave("", self.weight * (apart + self.margin).relu().mean())


@torch.no_grad()
def exemplars(*vectors: Tensor) -> tuple[Tensor, Tensor]:
    """(B,) each: which other row is most and which least like each row, by all of its vectors (B, D) together."""
    each = [F.normalize(x.float(), dim=-1) for x in vectors]
    alike = torch.stack([x @ x.T for x in each]).sum(0)
    own = torch.eye(len(alike), dtype=torch.bool, device=alike.device)
    return alike.masked_fill(own, -torch.inf).argmax(1), alike.masked_fill(own, torch.inf).argmin(1)


@dataclass(frozen=True)
class Glimpses(GlanceConfig, kind="glimpses"):
    """So many maps at once, made of each cell beside the question by two 1 × 1 convolutions with a ReLU between; what
    they see stands beside the question, and a layer of width `joined` with a ReLU reads that. Cells are brought to
    length 1. Kazemi and Elqursh 2017, arXiv:1704.03162.

    `hidden` is the width between the convolutions; `dropout` falls in front of each layer.
    """

    glimpses: Size = 2
    hidden: Size = 512
    joined: Size = 1024
    dropout: Rate = 0.0

    def build(self, cells: int, question: int) -> Glance:
        return GlimpsesGlance(cells, question, self)


class GlimpsesGlance(Glance):
    def __init__(self, cells: int, question: int, config: Glimpses) -> None:
        super().__init__()
        self.width, self.heads = config.joined, (config.glimpses,)
        self.dropout = Dropout(config.dropout)
        self.cells = Linear(cells, config.hidden, bias=False)  # the first convolution, in two parts
        self.question = Linear(question, config.hidden)
        self.score = Linear(config.hidden, config.glimpses, bias=False)
        self.join = Linear(config.glimpses * cells + question, config.joined)

    def forward(self, cells: Tensor, question: Memory, context: Context) -> Tensor:
        cells, asked = F.normalize(cells, dim=-1), summary_of(question)
        hidden = (self.cells(self.dropout(cells)) + self.question(self.dropout(asked)).unsqueeze(1)).relu()
        maps = self.score(self.dropout(hidden)).softmax(1).transpose(1, 2)  # (B, G, N)
        both = torch.cat([seen(0, maps, cells, context).flatten(1), asked], -1)
        joined: Tensor = self.join(self.dropout(both)).relu()
        return joined


@dataclass(frozen=True)
class WordGuided(GlanceConfig, kind="word-guided"):
    """Two hops: a cell counts in the first by the word of the question that it fits best, in the second by what the
    whole question and the first hop make together. Xu and Saenko 2016, arXiv:1511.05234.

    The first hop scores a cell s by the largest v · (A s + a) over the words v and sees E s + e; the sum o of that and
    the question asks the second, which scores it by o · (E s + e) and sees E' s + e'. What is told is the ReLU of their
    sum.
    """

    def build(self, cells: int, question: int) -> Glance:
        return WordGuidedGlance(cells, question)


class WordGuidedGlance(Glance):
    heads = (1, 1)

    def __init__(self, cells: int, question: int) -> None:
        super().__init__()
        self.width = question
        self.matched = Linear(cells, question)  # A
        self.evidence = nn.ModuleList(Linear(cells, question) for _ in self.heads)  # E and E'

    def forward(self, cells: Tensor, question: Memory, context: Context) -> Tensor:
        first, second = (evidence(cells) for evidence in self.evidence)
        fits = question.states @ self.matched(cells).transpose(1, 2)  # (B, T, N)
        if question.keep is not None:
            fits = fits.masked_fill(~question.keep.unsqueeze(-1), torch.finfo(fits.dtype).min)
        best = fits.amax(1, keepdim=True).softmax(-1)  # (B, 1, N)
        asked = summary_of(question) + seen(0, best, first, context).squeeze(1)
        whole = (asked.unsqueeze(1) @ first.transpose(1, 2)).softmax(-1)
        return (asked + seen(1, whole, second, context).squeeze(1)).relu()
