"""Every norm, feed-forward, wiring, embedding, head and initialisation keeps the same promises."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.config import kinds
from regard.nn.attention import MultiHead
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import ACTIVATIONS, GATES, MLP, FeedForwardConfig, Gated, GatedLayer, MLPLayer
from regard.nn.heads import HeadConfig
from regard.nn.init import InitConfig, Normal, Xavier
from regard.nn.norms import NormConfig
from regard.nn.positions import Position
from regard.nn.residual import ResidualConfig
from regard.zoo import build
from tests.contracts.promises import gradients_reach, steps_equal_the_pass
from tests.helpers import FEEDFORWARDS, built, decoder, label, tokens, whole

NORMS: list[NormConfig] = [kind() for kind in kinds(NormConfig).values()]  # type: ignore[misc]
WIRINGS: list[ResidualConfig] = [kind() for kind in kinds(ResidualConfig).values()]  # type: ignore[misc]
HEADS: list[HeadConfig] = [kind(tied=tied) for kind in kinds(HeadConfig).values() for tied in (True, False)]  # type: ignore[call-arg, misc]
PARTS = [("norm", part) for part in NORMS] + [("feedforward", part) for part in FEEDFORWARDS]
PARTS += [("attention", MultiHead(heads=4, kv_heads=2, key_norm=part)) for part in NORMS]  # type: ignore[list-item]
PARTS += [("residual", part) for part in WIRINGS]  # type: ignore[list-item]
every_part = pytest.mark.parametrize(("slot", "part"), PARTS, ids=lambda x: x if isinstance(x, str) else label(x))


@every_part
def test_gradients_reach_every_parameter(slot: str, part) -> None:  # type: ignore[no-untyped-def]
    model, sentence = built(decoder(**{slot: part})).train(), tokens()
    model.head.loss(model.features(sentence), sentence).backward()
    gradients_reach(model)


@every_part
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_precision_stays_what_it_was(slot: str, part, dtype: torch.dtype) -> None:  # type: ignore[no-untyped-def]
    model = built(decoder(**{slot: part})).to(dtype)
    assert model(tokens()).dtype == dtype


@every_part
def test_cached_steps_equal_the_full_pass(slot: str, part) -> None:  # type: ignore[no-untyped-def]
    model, sentence = built(decoder(**{slot: part})), tokens(2, 6)
    steps_equal_the_pass(model, model.begin(), sentence, model(sentence))


@pytest.mark.parametrize("config", NORMS, ids=label)
def test_a_norm_equals_its_formula(config: NormConfig) -> None:
    norm, x = config.build(16), torch.randn(3, 5, 16) * 4 + 1
    centred = x - x.mean(-1, keepdim=True) if config.kind == "layer" else x
    expected = centred / (centred.square().mean(-1, keepdim=True) + config.eps).sqrt()
    torch.testing.assert_close(norm(x), expected)


def formula(name: str, x: torch.Tensor) -> torch.Tensor:
    """Each activation from its definition."""
    phi = 0.5 * (1 + torch.erf(x / 2**0.5))
    tanh = 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    selu = 1.0507009873554805 * torch.where(x > 0, x, 1.6732632423543772 * (x.exp() - 1))
    return {
        "relu": x.clamp(min=0),
        "gelu": x * phi,
        "gelu-tanh": x * tanh,
        "swish": x / (1 + (-x).exp()),
        "elu": torch.where(x > 0, x, x.exp() - 1),
        "selu": selu,
        "sigmoid": 1 / (1 + (-x).exp()),
        "softplus": (1 + x.exp()).log(),
        "relu2": x.clamp(min=0) ** 2,
        "identity": x,
    }[name]


@pytest.mark.parametrize("config", FEEDFORWARDS, ids=label)
def test_a_feedforward_equals_its_formula(config: FeedForwardConfig) -> None:
    layer, x = config.build(16), torch.randn(3, 5, 16)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    if isinstance(config, MLP):
        assert isinstance(layer, MLPLayer)
        hidden = formula(config.activation, F.linear(x, layer.up.weight, layer.up.bias))
    else:
        assert isinstance(config, Gated)
        assert isinstance(layer, GatedLayer)
        gate, value = F.linear(x, layer.up.weight, layer.up.bias).chunk(2, -1)
        hidden = formula(GATES[config.gate], gate) * value
    torch.testing.assert_close(layer(x, whole(3, 5)), F.linear(hidden, layer.down.weight, layer.down.bias))


def test_every_activation_is_reachable() -> None:
    used = {part.activation for part in FEEDFORWARDS if isinstance(part, MLP)} | set(GATES.values())
    assert used == set(ACTIVATIONS)


@pytest.mark.parametrize("config", HEADS, ids=label)
def test_a_head_learns_through_its_loss(config: HeadConfig) -> None:
    embedding = TokenEmbedding().build(30, 16, Position())
    head = config.build(30, 16, embedding)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    head.loss(torch.randn(2, 7, 16), torch.randint(0, 30, (2, 7)), smoothing=0.1).backward()
    gradients_reach(head)


def test_a_scaled_embedding_multiplies_by_the_root_of_the_width() -> None:
    plain = TokenEmbedding().build(30, 16, Position())
    scaled = TokenEmbedding(scaled=True).build(30, 16, Position())
    torch.nn.init.normal_(plain.tokens.weight)
    scaled.load_state_dict(plain.state_dict())
    ids = torch.randint(0, 30, (2, 5))
    torch.testing.assert_close(scaled(ids, whole(2, 5)), 4 * plain(ids, whole(2, 5)))


@pytest.mark.parametrize("config", [kind() for kind in kinds(InitConfig).values()], ids=label)
def test_an_initialisation_leaves_nothing_unset(config: InitConfig) -> None:
    model = build("transformer-tiny", vocabulary=50, layers=1, init={"kind": config.kind})
    for name, parameter in model.named_parameters():
        assert parameter.isfinite().all(), name
        assert parameter.abs().sum() > 0 or name.endswith("bias"), name


def test_zero_outputs_make_a_new_model_pass_its_embedding_on() -> None:
    model = build("gpt-tiny", layers=2).eval()
    assert model.config.init == Normal(std=0.02, zero_outputs=True)
    ids, context = torch.randint(0, 60, (2, 5)), whole(2, 5)
    torch.testing.assert_close(model.features(ids), model.decoder.norm(model.embedding(ids, context)))
    assert model.decoder.blocks[0].feedforward.up.weight.std().item() == pytest.approx(0.02, rel=0.05)


def test_tables_may_start_from_a_deviation_of_their_own() -> None:
    model = build("gpt-char", layers=1)
    assert model.embedding.tokens.weight.std().item() == pytest.approx(1, rel=0.1)
    assert model.head.weight.std().item() == pytest.approx(0.02, rel=0.1)


def test_xavier_counts_each_fused_matrix_by_itself() -> None:
    model = build("transformer-tiny", vocabulary=50, layers=1)
    assert model.config.init == Xavier()
    weight = model.encoder.blocks[0].attention.qkv.weight  # pieces of (32, 128): heads of width 32
    limit = (6 / (32 + 128)) ** 0.5
    assert weight.abs().max().item() == pytest.approx(limit, rel=0.01)


def test_gpt2_divides_what_writes_to_the_residual_stream_by_the_root_of_their_number() -> None:
    model = build("gpt2", vocabulary=100, layers=8, width=128, heads=4, hidden=512)
    assert model.config.init == Normal(std=0.02, by_depth=True)
    block = model.decoder.blocks[3]
    assert block.feedforward.up.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert block.feedforward.down.weight.std().item() == pytest.approx(0.02 / 16**0.5, rel=0.05)
    assert block.attention.out.weight.std().item() == pytest.approx(0.02 / 16**0.5, rel=0.05)
