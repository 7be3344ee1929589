"""A quick model is the plain one, sooner: same names, same numbers, in use and in training."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.config import change
from regard.decoding import Decoding, complete
from regard.fast import for_use, operators, pack, plain, quicken
from regard.fast.products import Packable
from regard.fast.twins import PLAIN, TWINS
from regard.models import Model, ModelConfig
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear
from tests.contracts.promises import steps_equal_the_pass
from tests.helpers import (
    BLOCKS,
    CAUSAL_KERNELS,
    EMBEDDINGS,
    FEEDFORWARDS,
    HEADS,
    MIXERS,
    NORMS,
    POSITIONS,
    PRESETS,
    WIRINGS,
    built,
    decoder,
    feature_inputs,
    label,
    placed,
    still,
    tokens,
    training_loss,
)

VARIANTS = [
    *(placed(part) for part in (*POSITIONS, *CAUSAL_KERNELS, *FEEDFORWARDS, *NORMS, *MIXERS)),
    *(placed(part) for part in (*WIRINGS, *BLOCKS, *EMBEDDINGS, *HEADS)),
    change(decoder(), {"head.cap": 15.0}),
    change(decoder(), {"head.tied": False, "head.bias": True}),
]
every_variant = pytest.mark.parametrize("config", VARIANTS, ids=[label(config) for config in VARIANTS])
every_preset = pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)


def pair(config: ModelConfig) -> tuple[Model, Model]:
    """A plain model and its quick copy."""
    model = built(config).float()
    return model, quicken(copy.deepcopy(model))


def twins_in(model: nn.Module) -> list[nn.Module]:
    return [layer for layer in model.modules() if type(layer) in PLAIN]


@pytest.mark.parametrize("config", [*PRESETS.values(), *VARIANTS], ids=[*PRESETS, *map(label, VARIANTS)])
def test_a_quick_model_gives_the_same_numbers(config: ModelConfig) -> None:
    model, quick = pair(config)
    assert twins_in(quick)
    assert not twins_in(model)
    inputs = feature_inputs(model)
    with torch.no_grad():
        torch.testing.assert_close(quick(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("config", [*PRESETS.values(), *VARIANTS], ids=[*PRESETS, *map(label, VARIANTS)])
def test_a_quick_model_learns_the_same(config: ModelConfig) -> None:
    model, quick = map(still, pair(config))
    inputs = feature_inputs(model)
    torch.manual_seed(3)  # of what layers draw
    loss = training_loss(model.train(), inputs)
    torch.manual_seed(3)
    same = training_loss(quick.train(), inputs)
    torch.testing.assert_close(same, loss, rtol=1e-4, atol=1e-5)
    loss.backward()
    same.backward()
    for (name, one), other in zip(model.named_parameters(), quick.parameters(), strict=True):
        assert (one.grad is None) == (other.grad is None), name
        if one.grad is not None:
            torch.testing.assert_close(other.grad, one.grad, rtol=1e-3, atol=1e-4, msg=name)


@every_preset
def test_names_and_values_of_the_weights_stay(config: ModelConfig) -> None:
    model, quick = pair(config)
    assert quick.state_dict().keys() == model.state_dict().keys()
    assert [name for name, _ in quick.named_modules()] == [name for name, _ in model.named_modules()]
    again = built(config).float()
    again.load_state_dict(quick.state_dict())
    for name, tensor in again.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name]), name


@every_variant
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_a_quick_part_keeps_the_precision(config: ModelConfig, dtype: torch.dtype) -> None:
    model, quick = (one.to(dtype) for one in pair(config))
    rows = tokens()
    with torch.no_grad():
        found, expected = quick(rows), model(rows)
    assert found.dtype == expected.dtype == dtype
    close = {"rtol": 1e-6, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 0.1, "atol": 0.1}
    torch.testing.assert_close(found, expected, **close)


@every_variant
def test_a_quick_part_steps_as_it_reads(config: ModelConfig) -> None:
    model, quick = pair(config)
    sentence = tokens(2, 6)
    with torch.no_grad():
        steps_equal_the_pass(quick, quick.begin(), sentence, model(sentence))  # type: ignore[operator]


def test_every_twin_is_a_plain_layer_with_nothing_of_its_own() -> None:
    """Or changing the class would not be enough."""
    for layer, twin in TWINS.items():
        assert issubclass(twin, layer)
        assert "__init__" not in vars(twin)
        assert twin.__init__ is layer.__init__


def test_a_quick_model_becomes_plain_again() -> None:
    model, quick = pair(decoder())
    kinds = [type(layer) for layer in model.modules()]
    assert [type(layer) for layer in plain(quick).modules()] == kinds
    assert [type(layer) for layer in quicken(quicken(quick)).modules()] != kinds


@pytest.mark.usefixtures("_packing")
def test_what_is_packed_leaves_with_the_twin() -> None:
    layer = quicken(Linear(300, 1024)).eval()
    pack(layer)
    assert isinstance(layer, Packable)
    assert layer.packed is not None
    plain(layer)
    assert "packed" not in vars(layer)
    quicken(layer)
    assert layer.packed is None


def test_a_layer_of_ones_own_stays_what_it_is() -> None:
    class Doubled(Linear):
        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    layer, x = Doubled(3, 4), torch.randn(2, 3)
    expected = layer(x)
    assert type(quicken(layer)) is Doubled
    assert torch.equal(layer(x), expected)


def test_hooks_on_plain_layers_still_fire() -> None:
    model = built(decoder())
    seen = []
    for layer in model.modules():
        if isinstance(layer, Linear | Dropout):
            layer.register_forward_hook(lambda module, given, out: seen.append(module))
    with torch.no_grad():
        model(tokens())
        plainly = len(seen)
        quicken(model)(tokens())
    assert len(seen) == 2 * plainly > 0


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_quick_model_can_be_copied(again: Any) -> None:
    model = for_use(built(decoder()), "cpu")
    rows = tokens()
    with torch.no_grad():
        torch.testing.assert_close(again(model)(rows), model(rows))


def test_a_quick_model_can_be_moved_saved_and_trained_again() -> None:
    model = for_use(built(decoder()), "cpu")
    rows = tokens()
    with torch.no_grad():
        expected = model(rows)
        torch.testing.assert_close(model.double().float()(rows), expected)
    stored = io.BytesIO()
    torch.save(model.state_dict(), stored)
    training_loss(model.train(), (rows,)).backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    stored.seek(0)
    model.load_state_dict(torch.load(stored))
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(rows), expected)


@pytest.fixture
def _packing(monkeypatch: pytest.MonkeyPatch) -> None:
    if not operators.offered().mkl or not torch.backends.mkldnn.is_available():
        pytest.skip("this build of torch has no oneDNN or no MKL")
    there = operators.Offer(mkl=True, onednn=True, packing=True, sums_in_32_bits=False)
    monkeypatch.setattr(operators, "offered", lambda: there)


@pytest.mark.usefixtures("_packing")
def test_a_search_does_not_change_the_model() -> None:
    config = change(decoder(), {"width": 256})
    model: Any = for_use(built(config).float(), "cpu")

    before = {name: dict(vars(layer)) for name, layer in model.named_modules()}
    complete(model, tokens(4, 5), None, Decoding(beam=2, max_length=3), end=2)
    for name, layer in model.named_modules():
        assert vars(layer).keys() == before[name].keys(), name
        assert all(vars(layer)[key] is value for key, value in before[name].items()), name
    pack(model, 8)
    assert any(getattr(layer, "packed", None) is not None for layer in model.modules())


@pytest.mark.usefixtures("_packing")
def test_a_single_row_is_not_packed_for() -> None:
    layer = quicken(Linear(300, 1024)).eval()
    pack(layer, 2)
    assert layer.packed is None
