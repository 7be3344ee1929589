"""Every part and every model that is made is initialised: when it is made, again alike under one seed, and by PyTorch's
recipe for memory that comes later (on the device "meta", `to_empty`, `reset_parameters`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import regard
import regard.lab.experiment
import regard.training.session
from regard.config import FAMILIES, Config, kinds
from regard.fast import quicken
from regard.fast.products import pack
from regard.models import Classifier, Encoder, FewShot, ModelConfig, RecurrentEncoder, Tagger
from regard.models.recurrent import Sizes
from regard.nn.attention import MultiHead
from regard.nn.attention.hard import Hard
from regard.nn.embeddings import TokenEmbedding
from regard.nn.linear import Linear, VectorTable
from regard.nn.norms import LayerNorm
from regard.nn.positions import HeadDims, Position
from regard.nn.stacks import Block, Stack
from tests.helpers import PRESETS, VOCABULARY, built, default, feature_inputs, label, small

WIDTH, HEADS = 16, 2
DIMS = HeadDims(WIDTH, HEADS, HEADS, WIDTH // HEADS, WIDTH // HEADS)


class Tied(nn.Module):
    """An embedding and a head, which may share its table."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.embedding = TokenEmbedding().build(VOCABULARY, WIDTH, Position())
        self.head = config.build(VOCABULARY, WIDTH, self.embedding)


BUILDERS: dict[str, Callable[[Any], nn.Module]] = {
    "position": lambda part: part.build(DIMS),
    "kernel": lambda part: part.build(DIMS, Position(), 0.0),
    "norm": lambda part: part.build(WIDTH),
    "mixer": lambda part: part.build(WIDTH, Position(), causal=True),
    "feedforward": lambda part: part.build(WIDTH),
    "residual": lambda part: part.build(WIDTH, LayerNorm()),
    "embedding": lambda part: part.build(VOCABULARY, WIDTH, Position()),
    "head": Tied,
    "block": lambda part: part.build(WIDTH, Position(), False, 0),
    "stack": lambda part: part.build(WIDTH, causal=False),
    "model": lambda part: part.build(),
    "pool": lambda part: part.build(WIDTH),
    "learner": lambda part: part.build(WIDTH, 3),
    "choice": lambda part: part.build(),
    "backbone": lambda part: part.build(WIDTH),
    "glance": lambda part: part.build(WIDTH, WIDTH),
    "window": lambda part: part.build(WIDTH),
    "queries": lambda part: part.build(WIDTH),
    "reader": lambda part: part.build(Sizes(WIDTH, WIDTH, 2 * WIDTH)),
}
NO_MODULES = {"init", "matching", "task", "average", "optimiser", "schedule", "experiment"}
PARTS: list[tuple[str, Config]] = [
    (family, default(kind) if family == "model" else kind())  # type: ignore[arg-type]
    for family in BUILDERS
    for kind in kinds(FAMILIES[family]).values()
]
PARTS += [
    ("position", regard.nn.positions.TransformerXL(segments=True)),
    ("position", regard.nn.positions.Sinusoidal(join="qkv")),
    ("embedding", TokenEmbedding(segments=2, norm=LayerNorm())),
    ("head", regard.nn.heads.LinearHead(tied=False, bias=True)),
    ("head", regard.nn.heads.TransformHead(tied=False)),
    ("mixer", MultiHead(heads=HEADS, key_norm=LayerNorm())),
    ("pool", regard.nn.pooling.LastToken(dense=True)),
    ("reader", regard.models.recurrent.Luong(choice=Hard())),
]
MODELS = {f"{name} (preset)": config for name, config in PRESETS.items()}
MODELS |= {
    "by depth": replace(PRESETS["gpt2"], init=regard.nn.init.Normal(by_depth=True)),
    "elmo": small(Tagger(reader=regard.models.BiLM(vocabulary=VOCABULARY).inside())),
    "classifier of an encoder": Classifier(reader=Encoder(vocabulary=VOCABULARY, width=WIDTH).inside()),
    "few-shot": small(FewShot(reader=RecurrentEncoder(vocabulary=VOCABULARY))),
    "rising": small(regard.models.Recurrent(vocabulary=VOCABULARY, sampling=0.5, rising=10)),
}
every_part = pytest.mark.parametrize(("family", "config"), PARTS, ids=lambda x: x if isinstance(x, str) else label(x))
every_model = pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)


@contextmanager
def spoilt_memory() -> Iterator[None]:
    """What PyTorch has not written is no number: memory that happens to be zero must not hide what nobody sets."""
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def tensors(module: nn.Module) -> dict[str, Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def seeded(build: Callable[[], nn.Module]) -> dict[str, Tensor]:
    torch.manual_seed(1)
    with spoilt_memory():
        return tensors(build())


def materialised(build: Callable[[], nn.Module]) -> nn.Module:
    """By the recipe."""
    with torch.device("meta"):
        module = build()
    with spoilt_memory():
        module.to_empty(device="cpu")
        for one in module.modules():
            if hasattr(one, "reset_parameters"):
                one.reset_parameters()
    return module


def unlike(one: Tensor, other: Tensor) -> bool:
    """Whether they cannot have been drawn alike, for they are of another spread."""
    if not one.is_floating_point():  # a count
        return not torch.equal(one, other)
    spread, expected = float(one.detach().std(correction=0)), float(other.detach().std(correction=0))
    if one.numel() < 500:
        return (spread == 0) != (expected == 0)
    return abs(spread - expected) > 0.2 * expected


def check_recipe(build: Callable[[], nn.Module]) -> None:
    made, expected = tensors(materialised(build)), tensors(build())
    assert made.keys() == expected.keys()  # what is tied is still one
    for name, tensor in made.items():
        assert tensor.shape == expected[name].shape, name
        assert tensor.isfinite().all(), name
        assert not unlike(tensor, expected[name]), name


def test_every_family_that_makes_modules_is_tried() -> None:
    assert BUILDERS.keys() | NO_MODULES == FAMILIES.keys()


@every_part
def test_a_part_that_is_made_has_finite_values_which_follow_from_the_seed(family: str, config: Any) -> None:
    one, other = (seeded(lambda: BUILDERS[family](config)) for _ in range(2))
    for name, tensor in one.items():
        assert tensor.isfinite().all(), name
        assert torch.equal(tensor, other[name]), name


@every_part
def test_a_part_without_storage_is_initialised_later(family: str, config: Any) -> None:
    check_recipe(lambda: BUILDERS[family](config))


@every_model
def test_a_model_without_storage_is_initialised_later_by_its_own_scheme(config: ModelConfig) -> None:
    check_recipe(config.build)


@every_model
def test_a_used_model_that_loses_its_storage_takes_weights_and_computes_as_they_do(config: ModelConfig) -> None:
    model, trained = built(config), built(config)
    inputs = feature_inputs(model)
    with torch.no_grad():
        pack(quicken(model))
        model(*inputs)
        model.to("meta")
        with spoilt_memory():
            model.to_empty(device="cpu")
        model.load_state_dict(trained.state_dict())
        torch.testing.assert_close(model(*inputs), trained(*inputs), rtol=1e-5, atol=1e-5)
    assert dict(model.named_parameters()).keys() == dict(trained.named_parameters()).keys()


@every_model
def test_a_used_model_that_was_in_another_precision_computes_as_its_rounded_weights_do(config: ModelConfig) -> None:
    model, rounded = built(config), built(config)
    inputs = feature_inputs(model)
    with torch.no_grad():
        for own, other in zip(tensors(rounded).values(), tensors(model).values(), strict=True):
            own.copy_(other.bfloat16())
        pack(quicken(model))
        model(*inputs)
        model.bfloat16().float()
        torch.testing.assert_close(model(*inputs), rounded(*inputs), rtol=1e-5, atol=1e-5)


def test_a_stack_in_a_module_of_ones_own_computes_numbers() -> None:
    with spoilt_memory():
        stack = Stack(layers=2, block=Block(attention=MultiHead(heads=HEADS))).build(32, causal=False)
        result, _ = stack(torch.randn(2, 5, 32), regard.nn.call.context.Context.whole(torch.empty(2, 5), regard.Mask()))
    assert result.isfinite().all()


def test_a_matrix_made_alone_starts_from_xavier_and_a_table_from_its_width() -> None:
    weight = Linear(64, 96, pieces=(32, 32, 32), alike=2).weight
    assert weight.abs().max() <= (6 / (64 + 32)) ** 0.5
    assert weight.std().item() == pytest.approx((2 / (64 + 32)) ** 0.5, rel=0.1)
    assert torch.equal(weight[:32], weight[32:64])
    assert VectorTable(200, 64).weight.std().item() == pytest.approx(64**-0.5, rel=0.1)


def test_the_scheme_of_a_model_draws_each_value_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = 0
    plain = nn.init.normal_

    def counted(tensor: Tensor, *rest: Any, **named: Any) -> Tensor:
        nonlocal drawn
        drawn += tensor.numel()
        return plain(tensor, *rest, **named)

    monkeypatch.setattr(nn.init, "normal_", counted)
    monkeypatch.setattr(nn.init, "xavier_uniform_", lambda weight: pytest.fail("a part drew by itself"))
    model = PRESETS["gpt2"].build()
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    assert drawn == sum(parameter.numel() for parameter in matrices)
