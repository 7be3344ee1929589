"""The neural Turing machine: steps equal the whole pass, padding changes nothing, and its heads can be watched."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from regard.models import Turing, TuringModel
from regard.nn.call.watch import silenced

MACHINES: dict[str, dict[str, Any]] = {
    "lstm": {},
    "feedforward": {"controller": "feedforward"},
    "many heads": {"readers": 3, "writers": 2, "reach": 2},
}
every_machine = pytest.mark.parametrize("fields", MACHINES.values(), ids=MACHINES)


def built(**fields: Any) -> TuringModel:
    model = Turing(inputs=5, outputs=3, hidden=12, slots=9, slot_width=4, **fields).build()
    assert isinstance(model, TuringModel)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.eval()


def bits(batch: int, length: int) -> Tensor:
    return torch.randint(0, 2, (batch, length, 5)).float()


@every_machine
def test_steps_equal_the_whole_pass(fields: dict[str, Any]) -> None:
    model, x = built(**fields), bits(2, 6)
    expected, state = model(x), model.begin(2)
    for place in range(6):
        logits, state = model.step(x[:, place], state)
        torch.testing.assert_close(logits, expected[:, place])


@every_machine
def test_what_comes_later_changes_nothing_before_it(fields: dict[str, Any]) -> None:
    """So padding at the end of a row never changes a result."""
    model, x = built(**fields), bits(2, 6)
    longer = torch.cat([x, bits(2, 3)], 1)
    torch.testing.assert_close(model(longer)[:, :6], model(x))


@every_machine
def test_where_the_heads_were_is_seen(fields: dict[str, Any]) -> None:
    model, x = built(**fields), bits(2, 6)
    plain = model(x)
    with regard.watch(model) as seen:
        assert torch.equal(model(x), plain)
    assert list(seen) == model.attention_names() == ["memory.0.read", "memory.0.write"]
    for name in seen:
        weights = seen.last(name)
        assert weights.shape == (2, model.heads(name), 6, 9)
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_the_shown_weights_are_those_that_read() -> None:
    model, x = built(), bits(1, 4)
    with regard.watch(model) as seen:
        model(x)
    state = model.begin(1)
    for place in range(4):
        _, state = model.step(x[:, place], state)
        weights = seen.last("memory.0.read")[:, :, place]
        torch.testing.assert_close((weights @ state.memory.slots).flatten(1), state.memory.read)


def test_a_silent_head_neither_reads_nor_writes() -> None:
    model, x = built(), bits(2, 5)
    with silenced(model, {"memory.0.write": [0]}):
        state = model.begin(2)
        before = state.memory.slots.clone()
        _, state = model.step(x[:, 0], state)
    assert torch.equal(state.memory.slots, before)
    with silenced(model, {"memory.0.read": [0]}):
        _, state = model.step(x[:, 0], model.begin(2))
    assert state.memory.read.eq(0).all()


def test_it_reads_no_text() -> None:
    assert Turing().text() is None
    with pytest.raises(ValueError, match=r"the input has shape \(2, 5\); it takes \(B, T, 5\)"):
        built()(torch.zeros(2, 5))
