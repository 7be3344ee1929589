"""Translation: sentence pairs in, a translator out."""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor

from regard.checkpoint import Run, RunError, put_weights, read_tensors
from regard.config import Config, ConfigError, Rate, Size, change, from_dict
from regard.data.batches import Batches, pad
from regard.data.catalogue import open_data
from regard.data.files import DataError, PairFile, ParallelFiles
from regard.data.pairs import Pair
from regard.data.store import HEADER, Store, write_store
from regard.data.tokenizers import END, PAD, START, Tokenizer
from regard.decoding import Decoding, Hypothesis, translate
from regard.models import EncoderDecoderModel, Model, ModelConfig
from regard.page.html import cards
from regard.page.svg import bar_chart, word_matrix
from regard.tasks.alignment import Reading, choose_reading, cross_weights, words_of
from regard.tasks.base import Say, Task, TaskConfig, Validation
from regard.tasks.scores import bleu, bleu_by_length, chrf

TokenizerKind = Literal["bpe", "unigram", "wordpiece", "word", "char", "byte"]
MOST_VALIDATED = 500  # sentences that are translated while training; the loss is computed on all
MOST_ALIGNED = 100  # pairs with gold links that choose which layer is shown
SAMPLES = 5


@dataclass(frozen=True)
class PairData(Config):
    """Where sentence pairs come from: one file, two parallel files, or a named set."""

    file: str | None = None
    source: str | None = None
    target: str | None = None
    name: str | None = None
    languages: str | None = None
    split: str = "train"
    columns: tuple[str, ...] | None = None
    count: Size | None = None

    def check(self) -> None:
        ways = [self.file is not None, self.source is not None or self.target is not None, self.name is not None]
        if sum(ways) > 1:
            raise ConfigError(
                "sentence pairs come from one file, from two parallel files or from a named set: choose one"
            )
        if (self.source is None) != (self.target is None):
            raise ConfigError(f"source {self.source!r} and target {self.target!r}: parallel files come in two")
        if self.columns is not None and len(self.columns) != 2:
            raise ConfigError(f"columns {','.join(self.columns)}: name two, the source's and the target's")

    @property
    def given(self) -> bool:
        return any((self.file, self.source, self.name))

    def pairs(self) -> Iterable[Pair]:
        if self.name is not None:
            return open_data(self.name, self.languages, self.split, self.count)
        pairs: Iterable[Pair]
        if self.file is not None:
            pairs = PairFile(self.file, cast("tuple[str, str] | None", self.columns))
        elif self.source is not None and self.target is not None:
            pairs = ParallelFiles(self.source, self.target)
        else:
            raise DataError("no sentence pairs were given: name a file, two parallel files or a data set")
        return pairs if self.count is None else itertools.islice(iter(pairs), self.count)


@dataclass(frozen=True)
class Translation(TaskConfig, kind="translate"):
    """Translate sentences. Pairs longer than `max_length` tokens on a side are dropped from training, and counted."""

    train: PairData = PairData()
    valid: PairData = PairData()
    tokenizer: TokenizerKind = "bpe"
    pieces: Size | None = None
    max_length: Size = 256
    smoothing: Rate = 0.1

    def open(self, folder: Path, say: Say) -> TranslationTask:
        return TranslationTask(self, folder, say)


class Translator:
    """A model and its tokenizer: text in, text out. It needs no training data."""

    def __init__(self, model: EncoderDecoderModel, tokenizer: Tokenizer, max_length: int) -> None:
        self.model, self.tokenizer, self.max_length = model, tokenizer, max_length

    @classmethod
    def load(cls, run: Run) -> Translator:
        """The best weights of a run folder, ready to use."""
        task = from_dict(TaskConfig, run.section("task"), "task")
        if not isinstance(task, Translation):
            raise RunError(f"{run.path} was trained to {task.kind}, not to translate")
        model = from_dict(ModelConfig, run.section("model"), "model").build()
        put_weights(model, read_tensors(run.weights_path), str(run.weights_path))
        tokenizer = Tokenizer.load(run.tokenizer_path)
        if tokenizer.vocabulary != model.config.vocabulary:
            raise RunError(
                f"{run.tokenizer_path} has {tokenizer.vocabulary} pieces, the model {model.config.vocabulary}: "
                "they do not belong together"
            )
        return cls(cast(EncoderDecoderModel, model.eval()), tokenizer, task.max_length)

    def translate(self, texts: Sequence[str], options: Decoding, batch: int = 32) -> list[list[Hypothesis]]:
        """The best hypotheses of each text, in the order of the texts; batches are made by length."""
        rows = self.tokenizer.encode(list(texts))
        for number, row in enumerate(rows):
            if len(row) >= self.max_length:
                limit = self.max_length - 1
                raise DataError(f"sentence {number + 1} has {len(row)} tokens, the model reads {limit}: split it")
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        results: list[list[Hypothesis]] = [[] for _ in rows]
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            source, keep = self.source([rows[i] for i in chosen])
            found = translate(self.model, source, keep, options, start=START, end=END)
            for i, hypotheses in zip(chosen, found, strict=True):
                results[i] = hypotheses
        return results

    def texts(self, texts: Sequence[str], options: Decoding, batch: int = 32) -> list[str]:
        """The best translation of each text."""
        return [self.tokenizer.decode(found[0].tokens) for found in self.translate(texts, options, batch)]

    def source(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor | None]:
        """Token rows, each with its end, as a padded batch and its mask, None where nothing is padded."""
        return padded([np.array([*row, END]) for row in rows], self.device)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device


def padded(rows: Sequence[np.ndarray[Any, Any]], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """(B, T) on the device and the mask of real tokens; no mask where all rows are of one length."""
    lengths = np.array([len(row) for row in rows])
    batch = torch.from_numpy(pad(rows, PAD)).to(device)
    if lengths.min() == lengths.max():
        return batch, None
    return batch, (torch.arange(batch.shape[1]) < torch.from_numpy(lengths)[:, None]).to(device)


class TranslationTask:
    """Data on disk beside the run, so that a corpus may be larger than memory and a resumed run reads nothing again."""

    metric = "bleu"
    higher_is_better = True

    def __init__(self, config: Translation, folder: Path, say: Say) -> None:
        self.config = config
        folder.mkdir(parents=True, exist_ok=True)
        tokens = folder / "tokens"
        tokenizer_path = folder / "tokenizer.json"
        if not tokenizer_path.exists():
            say("training the tokenizer")
            texts = (text for pair in config.train.pairs() for text in (pair.source, pair.target))
            Tokenizer.train(texts, config.tokenizer, config.pieces, say).save(tokenizer_path)
        self.tokenizer = Tokenizer.load(tokenizer_path)
        self.valid = self.short_enough(config.valid.pairs(), say)
        if not (tokens / HEADER).exists():
            say("tokenizing")
            self.write_tokens(tokens, say)
        self.store = Store.open(tokens)

    def short_enough(self, pairs: Iterable[Pair], say: Say) -> list[Pair]:
        """The validation pairs that the model can read and write."""
        every = list(pairs)
        sides = [self.tokenizer.encode([getattr(pair, side) for pair in every]) for side in ("source", "target")]
        longest = [max(len(source), len(target)) for source, target in zip(*sides, strict=True)]
        kept = [pair for pair, length in zip(every, longest, strict=True) if length < self.config.max_length]
        if not kept:
            raise DataError("there are no validation pairs" if not every else "every validation pair is too long")
        if len(kept) < len(every):
            say(f"{len(every) - len(kept):,} validation pairs of {self.config.max_length} tokens or more were dropped")
        return kept

    def write_tokens(self, folder: Path, say: Say) -> None:
        dropped = 0

        def rows() -> Iterable[tuple[Sequence[int], ...]]:
            nonlocal dropped
            pairs = iter(self.config.train.pairs())
            while chunk := list(itertools.islice(pairs, 10_000)):
                sources = self.tokenizer.encode([pair.source for pair in chunk])
                targets = self.tokenizer.encode([pair.target for pair in chunk])
                for source, target in zip(sources, targets, strict=True):
                    if max(len(source), len(target)) < self.config.max_length:
                        yield source, target
                    else:
                        dropped += 1

        store = write_store(folder, rows(), self.tokenizer.vocabulary, fingerprint=self.tokenizer.fingerprint)
        if len(store) == 0:
            raise DataError(f"no training pair is shorter than {self.config.max_length} tokens")
        if dropped:
            say(f"{dropped:,} pairs of {self.config.max_length} tokens or more were dropped")

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(model, {"vocabulary": self.tokenizer.vocabulary})

    def batches(self, budget: int, seed: int) -> Batches:
        lengths = [self.store.lengths(side) + 1 for side in (0, 1)]  # and the end
        return Batches(lengths, budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        return self.pair_loss(model, self.store.rows(0, indices), self.store.rows(1, indices), self.config.smoothing)

    def pair_loss(
        self, model: Model, sources: Sequence[Any], targets: Sequence[Any], smoothing: float
    ) -> tuple[Tensor, int]:
        translator = cast(EncoderDecoderModel, model)
        device = next(model.parameters()).device
        source, keep = padded([np.append(row, END) for row in sources], device)
        target, _ = padded([np.concatenate([[START], row, [END]]) for row in targets], device)
        labels = target[:, 1:].masked_fill(target[:, 1:] == PAD, -100)
        # Padding stands at the end of targets and a causal decoder never sees it, so the decoder needs no mask.
        hidden = translator.features(source, target[:, :-1], keep)
        return translator.head.total_loss(hidden, labels, smoothing), sum(len(row) + 1 for row in targets)

    @torch.no_grad()
    def validate(self, model: Model) -> Validation:
        total, count = 0.0, 0
        sources = [np.array(row) for row in self.tokenizer.encode([pair.source for pair in self.valid])]
        targets = [np.array(row) for row in self.tokenizer.encode([pair.target for pair in self.valid])]
        order = sorted(range(len(sources)), key=lambda i: (len(targets[i]), len(sources[i])))
        for start in range(0, len(order), 64):
            rows = order[start : start + 64]
            loss, tokens = self.pair_loss(model, [sources[i] for i in rows], [targets[i] for i in rows], 0.0)
            total, count = total + float(loss), count + tokens
        chosen = self.valid[:MOST_VALIDATED]
        translator = Translator(cast(EncoderDecoderModel, model), self.tokenizer, self.config.max_length)
        found = translator.texts([pair.source for pair in chosen], Decoding(), batch=64)
        references = [pair.target for pair in chosen]
        samples = [
            {"source": pair.source, "output": text, "reference": pair.target}
            for pair, text in zip(chosen[:SAMPLES], found, strict=False)
        ]
        metrics = {"loss": total / count, "bleu": bleu(found, references), "chrf": chrf(found, references)}
        return Validation(metrics, samples)

    def sections(self, model: Model) -> list[tuple[str, str]]:
        translator = Translator(cast(EncoderDecoderModel, model), self.tokenizer, self.config.max_length)
        chosen = self.valid[:MOST_VALIDATED]
        sources, references = [pair.source for pair in chosen], [pair.target for pair in chosen]
        found = translator.texts(sources, Decoding(), batch=64)
        bars = [
            (name, value, f"{count} sentences of {name} words")
            for name, count, value in bleu_by_length(sources, found, references)
        ]
        by_length = bar_chart(bars, "words of the source", "BLEU by length of the source")
        return [
            ("BLEU by length of the source", cards([("greedy, validation sentences", by_length)])),
            ("Which source word each target word looks at", self.alignments(translator)),
        ]

    def alignments(self, translator: Translator) -> str:
        """Matrices of some validation pairs, from the layer that follows gold best, or the last where there is none."""
        gold = [pair for pair in self.valid if pair.alignment][:MOST_ALIGNED]
        if gold:
            reading, error = choose_reading(translator, gold)
            about = f"{reading.layer}, alignment error rate {error:.2f}; gold links are outlined"
        else:
            reading = Reading(fnmatch.filter(translator.model.attention_names(), "*.cross")[-1])
            about = reading.layer
        shown = [pair for pair in self.valid if 4 <= len(pair.source.split()) <= 14][:SAMPLES]
        if not shown:
            return ""
        matrices = cross_weights(translator, shown, reading.shift)[reading.layer]
        drawn = []
        for pair, weights in zip(shown, matrices, strict=True):
            columns, rows = words_of(pair)
            drawn.append((about, word_matrix(rows, columns, weights.tolist(), pair.alignment, pair.source)))
        return cards(drawn)


def _keeps_the_contract(task: TranslationTask) -> Task:
    return task
