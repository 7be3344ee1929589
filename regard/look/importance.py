"""How much each head matters for one output: what the output loses in log-probability when the head is silent.

Michel et al. 2019, arXiv:1905.10650, for a single input.
"""

from __future__ import annotations

import torch

from regard.errors import Error
from regard.look.capture import behind_masks, run
from regard.look.expecting import follows
from regard.look.records import Look
from regard.look.subject import Subject
from regard.nn.call.watch import silenced


@torch.no_grad()
def importance(subject: Subject, look: Look) -> dict[str, list[float]]:
    """By attention layer, for each of its heads: the log-probability of what was written, minus that without the head.

    Heads that are silent in the look stay so. Positive where a head helped. Empty of a model that has none.
    """
    names = subject.model.attention_names()
    if not names:
        return {}
    off = {name: {int(one.rpartition(".")[2]) for one in look.without if one.startswith(f"{name}.")} for name in names}
    whole = log_prob_without(subject, look, off)
    return {
        name: [
            whole - log_prob_without(subject, look, {**off, name: off[name] | {head}})
            for head in range(subject.model.heads(name))
        ]
        for name in names
    }


def log_prob_without(subject: Subject, look: Look, off: dict[str, set[int]]) -> float:
    """The log-probability of what the look shows as written, with these heads silent."""
    head = subject.head
    if head is None:
        raise Error("a model without an output layer gives no probabilities to lose")
    with silenced(subject.model, off):
        hidden = run(subject, look.sides)
        if look.masks:
            hidden = behind_masks(subject, look.written, hidden, look.masks)
    if look.masks:
        given = [(one.place, look.predictions[one.place].id) for one in look.masks]
    else:
        given = [(place, i) for place, i in enumerate(follows(subject, look.written)) if i is not None]
    logs = head.log_probs(hidden).float()
    return float(sum(logs[place, i] for place, i in given))
