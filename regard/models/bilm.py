"""Two language models that read a text from either end, and ELMo: a mix of all their layers as word vectors.

Peters et al. 2018, arXiv:1802.05365.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from regard.config import ConfigError, Rate, Size
from regard.models.base import TextReader, TextReaderConfig
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.pooling import last_real
from regard.nn.positions.base import Position
from regard.nn.recurrent.layers import places_from_the_end


@dataclass(frozen=True, kw_only=True)
class BiLM(TextReaderConfig, kind="bilm"):
    """A forward and a backward language model of LSTM layers, which share token vectors and output layer.

    States are as wide as token vectors; `hidden` cells, where they are more, are projected to them. `residual` adds the
    input of every layer but the first to its output. As a reader it gives its top layer, or with `mix` ELMo: all layers
    and the token vectors, mixed by learned weights.
    """

    hidden: Size | None = None
    layers: Size = 2
    residual: bool = True
    dropout: Rate = 0.0
    embedding: EmbeddingConfig = TokenEmbedding()
    head: HeadConfig | None = LinearHead(tied=False, bias=True)
    mix: bool = False

    def check(self) -> None:
        if self.hidden is not None and self.hidden < self.width:
            raise ConfigError(f"hidden {self.hidden} is less than the width {self.width} that cells are projected to")

    def inside(self) -> BiLM:
        """ELMo: what it predicts is of no use there, all of its layers are."""
        return replace(self, head=None, mix=True)

    def assemble(self) -> BiLMModel:
        return BiLMModel(self)


class BiLMModel(TextReader):
    """`forward` gives the logits (B, T, 2, V) of the next token and of the one before; without a head, the states."""

    def __init__(self, config: BiLM) -> None:
        super().__init__(config)
        width = config.width
        self.states_width = 2 * width
        self.embedding = config.embedding.build(config.vocabulary, width, Position())
        self.ahead = nn.ModuleList(lstm(width, config.hidden or width) for _ in range(config.layers))
        self.back = nn.ModuleList(lstm(width, config.hidden or width) for _ in range(config.layers))
        self.residual, self.dropout = config.residual, Dropout(config.dropout)
        self.mix = LayerMix(config.layers + 1) if config.mix else None
        self.head = None if config.head is None else config.head.build(config.vocabulary, width, self.embedding)

    def layers(self, tokens: Tensor, keep: Tensor | None = None) -> tuple[list[Tensor], list[Tensor]]:
        """The token vectors and the states of every layer, (B, T, D) each: reading forwards, and reading backwards.

        A state knows its own token and those before it, or those after it.
        """
        self.check_tokens(tokens, keep)
        turn = places_from_the_end(tokens, keep).unsqueeze(-1)
        x = self.dropout(self.embedding(tokens, self.whole(tokens, Mask(keys=keep))))
        forward = self.run(self.ahead, x)
        backward = self.run(self.back, x.gather(1, turn.expand_as(x)))
        return forward, [states.gather(1, turn.expand_as(states)) for states in backward]

    def run(self, kernels: nn.ModuleList, x: Tensor) -> list[Tensor]:
        """Padding comes last in either direction, so what stands before it needs no packing: twice as fast so."""
        found = [x]
        for number, kernel in enumerate(kernels):
            with no_warning():
                states, _ = kernel(x)
            x = self.dropout(states)
            if self.residual and number > 0:
                x = x + found[-1]
            found.append(x)
        return found

    def features(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        """The top states (B, T, 2, D) of both directions, as the head takes them."""
        forward, backward = self.layers(tokens, keep)
        return torch.stack([forward[-1], backward[-1]], 2)

    def encode(self, tokens: Tensor, keep: Tensor | None = None) -> Memory:
        """With the last state of each direction as the summary."""
        forward, backward = self.layers(tokens, keep)
        states = [torch.cat(both, -1) for both in zip(forward, backward, strict=True)]
        mixed = states[-1] if self.mix is None else self.mix(states)
        ahead, back = mixed.chunk(2, -1)
        return Memory(mixed, keep, torch.cat([last_real(ahead, keep), back[:, 0]], -1))

    def forward(self, tokens: Tensor, keep: Tensor | None = None, *, labels: Tensor | None = None) -> Tensor:
        """The states; with a head its logits (B, T, 2, V), or with `labels` (B, T, 2) their mean cross-entropy."""
        if self.head is None:
            return self.encode(tokens, keep).states
        hidden = self.features(tokens, keep)
        found: Tensor = self.head(hidden) if labels is None else self.head.loss(hidden, labels)
        return found


def no_warning() -> AbstractContextManager[object]:
    """Around an LSTM with projections, of which PyTorch warns that another kernel serves it; that is not traced."""
    return nullcontext() if torch.compiler.is_compiling() else _ignored()


@contextmanager
def _ignored() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "LSTM with projections")
        yield


class LayerMix(nn.Module):
    """gamma · Σ softmax(s)_j h_j over layers (B, T, D): a number for each, and one for all. Equation 1 of the paper."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.scores)
        nn.init.ones_(self.gamma)

    def weights(self) -> Tensor:
        """How much each layer counts, token vectors first."""
        return self.scores.softmax(0)

    def forward(self, layers: list[Tensor]) -> Tensor:
        mixed = sum(weight * states for weight, states in zip(self.weights(), layers, strict=True))
        assert isinstance(mixed, Tensor)
        return self.gamma * mixed


def lstm(width: int, hidden: int) -> nn.LSTM:
    """One layer whose states are `width` wide: those of its cells, or a projection of them (arXiv:1402.1128)."""
    return nn.LSTM(width, hidden, batch_first=True, proj_size=width if hidden > width else 0)
