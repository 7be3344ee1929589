"""What a model expects at each place of a text, and how likely it finds what stands there."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.look.parts import Choice, Masked, Prediction, Side
from regard.look.subject import Subject
from regard.models import EncoderModel, MemoryWriter


def expectations(
    subject: Subject, side: Side, hidden: Tensor, best: int, masks: Sequence[Masked] = ()
) -> tuple[list[Prediction], list[Prediction]]:
    """By the states of a side. Of one direction, (T, D): what is expected at each place, and nothing backward; of both,
    (T, 2, D): the same judged by the tokens before, and by those behind."""
    assert subject.head is not None
    logs = subject.head.log_probs(hidden).float()  # (T, V) or (T, 2, V)
    return both_ways(subject, side, logs, best) if logs.dim() > 2 else (one_way(subject, side, logs, best, masks), [])


def one_way(subject: Subject, side: Side, logs: Tensor, best: int, masks: Sequence[Masked] = ()) -> list[Prediction]:
    """An encoder never predicts special tokens: masks hide none of them in training."""
    specials = sorted(subject.tokenizer.specials) if isinstance(subject.model, EncoderModel) else []
    barred = torch.tensor(specials, dtype=torch.long, device=logs.device)
    found = []
    for place, (given, whole) in enumerate(zip(follows(subject, side, masks), logs, strict=True)):
        row = whole if given in specials else whole.index_fill(-1, barred, -torch.inf)
        found.append(prediction(subject, place, given, row, best))
    return found


def both_ways(subject: Subject, side: Side, logs: Tensor, best: int) -> tuple[list[Prediction], list[Prediction]]:
    """The first token has nothing before it and the last nothing behind it: each direction predicts one token less."""
    ahead, back = logs[:-1, 0], logs[1:, 1]
    return (
        [prediction(subject, place, side.ids[place], row, best) for place, row in enumerate(ahead, 1)],
        [prediction(subject, place, side.ids[place], row, best) for place, row in enumerate(back)],
    )


def follows(subject: Subject, side: Side, masks: Sequence[Masked] = ()) -> list[int | None]:
    """The token after each place (at it, for an encoder); None where nothing is given and the model chooses."""
    if isinstance(subject.model, EncoderModel):
        behind = {one.place: one.id for one in masks}
        return [behind.get(place, i) for place, i in enumerate(side.ids)]
    last = subject.tokenizer.end if isinstance(subject.model, MemoryWriter) else None
    return [*side.ids[1:], last]


def prediction(subject: Subject, place: int, given: int | None, row: Tensor, best: int) -> Prediction:
    """The prediction of the given token, or of the likeliest, from the log-probabilities (V,)."""
    values, ids = row.topk(min(max(best, 1), len(row)))
    choices = [
        Choice(subject.tokenizer.token(i), i, value)
        for i, value in zip(ids.tolist(), values.exp().tolist(), strict=True)
    ]
    chosen = choices[0].id if given is None else given
    rank = 1 + int((row > row[chosen]).sum())
    token = subject.tokenizer.token(chosen)
    return Prediction(place, token, chosen, float(row[chosen].exp()), rank, choices[:best])
