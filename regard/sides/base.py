"""What every side knows: what goes in, from a line of input to a batch; what comes out, from numbers to scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import ConfigError
from regard.data.tokenizers import Tokenizer
from regard.models import Model, encoder_in
from regard.page.records import BarChart, Element
from regard.results import Result, Scores
from regard.runfolder import Run

MOST_DRAWN = 12  # labels whose probabilities a notebook shows

V = TypeVar("V")
Say = Callable[[str], None]
Row = Sequence[int] | NDArray[np.integer[Any]]
Batch = tuple[Any, ...]  # what a model is called with
Verdicts = NDArray[np.float32]  # (N, width): what a model makes of N examples


class InputSide(ABC, Generic[V]):
    """What goes in: values as people have them, rows of numbers as they are stored, batches as a model reads them.

    A row is a sequence of tokens or pixels or, of several `columns`, a tuple of them. `names` are what the parts of a
    value are called, in JSON; `plural` is what several values are called. `tokenizer` is None where nothing is a text.
    """

    tokenizer: Tokenizer | None = None
    longest = 0  # tokens of a value that are read

    columns: ClassVar[int] = 1
    names: ClassVar[tuple[str, ...]]
    plural: ClassVar[str]

    @staticmethod
    @abstractmethod
    def of(example: Any) -> Any:
        """The value that goes in, of an example of a data set."""

    @staticmethod
    @abstractmethod
    def texts(value: Any) -> Sequence[str]:
        """Each part of a value in words: a text itself, a picture's name."""

    @abstractmethod
    def parse(self, line: str, number: int) -> V | None:
        """The value on a line of input; None of an empty one."""

    @abstractmethod
    def check(self, values: Sequence[V]) -> None:
        """Raise an error that names the place of a value that cannot be read."""

    @abstractmethod
    def is_blank(self, value: V, number: int) -> bool:
        """Whether there is nothing to read in the `number`th value."""

    @abstractmethod
    def rows(self, values: Sequence[V]) -> tuple[list[Any], int]:
        """Each value as it is stored, as far as it is read, and how many values were cut."""

    @abstractmethod
    def size(self, lengths: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        """How much of a batch's budget examples take, whose columns have these lengths."""

    @abstractmethod
    def batch(self, rows: Sequence[Any], model: Model) -> Batch:
        """Rows as a model reads them."""

    @abstractmethod
    def count(self, batch: Batch) -> int:
        """How many tokens, or what else is read, are in a batch, without padding."""

    def stored(self, row: Any) -> tuple[Row, ...]:
        """The columns of a row."""
        return (row,) if self.columns == 1 else tuple(row)

    def restored(self, columns: Sequence[Row]) -> Any:
        """The row of columns."""
        return columns[0] if self.columns == 1 else tuple(columns)

    def shown(self, value: V, letters: int) -> str:
        """On a line of a table, each text cut after so many letters."""
        return " | ".join(shortened(text, letters) for text in self.texts(value))

    def parts(self, value: V) -> dict[str, str]:
        """The texts of a value where it has two, each by itself: the studio's boxes begin with those of a sample."""
        texts = self.texts(value)
        return dict(zip(("first", "second"), texts, strict=True)) if len(texts) > 1 else {}

    def record(self, value: V) -> dict[str, str]:
        return dict(zip(self.names, self.texts(value), strict=True))


class TextSide(InputSide[V]):
    """Texts of at most `longest` tokens. A batch is tokens (B, T), the mask of the real ones or None, and segments
    where the model tells them apart."""

    tokenizer: Tokenizer

    def __init__(self, tokenizer: Tokenizer, longest: int) -> None:
        self.tokenizer, self.longest = tokenizer, longest

    def batch(self, rows: Sequence[Any], model: Model) -> Batch:
        encoder = encoder_in(model)
        segmented = encoder is not None and encoder.segmented
        tokens, keep, segments = self.padded(rows, segmented, next(model.parameters()).device)
        return (tokens, keep) if segments is None else (tokens, keep, segments)

    @abstractmethod
    def padded(
        self, rows: Sequence[Any], segmented: bool, device: torch.device
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Tokens, mask and segments, which only a `segmented` model has."""

    def count(self, batch: Batch) -> int:
        tokens, keep, *_ = batch
        return int(tokens.numel() if keep is None else keep.sum())


def shortened(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


@dataclass(frozen=True)
class Judgement(Result):
    """What comes out for one value. `said` is it in words, `found` its fields in JSON, `given` those of what went in,
    and `score` how sure it is, where that stands beside it."""

    said: str
    found: Mapping[str, Any]
    given: Mapping[str, str]
    score: float | None = None

    def line(self, scores: bool = False) -> str:
        return f"{self.said}\t{self.score:.4f}" if scores and self.score is not None else self.said

    def record(self) -> dict[str, Any]:
        return {**self.given, **self.found}

    def drawing(self) -> list[Element]:
        scores = self.found.get("scores")
        if not scores:
            return super().drawing()
        bars = [(name, 100 * chance, f"{name}: {chance:.1%}") for name, chance in list(scores.items())[:MOST_DRAWN]]
        return [BarChart(bars, "", "probability in percent")]


class OutputSide(ABC):
    """What comes out for each example: a row of numbers that a model gives, what it says, and how it is judged.

    `names` are what the numbers belong to, `metrics` by what verdicts are judged. A mark is what a store keeps of what
    is right for an example.
    """

    metrics: ClassVar[tuple[str, ...]]
    mistakes: ClassVar[str] = "The surest mistakes"  # as the report calls what is `wrong`
    names: tuple[str, ...]

    @property
    def limit(self) -> int:
        """Above every mark."""
        return len(self.names)

    @abstractmethod
    def marks(self, examples: Sequence[Any], which: str) -> list[Sequence[int]]:
        """What is right for each of the `which` ("training") examples; what cannot be is named with its place."""

    @abstractmethod
    def loss(self, logits: Tensor, marks: Sequence[Row], agreement: float) -> Tensor:
        """The mean over examples (N, width); with an agreement of readings (2N, width) that shall agree."""

    @abstractmethod
    def verdicts(self, logits: Tensor) -> Tensor:
        """(N, width): what the model says by its logits."""

    @abstractmethod
    def said(self, verdict: NDArray[Any]) -> str:
        """In words."""

    def right(self, example: Any) -> str:
        """What is right, in the same words."""
        return str(example.label)

    @abstractmethod
    def result(self, verdict: NDArray[Any], given: Mapping[str, str]) -> Judgement:
        """What a person gets."""

    def nothing(self, given: Mapping[str, str]) -> Judgement:
        """The same of a blank value."""
        return Judgement("", {}, given)

    @abstractmethod
    def scores(self, examples: Sequence[Any], verdicts: Verdicts, which: str, called: str) -> Scores:
        """How good verdicts on examples are."""

    @abstractmethod
    def wrong(self, examples: Sequence[Any], verdicts: Verdicts) -> Sequence[int]:
        """The examples that are judged wrongly, the worst first."""

    def learnt(self, marks: Sequence[Row], balanced: bool, called: str, say: Say) -> None:
        """Hear the marks of all training examples: where they are `balanced`, those that are rare weigh more."""
        if balanced:
            raise ConfigError(f"balanced: {called} with a {self.names[0]} have no labels to weigh; leave it out")

    def tuned(self, examples: Sequence[Any], verdicts: Verdicts) -> Mapping[str, Any]:
        """What validation examples decide of a trained model, by section of the run's config."""
        return {}

    def read(self, run: Run) -> None:  # noqa: B027 (most are tuned by nothing)
        """Take what `tuned` left in a run."""
