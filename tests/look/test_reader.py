"""The reader's figure as a record: words that look back at earlier words, of any layer that looks no further."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from regard.data.tokenizers import Tokenizer
from regard.look import Look, Subject, look
from regard.models import LSTMN, Classifier, LSTMNEncoder, ModelConfig, RecurrentDecoder, Tagger
from tests.helpers import built, decoder, encoder

TOKENIZER = Tokenizer.train([], "byte")
TEXT = "one two three"
READER = LSTMNEncoder(vocabulary=TOKENIZER.vocabulary, width=16, hidden=12, layers=2)


def seen(config: ModelConfig) -> Look:
    return look(Subject(built(type(config)(**{**vars(config), "vocabulary": TOKENIZER.vocabulary})), TOKENIZER), TEXT)


@pytest.mark.parametrize("config", [LSTMN(vocabulary=9, width=16, hidden=12), decoder()], ids=["lstmn", "decoder"])
def test_words_look_back_at_words(config: ModelConfig) -> None:
    found = seen(config)
    layer = found.layers[-1].name
    reader = found.reader()
    assert (reader.name, list(reader.words)) == (layer, ["<s>", "one", "␣", "two", "␣", "three"])
    weights = found.arrays[layer].mean(0)
    assert reader.weights[5, 1] == pytest.approx(weights[9:14, 1:4].mean(0).sum(), rel=1e-4)
    assert reader.weights[3, 2] == pytest.approx(weights[5:8, 4].mean(), rel=1e-4)
    tokens = found.reader(layer, head=0, words=False)
    assert np.array_equal(tokens.weights, found.arrays[layer][0])
    assert len(tokens.words) == 14


@pytest.mark.parametrize(
    ("config", "task"),
    [(Classifier(reader=READER), "classify"), (Tagger(reader=READER), "tag"), (READER, None)],
    ids=["classifier", "tagger", "reader"],
)
def test_whatever_reads_a_text_from_its_start_has_one(config: ModelConfig, task: str | None) -> None:
    found = look(Subject(built(config), TOKENIZER, labels=("no", "yes"), task=task), TEXT)
    reader = found.reader()
    assert reader.name == "encoder.1.self"
    assert [word for word in reader.words if word in TEXT.split()] == TEXT.split()
    weights = found.arrays["encoder.0.self"][0]
    tokens = found.reader("encoder.0.self", words=False)
    assert np.array_equal(tokens.weights, weights)
    assert list(tokens.words) == [token.strip() or "␣" for token in found.sides["text"].tokens]
    assert weights[1:].sum(1) == pytest.approx(1, abs=1e-5)
    last = ET.fromstring(reader._repr_html_()).findall(f".//g[@data-row='{len(reader.words) - 1}']")
    assert len(last) == len(reader.words)
    assert np.array_equal(Look.from_bytes(found.to_bytes()).reader().words, reader.words)


def test_it_draws_itself_line_by_line() -> None:
    reader = seen(decoder()).reader(words=True)
    root = ET.fromstring(reader._repr_html_())
    groups = root.findall(".//g")
    count = len(reader.words)
    assert len(groups) == count * (count + 1) // 2
    current = [group for group in groups if group.attrib["data-row"] == group.attrib["data-column"]]
    assert all("#c8102e" in (group.find("text") or group).attrib.get("fill", "#c8102e") for group in current)
    last = [group for group in groups if group.attrib["data-row"] == str(count - 1)][:-1]
    shades = [float(group[0].attrib["fill-opacity"]) for group in last]
    assert max(shades) == pytest.approx(0.6)
    assert int(np.argmax(shades)) == int(np.argmax(reader.weights[-1, :-1]))


def test_what_does_not_look_back_has_no_figure() -> None:
    with pytest.raises(ValueError, match="no attention to earlier words"):
        seen(RecurrentDecoder(vocabulary=9, width=16, hidden=12)).reader()
    with pytest.raises(ValueError, match=r"no layer 'decoder\.9\.self' looks at earlier words: did you mean"):
        seen(decoder()).reader("decoder.9.self")
    found = seen(type(encoder())(**{**vars(encoder())}))
    with pytest.raises(ValueError, match="no attention to earlier words"):
        found.reader()
