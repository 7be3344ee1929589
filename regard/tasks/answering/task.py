"""Answers as spans of a text: questions with their texts in, an answerer out. SQuAD's task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import Config, ConfigError, Size, change
from regard.data.batches import Batches, by_tokens
from regard.data.examples import QuestionData
from regard.data.questions import Question
from regard.data.store import HEADER
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError
from regard.metrics.answers import exact, judged_answers
from regard.models import Model, ModelConfig, TaggerModel
from regard.page.records import Section, Table
from regard.results import Scores
from regard.runfolder import TOKENS, Run
from regard.tasks.answering.answerer import FRAME, Answerer, TextWindow, read_windows, threshold_of, windows
from regard.tasks.base import Done, Evaluation, Say, Task, TokenTask, Validation, sample, usual
from regard.tasks.tuning import OnTokens

SAMPLES, MISTAKES = 5, 8
BATCH, BATCH_TOKENS = 32, 1024  # windows and tokens at once, where nothing is learnt


@dataclass(frozen=True)
class Answering(OnTokens, TokenTask, kind="answer"):
    """Find the span of a text that answers a question, or that there is none.

    Texts that are too long are read in windows of `max_length` tokens, question included, each beginning `stride`
    tokens after the one before. Validation answers the first `validated` questions.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        "f1": True,
        "exact": True,
        "f1_answered": True,
        "none_right": True,
        "loss": False,
    }
    purpose = "answer questions"
    lacks = "finds no spans"
    usual: ClassVar[Mapping[str, Any]] = usual(4096, rate=2e-3, warmup=50, max_steps=1500, validate_every=300)

    train: QuestionData = QuestionData()
    valid: QuestionData = QuestionData()
    stride: Size = 96
    validated: Size = 300

    def check(self) -> None:
        if self.max_length < 4 * FRAME:
            raise ConfigError(f"max_length {self.max_length} holds no question and text; it takes at least {4 * FRAME}")

    def open(self, folder: Path, say: Say) -> AnsweringTask:
        return AnsweringTask(self, folder, say)

    def tool(self, model: TaggerModel, tokenizer: Tokenizer, run: Run) -> Answerer:
        return Answerer(model, tokenizer, self.max_length, self.stride)

    def evaluate(self, asked: Evaluation) -> Scores:
        threshold = threshold_of(asked.asked(Threshold).threshold)
        answerer: Answerer = asked.tool(self)
        questions = list(asked.examples(self.valid))

        def work(done: Done) -> Scores:
            found = answerer.results(questions_of(questions), asked.batch or BATCH, None, done, threshold)
            return judged_answers([answer.text for answer in found], [right_of(one) for one in questions])

        return asked.measured("questions", len(questions), work, "windows read")


@dataclass(frozen=True)
class Threshold(Config):
    """How much likelier than none an answer must be, in logits."""

    threshold: float = 0.0


class AnsweringTask(Task[Answering]):
    """Windows on disk beside the run: of each the question, the part of the text, and the first and last token of the
    answer, counted from 1; 0 where the part has none."""

    def prepare(self, say: Say) -> None:
        config = self.config
        self.valid = list(config.valid.open())[: config.validated]
        given = judged_answers([""] * len(self.valid), [right_of(one) for one in self.valid]).figures()
        self.metrics = {name: higher for name, higher in config.metrics.items() if name in (*given, "loss")}
        fresh = not (self.run.path / TOKENS / HEADER).exists()
        if fresh and not any(right_of(one) for one in config.train.open()):
            raise DataError("no training question has an answer: there is nothing to find")
        self.tokenizer = self.learn_tokenizer(lambda: _Texts(config.train.open()), say, lower=config.lower)
        self.store = self.stored(self.rows, 3, max(self.tokenizer.vocabulary, config.max_length), say)
        if not len(self.store):
            raise DataError("there are no training questions")

    def rows(self) -> Iterator[tuple[Sequence[int], ...]]:
        for one in self.config.train.open():
            for part in windows(self.tokenizer, questions_of([one]), self.config.max_length, self.config.stride):
                yield part.question, part.part, span_in(part, one)

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(model, {"vocabulary": self.tokenizer.vocabulary, "labels": 2})

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([self.store.lengths(0) + self.store.lengths(1) + FRAME], budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        """The mean over first and last tokens of the windows, times their tokens, by which the trainer divides."""
        questions, parts, spans = (self.store.rows(side, indices) for side in range(3))
        rows = [TextWindow(0, one.tolist(), part.tolist(), []) for one, part in zip(questions, parts, strict=True)]
        loss = self.span_loss(model, rows, [(int(first), int(last)) for first, last in spans])
        count = sum(len(row.question) + len(row.part) + FRAME for row in rows)
        return loss * count, count

    def span_loss(self, model: Model, rows: Sequence[TextWindow], spans: Sequence[tuple[int, int]]) -> Tensor:
        """The mean over first and last tokens; 0 is none, for which the start of a row stands."""
        logits, places, keep = read_windows(cast(TaggerModel, model), self.tokenizer, rows)
        if keep is not None:
            logits = logits.masked_fill(~keep.unsqueeze(-1), -torch.inf)
        ends = [
            [i - 1 + offset if i else nowhere for i in span]
            for span, (offset, nowhere) in zip(spans, places, strict=True)
        ]
        return F.cross_entropy(logits.float(), torch.tensor(ends, device=logits.device))  # over the tokens, twice

    def validate(self, model: Model) -> Validation:
        found = self.found(model)
        samples = [
            sample(
                one.question,
                text or "(none)",
                "; ".join(right_of(one)) or "(none)",
                first=one.question,
                second=one.context,
            )
            for one, text in zip(self.valid[:SAMPLES], found, strict=False)
        ]
        scores = judged_answers(found, [right_of(one) for one in self.valid])
        return Validation({**scores.metrics(), "loss": self.valid_loss(model)}, samples)

    @torch.no_grad()
    def valid_loss(self, model: Model) -> float:
        parts = list(windows(self.tokenizer, questions_of(self.valid), self.config.max_length, self.config.stride))
        total = 0.0
        for chosen in by_tokens([[*part.question, *part.part] for part in parts], BATCH, BATCH_TOKENS):
            some = [parts[i] for i in chosen]
            spans = [span_in(part, self.valid[part.which]) for part in some]
            total += float(self.span_loss(model, some, spans)) * len(some)
        return total / len(parts)

    def found(self, model: Model) -> list[str]:
        return [answer.text for answer in self.tool(model).results(questions_of(self.valid))]

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        wrong = [
            [one.question, text or "(none)", "; ".join(sorted(set(right_of(one)))) or "(none)"]
            for one, text in zip(self.valid, self.found(model), strict=True)
            if not exact(text, right_of(one))
        ]
        return [Section("What it answers wrongly", [Table(["question", "found", "right"], wrong[:MISTAKES])])]


def span_in(part: TextWindow, one: Question) -> tuple[int, int]:
    """The first and last token of the answer in a window, counted from 1; (0, 0) where it is not wholly inside."""
    for text, start in one.answers[:1]:
        end = start + len(text)
        inside = [i for i, (left, right) in enumerate(part.places, 1) if right > start and left < end]
        if inside and part.places[inside[0] - 1][0] <= start and part.places[inside[-1] - 1][1] >= end:
            return inside[0], inside[-1]
    return 0, 0


def right_of(one: Question) -> list[str]:
    return [text for text, _ in one.answers]


def questions_of(examples: Iterable[Question]) -> list[tuple[str, str]]:
    """Each question with its text, as an answerer takes them."""
    return [(one.question, one.context) for one in examples]


@dataclass(frozen=True)
class _Texts:
    """Questions and texts, each text once, as often as one iterates."""

    questions: Iterable[Question]

    def __iter__(self) -> Iterator[str]:
        last = None
        for one in self.questions:
            yield one.question
            if one.context != last:
                last = one.context
                yield last
