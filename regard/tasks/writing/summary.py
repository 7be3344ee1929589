"""Summaries: texts with what they say in short in, a summariser out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from regard.config import Size
from regard.data.examples import SummaryData
from regard.data.pairs import Pair
from regard.data.readable import Parts
from regard.data.tokenizers import Tokenizer
from regard.decoding import Decoding
from regard.metrics.summaries import SummaryScores
from regard.models import SourceWriter
from regard.results import Scores
from regard.runfolder import Run
from regard.tasks.base import Done, Evaluation
from regard.tasks.writing.task import TextToText
from regard.tasks.writing.translator import Translator


@dataclass(frozen=True)
class Summary(TextToText, kind="summarise"):
    """Say in short what a text is about. A text of more than `max_length` tokens is read up to there; a summary of
    `max_summary` tokens or more is dropped from training, and counted, and none is written that is as long."""

    metrics: ClassVar[Mapping[str, bool]] = {"rouge_l": True, "rouge_1": True, "rouge_2": True, "loss": False}
    purpose = "summarise"
    cut_source = True

    train: SummaryData = SummaryData()
    valid: SummaryData = SummaryData()
    max_summary: Size = 64
    validated: Size = 200

    @property
    def max_target(self) -> int:
        return min(self.max_summary, self.max_length)

    def tool(self, model: SourceWriter, tokenizer: Tokenizer, run: Run | None = None) -> Summariser:
        return Summariser(model, tokenizer, self.max_length, self.max_target)

    def scores(self, pairs: Sequence[Pair], found: Sequence[str]) -> SummaryScores:
        return SummaryScores(tuple(found), tuple((pair.target, *pair.others) for pair in pairs))

    def evaluate(self, asked: Evaluation) -> Scores:
        summariser: Summariser = asked.tool(self)
        search, pairs = summariser.search(**asked.options), list(asked.examples(self.valid))

        def work(done: Done) -> Scores:
            found = summariser.translate([pair.source for pair in pairs], search, asked.batch or 32, asked.say, done)
            return self.scores(pairs, [best[0].text for best in found])

        return asked.measured("texts", len(pairs), work, "texts summarised", len(pairs))


class Summariser(Translator):
    """Summarises with a model and its tokenizer: `summariser("A long text.", beam=5)`. What a text has beyond the
    tokens that the model reads is left out, and a summary has fewer than `max_summary` tokens unless told."""

    def __init__(self, model: SourceWriter, tokenizer: Tokenizer, max_length: int, max_summary: int) -> None:
        super().__init__(model, tokenizer, max_length)
        self.max_summary = max_summary

    def search(self, **options: Any) -> Decoding:
        return super().search(**{"max_length": self.max_summary - 1, **options})

    def parts(self, texts: Sequence[str]) -> list[Parts]:
        return [self.read(text) for text in texts]

    def read(self, text: str) -> Parts:
        """The text as far as it is read; none of a blank one."""
        pieces = self.tokenizer.pieces(text) if text.strip() else []
        if not pieces:
            return Parts((), ("",))
        return Parts((text[: pieces[: self.longest][-1][2]],), ("", ""))
