"""Models with a memory beside their layers, and what learns from a few examples."""

from __future__ import annotations

from regard.models import FewShot, PictureEncoder, RecurrentEncoder, Snail, Turing
from regard.models.fewshot import Centroids, LearnerConfig, SnailLearner
from regard.nn.backbones import PooledNet
from regard.nn.recurrent.temporal import TemporalLayers
from regard.zoo.base import Preset

GRAVES = "Graves et al. 2014, arXiv:1410.5401"
MISHRA = "Mishra et al. 2018, arXiv:1707.03141"
SNELL = "Snell et al. 2017, arXiv:1703.05175"


def few_shots(learner: LearnerConfig) -> FewShot:
    """Questions read in both directions, for the vectors of one-line texts."""
    return FewShot(reader=RecurrentEncoder(vocabulary=8000, width=64, hidden=64, dropout=0.3), learner=learner)


def few_pictures(learner: LearnerConfig) -> FewShot:
    """Four convolutions, after which a picture of 28 pixels is four cells."""
    reader = PictureEncoder(side=28, width=64, backbone=PooledNet(), tokens=0, encoder=None)
    return FewShot(reader=reader, learner=learner)


PRESETS = (
    Preset("ntm-2014", Turing(), paper=GRAVES, note="LSTM controller, one head of each kind, as for the copy task"),
    Preset(
        "ntm-2014-feedforward",
        Turing(controller="feedforward"),
        paper=GRAVES,
        note="feed-forward controller, one head of each kind, as for the copy task",
    ),
    Preset(
        "snail-2018",
        few_shots(SnailLearner(TemporalLayers(length=26, filters=128, keys=(64, 256, 512), values=(32, 128, 256)))),
        paper=MISHRA,
        note="the learner of its few-shot experiments, after a small reader of texts instead of pictures",
    ),
    Preset("snail-small", few_shots(SnailLearner(TemporalLayers(length=26))), paper=MISHRA),
    Preset("prototypical-2017", few_shots(Centroids()), paper=SNELL, note="the same small reader of texts"),
    Preset("prototypical-pictures", few_pictures(Centroids()), paper=SNELL, note="for pictures of 28 pixels"),
    Preset(
        "snail-pictures",
        few_pictures(SnailLearner(TemporalLayers(length=26))),
        paper=MISHRA,
        note="for pictures of 28 pixels",
    ),
    Preset(
        "snail-writer",
        Snail(vocabulary=8000, width=128, layers=TemporalLayers(length=128, filters=64)),
        paper=MISHRA,
        note="the same layers as a language model",
    ),
)
