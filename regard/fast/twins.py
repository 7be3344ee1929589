"""Which layer has a quicker twin, and how a model's layers become their twins and the plain ones again."""

from __future__ import annotations

from typing import TypeVar

from torch import nn

from regard.fast.attention import FastContentKernel, FastDotKernel, FastGeneralKernel
from regard.fast.dropout import FastDropout
from regard.fast.layers import (
    FastAdaptedLinear,
    FastLinear,
    FastLinearOutput,
    FastMatrix,
    FastMeanHead,
    FastMLPLayer,
    FastTransformOutput,
)
from regard.fast.pointwise import FastRMSNormalisation, FastRotaryPosition
from regard.fast.positions import FastSinusoidalPosition
from regard.fast.recurrent import FastRecurrentLayers
from regard.fast.tape import FastIntraLayer
from regard.nn.attention.dot import DotKernel
from regard.nn.attention.scores import ContentKernel, GeneralKernel
from regard.nn.dropout import Dropout
from regard.nn.feedforward import MLPLayer
from regard.nn.heads import LinearOutput, MeanHead, TransformOutput
from regard.nn.linear import Linear, Matrix
from regard.nn.lowrank import AdaptedLinear
from regard.nn.norms import RMSNormalisation
from regard.nn.positions.absolute import SinusoidalPosition
from regard.nn.positions.rotary import RotaryPosition
from regard.nn.recurrent.intra import IntraLayer
from regard.nn.recurrent.layers import RecurrentLayers

M = TypeVar("M", bound=nn.Module)

TWINS: dict[type[nn.Module], type[nn.Module]] = {
    AdaptedLinear: FastAdaptedLinear,
    ContentKernel: FastContentKernel,
    DotKernel: FastDotKernel,
    Dropout: FastDropout,
    GeneralKernel: FastGeneralKernel,
    IntraLayer: FastIntraLayer,
    Linear: FastLinear,
    LinearOutput: FastLinearOutput,
    MLPLayer: FastMLPLayer,
    Matrix: FastMatrix,
    MeanHead: FastMeanHead,
    RMSNormalisation: FastRMSNormalisation,
    RecurrentLayers: FastRecurrentLayers,
    RotaryPosition: FastRotaryPosition,
    SinusoidalPosition: FastSinusoidalPosition,
    TransformOutput: FastTransformOutput,
}
KEPT = ("packed", "table")  # what twins keep of what they have computed
PLAIN = {twin: layer for layer, twin in TWINS.items()}


def quicken(model: M) -> M:
    """Each layer that has a quicker twin becomes it, in place: a twin adds nothing to a layer but its methods, so the
    layer only changes its class. A subclass of one's own stays what it is."""
    for layer in model.modules():
        if type(layer) in TWINS:
            layer.__class__ = TWINS[type(layer)]
    return model


def plain(model: M) -> M:
    """The opposite."""
    for layer in model.modules():
        if type(layer) in PLAIN:
            for kept in KEPT:
                layer.__dict__.pop(kept, None)
            layer.__class__ = PLAIN[type(layer)]
    return model
