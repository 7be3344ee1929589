"""The lab: fair comparisons that print a table, draw a figure and say what follows. One file an experiment."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from regard import extensions
from regard.config import nearest
from regard.errors import Error

if TYPE_CHECKING:
    from regard.lab.experiment import Experiment

EXPERIMENTS = {  # for the command line, whose help imports no torch
    "bottleneck": "one fixed context against attention: BLEU by length of the source",
    "scores": "six ways to score a key: BLEU, alignment error, time of a step",
    "three-ways": "recurrence, convolution, attention: time, memory, paths, and recall from a distance",
    "order": "nine ways to tell the order of words: BLEU within and beyond the trained lengths",
}
MINUTES = {
    "bottleneck": 54,
    "scores": 42,
    "three-ways": 14,
    "order": 46,
}  # with default options on a quiet machine, about


def listing() -> str:
    """The experiments, one a line."""
    return "\n".join(f"{name:<12}{about} (about {MINUTES[name]} minutes)" for name, about in EXPERIMENTS.items())


def find(name: str) -> type[Experiment]:
    """The config of an experiment, with which it is run."""
    from regard.lab.experiment import Experiment

    if name in EXPERIMENTS:
        importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    elif name not in Experiment.members:
        extensions.installed()
    if name not in Experiment.members:
        raise Error(f"unknown experiment {name!r}: {nearest(name, EXPERIMENTS)}")
    found = Experiment.members[name]
    assert issubclass(found, Experiment)
    return found
