"""What the trainer asks of a task; it knows nothing else about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from torch import Tensor

from regard.checkpoint import Run, RunError
from regard.config import ConfigError, Part, from_dict
from regard.data.batches import Batches
from regard.models import Model, ModelConfig, TextReaderConfig
from regard.page.records import Section
from regard.tasks.registry import register

Say = Callable[[str], None]  # takes one line of progress


@dataclass(frozen=True)
class TaskConfig(Part, family="task"):
    """What a model is trained for. `metrics` are what it is judged by: name → whether higher is better; the first
    chooses the best weights unless told. `needed` are the fields that name data, each with its split of a named set.
    `preset` and `usual`, fields of the training, are what is taken where nothing else is asked for."""

    metrics: ClassVar[Mapping[str, bool]] = {}
    needed: ClassVar[Mapping[str, str]] = {"train": "train", "valid": "valid"}
    preset: ClassVar[str] = ""
    usual: ClassVar[Mapping[str, Any]] = {}

    def check_model(self, model: ModelConfig) -> None:
        """Raise `ConfigError` where a model cannot learn the task."""

    def within(self, model: ModelConfig) -> TaskConfig:
        """The task as a model can learn it: on no longer texts than it has places for, where the task drops them."""
        return self

    def around(self, reader: TextReaderConfig) -> ModelConfig:
        """The model that learns the task from what a trained reader makes of a text."""
        raise ConfigError(f"the task {self.kind!r} cannot begin from a model of kind {reader.kind!r}")

    def beginning(self, reader: TextReaderConfig) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Fields of the task and of the training that suit a model around a trained reader, unless told otherwise."""
        return {}, {}

    def following(self, run: Run) -> Mapping[str, Any]:
        """Fields of the task that the run to begin from decides, unless told otherwise."""
        return {}

    def like(self, run: Run, *names: str) -> dict[str, Any]:
        """These fields as they are in a run, if it was trained for the same task."""
        known = run.read_config().get("task", {})
        return {name: known[name] for name in names if name in known} if known.get("kind") == self.kind else {}

    def open(self, folder: Path, say: Say) -> Task:
        """Prepare the data in the run folder, or find it prepared; `say` hears what takes its time."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")

    def load(self, run: Run) -> Any:
        """What a person uses of a trained run; it needs no training data."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")


K = TypeVar("K", bound=TaskConfig)


def task_of(run: Run, kind: type[K], use: str) -> K:
    """The task that a run was trained for; a run of another kind is refused: it is of no `use` here."""
    register()  # so that a run of any task is understood
    if "task" not in run.read_config():
        raise RunError(
            f"{run.path} holds a model without a task, which cannot {use} yet; "
            f"let one begin from it: regard train TASK --from {run.path}"
        )
    task = from_dict(TaskConfig, run.section("task"), "task")
    if not isinstance(task, kind):
        raise RunError(f"{run.path} was trained for the task {task.kind!r}, not to {use}")
    return task


@dataclass
class Validation:
    """Metrics by name, and samples as plain records for people to read."""

    metrics: dict[str, float]
    samples: list[dict[str, str]] = field(default_factory=list)


class Task(Protocol):
    """A task with its data at hand."""

    @property
    def metrics(self) -> Mapping[str, bool]:
        """Those of its config."""

    def fit(self, model: ModelConfig) -> ModelConfig:
        """The model's config with what the data decides: its vocabulary."""

    def batches(self, budget: int, seed: int) -> Batches:
        """The training examples, by at most `budget` tokens a batch."""

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The summed loss of these training examples, and over how many tokens it is summed."""

    def validate(self, model: Model) -> Validation:
        """On held-out examples; the model is in eval mode."""

    def probes(self, model: Model) -> list[bytes]:
        """Looks at a few fixed examples, packed; they are kept at each validation, for the playback of a training."""

    def findings(self, model: Model) -> dict[str, Any]:
        """What the config of the run records about its trained model, by section; JSON values alone."""

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        """What the report of a run shows of this task."""
