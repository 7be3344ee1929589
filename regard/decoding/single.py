"""One path for each row: greedy search and sampling."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.decoding.filters import forbid, narrow, penalise
from regard.decoding.hypothesis import Hypothesis, scored
from regard.decoding.options import Decoding
from regard.decoding.steps import Outlook, StepModel, look
from regard.fast.topk import log_total
from regard.models.base import State
from regard.nn.heads import exact

Dice = torch.Generator | Sequence[torch.Generator] | None  # for all rows, or one for each


def single(
    model: StepModel,
    ahead: Outlook | Tensor,
    state: State,
    end: int,
    options: Decoding,
    limits: Tensor,
    generator: torch.Generator | None = None,
) -> list[Hypothesis]:
    """Go on from what may be each row's first token: the best words of an outlook, or logits (B, V) to draw from."""
    count, longest = len(limits), int(limits.max())
    tokens = limits.new_empty(count, longest)
    lengths = limits.clone()
    log_probs = exact(ahead if isinstance(ahead, Tensor) else ahead.logits).new_zeros(count)
    finished = torch.zeros_like(limits, dtype=torch.bool)
    rows = torch.arange(count, device=limits.device)  # that still go on
    for length in range(longest):
        prefix = tokens[rows, :length]
        chosen, gained = draw(ahead, prefix, end, options, generator) if isinstance(ahead, Tensor) else take(ahead)
        log_probs[rows] += gained
        tokens[rows, length] = chosen.squeeze(1)
        ended = chosen.squeeze(1) == end
        finished[rows] = ended
        lengths[rows[ended]] = length
        going = ~ended & (limits[rows] > length + 1)
        if not going.all():
            kept = going.nonzero().squeeze(1)
            rows, chosen = rows[kept], chosen[kept]
            if len(rows) == 0:
                break
            state.select(kept)
        if options.sample:
            ahead = model.step(chosen, state)
        else:
            ahead = look(model, chosen, state, tokens[rows, : length + 1], end, options, 1)
    found = zip(tokens.tolist(), lengths.tolist(), log_probs.tolist(), finished.tolist(), strict=True)
    return [scored(row[:length], sum_, done, options.length_penalty) for row, length, sum_, done in found]


def take(ahead: Outlook) -> tuple[Tensor, Tensor]:
    """The best words (B, 1) and their log-probabilities (B,)."""
    return ahead.words, ahead.logits.squeeze(1) - ahead.totals


def draw(logits: Tensor, prefix: Tensor, end: int, options: Decoding, generator: Dice) -> tuple[Tensor, Tensor]:
    """Words (B, 1) that were drawn, and the log-probabilities (B,) that the model itself gives to them."""
    logits = exact(logits)
    total = log_total(logits)
    chosen = pick(chances(logits, prefix, end, options), generator)
    return chosen, logits.gather(1, chosen).squeeze(1) - total


def chances(logits: Tensor, prefix: Tensor, end: int, options: Decoding) -> Tensor:
    """The probabilities (B, V) that are drawn from; what is forbidden is blocked in the logits, in place."""
    logits = forbid(logits, prefix, end, options)
    if options.repetition_penalty != 1.0:
        logits = penalise(logits, prefix, options.repetition_penalty)
    return narrow(logits, options).softmax(-1)


def pick(probs: Tensor, generator: Dice) -> Tensor:
    """A word (B, 1) for each row; with generators of their own, each row draws what it would alone."""
    if not isinstance(generator, Sequence):
        return probs.multinomial(1, generator=generator)
    rows = zip(torch.split(probs, 1), generator, strict=True)
    return torch.cat([row.multinomial(1, generator=own) for row, own in rows])
