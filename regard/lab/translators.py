"""Translators that compete: one corpus, one tokenizer, one training, equal time, the same test sentences."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path

from regard.config import Positive, Size, nearest
from regard.data.catalogue import data_set
from regard.data.examples import PairData
from regard.data.pairs import Pair
from regard.data.tokenizers import Tokenizer
from regard.decoding import Decoding
from regard.errors import DataError
from regard.lab.experiment import Experiment, Result, Say, Trial
from regard.lab.lengths import Group
from regard.lab.pace import paces
from regard.metrics.statistics import sentence_counts
from regard.models import ModelConfig
from regard.runfolder import TOKENS, Run, write_text
from regard.tasks.writing.translation import Translation, load_translator
from regard.tasks.writing.translator import Translator
from regard.training.averaging import Exponential
from regard.training.optimisers import MuonAndAdamW
from regard.training.records import Record, read_records
from regard.training.schedules import StableDecay
from regard.training.session import Recipe, resume, write_recipe
from regard.training.settings import Training

SAVES_PER_TRIAL, MIN_STEPS_BETWEEN_SAVES = 4, 50  # how often a trial validates and saves
MIN_STEPS = 10  # that a trial needs
PREPARATION_MINUTES = 1.0  # for tokenizer, tokens and timing, about
VALIDATION_SECONDS, SECONDS_PER_TRANSLATION = (
    8.0,
    0.03,
)  # of all validations of a trial, and of a test sentence; about


@dataclass(frozen=True)
class Translators(Experiment):
    """Contestants learn to translate one corpus, of which `pairs` are read, in `pieces` pieces, and are tested on
    `sentences` of each kind; the loss of `valid` others chooses the weights. Each trains for an equal time, or with
    `steps` for as many steps."""

    data: str = "phrasebook"
    languages: str | None = None
    pairs: Size | None = 60_000
    pieces: Size = 3000
    valid: Size = 200
    sentences: Size = 100
    batch_tokens: Size = 2048
    rate: Positive = 4e-3
    matrix_rate: Positive = 1e-2
    steps: Size | None = None

    def check(self) -> None:
        languages = data_set(self.data).languages
        if self.languages is not None and self.languages not in languages:
            raise DataError(f"{self.data} has no languages {self.languages!r}: {nearest(self.languages, languages)}")

    def contestants(self, vocabulary: int) -> Mapping[str, ModelConfig]:
        """Models by name."""
        raise TypeError(f"{type(self).__name__} names no contestants")

    @cached_property
    def groups(self) -> Sequence[Group]:
        """The sentences that are translated: the first of the test split, unless an experiment says otherwise."""
        return [Group("test", True, list(self.held_out(self.tested()[0], self.sentences)))]

    @property
    def test(self) -> list[Pair]:
        return [pair for group in self.groups for pair in group.pairs]

    def tested(self) -> list[str]:
        """The splits that the corpus has for it; the validation sentences of one that has none."""
        known = data_set(self.data).splits
        return [split for split in ("test", "long") if split in known] or ["valid"]

    def held_out(self, split: str, count: int) -> Iterable[Pair]:
        """The first `count` pairs that were not used to choose the weights."""
        skipped = self.valid if split == "valid" else 0
        return islice(self.named(split, skipped + count).pairs(), skipped, None)

    def measure(self, translator: Translator) -> Result:
        """What is measured beside the translations."""
        return {}

    def minutes(self) -> float | None:
        return None if self.steps is not None else self.budget + self.around()

    def most_tested(self) -> int:
        """How many sentences each trial translates, at most."""
        return self.sentences

    def around(self) -> float:
        """Minutes beside training: the corpus, and of each trial validating, saving and translating."""
        trials = len(self.contestants(self.pieces)) * self.seeds
        return PREPARATION_MINUTES + trials * (VALIDATION_SECONDS + self.most_tested() * SECONDS_PER_TRANSLATION) / 60

    def named(self, split: str, count: int | None) -> PairData:
        """The corpus in the languages asked for, or in its first pair of languages."""
        languages = self.languages or next(iter(data_set(self.data).languages), None)
        return PairData(name=self.data, languages=languages, split=split, count=count)

    # --- trials ---

    def trials(self, folder: Path, say: Say) -> Sequence[Trial]:
        shared = folder / "data"
        task = self.task(shared).open(shared, say)
        models = self.contestants(Tokenizer.load(shared / "tokenizer.json").vocabulary)
        pace, busy = paces(task, models, self.training(seed=1, steps=100), folder / "pace.json", say)
        seconds = 60 * self.budget / (len(models) * self.seeds)
        planned = self.seeds * sum(self.planned(seconds, one) * one for one in pace.values()) / 60
        say(f"about {planned * busy + self.around():.0f} minutes, as quick as the machine is now")
        return [
            Trial(name, seed, partial(self.trial, model, seed, self.planned(seconds, pace[name]), pace[name], shared))
            for seed in range(1, self.seeds + 1)
            for name, model in models.items()
        ]

    def planned(self, seconds: float, pace: float) -> int:
        """How many steps a trial of so many seconds has."""
        return self.steps or max(MIN_STEPS, round(seconds / pace))

    def task(self, shared: Path) -> Translation:
        """A grammar makes no noise, so its sentences are not smoothed."""
        smoothing = 0.0 if self.data == "phrasebook" else 0.1
        train, valid = self.examples(shared)
        return Translation(train=train, valid=valid, pieces=self.pieces, smoothing=smoothing, validated=20)

    def examples(self, shared: Path) -> tuple[PairData, PairData]:
        """To learn from, and to choose the weights by; what must be made first is kept in the folder."""
        return self.named("train", self.pairs), self.named("valid", self.valid)

    def training(self, seed: int, steps: int) -> Training:
        """The rate falls over most of the run and ends near nothing, whatever number of steps the time allows."""
        return Training(
            seed=seed,
            batch_tokens=self.batch_tokens,
            max_steps=steps,
            validate_every=max(math.ceil(steps / SAVES_PER_TRIAL), MIN_STEPS_BETWEEN_SAVES),
            metric="loss",
            optimiser=MuonAndAdamW(rate=self.rate, matrix_rate=self.matrix_rate),
            schedule=StableDecay(warmup=min(50, steps // 5), decay=0.8),
            average=Exponential(decay=0.98),
            precision="fp32",  # for all contestants: whether bf16 is quicker depends on a model's size
            processes=1,  # for all contestants: a model that keeps statistics of batches cannot share a batch out
            keep_checkpoints=1,
        )

    def trial(self, model: ModelConfig, seed: int, steps: int, pace: float, shared: Path, place: Path) -> Result:
        """Train, or go on training, then translate."""
        run = Run(place)
        if not run.config_path.exists():
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(shared / TOKENS, place / TOKENS)
            shutil.copy(shared / "tokenizer.json", place)
            write_recipe(run, Recipe(self.task(shared), model, self.training(seed, steps)))
        progress = resume(run)
        translator = load_translator(place)
        found = translator.texts([pair.source for pair in self.test], Decoding(), batch=64)
        write_translations(place / "translations.jsonl", self.test, found)
        seconds = spent(read_records(run.metrics_path))
        return {
            "parameters": sum(parameter.numel() for parameter in translator.model.parameters()),
            "steps": steps,
            "seconds": seconds,
            "loss": progress.metrics["loss"],
            "pace": pace,
            "groups": [
                {"name": group.name, "trained": group.trained, "sentences": len(group.pairs)} for group in self.groups
            ],
            "counts": sentence_counts(found, [pair.target for pair in self.test]),
            **self.measure(translator),
        }


def write_translations(path: Path, pairs: Sequence[Pair], found: Sequence[str]) -> None:
    """For people to read, one sentence a line."""
    lines = (
        {"source": pair.source, "output": text, "reference": pair.target}
        for pair, text in zip(pairs, found, strict=True)
    )
    write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def spent(records: Sequence[Record]) -> float:
    """The seconds of all optimiser steps: without validating and saving, which is not training."""
    steps = [record for record in records if record["event"] == "step"]
    before = [0, *(record["step"] for record in steps)]
    return float(sum((one["step"] - last) * one["seconds_per_step"] for one, last in zip(steps, before, strict=False)))
