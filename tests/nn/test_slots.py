"""Each step of a neural Turing machine's addressing against its formula, written as a plain loop or by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from regard.nn.recurrent.slots import MemoryHeads, content, interpolate, sharpen, turn, written

B, H, N, M = 2, 3, 7, 4


def chances(*shape: int) -> Tensor:
    return torch.randn(*shape).softmax(-1)


def test_content_addressing_is_a_softmax_of_sharpened_cosines() -> None:
    keys, strength, memory = torch.randn(B, H, M), torch.rand(B, H, 1) * 5, torch.randn(B, N, M)
    found = content(keys, strength, memory)
    for b in range(B):
        for h in range(H):
            scores = []
            for i in range(N):
                k, m = keys[b, h].tolist(), memory[b, i].tolist()
                dot = sum(x * y for x, y in zip(k, m, strict=True))
                cosine = dot / math.sqrt(sum(x * x for x in k)) / math.sqrt(sum(y * y for y in m))
                scores.append(math.exp(float(strength[b, h, 0]) * cosine))
            for i in range(N):
                assert float(found[b, h, i]) == pytest.approx(scores[i] / sum(scores), rel=1e-4)


def test_an_empty_memory_is_found_evenly_and_breaks_nothing() -> None:
    keys = torch.randn(1, 1, M, requires_grad=True)
    found = content(keys, torch.full((1, 1, 1), 9.0), torch.zeros(1, N, M))
    torch.testing.assert_close(found, torch.full((1, 1, N), 1 / N))
    found[0, 0, 0].backward()
    assert keys.grad is not None
    assert keys.grad.isfinite().all()


def test_the_gate_chooses_between_what_was_found_and_where_the_head_was() -> None:
    found, before = chances(1, 1, N), chances(1, 1, N)
    gate = torch.tensor([[[0.25]]])
    torch.testing.assert_close(interpolate(found, before, gate), 0.25 * found + 0.75 * before)


def test_shifts_turn_the_memory_as_a_ring() -> None:
    """By hand: all weight on the last of four slots; 0.7 of it moves on by one, 0.2 stays, 0.1 moves back."""
    weights, shifts = torch.tensor([[[0.0, 0.0, 0.0, 1.0]]]), torch.tensor([[[0.1, 0.2, 0.7]]])
    torch.testing.assert_close(turn(weights, shifts), torch.tensor([[[0.7, 0.0, 0.1, 0.2]]]))


@pytest.mark.parametrize("reach", [0, 1, 2])
def test_shifting_is_a_circular_convolution(reach: int) -> None:
    weights, shifts = chances(B, H, N), chances(B, H, 2 * reach + 1)
    moved = turn(weights, shifts)
    for b in range(B):
        for h in range(H):
            for i in range(N):
                expected = sum(
                    float(weights[b, h, (i - by) % N]) * float(shifts[b, h, by + reach])
                    for by in range(-reach, reach + 1)
                )
                assert float(moved[b, h, i]) == pytest.approx(expected, rel=1e-4)


def test_sharpening_raises_to_a_power_and_sums_to_one() -> None:
    """By hand: 0.5, 0.3, 0.2 squared are 0.25, 0.09, 0.04, together 0.38."""
    found = sharpen(torch.tensor([[[0.5, 0.3, 0.2]]]), torch.tensor([[[2.0]]]))
    torch.testing.assert_close(found, torch.tensor([[[0.25, 0.09, 0.04]]]) / 0.38)


def test_a_weight_of_zero_stays_zero_and_has_a_gradient() -> None:
    weights = torch.tensor([[[0.0, 0.6, 0.4]]], requires_grad=True)
    power = torch.tensor([[[1.5]]], requires_grad=True)
    sharpen(weights, power)[0, 0, 1].backward()
    assert weights.grad is not None
    assert power.grad is not None
    assert weights.grad.isfinite().all()
    assert power.grad > 0


def test_writing_erases_then_adds() -> None:
    """By hand, one head: slot (2, 4) with weight 0.5, erase (1, 0), add (6, 8) becomes (2·0.5 + 3, 4 + 4)."""
    memory, weights = torch.tensor([[[2.0, 4.0], [1.0, 1.0]]]), torch.tensor([[[0.5, 0.0]]])
    erase, add = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[6.0, 8.0]]])
    torch.testing.assert_close(written(memory, weights, erase, add), torch.tensor([[[4.0, 8.0], [1.0, 1.0]]]))


def test_several_heads_all_erase_before_any_adds() -> None:
    memory, weights = torch.randn(B, N, M), chances(B, H, N)
    erase, add = torch.rand(B, H, M), torch.randn(B, H, M)
    expected = memory.clone()
    for h in range(H):
        expected *= 1 - weights[:, h, :, None] * erase[:, h, None]
    for h in range(H):
        expected += weights[:, h, :, None] * add[:, h, None]
    torch.testing.assert_close(written(memory, weights, erase, add), expected)


def test_a_step_of_all_heads_is_the_steps_of_the_paper_one_after_the_other() -> None:
    heads = MemoryHeads(hidden=5, slots=N, width=M, readers=2, writers=1, reach=1)
    torch.nn.init.normal_(heads.ask.weight)
    torch.nn.init.normal_(heads.ask.bias)
    state, hidden = heads.begin(B), torch.randn(B, 5)
    for _ in range(3):
        after = heads(hidden, state)
        asked = heads.ask(hidden)
        key, strength, gate, shifts, power, erase, add = asked.split(heads.sizes, -1)
        weights = []
        for h in range(3):
            w = content(
                key[:, None, h * M : (h + 1) * M].tanh(),
                torch.nn.functional.softplus(strength[:, None, h : h + 1]),
                state.slots,
            )
            w = interpolate(w, state.weights[:, h : h + 1], gate[:, None, h : h + 1].sigmoid())
            w = turn(w, shifts[:, None, 3 * h : 3 * h + 3].softmax(-1))
            weights.append(sharpen(w, 1 + torch.nn.functional.softplus(power[:, None, h : h + 1])))
        joined = torch.cat(weights, 1)
        torch.testing.assert_close(after.weights, joined)
        torch.testing.assert_close(joined.sum(-1), torch.ones(B, 3))
        slots = written(state.slots, joined[:, 2:], erase[:, None].sigmoid(), add[:, None].tanh())
        torch.testing.assert_close(after.slots, slots)
        read = [(joined[:, h, :, None] * slots).sum(1) for h in range(2)]  # r = Σ w(i) M(i)
        torch.testing.assert_close(after.read, torch.cat(read, -1))
        state, hidden = after, torch.randn(B, 5)
