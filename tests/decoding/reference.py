"""Searches written as plainly as possible: one sentence, no cache, no batch; and small models that can end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from regard.config import change
from regard.decoding import Hypothesis
from regard.fast import quicken
from regard.models import Model, ModelConfig
from tests.helpers import VOCABULARY, built

START, END = 1, 2
Follow = Callable[[list[int]], Tensor]  # tokens so far, without the start → log-probabilities (V,) of the next


def ending(config: ModelConfig, bias: float = 3.0, dtype: torch.dtype = torch.float64) -> Any:
    """A random model with opinions, whose end token comes up now and then; quick, as those in use are."""
    model: Any = built(change(config, {"head.tied": False, "head.bias": True}))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
        model.head.weight.normal_(std=0.25)
        model.head.bias.zero_()[END] = bias
    return quicken(model.to(dtype))


def ragged(batch: int, longest: int = 8, left: bool = False) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Padded tokens, which of them are real, and the rows without padding (1, length)."""
    lengths = [2 + i * (longest - 2) // max(batch - 1, 1) for i in range(batch)]
    rows = [torch.randint(3, VOCABULARY, (1, length)) for length in lengths]
    tokens, keep = torch.zeros(batch, longest, dtype=torch.long), torch.zeros(batch, longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        place = slice(longest - row.shape[1], longest) if left else slice(0, row.shape[1])
        tokens[i, place], keep[i, place] = row, True
    return tokens, keep, rows


def translating(model: Model, source: Tensor) -> Follow:
    def follow(tokens: list[int]) -> Tensor:
        with torch.no_grad():
            return model(source, torch.tensor([[START, *tokens]]))[0, -1].log_softmax(-1)

    return follow


def completing(model: Model, prompt: Tensor) -> Follow:
    def follow(tokens: list[int]) -> Tensor:
        with torch.no_grad():
            written = torch.tensor([tokens], dtype=torch.long)
            return model(torch.cat([prompt, written], dim=1))[0, -1].log_softmax(-1)

    return follow


def greedy(follow: Follow, limit: int) -> Hypothesis:
    tokens: list[int] = []
    total = 0.0
    while len(tokens) < limit:
        log_prob, token = follow(tokens).max(-1)
        total += log_prob.item()
        if token == END:
            return Hypothesis(tokens, total / (len(tokens) + 1), total, True)
        tokens.append(token.item())
    return Hypothesis(tokens, total / limit, total, False)


def beam(follow: Follow, limit: int, size: int, penalty: float = 1.0) -> list[Hypothesis]:
    """K beginnings go on; an end among the K best candidates is kept; over when K have ended."""
    beams: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[Hypothesis] = []
    for length in range(1, limit + 1):
        candidates = [
            (total + log_prob, [*tokens, token])
            for total, tokens in beams
            for token, log_prob in enumerate(follow(tokens).tolist())
        ]
        candidates.sort(key=lambda candidate: candidate[0], reverse=True)
        for total, tokens in candidates[:size]:
            if tokens[-1] == END:
                ended.append(Hypothesis(tokens[:-1], total / length**penalty, total, True))
        beams = [candidate for candidate in candidates if candidate[1][-1] != END][:size]
        if len(ended) >= size:
            return best_first(ended)[:size]
    cut = [Hypothesis(tokens, total / limit**penalty, total, False) for total, tokens in beams]
    return (best_first(ended) + best_first(cut))[:size]


def best_first(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda hypothesis: hypothesis.score, reverse=True)


def assert_same(found: list[Hypothesis], expected: list[Hypothesis], tolerance: float = 1e-9) -> None:
    assert [one.tokens for one in found] == [one.tokens for one in expected]
    assert [one.finished for one in found] == [one.finished for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert abs(one.log_prob - other.log_prob) < tolerance
        assert abs(one.score - other.score) < tolerance


class Counting:
    """A model that writes down how many rows it is given at each step."""

    def __init__(self, model: Any) -> None:
        self.model, self.rows = model, []  # type: ignore[var-annotated]

    def step(self, tokens: Tensor, state: Any, keep: Tensor | None = None) -> Any:
        self.rows.append(len(tokens))
        return self.model.step(tokens, state, keep)
