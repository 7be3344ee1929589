"""How a recurrent decoder attends to its source: step by step, by any score, to all of it or a window, soft or hard."""

from __future__ import annotations

from torch import Tensor, nn

from regard.nn.attention.hard import ChoiceConfig
from regard.nn.attention.kernel import KernelConfig, masked_softmax
from regard.nn.attention.local import WindowConfig
from regard.nn.call.context import Context
from regard.nn.linear import Linear
from regard.nn.positions.base import HeadDims, Position

NAME = "cross"


class SourceAttention(nn.Module):
    """Queries (B, T, D) and the memory of R rows, each of which serves B/R consecutive ones → (B, T, M) contexts.

    Keys and values are the encoder's states themselves; a query of another width is turned into theirs, unless the
    kernel bridges the two by a matrix of its own.
    """

    def __init__(
        self, kernel: KernelConfig, window: WindowConfig | None, choice: ChoiceConfig, width: int, memory_width: int
    ) -> None:
        super().__init__()
        fits = kernel.bridges or width == memory_width
        self.query = None if fits else Linear(width, memory_width, bias=False)
        dims = HeadDims(memory_width, 1, 1, memory_width, memory_width, query_width=width if fits else None)
        self.kernel = kernel.build(dims, Position(), dropout=0.0)
        self.window = None if window is None else window.build(width)
        self.choice = choice.build()

    def ready(self, context: Context) -> tuple[Tensor, Tensor]:
        """Keys and values (R, 1, S, …), computed once for a memory."""

        def make(states: Tensor) -> tuple[Tensor, Tensor]:
            return self.kernel.ready(states.unsqueeze(1), states.unsqueeze(1), context)

        return context.kept(NAME, make)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, places: Tensor, context: Context
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """The contexts (B, T, M), the weights (B, 1, T, S) that made them, the chances by which those were chosen, and
        the centres (B, T) of the window, if there is one; `places` (T,) are those of the queries."""
        batch, length, _ = queries.shape
        joined = queries.reshape(len(keys), -1, queries.shape[-1])  # (R, n·T, D)
        q = (joined if self.query is None else self.query(joined)).unsqueeze(1)
        hidden, centres = context.geometry.hidden(), None
        if self.window is None:
            scores = self.kernel.scores(q, keys, context)
            chances = masked_softmax(scores, hidden)
        else:
            lengths = places.new_full((len(keys),), keys.shape[2])
            if context.memory is not None and context.memory.keep is not None:
                lengths = context.memory.keep.sum(1)
            centres = self.window.centres(joined, places.repeat(batch // len(keys)), lengths)
            outside = self.window.outside(centres, keys.shape[2])
            scores = self.kernel.scores(q, keys, context)
            chances = masked_softmax(scores, outside if hidden is None else outside | hidden)
            chances = self.window.shape(chances, centres)
        weights: Tensor = self.choice(chances, context)
        mixed = (weights @ values).squeeze(1)  # (R, n·T, M)
        if context.watcher is not None:
            for name, value in (("queries", q), ("keys", keys), ("scores", scores), ("mixed", mixed.unsqueeze(1))):
                context.note(f"{NAME}.{name}", value)
        shape = (-1, 1, length, weights.shape[-1])
        centres = None if centres is None else centres.view(batch, length)
        return mixed.view(batch, length, -1), weights.view(shape), chances.view(shape), centres
