"""Every kernel, with full and shared heads, keeps the same promises; one that cannot keep the future out says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import regard
from regard.config import ConfigError
from regard.models import EncoderDecoder, Model
from regard.nn.attention import Kernel, KernelConfig, MultiHead
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask, real_tokens
from regard.nn.positions import HeadDims, Learned, Position, PositionConfig, Sinusoidal
from regard.nn.stacks import Stack
from tests.contracts.promises import future_cannot_leak, gradients_reach, steps_equal_the_pass
from tests.helpers import (
    CAUSAL_KERNELS,
    KERNELS,
    POSITIONS,
    VOCABULARY,
    WIDTH,
    built,
    can_be_causal,
    decoder,
    encoder,
    label,
    placed,
    small_block,
    tokens,
)

B, H, T, K = 3, 4, 6, 8
KEEP = real_tokens(torch.tensor([6, 3, 5]), T)
MASKS = {
    "none": Mask(),
    "keys": Mask(keys=KEEP),
    "causal": Mask(causal=True),
    "padded": Mask(causal=True, keys=KEEP),
    "window": Mask(window=1),
    "prefix": Mask(causal=True, prefix=torch.tensor([2, 1, 0])),
    "pairs": Mask(pairs=torch.eye(T, dtype=torch.bool)),
}

every_kernel = pytest.mark.parametrize("config", KERNELS, ids=label)
every_causal_kernel = pytest.mark.parametrize("config", CAUSAL_KERNELS, ids=label)
every_mask = pytest.mark.parametrize(
    ("config", "mask"),
    [(config, name) for config in KERNELS for name, mask in MASKS.items() if can_be_causal(config) or not mask.causal],
    ids=lambda x: x if isinstance(x, str) else label(x),
)
every_position = pytest.mark.parametrize("scheme", POSITIONS, ids=label)


def dims(groups: int = H, causal: bool = True) -> HeadDims:
    return HeadDims(H * K, H, groups, K, K, causal)


def known(config: KernelConfig) -> Kernel:
    """One that says what it can: whether it is causal, and whether it attends to slots."""
    return config.build(dims(causal=can_be_causal(config)), Position(), dropout=0.0)


def obeyed(config: KernelConfig, mask: Mask) -> bool:
    """Whether it can keep a mask: slots hide padding and nothing else."""
    module = known(config)
    return (module.causal or not mask.causal) and (mask.only_padding or not module.slots)


def reader(config: KernelConfig, kv_heads: int | None = None) -> Model:
    """A decoder, or an encoder where a kernel cannot be causal."""
    return built((decoder if known(config).causal else encoder)(kernel=config, kv_heads=kv_heads))


def translator(config: KernelConfig, kv_heads: int | None) -> Model:
    """It attends to its source by the kernel."""
    plain, own = small_block(), MultiHead(heads=4, kv_heads=kv_heads, kernel=config)
    source = Stack(layers=2, position=Learned(length=64), block=plain)
    target = Stack(layers=2, position=Sinusoidal(), block=small_block(cross=own))
    return built(EncoderDecoder(vocabulary=VOCABULARY, width=WIDTH, encoder=source, decoder=target))


def columns(module: Kernel, weights: Tensor) -> int:
    """How many columns its weights have: a key each, or as many slots as it has."""
    return weights.shape[-1] if module.slots else T


def kernel(config: KernelConfig, groups: int = H, position: Position | None = None, dropout: float = 0.0) -> Kernel:
    module = config.build(dims(groups, can_be_causal(config)), position or Position(), dropout)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module.eval()


def inputs(groups: int = H) -> tuple[Tensor, Tensor, Tensor]:
    return torch.randn(B, H, T, K), torch.randn(B, groups, T, K), torch.randn(B, groups, T, K)


def context(mask: Mask) -> Context:
    return Context.whole(torch.empty(B, T), mask)


def arrow(config: KernelConfig) -> Mask:
    """The mask of a text that is written, or of one that is read whole."""
    return Mask(causal=can_be_causal(config))


def mix(module: Kernel, q: Tensor, k: Tensor, v: Tensor, call: Context) -> Tensor:
    return module.mix(q, *module.ready(k, v, call), call)


@every_mask
@pytest.mark.parametrize("groups", [H, 2, 1])
def test_combined_weights_equal_the_mix(config: KernelConfig, groups: int, mask: str) -> None:
    if not obeyed(config, MASKS[mask]):
        pytest.skip(f"no {config.kind} kernel can keep this mask")
    module, (q, k, v), call = kernel(config, groups), inputs(groups), context(MASKS[mask])
    k, v = module.ready(k, v, call)
    weights = module.weights(q, k, call)
    torch.testing.assert_close(module.combine(weights, v, call), module.mix(q, k, v, call), rtol=1e-4, atol=1e-5)
    assert weights.shape == (B, H, T, columns(module, weights))
    visible = call.geometry.visible()
    if visible is not None and not module.slots:
        assert weights[~visible.expand_as(weights)].eq(0).all()


@every_kernel
@every_position
@pytest.mark.parametrize("mask", ["none", "padded", "keys"])
def test_combined_weights_equal_the_mix_for_every_position(
    config: KernelConfig, scheme: PositionConfig, mask: str
) -> None:
    position = scheme.build(dims(causal=can_be_causal(config)))
    if known(config).slots and (type(position).bias is not Position.bias or position.values is not None):
        with pytest.raises(ConfigError, match="attends to slots"):
            encoder(kernel=config, position=scheme).build()
        return
    for parameter in position.parameters():
        torch.nn.init.normal_(parameter)
    call = context(Mask() if mask == "none" else replace(arrow(config), keys=KEEP))
    module = kernel(config, position=position)
    q, k, v = position.place(*inputs(), call)
    k, v = module.ready(k, v, call)
    mixed = module.mix(q, k, v, call)
    torch.testing.assert_close(module.combine(module.weights(q, k, call), v, call), mixed, rtol=1e-4, atol=1e-5)


@every_kernel
def test_a_row_that_sees_nothing_gives_zeros_and_no_nan(config: KernelConfig) -> None:
    module = kernel(config)
    q, k, v = (x.requires_grad_() for x in inputs())
    pairs = torch.ones(T, T, dtype=torch.bool)
    pairs[2] = False
    call = context(Mask(pairs=pairs))
    if module.slots:
        with pytest.raises(ValueError, match="attends to slots"):
            module.ready(k, v, call)
        return
    ready = module.ready(k, v, call)
    mixed = module.mix(q, *ready, call)
    assert mixed[:, :, 2].eq(0).all()
    assert module.weights(q, ready[0], call)[:, :, 2].eq(0).all()
    mixed.sum().backward()
    for x in (q, k, v):
        assert x.grad is None or x.grad.isfinite().all()
    assert q.grad is not None
    assert q.grad[:, :, 2].eq(0).all()


class Preferring(Position):
    """A bias that leaves each query one key: the first query the last, and so on."""

    def bias(self, q: Tensor, scale: float, context: Context) -> Tensor:
        return -1e4 * (1 - torch.eye(T).flip(0)[None, None])


@every_kernel
@pytest.mark.parametrize("groups", [H, 2])
def test_position_bias_decides_where_a_query_looks(config: KernelConfig, groups: int) -> None:
    if known(config).slots:
        pytest.skip("slots have no positions: a bias is refused")
    module, (q, k, v), call = kernel(config, groups, Preferring()), inputs(groups), context(Mask())
    torch.testing.assert_close(mix(module, q, k, v, call), v.repeat_interleave(H // groups, 1).flip(2))


@every_kernel
def test_weights_are_dropped_in_training_and_only_then(config: KernelConfig) -> None:
    """Values that are all one mix to the sum of the weights: of as many as are left, each of them twice."""
    module, (q, k, _), call = kernel(config, dropout=0.5), inputs(), context(arrow(config))
    ones = torch.ones(B, H, T, K)
    whole = mix(module, q, k, ones, call)
    module.train()
    sums = torch.stack([mix(module, q, k, ones, call) for _ in range(500)])
    if module.slots:  # of which the values are not one
        assert (sums - whole).abs().amax(0).min() > 0.1
        assert (sums.mean(0) - whole).abs().mean() < 0.1 * whole.abs().mean()
        return
    torch.testing.assert_close(whole, ones)
    torch.testing.assert_close(sums, sums[..., :1].expand_as(sums))  # a weight falls for all values of its key
    assert (sums - 1).abs().amax(0).min() > 0.1
    assert sums.mean().item() == pytest.approx(1, abs=0.03)


@every_kernel
@pytest.mark.parametrize("training", [False, True])
def test_a_row_in_a_batch_gives_what_it_gives_alone(config: KernelConfig, training: bool) -> None:
    module, (q, k, v), call = kernel(config).train(training), inputs(), context(Mask(keys=KEEP))
    together = mix(module, q, k, v, call)
    for row in range(B):
        one = slice(row, row + 1)
        alone = Context.whole(torch.empty(1, T), Mask(keys=KEEP[one]))
        torch.testing.assert_close(mix(module, q[one], k[one], v[one], alone), together[one], rtol=1e-4, atol=1e-5)


@every_causal_kernel
def test_the_future_cannot_leak(config: KernelConfig) -> None:
    future_cannot_leak(built(placed(config)), tokens(2, T))


@pytest.mark.parametrize("config", [config for config in KERNELS if not can_be_causal(config)], ids=label)
def test_a_kernel_that_cannot_keep_the_future_out_is_refused_where_that_matters(config: KernelConfig) -> None:
    with pytest.raises(regard.Error, match="cannot be causal"):
        placed(config).build()


@every_kernel
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_never_changes_an_output(config: KernelConfig, side: str) -> None:
    model, sentence = reader(config), tokens(1, 4)
    expected = model(sentence)
    padding, real = tokens(1, 3), torch.ones(1, 4, dtype=torch.bool)
    order = [sentence, padding] if side == "right" else [padding, sentence]
    keep = torch.cat([real, ~real[:, :3]] if side == "right" else [~real[:, :3], real], dim=1)
    padded = model(torch.cat(order, dim=1), keep)
    torch.testing.assert_close(padded[keep], expected[0], rtol=1e-4, atol=1e-5)


@every_causal_kernel
@pytest.mark.parametrize("kv_heads", [None, 2, 1])
def test_cached_steps_equal_the_full_pass(config: KernelConfig, kv_heads: int | None) -> None:
    if not known(config).causal:
        pytest.skip(f"no {config.kind} kernel writes")
    model, sentence = built(decoder(kernel=config, kv_heads=kv_heads)), tokens(2, 8)
    steps_equal_the_pass(model, model.begin(), sentence, model(sentence), 3)


@every_kernel
@pytest.mark.parametrize("kv_heads", [None, 2])
def test_cached_steps_that_attend_to_a_source_equal_the_full_pass(config: KernelConfig, kv_heads: int | None) -> None:
    model, source, target = translator(config, kv_heads), tokens(B, T), tokens(B, 5)
    expected = model(source, target, KEEP)
    state = model.begin(model.encode(source, KEEP))
    for place in range(5):
        logits = model.step(target[:, place : place + 1], state)
        torch.testing.assert_close(logits, expected[:, place], rtol=1e-4, atol=1e-5)
    alone = model(source[1:2, :3], target[1:2])
    torch.testing.assert_close(expected[1:2], alone, rtol=1e-4, atol=1e-5)


@every_kernel
@pytest.mark.parametrize("training", [False, True])
def test_watched_equals_unwatched_bit_for_bit(config: KernelConfig, training: bool) -> None:
    model, sentence = reader(config).train(training), tokens(2, T)
    torch.manual_seed(3)
    plain = model(sentence)
    torch.manual_seed(3)
    with regard.watch(model) as seen:
        watched = model(sentence)
    assert torch.equal(watched, plain)
    stack = "decoder" if known(config).causal else "encoder"
    assert list(seen) == model.attention_names() == [f"{stack}.0.self", f"{stack}.1.self"]
    assert all(one[-1].shape == (2, 4, T, columns(known(config), one[-1])) for one in seen.values())
    torch.testing.assert_close(seen.last(f"{stack}.1.self").sum(-1), torch.ones(2, 4, T))


@every_kernel
def test_gradients_reach_every_parameter(config: KernelConfig) -> None:
    module = kernel(config)
    q, k, v = (x.requires_grad_() for x in inputs())
    mix(module, q, k, v, context(arrow(config))).square().sum().backward()
    gradients_reach(module)


@every_kernel
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_precision_stays_what_it_was(config: KernelConfig, dtype: torch.dtype) -> None:
    module = kernel(config).to(dtype)
    q, k, v = (x.to(dtype) for x in inputs())
    k, v = module.ready(k, v, context(Mask()))
    for mask in (arrow(config), replace(arrow(config), keys=KEEP)):
        assert module.mix(q, k, v, context(mask)).dtype == dtype
        assert module.weights(q, k, context(mask)).dtype == dtype
