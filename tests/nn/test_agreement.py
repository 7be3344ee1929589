"""Two passes that shall agree: R-Drop."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.fast import agreement, quicken
from regard.fast.agreement import linear_agreeing_cross_entropy
from regard.nn.agreement import agreeing_cross_entropy, label_loss, score_loss
from regard.nn.embeddings import TokenEmbedding
from regard.nn.heads import Head, LinearHead, TransformHead
from regard.nn.positions import Position

ROWS, WIDTH, WORDS = 11, 6, 20


def inputs(bias: bool = True) -> list[torch.Tensor]:
    shapes = [(2, ROWS, WIDTH), (WORDS, WIDTH)] + ([(WORDS,)] if bias else [])
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def test_it_is_the_papers_loss() -> None:
    logs, targets = torch.randn(2, ROWS, WORDS, dtype=torch.float64).log_softmax(-1), torch.randint(WORDS, (ROWS,))
    entropy = sum(F.cross_entropy(one, targets, label_smoothing=0.1, reduction="sum") for one in logs) / 2
    p, q = logs
    apart = F.kl_div(q, p, log_target=True, reduction="sum") + F.kl_div(p, q, log_target=True, reduction="sum")
    torch.testing.assert_close(agreeing_cross_entropy(logs, targets, 5.0, 0.1), entropy + 5.0 * apart / 2)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("slice_size", [1, 6 * WORDS, 1 << 20])
def test_slices_give_the_loss_and_gradients_of_the_whole(
    bias: bool, smoothing: float, slice_size: int, monkeypatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(agreement, "LOGITS_AT_ONCE", slice_size)
    leaves = inputs(bias)
    twins = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    targets = torch.randint(WORDS, (ROWS,))
    loss = linear_agreeing_cross_entropy(
        leaves[0], leaves[1], leaves[2] if bias else None, targets, 3.0, smoothing=smoothing
    )
    expected = agreeing_cross_entropy(F.linear(*twins).log_softmax(-1), targets, 3.0, smoothing)
    torch.testing.assert_close(loss, expected)
    (loss * 3).backward()
    (expected * 3).backward()
    for leaf, twin in zip(leaves, twins, strict=True):
        torch.testing.assert_close(leaf.grad, twin.grad)


def test_products_in_bf16_leave_the_loss_as_it_is_and_gradients_nearly() -> None:
    hidden, weight, bias = (leaf.detach().float().requires_grad_() for leaf in inputs())
    targets = torch.randint(WORDS, (ROWS,))
    losses, gradients = [], []
    for half in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = linear_agreeing_cross_entropy(hidden, weight, bias, targets, 3.0, 0.1)
        losses.append(loss)
        gradients.append(torch.autograd.grad(loss, [hidden, weight, bias]))
    assert torch.equal(*losses)
    for exact, rough in zip(*gradients, strict=True):
        assert rough.dtype == torch.float32
        assert (rough - exact).norm() < 0.02 * exact.norm()


def test_passes_that_agree_cost_what_one_of_them_does() -> None:
    hidden, weight, _ = inputs()
    targets = torch.randint(WORDS, (ROWS,))
    once = F.cross_entropy(F.linear(hidden[0], weight), targets, reduction="sum")
    twice = linear_agreeing_cross_entropy(hidden[:1].expand(2, -1, -1), weight, None, targets, 5.0)
    torch.testing.assert_close(twice, once)


@pytest.mark.parametrize("config", [LinearHead(bias=True), TransformHead()])
def test_every_quick_head_gives_the_loss_of_its_log_probabilities(config: LinearHead | TransformHead) -> None:
    head = quicken(config.build(WORDS, WIDTH, TokenEmbedding().build(WORDS, WIDTH, Position())))
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter)
    hidden, targets = torch.randn(2, ROWS, WIDTH), torch.randint(WORDS, (ROWS,))
    expected = Head.agreeing_loss(head, hidden, targets, 4.0, 0.1)
    torch.testing.assert_close(head.agreeing_loss(hidden, targets, 4.0, 0.1), expected)


# --- labels and scores of whole texts ---------------------------------------------------------------------------------


def test_readings_of_texts_agree_by_the_same_loss() -> None:
    logits, right = torch.randn(2 * ROWS, 5, dtype=torch.float64), torch.randint(5, (ROWS,))
    logs = logits.log_softmax(-1).unflatten(0, (2, ROWS))
    torch.testing.assert_close(label_loss(logits, right, None, 3.0), agreeing_cross_entropy(logs, right, 3.0) / ROWS)
    weights = torch.rand(5, dtype=torch.float64)
    torch.testing.assert_close(
        label_loss(logits[:ROWS], right, weights), F.cross_entropy(logits[:ROWS], right, weights)
    )
    twice = logits[:ROWS].repeat(2, 1)
    torch.testing.assert_close(label_loss(twice, right, weights, 3.0), F.cross_entropy(twice[:ROWS], right, weights))


def test_scores_that_are_apart_cost_more() -> None:
    right = torch.zeros(1)
    assert score_loss(torch.tensor([0.5]), right) == 0.25
    assert score_loss(torch.tensor([0.5, 0.5]), right, 2.0) == 0.25
    assert score_loss(torch.tensor([0.5, -0.5]), right, 2.0) == 0.25 + 2
