"""What every task is: a config that says what is learnt, and the same with its data at hand.

The trainer asks nothing else about a task. Everything here has a default that works; a task says what differs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from torch import Tensor

from regard.checkpoint import load_whole
from regard.config import Config, ConfigError, Part, Size, change, from_dict, kinds
from regard.data.batches import Batches
from regard.data.examples import Examples, holds_pictures
from regard.data.progress import counting
from regard.data.store import HEADER, Store, write_store
from regard.data.tokenizers import Kind, Tokenizer
from regard.fast import for_use
from regard.models import Model, ModelConfig
from regard.page.records import Section
from regard.results import Measured, Scores
from regard.runfolder import TOKENS, Run, RunError, load_tokenizer
from regard.tasks.registry import register

Say = Callable[[str], None]  # takes one line of progress
Done = Callable[[int], None]  # hears how many more are done

T = TypeVar("T")


@dataclass(frozen=True)
class TaskConfig(Part, family="task"):
    """What a model is trained for. `metrics` are what it is judged by: name → whether higher is better; the first
    chooses the best weights unless told. `purpose` is what a verb uses a run to do. `needed` are the fields that
    name data, each with its split of a named set. `preset` and `usual`, fields of the training, are what is taken where
    nothing else is asked for. `with_pictures` is the kind of the task that does the same with pictures."""

    with_pictures: ClassVar[str] = ""
    shows_itself: ClassVar[bool] = False  # whether what its tool says of an input is what looking shows
    metrics: ClassVar[Mapping[str, bool]] = {}
    purpose: ClassVar[str] = ""
    needed: ClassVar[Mapping[str, str]] = {"train": "train", "valid": "valid"}
    preset: ClassVar[str] = ""
    usual: ClassVar[Mapping[str, Any]] = {}

    def check_model(self, model: ModelConfig) -> None:
        """Raise `ConfigError` where a model cannot learn the task."""

    def within(self, model: ModelConfig) -> TaskConfig:
        """The task as a model can learn it: on no longer texts than it has places for, where the task drops them."""
        return self

    @classmethod
    def taking(cls, fields: Mapping[str, Any]) -> type[TaskConfig]:
        """The task itself, or its sister where the fields that name data name pictures."""
        named = (where for where in fields.values() if isinstance(where, Mapping))
        if not cls.with_pictures or not any(map(holds_pictures, named)):
            return cls
        register()
        return cast("type[TaskConfig]", kinds(TaskConfig)[cls.with_pictures])

    def around(self, reader: Any) -> ModelConfig:
        """The model that learns the task from what a trained reader, of texts or of pictures, makes of them."""
        raise ConfigError(f"the task {self.kind!r} cannot begin from a model of kind {reader.kind!r}")

    def beginning(self, reader: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Fields of the task and of the training that suit a model around a trained reader, unless told otherwise."""
        return {}, {}

    def following(self, run: Run) -> Mapping[str, Any]:
        """Fields of the task that the run to begin from decides, unless told otherwise."""
        return {}

    def like(self, run: Run, *names: str) -> dict[str, Any]:
        """These fields as they are in a run, if it was trained for the same task."""
        known = run.read_config().get("task", {})
        return {name: known[name] for name in names if name in known} if known.get("kind") == self.kind else {}

    def open(self, folder: Path, say: Say) -> Task[Any]:
        """Prepare the data in the run folder, or find it prepared; `say` hears what takes its time."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")

    def tool(self, model: Any, tokenizer: Tokenizer, run: Run) -> Any:
        """What a person uses: a model with its tokenizer, which is None where it knows no texts, and what else stands
        in the folder of the run."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")

    def load(self, run: Run) -> Any:
        """The tool with the best weights of a run; it needs no training data."""
        model, tokenizer = load_whole(run)
        return self.tool(for_use(model), cast(Tokenizer, tokenizer), run)

    def evaluate(self, asked: Evaluation) -> Scores:
        """How good a run is on examples that it was not trained on."""
        raise RunError(f"{asked.run.path} was trained for the task {self.kind!r}, which has no scores of its own")


@dataclass(frozen=True)
class TokenTask(TaskConfig):
    """A task whose tokenizer learns from its own texts: of which kind, of at most how many pieces, and whether it reads
    all in lower case."""

    tokenizer: Kind = "wordpiece"
    pieces: Size | None = None
    lower: bool = True


def usual(
    batch_tokens: int,
    *,
    rate: float | None = None,
    weight_decay: float | None = None,
    warmup: int | None = None,
    decay: float = 0.9,
    average: float = 0.99,
    **others: Any,
) -> dict[str, Any]:
    """Fields of a training by AdamW, whose rate rises for `warmup` steps and falls in the last share `decay` of them,
    with an average of the weights."""
    found: dict[str, Any] = {"batch_tokens": batch_tokens, "average": {"kind": "exponential", "decay": average}}
    if rate is not None:
        shrinking = {} if weight_decay is None else {"decay": weight_decay}
        found["optimiser"] = {"kind": "adamw", "rate": rate, **shrinking}
    if warmup is not None:
        found["schedule"] = {"kind": "stable-decay", "warmup": warmup, "decay": decay}
    return {**found, **others}


def task_in(run: Run) -> TaskConfig:
    """The task that a run was trained for."""
    register()  # so that a run of any task is understood
    return from_dict(TaskConfig, run.section("task"), "task")


def rounded(tool: T, int8: bool) -> T:
    """A tool with its matrices rounded to 8-bit integers, where that is asked for: faster on a CPU, less exact."""
    if int8:
        from regard.fast.int8 import quantise

        quantise(cast(Any, tool).model)
    return tool


def load_for(purpose: str, folder: str | Path) -> Any:
    """The tool of a run that was trained for a purpose; others are refused."""
    run = Run(folder)
    if "task" not in run.read_config():
        raise RunError(
            f"{run.path} holds a model without a task, which cannot {purpose} yet; "
            f"let one begin from it: regard train TASK --from {run.path}"
        )
    task = task_in(run)
    if task.purpose != purpose:
        raise RunError(f"{run.path} was trained for the task {task.kind!r}, not to {purpose}")
    return task.load(run)


@dataclass
class Validation:
    """Metrics by name, and samples as plain records for people to read."""

    metrics: dict[str, float]
    samples: list[dict[str, str]] = field(default_factory=list)


def sample(source: str, output: str, reference: str, **beside: str) -> dict[str, str]:
    """The record of a sample: what went in, what came out, and what is right; `beside` it what went in, as a person
    would type it, where a line does not tell."""
    return {"source": source, "output": output, "reference": reference, **beside}


C = TypeVar("C", bound=TaskConfig)


class Task(Generic[C]):
    """A task with its data at hand, which stands beside the run: a corpus may be larger than memory, and a resumed run
    reads nothing again. `prepare` makes or finds it."""

    tokenizer: Tokenizer
    store: Store
    counted = "tokens"  # by which batches are measured, as people hear of it

    def __init__(self, config: C, folder: Path, say: Say) -> None:
        self.config, self.run, self.metrics = config, Run(folder), config.metrics
        folder.mkdir(parents=True, exist_ok=True)
        self.prepare(say)

    def prepare(self, say: Say) -> None:
        """Read the examples: the tokenizer, the tokens of the training examples, and what validation needs."""
        raise TypeError(f"{type(self).__name__} does not prepare its data")

    def fit(self, model: ModelConfig) -> ModelConfig:
        """The model's config with what the data decides: its vocabulary."""
        return change(model, {"vocabulary": self.tokenizer.vocabulary})

    def ready(self, model: Model) -> None:
        """Once the model has its first weights, before it learns: compute what never changes from here on."""

    def batches(self, budget: int, seed: int) -> Batches:
        """The training examples, by at most `budget` tokens a batch."""
        raise TypeError(f"{type(self).__name__} has no batches")

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The summed loss of these training examples, and over how many tokens it is summed."""
        raise TypeError(f"{type(self).__name__} has no loss")

    def validate(self, model: Model) -> Validation:
        """On held-out examples; the model is in eval mode."""
        raise TypeError(f"{type(self).__name__} has no validation")

    def tool(self, model: Model) -> Any:
        """What a person would use, with the model as it is now."""
        return self.config.tool(model, self.tokenizer, self.run)

    def probes(self, model: Model) -> list[bytes]:
        """Looks at a few fixed examples, packed; they are kept at each validation, for the playback of a training."""
        return []

    def findings(self, model: Model) -> dict[str, Any]:
        """What the config of the run records about its trained model, by section; JSON values alone."""
        return {}

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        """What the report of a run shows of this task."""
        return []

    # --- what `prepare` is made of ---

    def learn_tokenizer(self, texts: Callable[[], Iterable[str]], say: Say, **how: Any) -> Tokenizer:
        """That of the run folder, which learns it from the training texts where it has none yet. `how` are options of
        `Tokenizer.train`."""
        if not self.run.tokenizer_path.exists():
            every, asked = texts(), cast(TokenTask, self.config)  # at once: a missing file is named before all else
            say("training the tokenizer")
            Tokenizer.train(every, asked.tokenizer, asked.pieces, say, **how).save(self.run.tokenizer_path)
        return load_tokenizer(self.run)

    def stored(self, rows: Callable[[], Iterable[Sequence[Any]]], sides: int, limit: int, say: Say) -> Store:
        """The rows of the training examples, of so many sides and numbers below `limit`; written where they are not."""
        folder = self.run.path / TOKENS
        if not (folder / HEADER).exists():
            say("tokenizing")
            write_store(folder, rows(), limit, sides, self.tokenizer.fingerprint)
        return Store.open(folder)


# --- scoring a run ----------------------------------------------------------------------------------------------------


def silent(text: str) -> None:
    """Nobody hears it."""


@dataclass
class Evaluation:
    """On what a run is scored. `data` is a file, the name of a data set or examples at hand; `source` and `target` are
    two parallel files. Of a file `columns` say what stands where, of a named set its `languages` and the `split`; at
    most `count` examples are taken, `batch` at a time. `options` are those of the task."""

    run: Run
    data: Any = None
    source: str | None = None
    target: str | None = None
    columns: Sequence[str] | None = None
    languages: str | None = None
    split: str = "test"
    count: int | None = None
    batch: int | None = None
    int8: bool = False
    say: Say = silent
    options: Mapping[str, Any] = field(default_factory=dict)

    def examples(self, own: Examples) -> Iterable[Any]:
        """Those that are asked for, of the kind on which the run was validated (`own`)."""
        if self.data is not None and not isinstance(self.data, str | Path):
            return list(self.data)
        others = {name: value for name in ("source", "target") if (value := getattr(self, name)) is not None}
        columns = None if self.columns is None else tuple(self.columns)
        data = None if self.data is None else str(self.data)
        return own.like(data, columns, self.languages, self.split, self.count, **others).open()

    def given(self) -> list[str]:
        """The names of the options that say which examples are meant."""
        return [name for name in ("data", "source", "target", "columns") if getattr(self, name) is not None]

    def tool(self, task: TaskConfig) -> Any:
        """The tool of the run, in the precision that is asked for."""
        return rounded(task.load(self.run), self.int8)

    def asked(self, kind: type[Config]) -> Any:
        """The options of the task as a config; one that it does not have is refused."""
        return from_dict(kind, self.options)

    @contextmanager
    def counting(self, what: str, total: int | None = None) -> Iterator[Done]:
        """Progress on stderr, where somebody hears."""
        if self.say is silent:
            yield lambda more: None
            return
        with counting(what, total) as done:
            yield done

    def measured(
        self, counted: str, number: int, work: Callable[[Done], Scores], doing: str, total: int | None = None
    ) -> Measured:
        """The scores that `work` reaches, and how many of what is `counted` it does a second; it shows its progress as
        so many of a `total` that are done."""
        begun = time.perf_counter()
        with self.counting(doing, total) as done:
            scores = work(done)
        return Measured(scores, counted, number / (time.perf_counter() - begun))
