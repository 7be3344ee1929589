"""Copying: a sequence of bits is shown, then it is to be given back from memory. Graves et al. 2014, section 4.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from regard.checkpoint import load_model
from regard.config import ConfigError, Size, change
from regard.data.batches import Batches
from regard.errors import Error
from regard.fast import for_use
from regard.models import Model, ModelConfig, Turing, TuringModel
from regard.nn.call.watch import watch
from regard.page.records import Card, Cards, LineChart, Section, Series, WordMatrix
from regard.results import Scores
from regard.runfolder import Run
from regard.tasks.base import Evaluation, Say, Task, TaskConfig, Validation, sample, usual

Bits = NDArray[np.uint8]  # (L, bits)
FLAGS = 2  # channels beside the bits: here it starts, now give it back
SAMPLES = 3
SHOWN = 10  # vectors of the sequence that the report shows
USED = 0.1  # the weight from which on a slot is shown
TRAIN, LENGTHS, VALID, TEST = range(4)  # streams of random numbers


@dataclass(frozen=True)
class Copy(TaskConfig, kind="copy"):
    """Give back sequences of random bits. Lengths from 1 to `longest` are trained; what counts is twice as long.

    Nothing is read: each of the `examples` of an epoch is drawn from `seed` and its number, those of the validation,
    `validated` of each kind, from their number alone.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"bit_error": False, "bit_error_trained": False, "loss": False}
    needed: ClassVar[Mapping[str, str]] = {}
    preset: ClassVar[str] = "ntm-2014"
    usual: ClassVar[Mapping[str, Any]] = usual(
        400, rate=2e-3, warmup=100, decay=0.6, average=0.98, max_steps=1500, validate_every=150
    )

    bits: Size = 8
    longest: Size = 20
    examples: Size = 100_000
    seed: int = 1
    validated: Size = 50

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, Turing):
            raise ConfigError(f"model: one of kind {model.kind} takes no bits, so it cannot learn to copy them")

    def open(self, folder: Path, say: Say) -> CopyTask:
        return CopyTask(self, folder, say)

    def load(self, run: Run) -> Copier:
        """The best weights of the run, ready to use."""
        model = load_model(run)
        return Copier(cast(TuringModel, for_use(model)), self.longest)

    def evaluate(self, asked: Evaluation) -> Scores:
        """Wrong bits for sequences within the trained lengths and beyond them; `count` sequences of each."""
        for name in asked.given():
            raise Error(f"--{name}: a machine that copies is scored on sequences that are made on the spot")
        changes = {**asked.options, **({"validated": asked.count} if asked.count else {})}
        task = CopyTask(change(self, changes), asked.run.path, asked.say)
        copier: Copier = asked.tool(self)
        errors = {length: copier.error(task.sequences(length, TEST)) for length in told_lengths(copier)}
        return CopyScores(errors, self.longest, task.config.validated)


@dataclass(frozen=True)
class CopyScores(Scores):
    """The share of wrong bits by the length of the sequences, of which those up to `trained` were learnt; what counts
    is twice as long."""

    errors: Mapping[int, float]
    trained: int
    sequences: int

    def metrics(self) -> dict[str, float]:
        return {"bit error": self.errors[2 * self.trained]}

    def record(self) -> dict[str, Any]:
        rows = [
            {"length": length, "times trained": length / self.trained, "bit error": error}
            for length, error in self.errors.items()
        ]
        return {**self.metrics(), "trained up to": self.trained, "sequences": self.sequences, "by length": rows}

    def table(self) -> str:
        lines = [f"{length:>6}{length / self.trained:>29.2f}{error:>13.2%}" for length, error in self.errors.items()]
        header, below = "length    times the longest trained    wrong bits", "sequences of each length"
        return "\n".join([header, *lines, f"{self.sequences:,} {below}"])


class CopyTask(Task[Copy]):
    """Examples are made when they are asked for, the same for the same number."""

    def prepare(self, say: Say) -> None:
        random = np.random.default_rng([LENGTHS, self.config.seed])
        self.lengths = random.integers(1, self.config.longest + 1, self.config.examples)

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(model, {"inputs": self.config.bits + FLAGS, "outputs": self.config.bits})

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([steps_of(self.lengths)], budget, seed)

    def loss(self, model: Model, indices: NDArray[Any]) -> tuple[Tensor, int]:
        return self.copy_loss(model, [self.example(TRAIN, i, int(self.lengths[i])) for i in indices.tolist()])

    def example(self, stream: int, index: int, length: int) -> Bits:
        seed = [stream, self.config.seed, index] if stream == TRAIN else [stream, length, index]
        return np.random.default_rng(seed).integers(0, 2, (length, self.config.bits), dtype=np.uint8)

    def copy_loss(self, model: Model, sequences: Sequence[Bits]) -> tuple[Tensor, int]:
        """Summed over the bits that are to be given back, and how many they are."""
        shown, wanted, answering = presented(sequences, next(model.parameters()))
        logits = model(shown)[answering]
        return F.binary_cross_entropy_with_logits(logits, wanted[answering], reduction="sum"), logits.numel()

    @torch.no_grad()
    def validate(self, model: Model) -> Validation:
        config, copier = self.config, self.tool(model)
        lengths = 1 + np.arange(config.validated) % config.longest
        trained = [self.example(VALID, i, length) for i, length in enumerate(lengths.tolist())]
        total, count = self.copy_loss(model, trained)
        samples = trained[config.longest // 2 : config.longest // 2 + SAMPLES]
        return Validation(
            {
                "bit_error": copier.error(self.sequences(2 * config.longest)),
                "bit_error_trained": copier.error(trained),
                "loss": float(total) / count,
            },
            [
                sample("copy", spelled(given), spelled(sequence))
                for sequence, given in zip(samples, copier(samples), strict=True)
            ],
        )

    def sequences(self, length: int, stream: int = VALID) -> list[Bits]:
        """Those of one length by which models are judged; `TEST` are others than chose the best weights."""
        return [self.example(stream, i, length) for i in range(self.config.validated)]

    def tool(self, model: Model) -> Copier:
        return Copier(cast(TuringModel, model), self.config.longest)

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        copier = self.tool(model)
        errors = [(length, copier.error(self.sequences(length, TEST))) for length in told_lengths(copier)]
        series = [Series.through("wrong bits", errors)]
        curve = LineChart(series, "length of the sequence", "share of wrong bits by length")
        example = self.example(TEST, 0, min(SHOWN, self.config.longest))
        return [
            Section(
                f"Wrong bits by length (trained up to {self.config.longest})",
                [Cards([Card("share of the bits", curve)])],
            ),
            Section("Where the memory is written and read", [pictures(copier, example)]),
        ]


class Copier:
    """A trained machine that gives back what it is shown."""

    def __init__(self, model: TuringModel, longest: int) -> None:
        self.model, self.longest = model, longest
        self.bits = model.config.outputs

    def copy(self, bits: ArrayLike) -> Bits:
        """A sequence of vectors of bits (L, bits), of any length, as the machine gives it back."""
        sequence = np.asarray(bits)
        if sequence.ndim != 2 or sequence.shape[1] != self.bits or not len(sequence):
            raise Error(f"the sequence has shape {sequence.shape}; this machine copies (length, {self.bits}) bits")
        if not np.isin(sequence, (0, 1)).all():
            raise Error("a sequence to copy holds zeros and ones alone")
        return self([sequence.astype(np.uint8)])[0]

    @torch.no_grad()
    def __call__(self, sequences: Sequence[Bits]) -> list[Bits]:
        """Several at once, of any lengths."""
        shown, _, answering = presented(sequences, next(self.model.parameters()))
        said = (self.model(shown) > 0).to(torch.uint8).cpu().numpy()
        return [row[places] for row, places in zip(said, answering.cpu().numpy(), strict=True)]

    def error(self, sequences: Sequence[Bits]) -> float:
        """The share of bits that it gives back wrongly."""
        pairs = list(zip(sequences, self(sequences), strict=True))
        wrong = sum(int((sequence != given).sum()) for sequence, given in pairs)
        return wrong / sum(sequence.size for sequence, _ in pairs)


def steps_of(lengths: NDArray[Any]) -> NDArray[Any]:
    """Steps of time: the start, the sequence, the stop, and the sequence again."""
    return 2 * lengths + FLAGS


def presented(sequences: Sequence[Bits], like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What is shown (B, T, bits + 2), what is wanted back (B, T, bits), and when (B, T). Shorter rows end in zeros."""
    bits = sequences[0].shape[1]
    steps = max(int(steps_of(np.array(len(sequence)))) for sequence in sequences)
    shown = np.zeros((len(sequences), steps, bits + FLAGS), dtype=np.float32)
    wanted = np.zeros((len(sequences), steps, bits), dtype=np.float32)
    answering = np.zeros((len(sequences), steps), dtype=bool)
    for row, sequence in enumerate(sequences):
        length = len(sequence)
        end = length + 1
        shown[row, 0, bits] = shown[row, end, bits + 1] = 1
        shown[row, 1:end, :bits] = sequence
        wanted[row, end + 1 : end + 1 + length] = sequence
        answering[row, end + 1 : end + 1 + length] = True
    parts = (torch.from_numpy(shown).to(like), torch.from_numpy(wanted).to(like), torch.from_numpy(answering))
    return parts[0], parts[1], parts[2].to(like.device)


def told_lengths(copier: Copier) -> list[int]:
    """Within what was trained and up to three times as long, as far as the memory reaches."""
    shares = (0.25, 0.5, 1, 1.5, 2, 2.5, 3)
    lengths = sorted({max(1, round(share * copier.longest)) for share in shares})
    return [length for length in lengths if length <= max(copier.model.config.slots, 2 * copier.longest)]


def spelled(sequence: Bits) -> str:
    return " ".join("".join(map(str, vector)) for vector in sequence.tolist())


def pictures(copier: Copier, example: Bits) -> Cards:
    """The weights of each head over time, for one sequence; slots that no head looks at are left out."""
    shown, _, _ = presented([example], next(copier.model.parameters()))
    with watch(copier.model) as seen, torch.no_grad():
        copier.model(shown)
    maps = {
        f"{name}, head {head}": weights
        for name in reversed(copier.model.attention_names())
        for head, weights in enumerate(seen.last(name)[0].cpu().numpy())
    }
    used = np.flatnonzero(np.max([weights.max(0) for weights in maps.values()], axis=0) > USED)
    moments = ["start", *spelled(example).split(), "stop", *["?"] * len(example)]
    columns = [f"slot {slot}" for slot in used.tolist()]
    drawn = {
        title: WordMatrix(moments, columns, weights[:, used].tolist(), label=title, cell_pixels=16)
        for title, weights in maps.items()
    }
    return Cards([Card(title, matrix) for title, matrix in drawn.items()])
