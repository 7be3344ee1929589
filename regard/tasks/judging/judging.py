"""Judging: examples with a label, several labels or a score in, a judge of such examples out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import ConfigError, Weight, change
from regard.data.batches import Batches
from regard.data.examples import Examples
from regard.data.pairs import say_skipped
from regard.data.store import Store
from regard.models import Classifier, ClassifierModel, InputReaderConfig, Model, ModelConfig, TextLabeller
from regard.page.records import Section
from regard.results import Scores
from regard.runfolder import LABELS, Scale, read_labels, write_labels
from regard.sides import InputSide, Label, OutputSide, Score
from regard.sides.base import Batch, Verdicts
from regard.sides.label import ADVICE, say_unbalanced
from regard.tasks.base import Done, Evaluation, Say, Task, TaskConfig, Validation, sample
from regard.tasks.judging.judge import Judge
from regard.tasks.judging.report import report
from regard.tasks.tuning import usual_dropout, usual_pool

SAMPLES = 5
SAMPLE_CHARACTERS = 240  # letters of a text in a sample; examples with shorter texts are chosen, if there are any


@dataclass(frozen=True)
class Judging(TaskConfig):
    """What the tasks have in common whose model says one thing of each example. A task of this family says what goes in
    (`source`), how what comes out is named (`learn_names` and `outcome`), and the tool that judges (`judge`).

    `balanced` weighs each label by how rare it is, so that all count alike. With `agreement` each example is read
    twice, by other dropout, and what is said of it shall agree so strongly (R-Drop): it takes twice as long a step.
    """

    shows_itself: ClassVar[bool] = True
    source: ClassVar[type[InputSide[Any]]]
    judge: ClassVar[type[Judge[Any]]]

    train: Examples = Examples()
    valid: Examples = Examples()
    balanced: bool = False
    agreement: Weight = 0.0

    def around(self, reader: InputReaderConfig) -> ModelConfig:
        dropout = usual_dropout(reader)
        return Classifier(reader=reader, pool=usual_pool(reader), pooled_dropout=dropout, init=reader.init)

    def learn_names(self, examples: Iterable[Any]) -> Iterable[str] | Scale:
        """The names of the training examples' labels, or the scale of their scores."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")

    def outcome(self, folder: Path) -> OutputSide:
        """What comes out, as a run folder learnt it."""
        scale = Scale.read(folder)
        return Label(read_labels(folder)) if scale is None else Score(scale)

    def evaluate(self, asked: Evaluation) -> Scores:
        judge: Judge[Any] = asked.tool(self)
        examples, plural = list(asked.examples(self.valid)), self.source.plural
        judge.outcome.marks(examples, "test")  # a label that it cannot give is a mistake in the data

        def work(done: Done) -> Scores:
            verdicts = judge.verdicts([self.source.of(one) for one in examples], asked.batch, asked.say, done)
            return judge.outcome.scores(examples, verdicts, "test", plural)

        return asked.measured(plural, len(examples), work, f"{plural} judged", len(examples))


J = TypeVar("J", bound=Judging)


class JudgingTask(Task[J]):
    """A row has the columns of what goes in, and what is right for it as one more. A task says how its examples become
    rows (`learn` and `write`), and what is done to a batch while training (`learning`)."""

    source: InputSide[Any]

    def prepare(self, say: Say) -> None:
        config, folder, plural = self.config, self.run.path, self.config.source.plural
        valid = config.valid.open()  # at once: that a file is missing is said before the tokenizer takes its time
        if not (folder / LABELS).exists():
            found = config.learn_names(config.train.open())
            if isinstance(found, Scale):
                found.write(folder)
            write_labels(folder, Score.names if isinstance(found, Scale) else found)
        self.outcome = config.outcome(folder)
        self.metrics = {name: config.metrics[name] for name in self.outcome.metrics}
        self.valid = list(valid)
        self.outcome.marks(self.valid, "validation")  # before the tokenizer takes its time, too
        if isinstance(self.outcome, Label):
            say_unbalanced([one.label for one in self.valid], f"validation {plural}", ADVICE, say)
        say_skipped(valid, f"validation {plural}", say)
        self.learn(say)
        self.store = self.write(say)
        self.marks = self.store.rows(self.source.columns, np.arange(len(self.store)))
        self.outcome.learnt(self.marks, config.balanced, f"training {plural}", say)
        self.values = [config.source.of(one) for one in self.valid]
        self.valid_rows: list[Any] | None = None
        longest = [max(map(len, self.source.texts(value))) for value in self.values]
        short = [i for i, length in enumerate(longest) if length <= SAMPLE_CHARACTERS]
        self.shown = [*short, *range(len(self.valid))][:SAMPLES]

    def learn(self, say: Say) -> None:
        """Make the side that reads, of what the training examples teach."""
        raise TypeError(f"{type(self).__name__} does not say how it reads")

    def write(self, say: Say) -> Store:
        """The store of the training examples, written where it is not there yet."""
        raise TypeError(f"{type(self).__name__} does not say how its examples become rows")

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(model, {"labels": len(self.outcome.names)})

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([self.source.size(self.lengths())], budget, seed)

    def lengths(self) -> list[NDArray[np.int32]]:
        """Of each column of what goes in."""
        return [self.store.lengths(side) for side in range(self.source.columns)]

    def rows(self, indices: np.ndarray[Any, Any]) -> list[Any]:
        columns = [self.store.rows(side, indices) for side in range(self.source.columns)]
        return [self.source.restored(row) for row in zip(*columns, strict=True)]

    def learning(self, model: Model, rows: Sequence[Any]) -> Batch:
        """Rows as a model learns from them."""
        return self.source.batch(rows, model)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over the examples, times what is counted: a long example weighs as much as a short one, and the
        trainer, which divides by tokens, still tells how many are read a second."""
        rows, agreement = self.rows(indices), self.config.agreement
        batch = self.learning(model, rows * 2 if agreement else rows)
        logits = model(*batch).float()
        loss = self.outcome.loss(logits, [self.marks[i] for i in indices.tolist()], agreement)
        count = self.source.count(batch) // (2 if agreement else 1)
        return loss * count, count

    def numbers(self) -> Tensor:
        """(examples,): the label of each training example, for `regard.training.heads`."""
        if not isinstance(self.outcome, Label):
            why = f"{self.source.plural} with a score or several labels have no one label to tell apart"
            raise ConfigError(f"initial.head_first: {why}; leave it out")
        return torch.tensor([int(mark[0]) for mark in self.marks])

    def vectors(self, model: ClassifierModel, indices: np.ndarray[Any, Any]) -> Tensor:
        """(N, D): what the output layer takes for these training examples."""
        return model.pooled(*self.source.batch(self.rows(indices), model))

    def validate(self, model: Model) -> Validation:
        verdicts = self.verdicts(model)
        self.outcome.tuned(self.valid, verdicts)
        scores = self.outcome.scores(self.valid, verdicts, "validation", self.source.plural)
        samples = [
            sample(
                self.source.shown(self.values[i], SAMPLE_CHARACTERS),
                self.outcome.said(verdicts[i]),
                self.outcome.right(self.valid[i]),
                **self.source.parts(self.values[i]),
            )
            for i in self.shown
        ]
        return Validation(scores.metrics(), samples)

    def verdicts(self, model: Model) -> Verdicts:
        """(validation examples, width)."""
        if self.valid_rows is None:
            self.valid_rows, _ = self.source.rows(self.values)
        return self.tool(model).judge_rows(self.valid_rows)

    def tool(self, model: Model) -> Judge[Any]:
        return self.config.judge(cast(TextLabeller, model), self.source, self.outcome)

    def findings(self, model: Model) -> dict[str, Any]:
        return dict(self.outcome.tuned(self.valid, self.verdicts(model)))

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        return report(self.tool(model), self.valid, self.verdicts(model))
