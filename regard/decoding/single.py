"""One path for each row: greedy search and sampling."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.decoding.filters import forbid, narrow
from regard.decoding.hypothesis import Hypothesis, scored
from regard.decoding.options import Decoding
from regard.decoding.steps import Steps, exact
from regard.models.base import State


def single(
    model: Steps,
    logits: Tensor,
    state: State,
    end: int,
    options: Decoding,
    limits: Tensor,
    generator: torch.Generator | None = None,
) -> list[Hypothesis]:
    """Go on from the logits (B, V) of each row's first token, by the likeliest token or by a drawn one."""
    count, longest = len(logits), int(limits.max())
    tokens = limits.new_empty(count, longest)
    lengths, log_probs = limits.clone(), exact(logits).new_zeros(count)
    finished = torch.zeros_like(limits, dtype=torch.bool)
    rows = torch.arange(count, device=limits.device)  # that still go on
    for length in range(longest):
        logits = exact(logits)
        total = logits.logsumexp(-1)
        chosen = choose(forbid(logits, tokens[rows, :length], end, options), options, generator)  # (B, 1)
        log_probs[rows] += logits.gather(1, chosen).squeeze(1) - total
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
            state = state.select(kept)
        logits, state = model.step(chosen, state)
    found = zip(tokens.tolist(), lengths.tolist(), log_probs.tolist(), finished.tolist(), strict=True)
    return [scored(row[:length], sum_, done, options.length_penalty) for row, length, sum_, done in found]


def choose(logits: Tensor, options: Decoding, generator: torch.Generator | None) -> Tensor:
    """(B, V) → (B, 1) token ids."""
    if options.sample:
        return narrow(logits, options).softmax(-1).multinomial(1, generator=generator)
    return logits.argmax(-1, keepdim=True)
