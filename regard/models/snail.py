"""SNAIL, a simple neural attentive learner, as a language model. Mishra et al. 2018, arXiv:1707.03141."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.models.layered import LayeredConfig, LayeredWriter
from regard.nn.recurrent.temporal import TemporalLayers, TemporalStack


@dataclass(frozen=True, kw_only=True)
class Snail(LayeredConfig, kind="snail"):
    """Word vectors, temporal convolutions and causal attention, output head. It needs no positions: the convolutions
    know the order."""

    layers: TemporalLayers = TemporalLayers()

    def assemble(self) -> SnailModel:
        return SnailModel(self)


class SnailModel(LayeredWriter):
    decoder: TemporalStack

    def __init__(self, config: Snail) -> None:
        layers = config.layers.build(config.width)
        super().__init__(config, layers, layers.out_width)

    def check_padding(self, keep: Tensor) -> None:
        """Convolutions count steps, so that padding may only stand where nothing comes after it."""
        if bool((keep[:, 1:] & ~keep[:, :-1]).any()):
            raise ValueError("temporal convolutions take rows whose padding comes last")

    def cache_values(self) -> tuple[int, int]:
        return self.decoder.cache_values(), 0
