"""How good a run is on examples that it was not trained on, whatever it was trained for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.results import Scores
from regard.runfolder import Run
from regard.tasks.base import Evaluation, Say, silent, task_in
from regard.tasks.vectors.task import Relating


def evaluate(
    run: str | Path,
    data: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    languages: str | None = None,
    split: str = "test",
    count: int | None = None,
    batch: int | None = None,
    int8: bool = False,
    say: Say = silent,
    **options: Any,
) -> Scores:
    """Score a run: `print(regard.evaluate("runs/my", "test.tsv", beam=5))`.

    `data` is a file, the name of a data set, or examples at hand; `source` and `target` are two parallel files. An
    encoder without a task makes vectors. Other options belong to the task, as on the command line.
    """
    folder = Run(run)
    task = task_in(first_of(folder)) if kind_of(run) is not None else Relating()
    return task.evaluate(
        Evaluation(folder, data, source, target, columns, languages, split, count, batch, int8, say, options)
    )


def first_of(run: Run) -> Run:
    """The run itself, or the first of a folder of several seeds."""
    return next(iter(run.seeds()), run)


def kind_of(run: str | Path) -> str | None:
    """The task that a run was trained for, by name; None of one without a task."""
    task = first_of(Run(run)).read_config().get("task")
    return None if task is None else task.get("kind")
