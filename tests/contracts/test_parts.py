"""Every norm, feed-forward, wiring, embedding, head and initialisation keeps the same promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import regard
from regard.config import Part, kinds
from regard.models import Model
from regard.nn.call.masks import real_tokens
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import ACTIVATIONS, GATES, MLP, FeedForwardConfig, Gated, GatedLayer, MLPLayer
from regard.nn.heads import Head, HeadConfig
from regard.nn.init import InitConfig, Normal, Xavier
from regard.nn.norms import LayerNorm, NormConfig, RMSNorm
from regard.nn.positions import Position
from regard.nn.residual import ResidualConfig, Sublayer, Wiring
from regard.zoo import build
from tests.contracts.promises import close, gradients_reach
from tests.helpers import (
    BLOCKS,
    EMBEDDINGS,
    FEEDFORWARDS,
    HEADS,
    MIXERS,
    NORMS,
    VOCABULARY,
    WIDTH,
    WIRINGS,
    built,
    label,
    placed,
    randomise,
    tokens,
    whole,
)

PARTS: list[Part] = [*NORMS, *FEEDFORWARDS, *WIRINGS, *MIXERS, *BLOCKS, *EMBEDDINGS, *HEADS]
every_part = pytest.mark.parametrize("part", PARTS, ids=label)
every_norm = pytest.mark.parametrize("config", NORMS, ids=label)
every_feedforward = pytest.mark.parametrize("config", FEEDFORWARDS, ids=label)
every_wiring = pytest.mark.parametrize("config", WIRINGS, ids=label)
every_head = pytest.mark.parametrize("config", HEADS, ids=label)
both_modes = pytest.mark.parametrize("training", [False, True])
LENGTHS = torch.tensor([6, 2, 4])


def model_with(part: Part, causal: bool = True) -> Any:
    return built(placed(part, causal))


def refused(model: Model, batch: Tensor, keep: Tensor) -> bool:
    """Whether it says that padding cannot stand there."""
    try:
        model(batch, keep)
    except ValueError as error:
        return "padding comes last" in str(error)
    return False


@every_part
def test_the_future_cannot_leak(part: Part) -> None:
    model, sentence = model_with(part), tokens(2, 7)
    before = model(sentence)
    for place in range(1, 7):
        changed = sentence.clone()
        changed[:, place] = (changed[:, place] + 1) % VOCABULARY
        after = model(changed)
        torch.testing.assert_close(after[:, :place], before[:, :place], rtol=1e-5, atol=1e-6)
        assert not torch.allclose(after[:, place:], before[:, place:])


@every_part
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_never_changes_an_output(part: Part, side: str) -> None:
    model, batch = model_with(part, causal=False), tokens(3, 6)
    keep = real_tokens(LENGTHS, 6) if side == "right" else real_tokens(LENGTHS, 6).flip(1)
    if side == "left" and refused(model, batch, keep):
        return
    states = model(batch, keep)
    for row in range(3):
        close(states[row, keep[row]], model(batch[row : row + 1, keep[row]])[0])


@every_part
def test_padded_prompts_go_on_as_each_row_would_alone(part: Part) -> None:
    model, prompt, more, keep = model_with(part), tokens(3, 6), tokens(3, 2), real_tokens(LENGTHS, 6)
    state = model.begin()
    model.step(prompt, state, keep)
    model.step(more[:, :1], state)
    logits = model.step(more[:, 1:], state)
    alone = [torch.cat([prompt[row, keep[row]], more[row]])[None] for row in range(3)]
    close(logits, torch.cat([model(row)[:, -1] for row in alone]))


@every_part
def test_gradients_reach_every_parameter(part: Part) -> None:
    model, sentence = model_with(part).train(), tokens(2, 24)
    model.head.loss(model.features(sentence), sentence).backward()
    gradients_reach(model)


@every_part
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_precision_stays_what_it_was(part: Part, dtype: torch.dtype) -> None:
    model = model_with(part).to(dtype)
    assert model(tokens()).dtype == dtype


@every_part
def test_cached_steps_equal_the_full_pass(part: Part) -> None:
    model, sentence = model_with(part), tokens(2, 9)
    expected, state = model(sentence), model.begin()
    close(model.step(sentence[:, :1], state), expected[:, 0])
    close(model.step(sentence[:, 1:4], state), expected[:, 3])  # several at once
    for place in range(4, 9):
        logits = model.step(sentence[:, place : place + 1], state)
        close(logits, expected[:, place])


@every_part
@both_modes
def test_watched_equals_unwatched_bit_for_bit(part: Part, training: bool) -> None:
    model, sentence = model_with(part).train(training), tokens(2, 6)
    torch.manual_seed(3)
    plain = model(sentence)
    torch.manual_seed(3)
    with regard.watch(model) as seen:
        assert torch.equal(model(sentence), plain)
    assert list(seen) == model.attention_names()


def by_itself(layer: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Whether each token of x (B, T, D) gives what it gives alone."""
    together = layer(x)
    for row in range(x.shape[0]):
        for place in range(x.shape[1]):
            close(layer(x[row : row + 1, place : place + 1]), together[row : row + 1, place : place + 1])


@every_norm
@both_modes
def test_a_norm_norms_each_token_by_itself(config: NormConfig, training: bool) -> None:
    norm = config.build(WIDTH).train(training)
    randomise(norm)
    by_itself(norm, torch.randn(3, 5, WIDTH) * 4 + 1)


@every_feedforward
@both_modes
def test_a_feedforward_takes_each_token_by_itself(config: FeedForwardConfig, training: bool) -> None:
    layer = config.build(WIDTH).train(training)
    by_itself(lambda x: layer(x, whole(*x.shape[:2])), torch.randn(3, 5, WIDTH))


def layer_norm(x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-3).sqrt()


def rms_norm(x: Tensor) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + 1e-3).sqrt()


FORMULAS: dict[NormConfig, Callable[[Tensor], Tensor]] = {LayerNorm(eps=1e-3): layer_norm, RMSNorm(eps=1e-3): rms_norm}


@pytest.mark.parametrize("config", FORMULAS, ids=label)
def test_a_norm_equals_its_formula(config: NormConfig) -> None:
    norm, x = config.build(16), torch.randn(3, 5, 16) * 4 + 1
    torch.testing.assert_close(norm(x), FORMULAS[config](x))


# --- wirings ----------------------------------------------------------------------------------------------------------


def wired(config: ResidualConfig, dropout: float = 0.0) -> Wiring:
    wiring = replace(config, dropout=dropout).build(WIDTH, LayerNorm())
    randomise(wiring)  # some start where a sublayer adds nothing
    return wiring


def adding(value: float) -> Sublayer:
    return lambda x, context: torch.full_like(x, value)


@every_wiring
def test_the_stream_runs_past_a_sublayer(config: ResidualConfig) -> None:
    """Where that adds nothing, tokens are still told apart."""
    wiring, x, call = wired(config).eval(), torch.randn(3, 5, WIDTH, requires_grad=True), whole(3, 5)
    joined = wiring(x, adding(0.0), call)
    assert torch.pdist(joined.detach().flatten(0, 1)).min() > 1
    (joined * torch.randn_like(joined)).sum().backward()
    assert x.grad is not None
    assert x.grad.abs().amin() > 0


@every_wiring
def test_what_a_sublayer_adds_reaches_the_stream(config: ResidualConfig) -> None:
    wiring, x, call = wired(config).eval(), torch.randn(3, 5, WIDTH), whole(3, 5)
    added = torch.randn(3, 5, WIDTH)
    apart = wiring(x, lambda x, context: added, call) - wiring(x, adding(0.0), call)
    assert apart.abs().mean(-1).min() > 0.01


@every_wiring
def test_dropout_falls_on_what_a_sublayer_adds_and_on_nothing_else(config: ResidualConfig) -> None:
    wiring, x, call = wired(config, dropout=0.5), torch.randn(3, 50, WIDTH), whole(3, 50)
    close(wiring.train()(x, adding(0.0), call), wiring.eval()(x, adding(0.0), call))
    expected = wiring(x, adding(1.0), call)
    torch.testing.assert_close(wiring(x, adding(1.0), call), expected)  # in use nothing falls
    one, other = (wiring.train()(x, adding(1.0), call) for _ in range(2))
    assert not torch.allclose(one, expected, atol=1e-3)
    assert not torch.allclose(one, other, atol=1e-3)


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


# --- feed-forwards ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [part for part in FEEDFORWARDS if isinstance(part, MLP | Gated)], ids=label)
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


# --- heads and embeddings ---------------------------------------------------------------------------------------------


def head_of(config: HeadConfig) -> Head:
    head = config.build(30, 16, TokenEmbedding().build(30, 16, Position()))
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return head


@every_head
@both_modes
def test_a_head_reads_each_state_by_itself(config: HeadConfig, training: bool) -> None:
    by_itself(head_of(config).train(training), torch.randn(2, 5, 16))


@every_head
def test_a_heads_chances_loss_and_best_words_are_of_one_distribution(config: HeadConfig) -> None:
    head, hidden, targets = head_of(config), torch.randn(2, 7, 16), torch.randint(0, 30, (2, 7))
    targets[0, 1] = -100
    logs = head.log_probs(hidden)
    close(logs.exp().sum(-1), torch.ones(2, 7))
    real = targets != -100
    close(head.loss(hidden, targets), -logs[real].gather(-1, targets[real][:, None]).mean())
    values, words, totals = head.best(hidden[0], 4, barred=3)
    assert not words.eq(3).any()
    close(values - totals[:, None], logs[0].index_fill(-1, torch.tensor([3]), -torch.inf).topk(4).values)


@every_head
def test_a_head_learns_through_its_loss(config: HeadConfig) -> None:
    head = head_of(config)
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
