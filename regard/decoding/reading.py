"""What a model has read of a text, kept to go on from."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.models.base import TextWriter
from regard.nn.heads import exact


class Prefix:
    """The tokens that a model has read and its state after them. A text that begins otherwise is read from there on."""

    def __init__(self, model: TextWriter) -> None:
        self.model, self.tokens, self.state = model, list[int](), model.begin()
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def follow(self, tokens: Sequence[int], count: int = 1) -> Tensor:
        """The logits (count, V) of what follows each of the last so many tokens of a text."""
        self.back_to(min(common(self.tokens, tokens), len(tokens) - count))
        new = torch.tensor([tokens[len(self.tokens) :]], device=self.device)
        hidden = self.model.read_all(new, self.state)
        self.tokens = list(tokens)
        return exact(self.model.head.logits(hidden[0, -count:]))

    def back_to(self, length: int) -> None:
        """Go on after the first so many tokens."""
        if length == len(self.tokens):
            return
        if length:
            self.state.cut(length)
        else:
            self.state = self.model.begin()
        self.tokens = self.tokens[:length]


def common(some: Sequence[int], others: Sequence[int]) -> int:
    """How many tokens two texts begin with alike."""
    for place, (one, other) in enumerate(zip(some, others, strict=False)):
        if one != other:
            return place
    return min(len(some), len(others))
