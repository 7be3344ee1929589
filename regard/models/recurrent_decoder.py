"""A recurrent language model: what wrote texts before Transformers did, token by token from one state."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.config import Rate, Size
from regard.models.base import State
from regard.models.layered import LayeredConfig, LayeredWriter
from regard.nn.call.context import Context
from regard.nn.pooling import last_real
from regard.nn.recurrent.layers import Cell, RecurrentLayers

STATE = "decoder.state"


@dataclass(frozen=True, kw_only=True)
class RecurrentDecoder(LayeredConfig, kind="recurrent-decoder"):
    """Word vectors, recurrent layers, output head; `hidden` is the width of the states.

    Mikolov et al. 2010, "Recurrent neural network based language model"; with LSTM cells and dropout as in Zaremba et
    al. 2014, arXiv:1409.2329.
    """

    cell: Cell = "lstm"
    hidden: Size = 512
    layers: Size = 1
    dropout: Rate = 0.0

    def assemble(self) -> RecurrentDecoderModel:
        return RecurrentDecoderModel(self)


class RecurrentDecoderModel(LayeredWriter):
    decoder: RecurrentLayers

    def __init__(self, config: RecurrentDecoder) -> None:
        layers = RecurrentLayers(config.cell, config.width, config.hidden, config.layers, config.dropout)
        super().__init__(config, layers, config.hidden, config.dropout)

    def states(self, x: Tensor, context: Context) -> Tensor:
        return self.decoder(x)[0]  # type: ignore[no-any-return]

    @torch.no_grad()
    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        x = self.embedding(tokens, self.called(state.advance(tokens, keep)))
        held = state.cache.held(STATE)
        if held is not None and keep is None and tokens.shape[1] == 1:
            last, states = self.decoder.step(x[:, 0], held)
        else:
            out, states = self.decoder(x, held, keep)
            last = last_real(out, keep)
        state.cache.hold(STATE, *states)
        return self.turned(last)
