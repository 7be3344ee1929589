"""Classifiers of texts."""

from __future__ import annotations

from regard.models import Classifier, Hierarchical, RecurrentEncoder
from regard.models.hierarchical import SentenceReader
from regard.nn.pooling import AttentionPooling
from regard.zoo.base import Preset

YANG = "Yang et al. 2016, Hierarchical attention networks for document classification"

PRESETS = (
    Preset(
        "classifier",
        Classifier(
            reader=RecurrentEncoder(vocabulary=10_000, width=128, cell="gru", hidden=64, dropout=0.3),
            pool=AttentionPooling(),
            pooled_dropout=0.3,
        ),
        paper="ours: a bidirectional GRU whose states are pooled by attention; small, for a few thousand texts",
    ),
    Preset(
        "han-2016",
        Hierarchical(
            labels=5,
            reader=RecurrentEncoder(vocabulary=20_000, width=200, cell="gru", hidden=50),
            sentences=SentenceReader(cell="gru", hidden=50),
            pool=AttentionPooling(context=100),
        ),
        paper=YANG,
        note="the vocabulary is that of the data: words seen more than five times; five labels as of Yelp's stars",
    ),
)
