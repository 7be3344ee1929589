"""Captioners: their papers' formulas, the same in steps, in beams and in batches; what hard attention learns."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.config import ConfigError, change, from_json, to_json
from regard.decoding import Decoding, write
from regard.models import (
    ModelConfig,
    PictureEncoder,
    PictureWriter,
    Recurrent,
    RecurrentCaptioner,
    RecurrentCaptionerModel,
    TransformerCaptioner,
    costs,
)
from regard.models.caption_readers import Vinyals, Xu, uneven
from regard.models.recurrent import Bahdanau, Fixed, Luong, ReaderConfig, Start
from regard.nn.attention import Additive
from regard.nn.attention.hard import Hard
from regard.nn.backbones import ConvolutionalTokens
from regard.nn.call.gathering import Outcome, gathering
from regard.nn.call.masks import real_tokens
from regard.nn.losses import words_loss
from tests.contracts.promises import future_cannot_leak, gradients_reach, steps_equal_the_pass
from tests.decoding.reference import END, START, assert_same, beam
from tests.helpers import CAPTIONERS, built, training_loss
from tests.nn.test_hard import Scripted, gradient
from tests.test_anatomy import multiply_adds

VOCABULARY, SIDE = 40, 16
EYE = PictureEncoder(side=SIDE, width=20, backbone=ConvolutionalTokens(layers=2, inner=8), tokens=0, encoder=None)
READERS: dict[str, ReaderConfig] = {
    "vinyals": Vinyals(),
    "xu-soft": Xu(),
    "xu-hard": Xu(choice=Hard(reward="row")),
    "start": Start(),
    "fixed": Fixed(),
    "bahdanau": Bahdanau(),
    "luong": Luong(),
}
CONFIGS: dict[str, ModelConfig] = {
    **{
        name: RecurrentCaptioner(vocabulary=VOCABULARY, width=16, cell="lstm", hidden=12, encoder=EYE, reader=reader)
        for name, reader in READERS.items()
    },
    "two layers": RecurrentCaptioner(vocabulary=VOCABULARY, width=16, hidden=12, layers=2, encoder=EYE),
    "transformer": change(
        TransformerCaptioner(vocabulary=VOCABULARY, width=16, encoder=EYE), {"heads": 4, "hidden": 24}
    ),
}
every_captioner = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def writer(config: ModelConfig) -> PictureWriter:
    model = built(config)
    assert isinstance(model, PictureWriter)
    return model


def captioner(reader: ReaderConfig, **fields: Any) -> RecurrentCaptionerModel:
    config = RecurrentCaptioner(
        vocabulary=VOCABULARY, width=16, cell="lstm", hidden=12, encoder=EYE, reader=reader, **fields
    )
    model = built(config)
    assert isinstance(model, RecurrentCaptionerModel)
    return model


def some(batch: int = 3, length: int = 6) -> tuple[Tensor, Tensor]:
    return torch.rand(batch, 3, SIDE, SIDE) * 2 - 1, torch.randint(4, VOCABULARY, (batch, length))


# --- promises of every captioner --------------------------------------------------------------------------------------


@every_captioner
def test_steps_equal_the_full_pass(config: ModelConfig) -> None:
    model, (pictures, target) = writer(config), some()
    state = model.begin(model.encode(pictures))
    steps_equal_the_pass(model, state, target, model(pictures, target), 2)


@every_captioner
def test_a_picture_in_a_batch_gives_what_it_gives_alone(config: ModelConfig) -> None:
    model, (pictures, target) = writer(config), some()
    together = model(pictures, target)
    for row in range(3):
        alone = model(pictures[row : row + 1], target[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-4, atol=1e-5)


@every_captioner
def test_several_captions_share_the_memory_of_their_picture(config: ModelConfig) -> None:
    model, (pictures, target) = writer(config), some(4)
    memory = model.encode(pictures[:2])
    apart = model.decode(memory.select(torch.tensor([0, 0, 1, 1])), target)
    torch.testing.assert_close(model.decode(memory, target), apart, rtol=1e-4, atol=1e-5)


@every_captioner
def test_the_future_cannot_leak(config: ModelConfig) -> None:
    future_cannot_leak(writer(config), *some(2))


@every_captioner
def test_beam_search_is_the_plain_search(config: ModelConfig) -> None:
    model, (pictures, _) = writer(config), some()
    found = write(model, model.encode(pictures), Decoding(beam=3, nbest=3), START, END, 6)
    for row in range(3):
        picture = pictures[row : row + 1]

        def log_probs(written: list[int], picture: Tensor = picture) -> Tensor:
            return model(picture, torch.tensor([[START, *written]]))[0, -1].log_softmax(-1).detach()

        assert_same(found[row], beam(log_probs, 6, 3), tolerance=1e-4)


@every_captioner
def test_it_comes_back_from_json_and_gradients_reach_all_of_it(config: ModelConfig) -> None:
    assert from_json(ModelConfig, to_json(config)) == config
    model = writer(config).train()
    training_loss(model, some()).backward()
    gradients_reach(model)


@every_captioner
def test_operations_equal_those_that_pytorch_counts(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    model, (pictures, target) = writer(config), some()
    described = regard.describe(model, batch=3, length=6)
    assert described.multiply_adds == multiply_adds(lambda: model(pictures, target))
    monkeypatch.delitem(costs.FORMULAS, type(model))  # then it is run on an example of its own
    assert regard.describe(model, batch=3, length=6).multiply_adds == described.multiply_adds


@pytest.mark.parametrize("name", CAPTIONERS)
def test_a_small_variant_of_a_preset_learns(name: str) -> None:
    torch.manual_seed(2)
    model = CAPTIONERS[name].build().train()
    assert isinstance(model, PictureWriter)
    pictures, target = torch.rand(2, 3, 32, 32), torch.randint(0, VOCABULARY, (2, 5))
    optimiser, losses = torch.optim.Adam(model.parameters(), lr=3e-3), []
    for _ in range(40):
        loss = words_loss(model.head, model.features(pictures, target), target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_watching_shows_where_words_look_and_changes_nothing() -> None:
    model, (pictures, target) = captioner(Xu()), some()
    plain = model(pictures, target)
    with regard.watch(model) as seen:
        assert torch.equal(model(pictures, target), plain)
    weights = seen.last("decoder.0.cross")
    assert weights.shape == (3, 1, 6, 16)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 1, 6))


def test_a_decoder_that_attends_to_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="the decoder of a captioner attends to the picture"):
        change(CONFIGS["transformer"], {"decoder.block.cross": None})


@pytest.mark.parametrize("reader", [Vinyals(), Xu(), Xu(choice=Hard())], ids=["vinyals", "xu-soft", "xu-hard"])
def test_these_readers_read_texts_too(reader: ReaderConfig) -> None:
    model = built(Recurrent(vocabulary=VOCABULARY, width=16, hidden=12, cell="lstm", reader=reader))
    source, target, keep = torch.randint(4, 40, (2, 7)), torch.randint(4, 40, (2, 5)), torch.ones(2, 7).bool()
    keep[1, 4:] = False
    whole = model(source, target, keep)
    torch.testing.assert_close(model(source[1:, :4], target[1:]), whole[1:], rtol=1e-4, atol=1e-5)
    steps_equal_the_pass(model, model.begin(model.encode(source, keep)), target, whole, 2)


# --- equality with the papers -----------------------------------------------------------------------------------------


def cell_of(model: RecurrentCaptionerModel) -> nn.LSTMCell:
    kernel = model.decoder.kernel
    cell = nn.LSTMCell(kernel.input_size, kernel.hidden_size)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in kernel.state_dict().items()})
    return cell


def test_show_and_tell_is_its_formula() -> None:
    """arXiv:1411.4555, equations 10 to 12: x₋₁ = CNN(I), x_t = W_e S_t, p_{t+1} = softmax of LSTM(x_t)."""
    model, (pictures, target) = captioner(Vinyals(), head=regard.nn.heads.LinearHead(tied=False, bias=True)), some()
    reader: Any = model.reader
    states = model.encoder.encode(pictures).states
    cell, nothing = cell_of(model), torch.zeros(3, 12)
    h, c = cell(states.mean(1) @ reader.enter.weight.T + reader.enter.bias, (nothing, nothing))
    expected = []
    for word in model.embedding.tokens(target).unbind(1):
        h, c = cell(word, (h, c))
        expected.append(reader.out(h) @ model.head.weight.T + model.head.bias)
    torch.testing.assert_close(model(pictures, target), torch.stack(expected, 1), rtol=1e-4, atol=1e-5)


def test_a_state_as_wide_as_its_words_is_told_from_straight() -> None:
    reader: Any = captioner(Vinyals()).reader
    assert reader.out is not None
    straight: Any = built(RecurrentCaptioner(vocabulary=40, width=12, hidden=12, encoder=EYE, reader=Vinyals()))
    assert straight.reader.out is None


def test_show_attend_and_tell_is_its_formula() -> None:
    """arXiv:1502.03044, sections 3.1.2 and 4.2.1: e = f(a, h), z = σ(f h) Σ α a, an LSTM of [E y; z], and the output
    L_o(E y + L_h h + L_z z) from h₀, c₀ that are made of the mean of a."""
    model, (pictures, target) = captioner(Xu(kernel=Additive(hidden=9))), some(1)
    reader: Any = model.reader
    a = model.encoder.encode(pictures).states[0]
    w, u, v = reader.attention.kernel.query[0], reader.attention.kernel.key[0], reader.attention.kernel.v[0, 0]
    bridge: Any = model.bridge
    h, c = (a.mean(0) @ bridge.weight.T + bridge.bias).tanh()[None].chunk(2, -1)
    cell, expected = cell_of(model), []
    for word in model.embedding.tokens(target)[0]:
        weights = ((h @ w + a @ u).tanh() @ v).squeeze(-1).softmax(-1)
        z = reader.gate(h).sigmoid() * (weights @ a)[None]
        h, c = cell(torch.cat([word[None], z], -1), (h, c))
        expected.append(word[None] + reader.of_state(h) + reader.of_context(z))
    features = model.features(pictures, target)
    torch.testing.assert_close(features, torch.stack(expected, 1), rtol=1e-4, atol=1e-5)


def test_places_shall_be_looked_at_once_by_the_real_words_of_a_text() -> None:
    """λ Σ_i (1 − Σ_t α)² of each text, for each word."""
    model, (pictures, target) = captioner(Xu(penalty=0.7)).train(), some(2)
    labels = target.roll(-1, 1)
    labels[1, 3:] = -100
    with gathering(model) as extra, regard.watch(model) as seen:
        words_loss(model.head, model.features(pictures, target), labels)
    weights = seen.last("decoder.0.cross").squeeze(1)
    looked = torch.stack([weights[0].sum(0), weights[1, :3].sum(0)])
    torch.testing.assert_close(extra.total(), 0.7 * (1 - looked).square().sum() / 9)
    model.eval()
    with gathering(model) as none:
        model(pictures, target)
    assert none.total() == 0


def test_padding_of_a_source_is_not_missed() -> None:
    chances = torch.tensor([[[0.5, 0.5, 0.0]]])
    outcome = Outcome(torch.zeros(1, 1), torch.ones(1, 1, dtype=torch.bool))
    keep = real_tokens(torch.tensor([2]), 3)
    assert float(uneven(chances, keep, outcome)) == pytest.approx(0.5)
    assert float(uneven(chances, None, outcome)) == pytest.approx(1.5)


# --- hard attention ---------------------------------------------------------------------------------------------------


def test_the_mean_of_sampled_gradients_is_the_exact_gradient() -> None:
    """Of all ways in which two words can look at four places."""
    eye = change(EYE, {"side": 4, "layers": 1, "width": 3})
    drawn = Hard(reward="row", weight=1.0, entropy=0.0, expected=0.0)
    config = RecurrentCaptioner(
        vocabulary=7, width=3, cell="lstm", hidden=3, encoder=eye, reader=Xu(choice=drawn, penalty=0.0)
    )
    torch.manual_seed(4)
    model = config.build().double().train()
    assert isinstance(model, RecurrentCaptionerModel)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter))
    picture, words = torch.rand(1, 3, 4, 4).double(), torch.randint(0, 7, (1, 3))
    target, labels = words[:, :-1], words[:, 1:]
    exact = gradient(model, expected_loss(model, picture, target, labels))
    many = [part.expand(400, *part.shape[1:]) for part in (picture, target, labels)]
    sampled = torch.stack([gradient(model, drawn_loss(model, *many) / 400) for _ in range(60)])
    error = sampled.std(0) / 60**0.5
    assert ((sampled.mean(0) - exact).abs() <= 5 * error + 1e-9).all()
    assert error.norm() < 0.1 * exact.norm()  # so that the test could tell


def drawn_loss(model: RecurrentCaptionerModel, pictures: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    with gathering(model) as extra:
        loss = words_loss(model.head, model.features(pictures, target), labels)
        return loss + extra.total() * labels.numel()


def expected_loss(model: RecurrentCaptionerModel, picture: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    """By enumerating every sequence of places."""
    attention = model.reader.attention
    assert attention is not None
    drawing, total = attention.choice, torch.zeros((), dtype=torch.float64)
    for places in itertools.product(range(4), repeat=2):
        attention.choice = script = Scripted(places)
        log_probs = model.head.log_probs(model.features(picture, target))
        total = total - script.chance * log_probs.gather(-1, labels.unsqueeze(-1)).sum()
    attention.choice = drawing
    return total
