"""Learning from a few examples: texts with labels that were never seen before, then one whose label is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Part, Rate, Size
from regard.errors import Error
from regard.models.base import InputReaderConfig, Model, ModelConfig, TextModelConfig
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear
from regard.nn.recurrent.temporal import TemporalLayers

PLACE = "episode"
EPS = 1e-6


# --- how a label is found ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LearnerConfig(Part, family="learner"):
    """How the label of a query follows from examples."""

    def build(self, width: int, ways: int) -> Learner:
        raise TypeError(f"{type(self).__name__} is a family, not a learner")


class Learner(nn.Module):
    """Vectors of examples (E, S, D), their labels (E, S), vectors of queries (E, Q, D) → logits (E, Q, ways)."""

    def attention_heads(self) -> dict[str, int]:
        return {}

    def forward(self, examples: Tensor, labels: Tensor, queries: Tensor, context: Context) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not say how it learns")


@dataclass(frozen=True)
class Centroids(LearnerConfig, kind="centroids"):
    """The nearest mean: minus the squared distance to the mean vector of each label's examples.

    Prototypical networks, Snell et al. 2017, arXiv:1703.05175.
    """

    def build(self, width: int, ways: int) -> Learner:
        return CentroidLearner(width, ways)


class CentroidLearner(Learner):
    def __init__(self, width: int, ways: int) -> None:
        super().__init__()
        self.width, self.ways = width, ways

    def forward(self, examples: Tensor, labels: Tensor, queries: Tensor, context: Context) -> Tensor:
        member = F.one_hot(labels, self.ways).to(examples.dtype).transpose(1, 2)  # (E, ways, S)
        means = member @ examples / member.sum(-1, keepdim=True).clamp(min=1)
        return -(queries.unsqueeze(2) - means.unsqueeze(1)).square().sum(-1)


@dataclass(frozen=True)
class SnailLearner(LearnerConfig, kind="snail"):
    """Reads the examples as a sequence of (vector, label), the query last and without a label, and says its label.

    Mishra et al. 2018, arXiv:1707.03141. Vectors are taken from the middle of the examples and made as long as
    labels, one: what a young reader makes of different texts differs too little to be seen beside them.
    """

    layers: TemporalLayers = TemporalLayers()
    dropout: Rate = 0.0

    def build(self, width: int, ways: int) -> Learner:
        return SnailLearnerLayers(self, width, ways)


class SnailLearnerLayers(Learner):
    def __init__(self, config: SnailLearner, width: int, ways: int) -> None:
        super().__init__()
        self.ways = ways
        self.layers = config.layers.build(width + ways)
        self.dropout = Dropout(config.dropout)
        self.out = Linear(self.layers.out_width, ways)

    def attention_heads(self) -> dict[str, int]:
        return self.layers.attention_heads(PLACE)

    def forward(self, examples: Tensor, labels: Tensor, queries: Tensor, context: Context) -> Tensor:
        episodes, asked, _ = queries.shape
        middle = examples.mean(1, keepdim=True)
        spread = (examples - middle).square().sum(-1).mean(1).sqrt().view(-1, 1, 1) + EPS
        examples, queries = (examples - middle) / spread, (queries - middle) / spread
        told = torch.cat([examples, F.one_hot(labels, self.ways).to(examples.dtype)], -1)
        told = told.repeat_interleave(asked, 0)  # (E·Q, S, …): a sequence for each query
        last = F.pad(queries.flatten(0, 1).unsqueeze(1), (0, self.ways))
        sequence = torch.cat([told, last], 1)
        inner = context.at(Geometry.whole(sequence, Mask(causal=True)))
        hidden = self.layers(sequence, inner.enter(PLACE))[:, -1]
        logits: Tensor = self.out(self.dropout(hidden))
        return logits.view(episodes, asked, self.ways)


# --- the model --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FewShot(ModelConfig, kind="few-shot"):
    """A `reader` makes a vector of each text or picture, a `learner` tells one of `ways` labels from examples of
    each."""

    reader: InputReaderConfig
    ways: Size = 5
    learner: LearnerConfig = SnailLearner()

    def text(self) -> TextModelConfig | None:
        return self.reader.text()

    def assemble(self) -> FewShotModel:
        return FewShotModel(self)


class FewShotModel(Model):
    """Episodes of examples and queries → the logits of the queries' labels."""

    config: FewShot

    def __init__(self, config: FewShot) -> None:
        super().__init__(config)
        self.reader = config.reader.assemble()
        self.learner = config.learner.build(self.reader.states_width, config.ways)

    def vectors(self, given: Tensor, keep: Tensor | None) -> Tensor:
        """(E, N, …) → (E, N, D): the mean of the states of real tokens, or of the cells of a picture."""
        memory = self.reader.encode(given.flatten(0, 1), None if keep is None else keep.flatten(0, 1))
        if memory.keep is None:
            return memory.states.mean(1).view(*given.shape[:2], -1)
        real = memory.keep.unsqueeze(-1).to(memory.states.dtype)
        means = (memory.states * real).sum(1) / real.sum(1).clamp(min=1)
        return means.view(*given.shape[:2], -1)

    def forward(self, given: Tensor, keep: Tensor | None, labels: Tensor) -> Tensor:
        """Texts (E, S + Q, L), of whose tokens `keep` are real, or pictures (E, S + Q, 3, H, W), the examples first,
        and the labels (E, S) of the examples → logits (E, Q, ways)."""
        if keep is not None and (given.dim() != 3 or keep.shape != given.shape):
            raise ValueError(
                f"texts have shape {tuple(given.shape)}, their mask {tuple(keep.shape)}; both take (E, texts, L)"
            )
        return self.judge(self.vectors(given, keep), labels)

    def judge(self, vectors: Tensor, labels: Tensor) -> Tensor:
        """As `forward`, from vectors (E, S + Q, D)."""
        shown = labels.shape[1]
        context = self.whole(vectors, Mask())
        logits: Tensor = self.learner(vectors[:, :shown], labels, vectors[:, shown:], context)
        return logits

    def attention_heads(self) -> dict[str, int]:
        return self.reader.attention_heads() | self.learner.attention_heads()

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        raise Error("what an episode holds is known only of data: give the learner a `cost` of its own")
