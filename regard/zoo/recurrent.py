"""The recurrent translators, from one fixed context to attention."""

from __future__ import annotations

from dataclasses import replace

from regard.models import Recurrent
from regard.models.recurrent import Bahdanau, Fixed, Luong, ReaderConfig, Start
from regard.nn.attention import Additive
from regard.nn.attention.dot import Dot
from regard.nn.attention.hard import Hard
from regard.nn.attention.local import Monotonic, Predictive
from regard.nn.attention.scores import General, Location
from regard.zoo.base import Preset


def cho(reader: ReaderConfig, bidirectional: bool) -> Recurrent:
    """1,000 gated units and word vectors of 620, as in Bahdanau et al. 2015, appendix A.2.3."""
    return Recurrent(
        vocabulary=30_000,
        width=620,
        source_vocabulary=30_000,
        cell="gru",
        hidden=1000,
        bidirectional=bidirectional,
        reader=reader,
    )


def luong(reader: ReaderConfig) -> Recurrent:
    """Four layers of 1,000 LSTM cells, dropout 0.2, as in Luong et al. 2015, section 4.1."""
    return Recurrent(
        vocabulary=50_000,
        width=1000,
        source_vocabulary=50_000,
        cell="lstm",
        hidden=1000,
        layers=4,
        bidirectional=False,
        dropout=0.2,
        reader=reader,
    )


def sutskever() -> Recurrent:
    """The same size without dropout, sources read from their end, as in the paper's sections 3.3 and 3.4."""
    return replace(luong(Start()), vocabulary=80_000, source_vocabulary=160_000, backwards=True, dropout=0.0)


PAPERS = {
    "sutskever": "Sutskever et al. 2014, arXiv:1409.3215",
    "cho": "Cho et al. 2014, arXiv:1406.1078",
    "bahdanau": "Bahdanau et al. 2015, arXiv:1409.0473",
    "luong": "Luong et al. 2015, arXiv:1508.04025",
    "xu": "Xu et al. 2015, arXiv:1502.03044",
}

PRESETS = (
    Preset("sutskever-2014", sutskever(), paper=PAPERS["sutskever"], published=384_000_000),
    Preset(
        "cho-2014",
        cho(Fixed(output="maxout"), bidirectional=False),
        paper=PAPERS["cho"],
        note="one fixed context; with the word vectors of Bahdanau et al., who call it RNNencdec",
    ),
    Preset("bahdanau-2015", cho(Bahdanau(Additive(hidden=1000)), bidirectional=True), paper=PAPERS["bahdanau"]),
    Preset(
        "bahdanau-2015-hard",
        cho(Bahdanau(Additive(hidden=1000), choice=Hard(reward="row")), bidirectional=True),
        paper=PAPERS["xu"],
        note="hard attention over the words of a sentence: Bahdanau's model with Xu's estimator",
    ),
    Preset("luong-2015", luong(Luong(General())), paper=PAPERS["luong"], note="global attention, general score"),
    Preset("luong-2015-dot", luong(Luong(Dot())), paper=PAPERS["luong"]),
    Preset("luong-2015-concat", luong(Luong(Additive())), paper=PAPERS["luong"]),
    Preset("luong-2015-location", luong(Luong(Location(length=64))), paper=PAPERS["luong"]),
    Preset("luong-2015-local-m", luong(Luong(General(), window=Monotonic())), paper=PAPERS["luong"]),
    Preset("luong-2015-local-p", luong(Luong(General(), window=Predictive())), paper=PAPERS["luong"]),
)
