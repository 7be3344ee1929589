"""Output heads, plain and quick."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.fast import quicken
from regard.nn.embeddings import TokenEmbedding
from regard.nn.heads import LinearHead, TransformHead
from regard.nn.positions import Position

WIDTH, WORDS = 12, 50
plain_and_quick = pytest.mark.parametrize("made", [lambda head: head, quicken], ids=["plain", "quick"])


@pytest.mark.parametrize(
    "config", [LinearHead(), LinearHead(tied=False, bias=True), LinearHead(cap=2.0), TransformHead()]
)
@plain_and_quick
def test_a_heads_loss_and_log_probs_agree_with_its_logits(made, config) -> None:  # type: ignore[no-untyped-def]
    embedding = TokenEmbedding().build(WORDS, WIDTH, Position())
    head = made(config.build(WORDS, WIDTH, embedding))
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter)
    hidden, targets = torch.randn(2, 6, WIDTH), torch.randint(0, WORDS, (2, 6))
    targets[0, 0] = -100
    logits = head.logits(hidden)
    torch.testing.assert_close(head.log_probs(hidden), logits.log_softmax(-1))
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=0.1)
    torch.testing.assert_close(head.loss(hidden, targets, smoothing=0.1), expected)
    assert (head.weight is embedding.tokens.weight) == config.tied


@plain_and_quick
def test_a_batch_of_padding_alone_costs_nothing(made) -> None:  # type: ignore[no-untyped-def]
    head = made(LinearHead(tied=False).build(WORDS, WIDTH, TokenEmbedding().build(WORDS, WIDTH, Position())))
    torch.nn.init.normal_(head.weight)
    loss = head.loss(torch.randn(1, 3, WIDTH), torch.full((1, 3), -100))
    assert loss.item() == 0
    loss.backward()
    assert head.weight.grad.eq(0).all()


@plain_and_quick
def test_a_capped_head_keeps_logits_below_its_cap_and_decoding_reads_those(made) -> None:  # type: ignore[no-untyped-def]
    embedding = TokenEmbedding().build(WORDS, WIDTH, Position())
    torch.nn.init.normal_(embedding.tokens.weight, std=3)
    plain, head = (made(config.build(WORDS, WIDTH, embedding)) for config in (LinearHead(), LinearHead(cap=2.0)))
    hidden = torch.randn(4, WIDTH)
    logits = head.logits(hidden)
    assert plain.logits(hidden).abs().max() > 10
    assert logits.abs().max() <= 2
    torch.testing.assert_close(logits, 2 * (plain.logits(hidden) / 2).tanh())
    values, words, totals = head.best(hidden, 3)
    torch.testing.assert_close(values, logits.gather(-1, words))
    torch.testing.assert_close(totals, logits.logsumexp(-1))
    targets = torch.randint(0, WORDS, (4,))
    passes = torch.stack([hidden, hidden + 0.1])
    logs = (2 * (plain.logits(passes) / 2).tanh()).log_softmax(-1)
    chances = logs.exp()
    apart = ((chances[0] - chances[1]) * (logs[0] - logs[1])).sum()
    expected = -logs[:, torch.arange(4), targets].sum() / 2 + 1.5 * apart / 2
    torch.testing.assert_close(head.agreeing_loss(passes, targets, 1.5), expected)
