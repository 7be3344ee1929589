"""A trained reader that answers: a question and a text in, a span of the text out, or none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from regard.data.batches import by_tokens
from regard.data.given import checked_text, is_blank
from regard.data.tokenizers import Tokenizer
from regard.decoding.spans import best_span, over_none
from regard.errors import DataError, Error
from regard.look.subject import Subject
from regard.models import TaggerModel, encoder_in
from regard.models.padding import padded
from regard.results import Result
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool

FRAME = 4  # special tokens around a question and a text, at most
BATCH, BATCH_TOKENS = 16, 1024  # windows, and tokens with their padding, that are read at once
ASKED = 64  # tokens of a question; the rest is cut


@dataclass(frozen=True)
class Answer(Result):
    """Words of the text and where they stand; `score` is the probability, by the model, that it is better than none. An
    empty text is no answer."""

    text: str
    start: int
    end: int
    score: float
    question: str = field(default="", compare=False)

    def line(self, scores: bool = False) -> str:
        text = " ".join(self.text.split())
        return f"{self.score:.4f}\t{text}" if scores and self.question.strip() else text

    def record(self) -> dict[str, Any]:
        return {"question": self.question, **super().record()}


@dataclass(frozen=True)
class TextWindow:
    """A question and a part of its text as tokens; `places` are their characters, `which` its question's number."""

    which: int
    question: list[int]
    part: list[int]
    places: list[tuple[int, int]]


def windows(
    tokenizer: Tokenizer, asked: Sequence[tuple[str, str]], max_length: int, stride: int
) -> Iterator[TextWindow]:
    """The parts in which each text is read: as long as fits beside the question, each beginning `stride` tokens after
    the one before."""
    for which, (question, context) in enumerate(asked):
        ids = tokenizer.encode([question])[0][: asked_at_most(max_length)]
        pieces, room = tokenizer.pieces(context), max_length - FRAME - len(ids)
        for start in range(0, max(len(pieces) - room, 0) + min(stride, room), min(stride, room)):
            part = pieces[start : start + room]
            if part:
                yield TextWindow(which, ids, [i for i, _, _ in part], [(left, right) for _, left, right in part])
            if start + room >= len(pieces):
                break


def asked_at_most(max_length: int) -> int:
    """How many tokens of a question are read: the text needs room beside it."""
    return min(ASKED, max_length // 2)


class Answerer(Tool):
    """Answers with a model and its tokenizer: `answerer("Who?", "A text.")`. A long text is read in windows; of all the
    spans in all windows the likeliest is taken, and no answer where that is likelier by `threshold` still."""

    def __init__(self, model: TaggerModel, tokenizer: Tokenizer, max_length: int, stride: int) -> None:
        super().__init__(model, tokenizer)
        self.stride = stride
        self.longest = min(max_length, model.longest or max_length)

    def __call__(self, question: str, context: str, threshold: float = 0.0) -> Answer:
        return self.results([(question, context)], threshold=threshold)[0]

    def results(
        self,
        inputs: Sequence[tuple[str, str]],
        batch: int | None = None,
        say: Say | None = None,
        done: Done | None = None,
        threshold: float = 0.0,
    ) -> list[Answer]:
        """Of each question and its text; an empty question has no answer. `say` hears of questions that are too long,
        `done` of windows that are read."""
        for number, (question, context) in enumerate(inputs, 1):
            checked_text(question, f"question {number}")
            if is_blank(checked_text(context, f"the text of question {number}")):
                raise DataError(f"the text of question {number} is empty: there is nothing to answer from")
        filled = [(question, context) for question, context in inputs if not is_blank(question)]
        found = iter(self.answered(filled, threshold, batch or BATCH, say, done))
        answers = (Answer("", 0, 0, 0.0) if is_blank(question) else next(found) for question, _ in inputs)
        return [replace(one, question=question) for one, (question, _) in zip(answers, inputs, strict=True)]

    def answered(
        self, asked: Sequence[tuple[str, str]], threshold: float, batch: int, say: Say | None, done: Done | None
    ) -> list[Answer]:
        """Of questions that ask for something."""
        most = asked_at_most(self.longest)
        cut = sum(len(ids) > most for ids in self.tokenizer.encode([question for question, _ in asked]))
        if cut and say is not None:
            say(f"{cut:,} of {len(asked):,} questions have more than {most} tokens and are read up to there")
        parts = list(windows(self.tokenizer, asked, self.longest, self.stride))
        best = [(-math.inf, 0, 0)] * len(asked)  # the score of a span, and its characters
        none = [math.inf] * len(asked)
        batches = by_tokens([[*part.question, *part.part] for part in parts], batch, BATCH_TOKENS)
        found = self.in_order(batches, lambda chosen: self.best_spans([parts[i] for i in chosen]), done)
        for part, (span, nothing) in zip(parts, found, strict=True):
            best[part.which] = max(best[part.which], span, key=lambda one: one[0])
            none[part.which] = min(none[part.which], nothing)
        return [self.chosen(asked[i][1], *best[i], none[i], threshold) for i in range(len(asked))]

    @torch.no_grad()
    def best_spans(self, parts: Sequence[TextWindow]) -> list[tuple[tuple[float, int, int], float]]:
        """Of each window the score of its best span and the characters of that, and the score of no answer."""
        logits, places, _ = read_windows(self.model, self.tokenizer, parts)
        found = []
        for part, row, (offset, nowhere) in zip(parts, logits.float().cpu(), places, strict=True):
            score, first, last = best_span(row[offset : offset + len(part.part)])
            found.append(((score, part.places[first][0], part.places[last][1]), float(row[nowhere].sum())))
        return found

    def subject(self) -> Subject:
        return Subject(self.model, self.tokenizer, most=self.longest, task="answer")

    def chosen(self, context: str, score: float, start: int, end: int, none: float, threshold: float) -> Answer:
        margin, share = score - none, over_none(score, none)
        text = context[start:end]
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        return Answer(context[start:end], start, end, share) if margin > threshold else Answer("", 0, 0, share)


def threshold_of(text: Any) -> float:
    """How much likelier than none an answer must be, in logits."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if math.isnan(value):
        raise Error(f"threshold {text}: it is a number of logits, such as 0 or 1.5")
    return value


def read_windows(
    model: TaggerModel, tokenizer: Tokenizer, parts: Sequence[TextWindow]
) -> tuple[Tensor, list[tuple[int, int]], Tensor | None]:
    """(B, T, 2): logits of that an answer begins and ends at each token, or, at the start, that there is none; where
    each text begins, and where its start stands; and which tokens are real."""
    encoder, device = encoder_in(model), next(model.parameters()).device
    segmented = encoder is not None and encoder.segmented
    both = [tokenizer.paired(part.question, part.part, segmented) for part in parts]
    tokens, keep = padded([ids for ids, _ in both], device)
    logits: Tensor = model(tokens, keep, padded([marks for _, marks in both], device)[0] if segmented else None)
    lengths, behind = [len(ids) for ids, _ in both], len(tokenizer.around[1])
    places = [
        (length - behind - len(part.part), length - 1 if tokenizer.closes else 0)
        for length, part in zip(lengths, parts, strict=True)
    ]
    return logits, places, keep
