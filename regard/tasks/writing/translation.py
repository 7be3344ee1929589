"""Translation: sentence pairs in, a translator out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from torch import Tensor

from regard.checkpoint import TOKENS, Run, load_both, load_tokenizer
from regard.config import ConfigError, Rate, Size, Weight, change, to_dict
from regard.data.batches import Batches
from regard.data.corpus import Rowing, tokenized
from regard.data.examples import PairData
from regard.data.files import DataError
from regard.data.pairs import Pair, Sides, skipped
from regard.data.shards import TokenShard
from regard.data.splitting import Row, Splitter
from regard.data.store import HEADER, Store
from regard.data.text import evenly
from regard.data.tokenizers import Tokenizer
from regard.data.words import words
from regard.decoding import Decoding
from regard.fast import for_use
from regard.look.alignment import Reading, alignment_error_rate, cross_layers, usual_reading, words_of
from regard.look.capture import look
from regard.look.subject import Subject, recorded_reading
from regard.metrics.translations import bleu, bleu_by_length, chrf
from regard.models import Model, ModelConfig, SourceWriter, SourceWriterConfig
from regard.nn.losses import agreeing_loss, words_loss
from regard.page.records import BarChart, Card, Cards, Element, Prose, Section, WordMatrix
from regard.tasks.base import Say, Task, TaskConfig, Validation, task_of
from regard.tasks.tuning import longest_of
from regard.tasks.writing.alignment import choose_reading, cross_weights
from regard.tasks.writing.translator import Translator, padded

TokenizerKind = Literal["bpe", "unigram", "wordpiece", "word", "char", "byte"]
MOST_ALIGNED = 100  # pairs with gold links that choose which layer is read as an alignment
SOME_ALIGNED = 20  # that choose it at each validation, for the looks that are kept
SAMPLES = 5


@dataclass(frozen=True)
class Translation(TaskConfig, kind="translate"):
    """Translate sentences. Pairs longer than `max_length` tokens on a side are dropped from training, and counted.

    For little data: `splitting` is the chance with which a piece comes apart while training, for more spellings; with
    `agreement` each pair is read twice, by other dropout, and what is expected shall agree so strongly (R-Drop).
    Of the validation pairs the first `validated` are translated; the loss is computed on all.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"bleu": True, "chrf": True, "loss": False}
    preset: ClassVar[str] = "translator"

    train: PairData = PairData()
    valid: PairData = PairData()
    tokenizer: TokenizerKind = "bpe"
    pieces: Size | None = None
    max_length: Size = 256
    smoothing: Rate = 0.1
    splitting: Rate = 0.0
    agreement: Weight = 0.0
    validated: Size = 500

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, SourceWriterConfig):
            raise ConfigError(f"model: one of kind {model.kind} reads no source, so it cannot learn to translate")

    def within(self, model: ModelConfig) -> Translation:
        return replace(self, max_length=min(self.max_length, longest_of(model) or self.max_length))

    def following(self, run: Run) -> Mapping[str, Any]:
        return self.like(run, "max_length")

    def open(self, folder: Path, say: Say) -> TranslationTask:
        return TranslationTask(self, folder, say)

    def load(self, run: Run) -> Translator:
        """The best weights of the run, ready to use."""
        model, tokenizer = load_both(run)
        model = for_use(model)
        reading = recorded_reading(run, model) if cross_layers(model) else None
        return Translator(cast(SourceWriter, model), tokenizer, self.max_length, reading)


class TranslationTask:
    """Data on disk beside the run, so that a corpus may be larger than memory and a resumed run reads nothing again."""

    def __init__(self, config: Translation, folder: Path, say: Say) -> None:
        self.config, self.metrics = config, config.metrics
        folder.mkdir(parents=True, exist_ok=True)
        tokens = folder / TOKENS
        valid = config.valid.pairs()  # at once: that a file is missing is said before the tokenizer takes its time
        tokenizer_path = folder / "tokenizer.json"
        if not tokenizer_path.exists():
            train = config.train.pairs()
            say("training the tokenizer")
            texts = evenly((pair.source, pair.target) for pair in train)
            Tokenizer.train(texts, config.tokenizer, config.pieces, say).save(tokenizer_path)
        self.tokenizer = load_tokenizer(Run(folder))
        self.valid = self.short_enough(valid, say)
        self.store = Store.open(tokens) if (tokens / HEADER).exists() else self.write_tokens(tokens, say)
        self.splitter = Splitter(self.tokenizer.halves(), config.splitting) if config.splitting else None

    def short_enough(self, pairs: Iterable[Pair], say: Say) -> list[Pair]:
        """The validation pairs that the model can read and write."""
        every = list(pairs)
        say_skipped(pairs, "validation", say)
        sides = [self.tokenizer.encode([getattr(pair, side) for pair in every]) for side in ("source", "target")]
        longest = [max(len(source), len(target)) for source, target in zip(*sides, strict=True)]
        kept = [pair for pair, length in zip(every, longest, strict=True) if length < self.config.max_length]
        if not kept:
            raise DataError("there are no validation pairs" if not every else "every validation pair is too long")
        if len(kept) < len(every):
            say(f"{len(every) - len(kept):,} validation pairs of {self.config.max_length} tokens or more were dropped")
        return kept

    def write_tokens(self, folder: Path, say: Say) -> Store:
        sides, longest = Sides(self.config.train.pairs()), self.config.max_length
        rowing = Rowing(self.rows, sides=2, made=f"below {longest}", group=2)
        store = tokenized(folder, sides, self.tokenizer, rowing, say)
        if not len(store):
            raise DataError(f"no training pair is shorter than {longest} tokens")
        say_skipped(sides.examples, "training", say)
        if dropped := sides.pairs - len(store):
            say(f"{dropped:,} training pairs of {longest} tokens or more were dropped")
        return store

    def rows(self, shard: TokenShard) -> list[tuple[Row, Row]]:
        """The pairs that are short enough."""
        sides = [row for row in shard.texts if row is not None]
        pairs = zip(sides[::2], sides[1::2], strict=True)
        return [pair for pair in pairs if max(map(len, pair)) < self.config.max_length]

    def fit(self, model: ModelConfig) -> ModelConfig:
        """Both languages have the same pieces; a source with a table of its own keeps it, in their number."""
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
        translator = cast(SourceWriter, model)
        device = next(model.parameters()).device
        passes = 2 if agreement else 1
        start, end = self.tokenizer.start, self.tokenizer.end
        source, keep = padded([np.append(row, end) for row in sources] * passes, device)
        target, real = padded([np.concatenate([[start], row, [end]]) for row in targets] * passes, device)
        labels = target[: len(targets), 1:]
        if real is not None:
            labels = labels.masked_fill(~real[: len(targets), 1:], -100)
        # Padding stands at the end of targets and a causal decoder never sees it, so the decoder needs no mask.
        hidden = translator.features(source, target[:, :-1], keep)
        if agreement:
            loss = agreeing_loss(translator.head, hidden, labels, agreement, smoothing)
        else:
            loss = words_loss(translator.head, hidden, labels, smoothing)
        return loss, sum(len(row) + 1 for row in targets)

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
        chosen = self.valid[: self.config.validated]
        found = self.translator(model).texts([pair.source for pair in chosen], Decoding(), batch=64)
        references = [pair.target for pair in chosen]
        samples = [
            {"source": pair.source, "output": text, "reference": pair.target}
            for pair, text in zip(chosen[:SAMPLES], found, strict=False)
        ]
        metrics = {"loss": total / count, "bleu": bleu(found, references), "chrf": chrf(found, references)}
        return Validation(metrics, samples)

    def translator(self, model: Model) -> Translator:
        return Translator(cast(SourceWriter, model), self.tokenizer, self.config.max_length)

    def probes(self, model: Model) -> list[bytes]:
        """Of the first validation pairs of a length that fits on a slide, as their references are written."""
        chosen = self.fitting_a_slide()
        reading, _ = self.reading(model, SOME_ALIGNED) if cross_layers(model) else (None, None)
        known = {(pair.source, pair.target): pair for pair in chosen}
        subject = Subject(model, self.tokenizer, reading, known)
        return [look(subject, pair.source, pair.target).to_bytes() for pair in chosen]

    def fitting_a_slide(self) -> list[Pair]:
        return [pair for pair in self.valid if 4 <= len(words(pair.source)) <= 14][:SAMPLES]

    def findings(self, model: Model) -> dict[str, Any]:
        """Which layer is read as an alignment, and its error rate where gold links could choose it."""
        if not cross_layers(model):
            return {}
        reading, error = self.reading(model, MOST_ALIGNED)
        return {"alignment": {**to_dict(reading), "error_rate": error}}

    def reading(self, model: Model, most: int) -> tuple[Reading, float | None]:
        """The layer that aligns at most so many gold pairs best, and its error rate; the usual one without gold."""
        gold = [pair for pair in self.valid if pair.alignment][:most]
        return choose_reading(self.translator(model), gold) if gold else (usual_reading(model), None)

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        translator = self.translator(model)
        chosen = self.valid[: self.config.validated]
        sources, references = [pair.source for pair in chosen], [pair.target for pair in chosen]
        found = translator.texts(sources, Decoding(), batch=64)
        bars = [
            (name, value, f"{count} sentences of {name} words")
            for name, count, value in bleu_by_length(sources, found, references)
        ]
        by_length = BarChart(bars, "words of the source", "BLEU by length of the source")
        return [
            Section("BLEU by length of the source", [Cards([Card("greedy, validation sentences", by_length)])]),
            Section(
                "Which source word each target word looks at",
                self.alignments(translator, findings.get("alignment")),
            ),
        ]

    def alignments(self, translator: Translator, chosen: Mapping[str, Any] | None) -> list[Element]:
        """Matrices of some validation pairs, as the recorded layer reads them; none without attention."""
        if chosen is None:
            return []
        reading, error = Reading(chosen["layer"], chosen["shift"]), chosen["error_rate"]
        told = f"Read from {reading.layer}."
        if error is not None:
            told += f" Alignment error rate of the validation sentences together: {error:.2f}. Gold links are outlined."
        shown = self.fitting_a_slide()
        matrices = cross_weights(translator, shown, reading.shift, reading.layer)[reading.layer]
        drawn = []
        for pair, weights in zip(shown, matrices, strict=True):
            columns, rows = words_of(pair)
            matrix = WordMatrix(rows, columns, weights.tolist(), pair.alignment, pair.source)
            title = pair.source
            if pair.alignment:
                title += f" · error {alignment_error_rate([reading.links(weights)], [pair.alignment]):.2f}"
            drawn.append(Card(title, matrix))
        return [Prose(told), Cards(drawn)] if drawn else []


def load_translator(folder: str | Path) -> Translator:
    """The translator of a run folder, or of all runs of a folder of seeds together; another task is refused."""
    first, *others = (task_of(run, Translation, "translate").load(run) for run in Run(folder).seeds() or [Run(folder)])
    return first.beside(others) if others else first


def say_skipped(pairs: Iterable[Pair], which: str, say: Say) -> None:
    if count := skipped(pairs):
        say(f"{count:,} empty lines of the {which} pairs were skipped")


def _keeps_the_contract(task: TranslationTask) -> Task:
    return task
