"""Output heads: from the last hidden state to words, and to a loss that need not build all logits at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Part, Positive
from regard.nn.agreement import agreeing_cross_entropy
from regard.nn.embeddings import Embedding, check_tied
from regard.nn.feedforward import ACTIVATIONS, Activation
from regard.nn.initialised import Initialised
from regard.nn.linear import Linear, VectorTable
from regard.nn.norms import LayerNorm, NormConfig

NEVER = float("-inf")
L = TypeVar("L", bound="LinearOutput")


def exact(logits: Tensor) -> Tensor:
    """In at least single precision: sums of log-probabilities are compared."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def capped(logits: Tensor, cap: float | None) -> Tensor:
    """c tanh(z / c): logits that stay below c, and hardly change while they are small. Gemma 2, arXiv:2408.00118"""
    return logits if cap is None else (logits / cap).tanh() * cap


@dataclass(frozen=True)
class HeadConfig(Part, family="head"):
    """What turns hidden states into a distribution over words."""

    def build(self, vocabulary: int, width: int, embedding: Embedding) -> Head:
        raise TypeError(f"{type(self).__name__} is a family, not a head")


class Head(nn.Module):
    """Hidden states (…, D) → logits, log-probabilities (…, V), or the loss of targets (…)."""

    def forward(
        self, hidden: Tensor, targets: Tensor | None = None, smoothing: float = 0.0, ignore: int = -100
    ) -> Tensor:
        """The logits, or the summed loss of targets: called through here, hooks on a head fire."""
        return self.logits(hidden) if targets is None else self.total_loss(hidden, targets, smoothing, ignore)

    def logits(self, hidden: Tensor) -> Tensor:
        raise TypeError(f"{type(self).__name__} makes no logits")

    def log_probs(self, hidden: Tensor) -> Tensor:
        return self.logits(hidden).log_softmax(-1)

    def best(self, hidden: Tensor, count: int, barred: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Of states (B, D): the highest logits (B, count), best first, their words, and the log of the sum over all
        words (B,). A `barred` word cannot be chosen, though it counts in the sum."""
        logits = exact(self.logits(hidden))
        totals = logits.logsumexp(-1)
        if barred is not None:
            logits = logits.index_fill(-1, torch.tensor([barred], device=logits.device), NEVER)
        best = logits.topk(min(count, logits.shape[-1]))
        return best.values, best.indices, totals

    def loss(self, hidden: Tensor, targets: Tensor, smoothing: float = 0.0, ignore: int = -100) -> Tensor:
        """Mean cross-entropy over the targets that are not `ignore`, in at least single precision."""
        count = (targets != ignore).sum().clamp(min=1)
        total: Tensor = self(hidden, targets, smoothing, ignore)
        return total / count

    def total_loss(self, hidden: Tensor, targets: Tensor, smoothing: float = 0.0, ignore: int = -100) -> Tensor:
        """The sum instead of the mean, for batches that are computed in parts."""
        logits = exact(self.logits(hidden).flatten(0, -2))
        return F.cross_entropy(
            logits, targets.flatten(), ignore_index=ignore, label_smoothing=smoothing, reduction="sum"
        )

    def agreeing_loss(self, hidden: Tensor, targets: Tensor, agreement: float, smoothing: float = 0.0) -> Tensor:
        """The sum over targets (N,) where two passes (2, N, D) shall agree: R-Drop, arXiv:2106.14448."""
        return agreeing_cross_entropy(exact(self.log_probs(hidden)), targets, agreement, smoothing)


@dataclass(frozen=True)
class LinearHead(HeadConfig, kind="linear"):
    """One matrix; `tied` uses the token embedding for it (arXiv:1608.05859). Logits stay softly below a `cap`
    (arXiv:2408.00118)."""

    tied: bool = True
    bias: bool = False
    cap: Positive | None = None

    def build(self, vocabulary: int, width: int, embedding: Embedding) -> Head:
        return LinearOutput(vocabulary, width, embedding if self.tied else None, self.bias, self.cap)


class LinearOutput(Initialised, Head):
    """Where it is tied, its weight is that of a `table`, which the embedding owns."""

    def __init__(
        self, vocabulary: int, width: int, tied: Embedding | None, bias: bool, cap: float | None = None
    ) -> None:
        super().__init__()
        self.cap = cap
        self.table: VectorTable | None
        object.__setattr__(self, "table", None if tied is None else check_tied(tied, width))
        self.weight = nn.Parameter(torch.empty(vocabulary, width)) if self.table is None else self.table.weight
        self.bias = nn.Parameter(torch.zeros(vocabulary)) if bias else None
        self.reset_parameters()

    @property
    def tied(self) -> bool:
        return self.table is not None

    def start(self) -> None:
        if self.table is None:
            self.init.head(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def initialise(self) -> None:
        self.tie()
        super().initialise()

    def tie(self) -> None:
        if self.table is not None:
            self.weight = self.table.weight

    def _apply(self: L, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> L:
        """Between the meta device and others PyTorch makes new parameters, for each module its own."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.tie()
        return self

    def transform(self, hidden: Tensor) -> Tensor:
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        return capped(F.linear(self.transform(hidden), self.weight, self.bias), self.cap)


@dataclass(frozen=True)
class TransformHead(HeadConfig, kind="transform"):
    """A dense layer, activation and norm before the matrix: BERT's masked-word head. arXiv:1810.04805"""

    tied: bool = True
    bias: bool = True
    activation: Activation = "gelu"
    norm: NormConfig = LayerNorm(eps=1e-12)

    def build(self, vocabulary: int, width: int, embedding: Embedding) -> Head:
        return TransformOutput(vocabulary, width, embedding if self.tied else None, self)


class TransformOutput(LinearOutput):
    def __init__(self, vocabulary: int, width: int, tied: Embedding | None, config: TransformHead) -> None:
        super().__init__(vocabulary, width, tied, config.bias)
        self.dense = Linear(width, width)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = config.norm.build(width)

    def transform(self, hidden: Tensor) -> Tensor:
        transformed: Tensor = self.norm(self.activation(self.dense(hidden)))
        return transformed


class MeanHead(Head):
    """The mean of the distributions that heads make of their states, which stand side by side."""

    def __init__(self, heads: Sequence[Head], widths: Sequence[int]) -> None:
        super().__init__()
        self.heads, self.widths = nn.ModuleList(heads), list(widths)

    def logits(self, hidden: Tensor) -> Tensor:
        logs = torch.stack([head.log_probs(states) for head, states in self.each(hidden)])
        return logs.logsumexp(0) - math.log(len(logs))

    def each(self, hidden: Tensor) -> Iterator[tuple[Head, Tensor]]:
        """Every head with its own states."""
        for head, states in zip(self.heads, torch.split(hidden, self.widths, -1), strict=True):
            yield cast(Head, head), states
