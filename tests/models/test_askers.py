"""Models that answer questions about pictures: each glance equals its formula; padding, batching and watching change
nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import regard
from regard.models import Asker, BagOfWords, Encoder, Model, PictureEncoder, RecurrentEncoder, TextReaderConfig
from regard.models.asker import QUESTION_TOKENS
from regard.models.counting import counted
from regard.nn.attention import MultiHead
from regard.nn.backbones import Patches
from regard.nn.call.gathering import gathering
from regard.nn.call.masks import real_tokens
from regard.nn.call.memory import Memory
from regard.nn.call.watch import silenced
from regard.nn.glances import Differential, GlanceConfig, Glimpses, Stacked, WordGuided
from regard.nn.positions import LearnedGrid
from regard.nn.stacks import Block, Stack
from tests.helpers import VOCABULARY, built, label, randomise, registered, tokens, whole

CELLS, WORDS, C, Q = 9, 5, 12, 8
KEEP = real_tokens(torch.tensor([5, 3]), WORDS)
every_glance = pytest.mark.parametrize("glance", registered(GlanceConfig), ids=label)


def reader(side: int = 16) -> PictureEncoder:
    stack = Stack(layers=1, block=Block(MultiHead(heads=2)), position=LearnedGrid(rows=4, columns=4, leading=0))
    return PictureEncoder(side=side, width=16, backbone=Patches(size=4), tokens=0, encoder=stack)


def asker(glance: GlanceConfig, question: TextReaderConfig | None = None) -> Model:
    recurrent = RecurrentEncoder(vocabulary=VOCABULARY, width=8, hidden=6)
    return built(Asker(reader=reader(), question=question or recurrent, glance=glance, labels=5))


def given(batch: int = 2) -> tuple[Tensor, Tensor]:
    return torch.rand(batch, 3, 16, 16), tokens(batch, WORDS)


# --- formulas ---------------------------------------------------------------------------------------------------------


def glanced(config: GlanceConfig) -> tuple[dict[str, Tensor], Tensor, Memory, Tensor]:
    """The weights of a glance, what it is given, and what it tells."""
    glance = config.build(C, Q)
    randomise(glance)
    cells, question = torch.randn(2, CELLS, C), Memory(torch.randn(2, WORDS, Q), KEEP, torch.randn(2, Q))
    return glance.state_dict(), cells, question, glance(cells, question, whole(2, CELLS))


def test_stacked_attention_equals_its_formula() -> None:
    w, cells, question, told = glanced(Stacked(hidden=7, hops=3))
    assert question.summary is not None
    for row in range(2):
        v = (cells[row] @ w["enter.weight"].T + w["enter.bias"]).tanh()
        u = question.summary[row]
        for hop in range(3):
            asked = w[f"hops.{hop}.question.weight"] @ u + w[f"hops.{hop}.question.bias"]
            h = torch.stack([(w[f"hops.{hop}.cells.weight"] @ one + asked).tanh() for one in v])
            p = (h @ w[f"hops.{hop}.score.weight"][0]).softmax(0)
            u = sum(p[i] * v[i] for i in range(CELLS)) + u
        torch.testing.assert_close(told[row], u)


def test_glimpses_equal_their_convolutions() -> None:
    w, cells, question, told = glanced(Glimpses(glimpses=2, hidden=7, joined=6))
    assert question.summary is not None
    grid = cells.transpose(1, 2).reshape(2, C, 3, 3)
    grid = grid / grid.square().sum(1, keepdim=True).sqrt()
    beside = torch.cat([grid, question.summary[:, :, None, None].expand(-1, -1, 3, 3)], 1)
    first = torch.cat([w["cells.weight"], w["question.weight"]], 1)
    hidden = F.conv2d(beside, first[:, :, None, None], w["question.bias"]).relu()
    maps = F.conv2d(hidden, w["score.weight"][:, :, None, None]).flatten(2).softmax(-1)  # (B, 2, cells)
    seen = torch.einsum("bgn,bcn->bgc", maps, grid.flatten(2)).flatten(1)
    joined = torch.cat([seen, question.summary], 1) @ w["join.weight"].T + w["join.bias"]
    torch.testing.assert_close(told, joined.relu())


def test_words_guide_the_first_hop_and_the_question_the_second() -> None:
    w, cells, question, told = glanced(WordGuided())
    assert question.summary is not None
    for row in range(2):
        s, words = cells[row], question.states[row, KEEP[row]]
        matched = s @ w["matched.weight"].T + w["matched.bias"]
        first, second = (s @ w[f"evidence.{i}.weight"].T + w[f"evidence.{i}.bias"] for i in range(2))
        best = torch.stack([max(word @ cell for word in words) for cell in matched])
        o = best.softmax(0) @ first + question.summary[row]
        after = (first @ o).softmax(0) @ second
        torch.testing.assert_close(told[row], (o + after).relu())


def test_differential_attention_adds_the_triplet_loss_of_its_maps() -> None:
    model = asker(Differential(hidden=4, hops=1, margin=0.3, weight=2.0)).train()
    pictures, words = given(4)
    with gathering(model) as extra, regard.watch(model, "glance.0") as seen:
        model(pictures, words)
    p = seen.last("glance.0")[:, 0, 0]
    with torch.no_grad():
        cells, asked = model.reader.encode(pictures).states.mean(1), model.asked(words, None).summary
    losses = []
    for row in range(4):
        alike = [float(sum(torch.cosine_similarity(x[row], x[i], dim=0) for x in (cells, asked))) for i in range(4)]
        others = sorted((i for i in range(4) if i != row), key=lambda i: alike[i])
        near, far = (p[row] - p[others[-1]]).square().sum(), (p[row] - p[others[0]]).square().sum()
        losses.append(max(0.0, float(near - far + 0.3)))
    assert max(losses) > 0
    total = extra.total()
    assert isinstance(total, Tensor)
    assert total.item() == pytest.approx(2 * sum(losses) / 4, abs=1e-5)
    total.backward()
    assert model.glance.hops[0].score.weight.grad.abs().sum() > 0
    with gathering(model.eval()) as extra:
        model(pictures, words)
    assert extra.total() == 0


def test_two_questions_have_no_exemplars() -> None:
    model = asker(Differential(hidden=4)).train()
    with gathering(model) as extra:
        model(*given(2))
    assert extra.total() == 0


def test_a_bag_of_words_weighs_places() -> None:
    model = built(BagOfWords(vocabulary=VOCABULARY, width=6, length=WORDS))
    words = tokens(2, WORDS)
    memory = model.encode(words, KEEP)
    assert memory.summary is not None
    for row in range(2):
        vectors = memory.states[row, : int(KEEP[row].sum())]
        expected = sum(weight * vector for weight, vector in zip(model.places.weight, vectors, strict=False))
        torch.testing.assert_close(memory.summary[row], expected + model.places.bias)
    assert model.longest == WORDS


# --- what changes nothing ---------------------------------------------------------------------------------------------

STACK = Stack(layers=1, block=Block(MultiHead(heads=2)))
READERS: dict[str, TextReaderConfig] = {
    "recurrent": RecurrentEncoder(vocabulary=VOCABULARY, width=8, hidden=6),
    "bag": BagOfWords(vocabulary=VOCABULARY, width=8),
    "encoder": Encoder(
        vocabulary=VOCABULARY, width=8, encoder=Stack(layers=1, block=Block(MultiHead(heads=2)))
    ).inside(),
}


@every_glance
@pytest.mark.parametrize("question", READERS)
def test_a_question_alone_is_answered_as_among_others(glance: GlanceConfig, question: str) -> None:
    """Padded beside longer ones, and where several are asked about one picture, which is read once."""
    model = asker(glance, READERS[question])
    pictures, words = given()
    words = torch.cat([words, tokens(1, WORDS)])
    keep = real_tokens(torch.tensor([5, 3, 1]), WORDS)
    together = model(pictures, words, keep, torch.tensor([1, 0, 1]))
    for row, picture in enumerate((1, 0, 1)):
        alone = model(pictures[picture : picture + 1], words[row : row + 1, keep[row]])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-4, atol=1e-5)


@every_glance
def test_watching_shows_the_maps_that_ran(glance: GlanceConfig) -> None:
    model = asker(glance, READERS["encoder"])
    plain = model(*given_twice())
    with regard.watch(model) as seen:
        assert torch.equal(model(*given_twice()), plain)
    steps = [name for name in seen if name.startswith("glance.")]
    assert [*seen] == ["encoder.0.self", "question.encoder.0.self", *steps] == model.attention_names()
    assert steps
    for name in steps:
        weights = seen.last(name)
        assert weights.shape == (2, model.heads(name), 1, 16)
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    with regard.watch(model, "glance.*", "question.*") as some:
        model(*given_twice())
    assert [*some] == ["question.encoder.0.self", *steps]


def given_twice() -> tuple[Tensor, Tensor]:
    torch.manual_seed(2)
    return given()


@every_glance
def test_a_silent_step_adds_nothing(glance: GlanceConfig) -> None:
    model, inputs = asker(glance), given()
    plain = model(*inputs)
    with silenced(model, {"glance.0": [0]}):
        assert not torch.allclose(model(*inputs), plain, atol=1e-4)


@pytest.mark.parametrize("glance", [Stacked(), Glimpses(), WordGuided()], ids=label)
@pytest.mark.parametrize("question", ["bag", "encoder"])
def test_operations_equal_those_that_pytorch_counts(glance: GlanceConfig, question: str) -> None:
    model = asker(glance, READERS[question])
    summed = 3 * QUESTION_TOKENS * 8 if question == "bag" else 0  # a product by a vector, which PyTorch does not count
    assert regard.describe(model, batch=3).multiply_adds == counted(model, 3, 1).multiply_adds + summed


def test_questions_and_pictures_must_match() -> None:
    model = asker(Stacked(hidden=4))
    with pytest.raises(ValueError, match="3 questions are asked about 2 pictures, each about one"):
        model(torch.rand(2, 3, 16, 16), tokens(3, WORDS))


def test_a_reader_of_pictures_alone_keeps_its_names() -> None:
    alone = built(replace(reader()))
    with regard.watch(alone) as seen:
        alone(torch.rand(1, 3, 16, 16))
    assert [*seen] == ["encoder.0.self"]
