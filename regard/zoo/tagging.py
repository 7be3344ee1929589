"""Taggers, and the biLMs whose layers they read."""

from __future__ import annotations

from regard.models import BiLM, RecurrentEncoder, Tagger
from regard.nn.heads import LinearHead
from regard.zoo.base import Preset

ELMO = "Peters et al. 2018, arXiv:1802.05365"
BENCHMARK = 793_471  # words of the 1B Word Benchmark, which the paper trains on

PRESETS = (
    Preset(
        "tagger",
        Tagger(
            labels=17,  # the universal parts of speech
            reader=RecurrentEncoder(vocabulary=10_000, width=128, cell="lstm", hidden=128, dropout=0.2),
            states_dropout=0.2,
        ),
        paper="Huang et al. 2015, arXiv:1508.01991",
        note="a small bidirectional LSTM with a decision for each word, without the paper's CRF",
    ),
    Preset(
        "bilm-small",
        BiLM(vocabulary=10_000, width=128, dropout=0.1, head=LinearHead(bias=True)),
        paper=ELMO,
        note="for an ordinary computer; token vectors are the output layer's too",
    ),
    Preset(
        "elmo-2018",
        BiLM(vocabulary=BENCHMARK, width=512, hidden=4096, dropout=0.1),
        paper=ELMO,
        note="two layers of 4,096 units, projected to 512; where the paper makes a token's vector from its characters "
        "by convolutions and highways, a table holds it",
    ),
)
