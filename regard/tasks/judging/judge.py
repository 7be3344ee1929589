"""A trained judge: texts or pairs of texts in; a label, several labels or a score out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from regard.data.batches import by_tokens
from regard.data.given import one_or_several, several
from regard.look.parts import Verdict
from regard.look.subject import Subject
from regard.models import TextLabeller
from regard.runfolder import Scale
from regard.sides import InputSide, Judgement, OneText, OutputSide, Score
from regard.sides.base import Verdicts
from regard.sides.two_texts import TextPair
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool

BATCH = 64  # values that are judged at once
BATCH_TOKENS = 8192  # that are read at once, padding included

V = TypeVar("V")


class Judge(Tool, Generic[V]):
    """Judges what goes in with a model and its tokenizer."""

    def __init__(self, model: TextLabeller, source: InputSide[V], outcome: OutputSide) -> None:
        super().__init__(model, source.tokenizer)
        self.source, self.outcome, self.labels = source, outcome, outcome.names

    def parse(self, line: str, number: int) -> V | None:
        return self.source.parse(line, number)

    def results(
        self, inputs: Sequence[V | None], batch: int | None = None, say: Say | None = None, done: Done | None = None
    ) -> list[Judgement]:
        blank = [one is None or self.source.is_blank(one, number) for number, one in enumerate(inputs, 1)]
        filled = [one for one, none in zip(inputs, blank, strict=True) if one is not None and not none]
        found = iter(self.verdicts(filled, batch, say, done))
        given = [dict.fromkeys(self.source.names, "") if one is None else self.source.record(one) for one in inputs]
        return [
            self.outcome.nothing(record) if none else self.outcome.result(next(found), record)
            for record, none in zip(given, blank, strict=True)
        ]

    def verdicts(
        self, values: Sequence[V], batch: int | None = None, say: Say | None = None, done: Done | None = None
    ) -> Verdicts:
        """(N, width): probabilities of labels, or scores. `say` hears how many values were cut."""
        self.source.check(values)
        rows, cut = self.source.rows(values)
        if cut and say is not None:
            named = f"{cut:,} of {len(values):,} {self.source.plural}"
            say(f"{named} have more than {self.source.longest:,} tokens and were read up to there")
        return self.judge_rows(rows, batch, done)

    def judge_rows(self, rows: Sequence[Any], batch: int | None = None, done: Done | None = None) -> Verdicts:
        """Of rows as they are stored, in their order; batches are made by length."""
        columns = zip(*(map(len, self.source.stored(row)) for row in rows), strict=True)
        sizes = self.source.size([np.array(lengths, dtype=np.int32) for lengths in columns]) if rows else ()
        tokens = [range(size) for size in sizes]

        def work(chosen: Sequence[int]) -> Verdicts:
            with torch.no_grad():
                logits = self.model(*self.source.batch([rows[i] for i in chosen], self.model)).float()
                return np.asarray(self.outcome.verdicts(logits).cpu().numpy(), dtype=np.float32)

        found = self.in_order(by_tokens(tokens, batch or BATCH, BATCH_TOKENS), work, done)
        return np.array(found, dtype=np.float32).reshape(len(rows), len(self.labels))

    def says(self, logits: Tensor) -> tuple[str, list[Verdict]]:
        """What the numbers (W,) of the model say, and the labels with their probabilities, where there are any."""
        verdict = np.asarray(self.outcome.verdicts(logits[None])[0].cpu().numpy(), dtype=np.float32)
        found = self.outcome.result(verdict, {})
        return found.said, [Verdict(name, chance) for name, chance in found.found.get("scores", {}).items()]

    def subject(self) -> Subject:
        return Subject(self.model, self.tokenizer, labels=self.labels, most=self.source.longest, says=self.says)


class Labelling(Judge[V]):
    """Gives labels to values as a caller has them."""

    def given(self, values: Any) -> list[V]:
        """A value alone, or each of several."""
        raise TypeError(f"{type(self).__name__} does not say what it labels")

    def several(self, values: Any) -> bool:
        """Whether these are several values."""
        return several(values)

    def __call__(self, values: Any) -> Any:
        """The likeliest label of a value, or of each; or their names, where a value may have several. An empty value
        has none, and gets an empty one."""
        every = self.results(self.given(values))
        found = [one.found.get("labels", one.said) for one in every]
        return found if self.several(values) else found[0]

    def scores(self, values: Any) -> Any:
        """The probability of each label, from the likeliest on; none of an empty value."""
        found = [one.found["scores"] for one in self.results(self.given(values))]
        return found if self.several(values) else found[0]


class TextClassifier(Labelling[str]):
    """Classifies texts: `classifier("A text.")` is the name of its class, or the names of its labels, where a text may
    have several.

    A text of more than `max_length` tokens is read up to its last sentence that ends before, as in training; a `framed`
    one, between start and end, up to the last token that fits.
    """

    source: OneText

    def given(self, values: Any) -> list[str]:
        return one_or_several(values)

    def probabilities(self, texts: Sequence[str]) -> Verdicts:
        """(texts, labels)."""
        return self.verdicts(texts)

    def subject(self) -> Subject:
        return replace(super().subject(), whole=self.source.framed)


class PairJudge(Judge[TextPair]):
    """Judges pairs: `judge("A text.", "Another.")` is a label, or a score where it learnt scores.

    Of texts that are too long together, the longer one is cut.
    """

    @property
    def scale(self) -> Scale | None:
        """That of its scores; None where it gives labels."""
        return self.outcome.scale if isinstance(self.outcome, Score) else None

    def __call__(self, first: str, second: str) -> str | float:
        """Its label or score; of two empty texts an empty label, or a score that is no number."""
        (found,) = self.results([(first, second)])
        if self.scale is None:
            return found.said
        return float(found.found.get("score", math.nan))

    def judge(self, pairs: Sequence[TextPair], say: Say | None = None) -> Verdicts:
        """(pairs, labels): probabilities; or (pairs, 1): scores."""
        return self.verdicts(pairs, say=say)

    def subject(self) -> Subject:
        return replace(super().subject(), says=None, scale=self.scale, task="pair")
