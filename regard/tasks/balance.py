"""Labels that are far from even: weights by which all count alike, and a word where one label is nearly all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

UNBALANCED = 0.9  # the share of one label from which on it is said
ADVICE = "look at macro_f1 and matthews"
WEIGHED = "--balanced weighs each label by how rare it is"


def class_weights(given: Tensor, labels: int) -> Tensor:
    """(labels,): one over how often each occurs among those that were `given` by number, so that all count alike; their
    mean over what was given is 1."""
    counts = torch.bincount(given, minlength=labels).clamp(min=1)
    return len(given) / (labels * counts.float())


def say_unbalanced(labels: Iterable[str], which: str, advice: str, say: Callable[[str], None]) -> None:
    """Where nearly all examples have one label, whoever always gives that one seems good."""
    found = Counter(labels)
    (label, count), *others = found.most_common()
    if not others:
        say(f"all {which} have the label {label!r}: what is right of others cannot be seen")
    elif count > UNBALANCED * found.total():
        share = count / found.total()
        say(f"{share:.1%} of the {which} have the label {label!r}: always giving it is as accurate; {advice}")
