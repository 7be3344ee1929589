"""Nearness: pairs of texts in, a reader out whose vectors are near where texts are alike or belong together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import ConfigError, Positive, Size, change
from regard.data.batches import Batches
from regard.data.examples import RelatedData
from regard.data.pairs import TextsOf
from regard.data.related import Related
from regard.data.store import HEADER
from regard.errors import DataError
from regard.metrics.correlation import ranks
from regard.models import Model, ModelConfig, TextReader, TextReaderConfig
from regard.models.padding import padded
from regard.page.records import Numbers, Section, Table
from regard.results import Scores
from regard.runfolder import TOKENS, Run, Scale
from regard.sides.base import Row
from regard.sides.score import SCORE_STEPS
from regard.sides.text import FRAME, framed_rows
from regard.tasks.base import Done, Evaluation, Say, Task, TokenTask, Validation, sample, usual
from regard.tasks.tuning import OnReader, check_length
from regard.tasks.vectors.embedding import SECTION, Embedder, load_embedder
from regard.tasks.vectors.nearness import Nearness, match_loss, nearness, order_loss, right_ones, texts_of

PAIRS_A_CHUNK = 2_000  # pairs that are tokenized at once
BATCH = 64  # texts that are embedded at once, where nothing is learnt
SAMPLES, MISTAKES = 5, 8
CELL_CHARACTERS = 160  # letters of a text in a table
OF_SCORES = ("spearman", "pearson", "loss")
OF_PLACES = ("mrr", "recall_at_1", "loss")


@dataclass(frozen=True)
class Relating(OnReader, TokenTask, kind="similar"):
    """Make vectors of texts whose cosines rank pairs: as their scores do, or what belongs together before all else.

    Of pairs with scores the `objective` is that cosines go from 0 for the lowest to 1 for the highest, by squared error
    ("square"), or that they come in the same order ("order": `order_loss`). Pairs that belong together are told from
    the others of their batch and from their negatives (`match_loss`). Both of these have a `temperature`. `pooling` is
    the mean of all states, or the state of the first token. A text of more than `max_length` tokens is cut, and how
    many are is said. A batch has at most `batch_texts` pairs.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        **dict.fromkeys(("spearman", "pearson", "mrr", "recall_at_1"), True),
        "loss": False,
    }
    preset: ClassVar[str] = "bert-tiny"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, rate=1e-3, warmup=100, max_steps=1500, validate_every=150)

    train: RelatedData = RelatedData()
    valid: RelatedData = RelatedData()
    pooling: Literal["mean", "cls"] = "mean"
    objective: Literal["square", "order"] = "square"
    temperature: Positive = 0.05
    max_length: Size = 128
    batch_texts: Size = 64

    def check(self) -> None:
        if self.max_length <= FRAME:
            raise ConfigError(f"max_length {self.max_length} holds no text; it takes at least {FRAME + 1} tokens")

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, TextReaderConfig):
            raise ConfigError(f"model: one of kind {model.kind} makes no vectors of texts; take one of kind encoder")
        check_length(model, self.max_length)

    def around(self, reader: TextReaderConfig) -> ModelConfig:
        return reader

    def following(self, run: Run) -> Mapping[str, Any]:
        """Texts become vectors as they did in that run, where it says how."""
        about = run.read_config().get(SECTION, {})
        names = {"pool": "pooling", "longest": "max_length"}
        return {ours: about[theirs] for theirs, ours in names.items() if theirs in about}

    def open(self, folder: Path, say: Say) -> RelatingTask:
        return RelatingTask(self, folder, say)

    def load(self, run: Run) -> Embedder:
        """The best weights of the run, ready to use."""
        return load_embedder(run.path)

    def evaluate(self, asked: Evaluation) -> Scores:
        embedder: Embedder = asked.tool(self)
        pairs = list(asked.examples(self.valid))

        def work(done: Done) -> Scores:
            return nearness(embedder, pairs, asked.batch or BATCH, done, asked.say)

        return asked.measured("pairs", len(pairs), work, "texts embedded")


class RelatingTask(Task[Relating]):
    """Tokens on disk beside the run: of each pair both texts as they are read, and its place on the scale of scores;
    or, of pairs that belong together, the negative, empty where there is none."""

    def prepare(self, say: Say) -> None:
        config, folder = self.config, self.run.path
        self.valid = list(config.valid.open())  # at once: that a file is missing is said before the rest takes its time
        self.metrics = {name: config.metrics[name] for name in self.judged_by()}
        if not (folder / TOKENS / HEADER).exists():
            self.find_scale(folder)
        self.scale = Scale.read(folder)
        scores = [pair.score for pair in self.valid if pair.score is not None]
        self.valid_scale = self.scale or (Scale(min(scores), max(scores)) if scores else None)
        self.tokenizer = self.learn_tokenizer(lambda: TextsOf(config.train.open(), texts_of), say, lower=config.lower)
        self.store = self.stored(lambda: self.rows(say), 3, max(self.tokenizer.vocabulary, SCORE_STEPS + 1), say)

    def judged_by(self) -> Sequence[str]:
        """The metrics that suit the validation pairs, which may be of another kind than the training pairs."""
        scores = {pair.score for pair in self.valid}
        if len(scores) == 1 and None not in scores:
            raise DataError(f"all validation pairs have the score {scores.pop():g}: there is nothing to rank")
        return OF_PLACES if None in scores else OF_SCORES

    def find_scale(self, folder: Path) -> None:
        """The lowest and the highest score of the training pairs, where they have scores."""
        scores = [pair.score for pair in self.config.train.open()]
        if len(scores) < 2:
            raise DataError("there is one training pair: it takes others to compare it with")
        known = [score for score in scores if score is not None]
        if not known:
            return
        if min(known) == max(known):
            raise DataError(f"all training pairs have the score {known[0]:g}: there is nothing to learn")
        Scale(min(known), max(known)).write(folder)

    def rows(self, say: Say) -> Iterator[tuple[Sequence[Any], ...]]:
        cut, count, longest = 0, 0, self.config.max_length
        stream = iter(self.config.train.open())
        while chunk := list(itertools.islice(stream, PAIRS_A_CHUNK)):
            sides = [framed_rows(self.tokenizer, [text_at(pair, i) for pair in chunk], longest) for i in (0, 1)]
            cut, count = cut + sum(some for _, some in sides), count + len(chunk)
            yield from zip(sides[0][0], sides[1][0], self.third(chunk), strict=True)
        if cut:
            say(f"{cut:,} texts of {count:,} training pairs have more than {longest:,} tokens and are cut")

    def third(self, pairs: Sequence[Related]) -> Sequence[Row]:
        """What is stored beside the two texts of each pair."""
        if self.scale is not None:
            shares = self.scale.inside(np.array([pair.score for pair in pairs], dtype=np.float64))
            return [[int(mark)] for mark in np.rint(shares * SCORE_STEPS)]
        negatives = [pair.negative for pair in pairs if pair.negative is not None]
        rows = iter(framed_rows(self.tokenizer, negatives, self.config.max_length)[0])
        return [[] if pair.negative is None else next(rows) for pair in pairs]

    def fit(self, model: ModelConfig) -> ModelConfig:
        assert isinstance(model, TextReaderConfig)
        return change(model.inside(), {"vocabulary": self.tokenizer.vocabulary})

    def batches(self, budget: int, seed: int) -> Batches:
        sides = [self.store.lengths(side) for side in range(2 if self.scale else 3)]
        return Batches([side for side in sides if side.any()], budget, seed, self.config.batch_texts, whole=True)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """Of the batch as a whole, times its tokens, by which the trainer divides."""
        firsts, seconds, third = (list(self.store.rows(side, indices)) for side in range(3))
        count = sum(map(len, (*firsts, *seconds)))
        embedder = self.tool(model)
        left, right = vectors(embedder, firsts), vectors(embedder, seconds)
        if self.scale is not None:
            shares = torch.tensor([int(mark[0]) / SCORE_STEPS for mark in third], device=left.device)
            return self.score_loss((left * right).sum(-1), shares) * count, count
        negatives = [row for row in third if len(row)]
        if negatives:
            right, count = torch.cat([right, vectors(embedder, negatives)]), count + sum(map(len, negatives))
        belong = right_ones([row.tobytes() for row in firsts], [row.tobytes() for row in (*seconds, *negatives)])
        return match_loss(left, right, belong.to(left.device), self.config.temperature) * count, count

    def score_loss(self, near: Tensor, shares: Tensor) -> Tensor:
        """Of cosines, where the scores are at these shares of their scale."""
        if self.config.objective == "square":
            return F.mse_loss(near, shares)
        return order_loss(near, shares, self.config.temperature)

    def tool(self, model: Model) -> Embedder:
        return Embedder(cast(TextReader, model), self.tokenizer, self.config.pooling, self.config.max_length)

    # --- judging ---

    def validate(self, model: Model) -> Validation:
        found, shown = nearness(self.tool(model), self.valid), range(min(SAMPLES, len(self.valid)))
        samples = [sample(*self.told(found, i), first=self.valid[i].first, second=self.valid[i].second) for i in shown]
        return Validation({**found.figures(), "loss": self.valid_loss(found)}, samples)

    def valid_loss(self, found: Nearness) -> float:
        """That of the training, of as many pairs at a time as a batch has, without negatives."""
        losses = []
        for start in range(0, len(self.valid), self.config.batch_texts):
            some = slice(start, start + self.config.batch_texts)
            if found.gold is not None and self.valid_scale is not None:
                shares = torch.from_numpy(self.valid_scale.inside(found.gold[some]))
                losses.append(self.score_loss(torch.from_numpy(found.cosines[some]), shares))
                continue
            left, right = torch.from_numpy(found.firsts[some]), torch.from_numpy(found.seconds[some])
            belong = right_ones(*zip(*((pair.first, pair.second) for pair in self.valid[some]), strict=True))
            losses.append(match_loss(left, right, belong, self.config.temperature))
        return float(torch.stack(losses).mean())

    def told(self, found: Nearness, i: int) -> tuple[str, str, str]:
        """Of a validation pair: the texts, what was found, and what is right."""
        pair = self.valid[i]
        first, second = pair.first[:CELL_CHARACTERS], pair.second[:CELL_CHARACTERS]
        if pair.score is None:
            return first, found.nearest[i][:CELL_CHARACTERS], second
        return f"{first} | {second}", f"{found.cosines[i]:.3f}", f"{pair.score:g}"

    def findings(self, model: Model) -> dict[str, Any]:
        """How its vectors are made, as whoever embeds with it reads it."""
        return {SECTION: {"pool": self.config.pooling, "longest": self.config.max_length, "normalised": True}}

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        found = nearness(self.tool(model), self.valid)
        between = {name: f"{low:.3f} – {high:.3f}" for name, (low, high) in found.intervals.items()}
        if found.gold is not None:
            order = np.argsort(-np.abs(ranks(found.gold) - ranks(found.cosines)), kind="stable")
            title, head = "The pairs that stand furthest from their place", ("texts", "cosine", "score")
        else:
            assert found.places is not None
            order = np.argsort(-found.places, kind="stable")[: int((found.places > 1).sum())]
            title, head = "The texts that were furthest from their own", ("text", "nearest", "its own")
        rows = [self.told(found, int(i)) for i in order[:MISTAKES]]
        return [
            Section("What 95 of 100 such validation sets would score", [Numbers(between)]),
            Section(title, [Table(head, rows, empty="There is none.")]),
        ]


def vectors(embedder: Embedder, rows: Sequence[np.ndarray[Any, Any]]) -> Tensor:
    """(rows, width), of length 1, with their gradients."""
    return F.normalize(embedder.pooled(*padded(rows, embedder.device)).float(), dim=-1)


def text_at(pair: Related, side: int) -> str:
    return (pair.first, pair.second)[side]
