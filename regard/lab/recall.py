"""A small task: which value did a key have, some tokens ago? Associative recall, after arXiv:1610.06258."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import Config, ConfigError, Positive, Size
from regard.lab.experiment import Results
from regard.metrics.statistics import RESAMPLED, SeedScores
from regard.models import Decoder, DecoderModel
from regard.nn.call.gathering import gathering
from regard.training.optimisers import AdamW, scale_rates
from regard.training.schedules import StableDecay

TEST_ROWS = 2048  # rows
MAX_GRADIENT_NORM = 1.0


@dataclass(frozen=True)
class Recall(Config):
    """Rows of `length` tokens: `keys` of them each say a key with one of so many `values`, at any place; the others say
    nothing, `fillers` of them; at the end every key is asked for once."""

    length: Size = 128
    keys: Size = 8
    values: Size = 8
    fillers: Size = 16

    def check(self) -> None:
        if self.length < 2 * self.keys:
            raise ConfigError(f"{self.length} tokens have no room for {self.keys} keys and as many questions")

    @property
    def vocabulary(self) -> int:
        return self.fillers + self.keys * self.values + self.keys

    def draw(self, rows: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens (B, length); of the questions at their end (B, keys) the right values and how far back they were."""
        asked = self.length - self.keys
        tokens = torch.randint(0, self.fillers, (rows, self.length), generator=random)
        places = torch.rand(rows, asked, generator=random).argsort(-1)[:, : self.keys]  # of key 0, 1, …
        values = torch.randint(0, self.values, (rows, self.keys), generator=random)
        order = torch.rand(rows, self.keys, generator=random).argsort(-1)
        said = self.fillers + torch.arange(self.keys) * self.values + values
        tokens.scatter_(1, places, said)
        tokens[:, asked:] = self.fillers + self.keys * self.values + order
        distances = torch.arange(asked, self.length) - places.gather(1, order)
        return tokens, values.gather(1, order), distances


@dataclass(frozen=True)
class Learning(Config):
    """How the task is learnt."""

    rows: Size = 64
    rate: Positive = 3e-3
    warmup: Size = 50


class RecallLearner:
    """A model that learns the task; `step` is one step of as many as are planned."""

    def __init__(self, task: Recall, config: Decoder, learning: Learning, steps: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.task, self.learning, self.steps = task, learning, steps
        model = config.build()
        assert isinstance(model, DecoderModel)
        self.model = model.train()
        self.random = torch.Generator().manual_seed(seed)
        self.optimisers = AdamW(rate=learning.rate).build(model)
        self.schedule = StableDecay(warmup=min(learning.warmup, max(steps // 5, 1)), decay=0.5)
        self.done = 0

    def answers(self, tokens: Tensor) -> Tensor:
        """(B, keys, values): the logits of the questions."""
        hidden = self.model.features(tokens)[:, -self.task.keys :]
        return self.model.head.logits(hidden)[..., : self.task.values]

    def step(self) -> float:
        self.done += 1
        tokens, values, _ = self.task.draw(self.learning.rows, self.random)
        with gathering(self.model) as extra:
            loss = F.cross_entropy(self.answers(tokens).flatten(0, 1), values.flatten())
            loss = loss + extra.total()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), MAX_GRADIENT_NORM)
        scale_rates(self.optimisers, self.schedule.factor(self.done, self.steps))
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad()
        return float(loss.detach())

    def learn(self) -> float:
        """All steps; returns their seconds."""
        begun = time.perf_counter()
        while self.done < self.steps:
            self.step()
        return time.perf_counter() - begun

    @torch.no_grad()
    def by_distance(self, ends: Sequence[int]) -> list[tuple[int, int]]:
        """(right answers, questions) about tokens up to each distance, and beyond the one before it."""
        self.model.eval()
        tokens, values, distances = self.task.draw(TEST_ROWS, torch.Generator().manual_seed(0))
        found = torch.cat([self.answers(part).argmax(-1) for part in torch.split(tokens, 128)])
        right = found == values
        places = torch.bucketize(distances, torch.tensor(list(ends)))
        return [(int((right & (places == number)).sum()), int((places == number).sum())) for number in range(len(ends))]


def recalled(results: Results) -> dict[str, list[SeedScores]]:
    """Of each contestant by distance: the accuracy in per cent; the questions are resampled."""
    random = np.random.default_rng(0)
    found: dict[str, list[SeedScores]] = {}
    for name, trials in results.items():
        counts = np.array([trial["recalled"] for trial in trials])  # (seeds, distances, 2)
        for right, asked in zip(counts[..., 0].T, counts[..., 1].T, strict=True):
            share = right / np.maximum(asked, 1)
            drawn = random.binomial(asked, share, size=(RESAMPLED, len(share))) / np.maximum(asked, 1)
            found.setdefault(name, []).append(SeedScores(100 * share, 100 * drawn.mean(1)))
    return found


def ranges(ends: Sequence[int]) -> list[str]:
    return [f"{low + 1}–{high}" for low, high in zip((0, *ends), ends, strict=False)]
