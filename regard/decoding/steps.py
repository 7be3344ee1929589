"""What decoding asks of a model, and what it wants to know of each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from regard.decoding.filters import forbid, penalise
from regard.decoding.options import Decoding
from regard.fast.topk import likeliest, log_total
from regard.models.base import State, Writer
from regard.nn.heads import exact


class StepModel(Protocol):
    """A model that reads tokens (B, T) and tells the logits (B, V) of what follows."""

    def step(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor: ...


@dataclass
class Outlook:
    """What may follow each row: the highest logits (B, n) that are allowed, best first, and their words.

    `totals` (B,) are the logs of the sums over all words: a logit minus its total is a log-probability. `vocabulary` is
    the number of words.
    """

    logits: Tensor
    words: Tensor
    totals: Tensor
    vocabulary: int

    def best(self) -> Outlook:
        """Of the best word alone."""
        if self.words.shape[1] == 1:
            return self
        return Outlook(self.logits[:, :1], self.words[:, :1], self.totals, self.vocabulary)

    def select(self, rows: Tensor) -> Outlook:
        return Outlook(self.logits[rows], self.words[rows], self.totals[rows], self.vocabulary)


def look(
    model: StepModel,
    tokens: Tensor,
    state: State,
    prefix: Tensor,
    end: int,
    options: Decoding,
    count: int,
    keep: Tensor | None = None,
) -> Outlook:
    """Read new tokens (B, T) and see the `count` best words that may follow the tokens (B, t) written so far."""
    if isinstance(model, Writer) and not looks_back(options):  # need not build all logits
        hidden = model.read(tokens, state, keep)
        barred = end if prefix.shape[1] < options.min_length else None
        return Outlook(*model.head.best(hidden, count, barred), model.config.vocabulary)
    logits = model.step(tokens, state, keep)
    logits = exact(logits)
    totals = log_total(logits)
    logits = forbid(logits, prefix, end, options)
    if options.repetition_penalty == 1.0:
        return Outlook(*likeliest(logits, count), totals, logits.shape[1])
    _, words = likeliest(penalise(logits, prefix, options.repetition_penalty), count)
    return Outlook(logits.gather(1, words), words, totals, logits.shape[1])


def looks_back(options: Decoding) -> bool:
    """Whether what may follow depends on the tokens that were written, beyond their number."""
    return options.no_repeat > 0 or options.repetition_penalty != 1.0
