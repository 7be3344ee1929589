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
from regard.fast.products import Packable
from regard.fast.recurrent import FastRecurrentLayers
from regard.fast.tape import FastIntraLayer

M = TypeVar("M", bound=nn.Module)

QUICK: tuple[type[nn.Module], ...] = (
    *(FastAdaptedLinear, FastContentKernel, FastDotKernel, FastDropout, FastGeneralKernel, FastIntraLayer, FastLinear),
    *(FastLinearOutput, FastMLPLayer, FastMatrix, FastMeanHead, FastRMSNormalisation, FastRecurrentLayers),
    *(FastRotaryPosition, FastSinusoidalPosition, FastTransformOutput),
)
PLAIN = {twin: next(kind for kind in twin.__mro__ if kind not in (*QUICK, Packable)) for twin in QUICK}
TWINS = {layer: twin for twin, layer in PLAIN.items()}
KEPT = ("packed", "table")  # what twins keep of what they have computed


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
