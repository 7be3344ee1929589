"""Quicker twins of layers that multiply with a matrix: the same parameters, the same numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from regard.fast.agreement import linear_agreeing_cross_entropy
from regard.fast.crossentropy import linear_cross_entropy
from regard.fast.pointwise import squared_relu
from regard.fast.products import Packable, by_onednn, linear, suits_onednn
from regard.fast.topk import likeliest, linear_best_words
from regard.nn import feedforward
from regard.nn.call.context import Context
from regard.nn.feedforward import MLPLayer, gelu_tanh
from regard.nn.heads import LinearOutput, MeanHead, TransformOutput, capped, exact
from regard.nn.linear import Linear, Matrix
from regard.nn.lowrank import AdaptedLinear


class FastLinear(Packable, Linear):
    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias, self.packed)


class FastAdaptedLinear(AdaptedLinear, FastLinear):
    """The adapter's products are thin; that with the frozen matrix is the quick one."""


class FastMatrix(Matrix):
    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


Activate = Callable[[Tensor], Tensor]

# --- feed-forward -----------------------------------------------------------------------------------------------------

ONEDNN_NAMES: dict[Activate, tuple[str, str]] = {
    F.relu: ("relu", ""),
    F.gelu: ("gelu", "none"),
    gelu_tanh: ("gelu", "tanh"),
}  # and those of variants
QUICKER: dict[Activate, Activate] = {feedforward.squared_relu: squared_relu}


class FastMLPLayer(MLPLayer):
    def forward(self, x: Tensor, context: Context) -> Tensor:
        result: Tensor = self.down(self.dropout(activated(self.activation, self.up, x)))
        return result


def activated(activation: Activate, layer: nn.Module, x: Tensor) -> Tensor:
    """The activation of what a layer makes: in one call with the product, where oneDNN is quicker."""
    name = ONEDNN_NAMES.get(activation)
    if name is not None and type(layer) is FastLinear and suits_onednn(x, layer.weight, layer.packed):
        return by_onednn(x, layer.weight, layer.bias, layer.packed, name)
    return QUICKER.get(activation, activation)(layer(x))


# --- heads ------------------------------------------------------------------------------------------------------------


class FastLinearOutput(Packable, LinearOutput):
    """Its losses are computed with their gradients, slice by slice, so that all logits never exist at once; and so are
    the best words."""

    def logits(self, hidden: Tensor) -> Tensor:
        return capped(linear(self.transform(hidden), self.weight, self.bias, self.packed), self.cap)

    def best(self, hidden: Tensor, count: int, barred: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
        if hidden.device.type != "cpu" or self.cap is not None:
            return super().best(hidden, count, barred)
        return linear_best_words(self.transform(hidden), self.weight, self.bias, count, barred, self.packed)

    def total_loss(self, hidden: Tensor, targets: Tensor, smoothing: float = 0.0, ignore: int = -100) -> Tensor:
        rows = self.transform(hidden).flatten(0, -2)
        return linear_cross_entropy(rows, self.weight, self.bias, targets.flatten(), smoothing, ignore, self.cap)

    def agreeing_loss(self, hidden: Tensor, targets: Tensor, agreement: float, smoothing: float = 0.0) -> Tensor:
        if self.cap is not None:
            return super().agreeing_loss(hidden, targets, agreement, smoothing)
        rows = self.transform(hidden)
        return linear_agreeing_cross_entropy(rows, self.weight, self.bias, targets, agreement, smoothing)


class FastTransformOutput(FastLinearOutput, TransformOutput):
    pass


class FastMeanHead(MeanHead):
    def best(self, hidden: Tensor, count: int, barred: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """In fewer passes, for logarithms are taken of the likeliest words alone."""
        first, *others = (exact(head.logits(states)).softmax(-1) for head, states in self.each(hidden))
        for chances in others:
            first += chances
        if barred is not None:
            first[:, barred] = 0
        values, words = likeliest(first, count)
        return values.log(), words, values.new_full((len(values),), math.log(1 + len(others)))
