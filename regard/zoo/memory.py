"""Models with a memory beside their layers, and what learns from a few examples."""

from __future__ import annotations

from regard.models import Turing
from regard.zoo.base import Preset

GRAVES = "Graves et al. 2014, arXiv:1410.5401"

PRESETS = (
    Preset("ntm-2014", Turing(), paper=GRAVES, note="LSTM controller, one head of each kind, as for the copy task"),
    Preset(
        "ntm-2014-feedforward",
        Turing(controller="feedforward"),
        paper=GRAVES,
        note="feed-forward controller, one head of each kind, as for the copy task",
    ),
)
