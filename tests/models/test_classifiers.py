"""Classifiers, flat and hierarchical: padding and company change nothing, and what is watched is what was computed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import regard
from regard.config import change, from_json, kinds, to_json
from regard.data.tokenizers import END
from regard.models import Classifier, Hierarchical, HierarchicalModel, ModelConfig, RecurrentEncoder
from regard.models.hierarchical import SentenceReader
from regard.nn.call.masks import real_tokens
from regard.nn.call.watch import silenced
from regard.nn.pooling import AttentionPool, AttentionPooling, PoolConfig
from tests.helpers import encoder, randomise

VOCABULARY = 40
READER = RecurrentEncoder(vocabulary=VOCABULARY, width=12, hidden=6, cell="gru")
FLAT = Classifier(labels=3, reader=READER)
LAYERED = Hierarchical(labels=3, reader=READER, sentences=SentenceReader(hidden=5), pool=AttentionPooling(context=7))
MODELS: dict[str, ModelConfig] = {
    "flat": FLAT,
    "flat-lstm": replace(FLAT, reader=replace(READER, cell="lstm", layers=2)),
    "flat-transformer": replace(FLAT, reader=encoder()),
    **{f"flat-{kind}": replace(FLAT, pool=pool()) for kind, pool in kinds(PoolConfig).items()},  # type: ignore[arg-type]
    "hierarchical": LAYERED,
    "hierarchical-lstm": change(LAYERED, {"cell": "lstm"}),
    "hierarchical-transformer": replace(LAYERED, reader=encoder()),
    "hierarchical-mean": change(LAYERED, {"pool": "mean"}),
}
every_model = pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)

# Texts of three, two, one and one sentences; the last has no end, and one sentence nothing else.
TEXTS = [[5, 6, 7, END, 8, END, 9, 10, END], [11, 12, 13, 14, END, END], [15, END], [16, 17, 18]]


def built(config: ModelConfig) -> regard.models.Model:
    model = config.build()
    randomise(model)
    return model.eval()


def batch() -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(text) for text in TEXTS])
    tokens = torch.randint(0, VOCABULARY, (len(TEXTS), int(lengths.max())))  # what stands in the padding is anything
    for row, text in enumerate(TEXTS):
        tokens[row, : len(text)] = torch.tensor(text)
    return tokens, real_tokens(lengths, int(lengths.max()))


@every_model
def test_a_text_in_a_batch_is_judged_as_it_is_alone(config: ModelConfig) -> None:
    model = built(config)
    together = model(*batch())
    assert together.shape == (4, 3)
    for row, text in enumerate(TEXTS):
        torch.testing.assert_close(together[row : row + 1], model(torch.tensor([text])), rtol=1e-4, atol=1e-5)


@every_model
def test_a_config_comes_back_from_json(config: ModelConfig) -> None:
    assert from_json(ModelConfig, to_json(config)) == config


@every_model
def test_watching_changes_nothing_and_shows_every_layer(config: ModelConfig) -> None:
    model = built(config).train()
    tokens, keep = batch()
    torch.manual_seed(3)
    plain = model(tokens, keep)
    torch.manual_seed(3)
    with regard.watch(model) as seen:
        assert torch.equal(model(tokens, keep), plain)
    assert sorted(seen) == sorted(model.attention_names())
    for name in seen:
        assert seen.last(name).shape[1] == model.heads(name)


@every_model
def test_the_model_inside_is_the_one_that_reads(config: ModelConfig) -> None:
    assert config.text() == config.reader  # type: ignore[attr-defined]


# --- hierarchical attention -------------------------------------------------------------------------------------------


def plainly(model: HierarchicalModel, text: list[int]) -> tuple[Tensor, list[Tensor], Tensor]:
    """The paper's formulas, one sentence and one word at a time: logits, weights of words, weights of sentences."""
    sentences: list[list[int]] = [[]]
    for token in text:
        if token == END:
            sentences.append([])
        else:
            sentences[-1].append(token)
    if not sentences[-1]:
        sentences.pop()
    sentences = [sentence or [END] for sentence in sentences]

    def attend(states: Tensor, pool: AttentionPool) -> tuple[Tensor, Tensor]:
        scores = [pool.score.weight[0] @ torch.tanh(pool.hidden.weight @ h + pool.hidden.bias) for h in states]
        shares = torch.stack([score.exp() for score in scores])
        shares = shares / shares.sum()
        return sum(a * h for a, h in zip(shares, states, strict=True)), shares  # type: ignore[return-value]

    vectors, words = [], []
    for sentence in sentences:
        states, _ = model.reader.encoder.kernel(model.reader.embedding.tokens(torch.tensor([sentence])))
        vector, shares = attend(states[0], model.pool)
        vectors.append(vector)
        words.append(shares)
    states, _ = model.sentences.kernel(torch.stack(vectors)[None])
    document, weights = attend(states[0], model.sentence_pool)
    return model.output.weight @ document + model.output.bias, words, weights


def test_a_batch_equals_the_papers_formulas_sentence_by_sentence() -> None:
    model = built(LAYERED)
    assert isinstance(model, HierarchicalModel)
    tokens, keep = batch()
    with regard.watch(model) as seen:
        found = model(tokens, keep)
    for row, text in enumerate(TEXTS):
        logits, words, sentences = plainly(model, text)
        torch.testing.assert_close(found[row], logits, rtol=1e-4, atol=1e-5)
        count = len(sentences)
        torch.testing.assert_close(seen.last("pool.1.sentences")[row, 0, 0, :count], sentences, rtol=1e-4, atol=1e-5)
        assert not seen.last("pool.1.sentences")[row, 0, 0, count:].any()
        by_text = seen.last("pool.0.words")[row, 0]  # (S, T)
        assert not by_text[count:].any()
        for number, shares in enumerate(words):
            torch.testing.assert_close(by_text[number][by_text[number] > 0], shares, rtol=1e-4, atol=1e-5)


def test_words_have_their_weights_where_they_stand_and_ends_have_none() -> None:
    model = built(LAYERED)
    tokens, keep = batch()
    with regard.watch(model) as seen:
        model(tokens, keep)
    weights = seen.last("pool.0.words")[:, 0]  # (B, S, T)
    assert (weights[0] > 0).tolist() == [
        [True, True, True, *[False] * 6],
        [*[False] * 4, True, *[False] * 4],
        [*[False] * 6, True, True, False],
    ]
    assert (weights[1, :2] > 0).nonzero().tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [1, 5]]  # a lone end is read
    torch.testing.assert_close(weights.sum(-1)[0], torch.ones(3))


def test_sentences_may_come_in_any_number_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    model = built(LAYERED)
    tokens, keep = batch()
    expected = model(tokens, keep)
    for groups in (1, 2, 3, 50):
        monkeypatch.setattr("regard.models.hierarchical.SENTENCE_GROUPS", groups)
        torch.testing.assert_close(model(tokens, keep), expected, rtol=1e-4, atol=1e-5)


def test_the_order_of_sentences_matters_to_the_document() -> None:
    model = built(LAYERED)
    one, other = torch.tensor([[5, 6, END, 7, 8, END]]), torch.tensor([[7, 8, END, 5, 6, END]])
    assert not torch.allclose(model(one), model(other), atol=1e-4)


def test_a_silent_pool_leaves_the_bias_alone() -> None:
    model = built(LAYERED)
    assert isinstance(model, HierarchicalModel)
    tokens, keep = batch()
    with silenced(model, {"pool.1.sentences": [0]}):
        torch.testing.assert_close(model(tokens, keep), model.output.bias.expand(4, 3))


def test_the_preset_has_the_sizes_of_its_paper() -> None:
    """Section 3.3: word vectors of 200, GRUs of 50 in each direction, contexts of 100."""
    config = regard.presets()["han-2016"].config
    assert isinstance(config, Hierarchical)
    model = config.build()
    assert isinstance(model, HierarchicalModel)
    assert model.reader.embedding.tokens.embedding_dim == 200
    for level, pool in ((model.reader.encoder, model.pool), (model.sentences, model.sentence_pool)):
        assert (level.cell, level.hidden, level.directions) == ("gru", 50, 2)
        assert pool.score.in_features == 100
