"""Writing: a text in, a text that belongs to it out. What translation and summarising have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.config import ConfigError, Rate, Size, Weight, change
from regard.data.batches import Batches
from regard.data.corpus import Rowing, tokenized
from regard.data.examples import PairData
from regard.data.pairs import Pair, Sides, say_skipped
from regard.data.progress import counting
from regard.data.shards import TokenShard
from regard.data.splitting import Row, Splitter
from regard.data.store import HEADER, Store
from regard.data.text import evenly
from regard.data.tokenizers import Kind, Tokenizer
from regard.errors import DataError
from regard.models import Model, ModelConfig, SourceWriter, SourceWriterConfig
from regard.models.padding import padded
from regard.nn.losses import IGNORED, agreeing_loss, words_loss
from regard.results import Scores
from regard.runfolder import TOKENS, Run
from regard.sides.base import shortened
from regard.tasks.base import Done, Say, Task, TaskConfig, Validation, sample
from regard.tasks.tuning import longest_of
from regard.tasks.writing.translator import Translator

SAMPLES = 5
SAMPLE_CHARACTERS = 500  # letters of a source in a sample


@dataclass(frozen=True)
class TextToText(TaskConfig):
    """A text longer than `max_length` tokens on a side is dropped from training, and counted; where sources may be
    long, they are cut instead (`cut_source`).

    For little data: `splitting` is the chance with which a piece comes apart while training, for more spellings; with
    `agreement` each pair is read twice, by other dropout, and what is expected shall agree so strongly (R-Drop).
    Of the validation pairs the first `validated` are written; the loss is computed on all.
    """

    preset: ClassVar[str] = "translator"
    cut_source: ClassVar[bool] = False

    train: PairData = PairData()
    valid: PairData = PairData()
    tokenizer: Kind = "bpe"
    pieces: Size | None = None
    max_length: Size = 256
    smoothing: Rate = 0.1
    splitting: Rate = 0.0
    agreement: Weight = 0.0
    validated: Size = 500

    @property
    def max_target(self) -> int:
        """Targets of so many tokens or more are dropped."""
        return self.max_length

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, SourceWriterConfig):
            raise ConfigError(f"model: one of kind {model.kind} reads no source, so it cannot learn to {self.purpose}")

    def within(self, model: ModelConfig) -> TextToText:
        return replace(self, max_length=min(self.max_length, longest_of(model) or self.max_length))

    def following(self, run: Run) -> Mapping[str, Any]:
        return self.like(run, "max_length")

    def open(self, folder: Path, say: Say) -> TextToTextTask:
        return TextToTextTask(self, folder, say)

    def tool(self, model: SourceWriter, tokenizer: Tokenizer, run: Run | None = None) -> Translator:
        return Translator(model, tokenizer, self.max_length)

    def scores(self, pairs: Sequence[Pair], found: Sequence[str]) -> Scores:
        """How good what was found for the sources of pairs is."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")


class TextToTextTask(Task[TextToText]):
    """Sources and targets as tokens on disk, written and read as streams."""

    def prepare(self, say: Say) -> None:
        config, tokens = self.config, self.run.path / TOKENS
        self.known: dict[tuple[float, ...], list[str]] = {}  # by the sums of the weights, what was written with them
        valid = config.valid.pairs()  # at once: that a file is missing is said before the tokenizer takes its time
        self.tokenizer = self.learn_tokenizer(self.texts, say)
        self.valid = self.short_enough(valid, say)
        self.store = Store.open(tokens) if (tokens / HEADER).exists() else self.write_tokens(tokens, say)
        self.splitter = Splitter(self.tokenizer.halves(), config.splitting) if config.splitting else None

    def texts(self) -> Iterable[str]:
        """Of the training pairs, as many sources as targets."""
        return evenly((pair.source, pair.target) for pair in self.config.train.pairs())

    def short_enough(self, pairs: Iterable[Pair], say: Say) -> list[Pair]:
        """The validation pairs that the model can read and write."""
        every = list(pairs)
        say_skipped(pairs, "validation pairs", say)
        sides = [self.tokenizer.encode([getattr(pair, side) for pair in every]) for side in ("source", "target")]
        kept = [pair for pair, *rows in zip(every, *sides, strict=True) if self.fits(rows)]
        if not kept:
            raise DataError("there are no validation pairs" if not every else "every validation pair is too long")
        if len(kept) < len(every):
            say(f"{len(every) - len(kept):,} validation pairs of {self.config.max_target} tokens or more were dropped")
        return kept

    def fits(self, pair: Sequence[Sequence[int] | Row]) -> bool:
        """Whether both sides of a pair are short enough; of a source that may be cut it does not matter."""
        source, target = pair
        short = self.config.cut_source or len(source) < self.config.max_length
        return short and len(target) < self.config.max_target

    def write_tokens(self, folder: Path, say: Say) -> Store:
        sides, longest = Sides(self.config.train.pairs()), self.config.max_target
        rowing = Rowing(self.rows, sides=2, made=f"below {longest}" + ", sources cut" * self.config.cut_source, group=2)
        store = tokenized(folder, sides, self.tokenizer, rowing, say)
        if not len(store):
            raise DataError(f"no training pair is shorter than {longest} tokens")
        say_skipped(sides.examples, "training pairs", say)
        if dropped := sides.pairs - len(store):
            say(f"{dropped:,} training pairs of {longest} tokens or more were dropped")
        return store

    def rows(self, shard: TokenShard) -> list[tuple[Row, Row]]:
        """The pairs that are short enough, and no more of their sources than is read."""
        sides, most = [row for row in shard.texts if row is not None], self.config.max_length - 1
        pairs = zip(sides[::2], sides[1::2], strict=True)
        return [(source[:most], target) for source, target in pairs if self.fits((source, target))]

    def fit(self, model: ModelConfig) -> ModelConfig:
        """Both sides have the same pieces; a source with a table of its own keeps it, in their number."""
        assert isinstance(model, SourceWriterConfig)
        pieces = self.tokenizer.vocabulary
        return change(model, {"vocabulary": pieces, "source_vocabulary": model.source_vocabulary and pieces})

    def batches(self, budget: int, seed: int) -> Batches:
        lengths = [self.store.lengths(side) + 1 for side in (0, 1)]  # and the end
        return Batches(lengths, budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        sources: Sequence[Row] = self.store.rows(0, indices)
        targets: Sequence[Row] = self.store.rows(1, indices)
        if self.splitter is not None:
            random = np.random.default_rng(int(torch.randint(1 << 31, ())))  # resumed with torch's own state
            sources, targets = self.splitter(sources, random), self.splitter(targets, random)
        return self.pair_loss(model, sources, targets, self.config.smoothing, self.config.agreement)

    def pair_loss(
        self, model: Model, sources: Sequence[Row], targets: Sequence[Row], smoothing: float, agreement: float = 0.0
    ) -> tuple[Tensor, int]:
        writer = cast(SourceWriter, model)
        device = next(model.parameters()).device
        passes = 2 if agreement else 1
        source, keep = padded([np.append(row, self.tokenizer.end) for row in sources] * passes, device)
        target, labels = shifted(list(targets) * passes, self.tokenizer, device)
        hidden = writer.features(source, target, keep)
        if agreement:
            loss = agreeing_loss(writer.head, hidden, labels[: len(targets)], agreement, smoothing)
        else:
            loss = words_loss(writer.head, hidden, labels, smoothing)
        return loss, sum(len(row) + 1 for row in targets)

    @torch.no_grad()
    def valid_loss(self, model: Model, done: Done) -> float:
        """The mean loss of a token, without smoothing; `done` hears of how many more pairs it is."""
        total, count, most = 0.0, 0, self.config.max_length - 1
        sources = [np.array(row[:most]) for row in self.tokenizer.encode([pair.source for pair in self.valid])]
        targets = [np.array(row) for row in self.tokenizer.encode([pair.target for pair in self.valid])]
        order = sorted(range(len(sources)), key=lambda i: (len(targets[i]), len(sources[i])))
        for start in range(0, len(order), 64):
            rows = order[start : start + 64]
            loss, tokens = self.pair_loss(model, [sources[i] for i in rows], [targets[i] for i in rows], 0.0)
            total, count = total + float(loss), count + tokens
            done(len(rows))
        return total / count

    def validate(self, model: Model) -> Validation:
        with counting("validating, sentence pairs", 2 * len(self.valid), bar=False) as done:
            chosen, found = self.written(model, done)
            done(len(self.valid) - len(chosen))
            loss = self.valid_loss(model, done)
        samples = [
            sample(shortened(pair.source, SAMPLE_CHARACTERS), text, pair.target)
            for pair, text in zip(chosen[:SAMPLES], found, strict=False)
        ]
        scores = self.config.scores(chosen, found).metrics()
        return Validation({"loss": loss, **scores}, samples)

    def written(self, model: Model, done: Done) -> tuple[list[Pair], list[str]]:
        """Some validation pairs, and what a greedy search writes for their sources; `done` hears of how many more. What
        a validation wrote is known, so that the report of the weights that are kept need not write it again."""
        chosen, tool = self.valid[: self.config.validated], self.tool(model)
        weights = tuple(float(weight.detach().sum(dtype=torch.float64)) for weight in model.parameters())
        if weights not in self.known:
            sources = [pair.source for pair in chosen]
            self.known[weights] = tool.texts(sources, tool.search(beam=1), batch=64, done=done)
        else:
            done(len(chosen))
        return chosen, self.known[weights]


def shifted(targets: Sequence[Row], tokenizer: Tokenizer, device: torch.device) -> tuple[Tensor, Tensor]:
    """What a decoder reads of targets and what it shall say, (B, T) each: the start before them and the end behind.

    Padding stands at the end and a causal decoder never sees it, so the decoder needs no mask."""
    target, real = padded([np.concatenate([[tokenizer.start], row, [tokenizer.end]]) for row in targets], device)
    labels = target[:, 1:]
    return target[:, :-1], labels if real is None else labels.masked_fill(~real[:, 1:], IGNORED)
