"""Detectors: a picture in, a set of things out, each with its class and its box. Carion et al. 2020, arXiv:2005.12872.

A reader makes states of the picture's cells; queries, which attend to each other and to these states, each find one
thing or none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import ConfigError
from regard.models.base import LabellerConfig, Model, PictureReader, PictureReaderConfig
from regard.models.picture_encoder import PictureEncoder
from regard.nn.attention import MultiHead
from regard.nn.backbones import ResidualNet
from regard.nn.call.context import Context
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask
from regard.nn.heads import exact
from regard.nn.linear import Linear
from regard.nn.matching import MatchingConfig, OneOfAll, Things
from regard.nn.positions import SinusoidalGrid
from regard.nn.positions.base import PLACES
from regard.nn.queries import LearnedQueries, QueryConfig
from regard.nn.stacks import Block, Stack, StackConfig

SIDES = 4  # of a box


@dataclass(frozen=True, kw_only=True)
class Detector(LabellerConfig, kind="detector"):
    """Every layer of the decoder answers, and learns by what its answers are `matching` with."""

    reader: PictureReaderConfig = PictureEncoder(
        width=256,
        tokens=0,
        backbone=ResidualNet(),
        encoder=Stack(position=SinusoidalGrid(join="qk", whole=True)),
    )
    queries: QueryConfig = LearnedQueries()
    decoder: StackConfig = Stack(block=Block(cross=MultiHead()), final_norm=True)
    matching: MatchingConfig = OneOfAll()

    def check(self) -> None:
        if not self.decoder.attends:
            raise ConfigError("decoder.block.cross is none: the decoder of a detector attends to the picture")

    def assemble(self) -> DetectorModel:
        return DetectorModel(self)


class DetectorModel(Model):
    """`forward` gives numbers (B, Q, C + 4) for each query: logits of classes, and the box before the sigmoid; with
    `things` the loss."""

    config: Detector
    reader: PictureReader

    def __init__(self, config: Detector) -> None:
        super().__init__(config)
        self.reader = config.reader.assemble()
        self.matching, width = config.matching, self.reader.states_width
        self.queries = config.queries.build(width)
        self.decoder = config.decoder.build(width, causal=False, memory_width=width)
        self.classes = AnswerMatrix(width, config.labels + self.matching.extra, self.matching.prior)
        self.box = BoxOutput(width, still=self.queries.refined)

    def forward(self, pictures: Tensor, *, things: Things | None = None) -> Tensor:
        answers = self.answers(pictures)
        return answers[-1] if things is None else self.loss(answers, things)

    def read(self, answers: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (…, C), and boxes (…, 4): centre and size as shares of the picture."""
        answers = exact(answers)
        return answers[..., :-SIDES], answers[..., -SIDES:].sigmoid()

    def answers(self, pictures: Tensor) -> Tensor:
        """(L, B, Q, C + 4) of all layers."""
        memory, found = self.reader.encode(pictures), list[Tensor]()
        x, boxes = (one.expand(len(pictures), *one.shape) for one in self.queries.begin())  # (B, Q, …)
        geometry = Geometry.whole(x, Mask())
        call = self.called(Context(geometry, memory)).enter("decoder")
        for index, block in enumerate(self.decoder.layers):
            there = replace(geometry, facts={PLACES: self.queries.places(boxes)})
            x, inner = block(x, call.at(there).enter(str(index)))
            inner.note("stream", x)
            normed = x if self.decoder.norm is None else self.decoder.norm(x)
            moved = boxes + self.box(normed) if self.queries.refined else self.box(normed)
            found.append(torch.cat([self.classes(normed), moved], -1))
            boxes = moved.detach()
        return torch.stack(found)

    def loss(self, answers: Tensor, things: Things) -> Tensor:
        """Of answers (L, B, Q, C + 4), the sum over layers."""
        logits, boxes = self.read(answers)
        return self.matching.loss(logits, boxes, things, self.matching.match(logits, boxes, things))

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        return self.reader.example(batch, length)

    @property
    def states(self) -> int:
        """How many cells of a picture the queries attend to."""
        return self.reader.states


class AnswerMatrix(Linear):
    """Its bias starts at `prior`; one that is `still` gives nothing else at first."""

    def __init__(self, inputs: int, outputs: int, prior: float = 0.0, still: bool = False) -> None:
        self.prior, self.still = prior, still
        super().__init__(inputs, outputs)

    def start(self) -> None:
        super().start()
        self.bias.fill_(self.prior)
        if self.still:
            nn.init.zeros_(self.weight)


class BoxOutput(nn.Module):
    """Three layers from a state to a box before the sigmoid, or to how it moves one, which is `still` at first."""

    def __init__(self, width: int, still: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [Linear(width, width), Linear(width, width), AnswerMatrix(width, SIDES, still=still)]
        )

    def forward(self, x: Tensor) -> Tensor:
        first, second, last = self.layers
        found: Tensor = last(F.relu(second(F.relu(first(x)))))
        return found
