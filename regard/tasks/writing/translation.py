"""Translation: sentence pairs in, a translator out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from regard.config import to_dict
from regard.data.pairs import Pair
from regard.data.progress import counting
from regard.data.words import words
from regard.look.alignment import Reading, alignment_error_rate, cross_layers, usual_reading, words_of
from regard.look.capture import look
from regard.look.subject import Subject, recorded_reading
from regard.metrics.translations import TranslationScores
from regard.models import Model
from regard.page.records import BarChart, Card, Cards, Element, Prose, Section, WordMatrix
from regard.results import Scores
from regard.runfolder import Run
from regard.tasks.base import Evaluation, Say, load_for
from regard.tasks.writing.alignment import choose_reading, cross_weights
from regard.tasks.writing.evaluating import evaluate
from regard.tasks.writing.task import SAMPLES, TextToText, TextToTextTask
from regard.tasks.writing.translator import Translator

PAIRS_ALIGNED = 100  # at most so many pairs with gold links choose which layer is read as an alignment
PAIRS_ALIGNED_EACH_TIME = 20  # the same at each validation, for the looks that are kept


@dataclass(frozen=True)
class Translation(TextToText, kind="translate"):
    """Translate sentences. Pairs longer than `max_length` tokens on a side are dropped from training, and counted."""

    metrics: ClassVar[Mapping[str, bool]] = {"bleu": True, "chrf": True, "loss": False}
    purpose = "translate"

    def open(self, folder: Path, say: Say) -> TranslationTask:
        return TranslationTask(self, folder, say)

    def load(self, run: Run) -> Translator:
        translator: Translator = super().load(run)
        if cross_layers(translator.model):
            translator.reading = recorded_reading(run, translator.model)
        return translator

    def scores(self, pairs: Sequence[Pair], found: Sequence[str]) -> TranslationScores:
        return TranslationScores([pair.source for pair in pairs], found, [pair.target for pair in pairs])

    def evaluate(self, asked: Evaluation) -> Scores:
        return evaluate(asked, self.valid, load_translator)


class TranslationTask(TextToTextTask):
    """Shows which source word each target word looks at, by the layer that aligns gold pairs best."""

    def probes(self, model: Model) -> list[bytes]:
        """Of the first validation pairs of a length that fits on a slide, as their references are written."""
        chosen = self.fitting_a_slide()
        reading, _ = self.reading(model, PAIRS_ALIGNED_EACH_TIME, bar=False) if cross_layers(model) else (None, None)
        known = {(pair.source, pair.target): pair for pair in chosen}
        subject = Subject(model, self.tokenizer, reading, known)
        return [look(subject, pair.source, pair.target).to_bytes() for pair in chosen]

    def fitting_a_slide(self) -> list[Pair]:
        return [pair for pair in self.valid if 4 <= len(words(pair.source)) <= 14][:SAMPLES]

    def findings(self, model: Model) -> dict[str, Any]:
        """Which layer is read as an alignment, and its error rate where gold links could choose it."""
        if not cross_layers(model):
            return {}
        reading, error = self.reading(model, PAIRS_ALIGNED)
        return {"alignment": {**to_dict(reading), "error_rate": error}}

    def reading(self, model: Model, most: int, bar: bool = True) -> tuple[Reading, float | None]:
        """The layer that aligns at most so many gold pairs best, and its error rate; the usual one without gold."""
        gold = [pair for pair in self.valid if pair.alignment][:most]
        return choose_reading(self.tool(model), gold, bar) if gold else (usual_reading(model), None)

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        with counting("translating for the report, sentences", len(self.valid[: self.config.validated])) as done:
            scores = self.config.scores(*self.written(model, done))
        bars = [
            (name, value, f"{count} sentences of {name} words")
            for name, count, value in cast(TranslationScores, scores).by_length
        ]
        by_length = BarChart(bars, "words of the source", "BLEU by length of the source")
        return [
            Section("BLEU by length of the source", [Cards([Card("greedy, validation sentences", by_length)])]),
            Section(
                "Which source word each target word looks at",
                self.alignments(self.tool(model), findings.get("alignment")),
            ),
        ]

    def alignments(self, translator: Translator, chosen: Mapping[str, Any] | None) -> list[Element]:
        """Matrices of some validation pairs, as the recorded layer reads them; none without attention."""
        if chosen is None:
            return []
        reading, error = Reading(chosen["layer"], chosen["shift"]), chosen["error_rate"]
        told = f"Read from {reading.layer}. In every map the full shade is a weight of 1."
        if error is not None:
            told += f" Alignment error rate of the validation sentences together: {error:.2f}. Gold links are outlined."
        shown = self.fitting_a_slide()
        matrices = cross_weights(translator, shown, reading)
        drawn = []
        for pair, weights in zip(shown, matrices, strict=True):
            columns, rows = words_of(pair)
            matrix = WordMatrix(rows, columns, weights.tolist(), pair.alignment, pair.source)
            title = pair.source
            if pair.alignment:
                title += f" · error {alignment_error_rate([reading.links(weights)], [pair.alignment]):.2f}"
            drawn.append(Card(title, matrix))
        return [Prose(told), Cards(drawn)] if drawn else []


def load_translator(folder: str | Path) -> Translator:
    """The translator of a run folder, or of all runs of a folder of seeds together; another task is refused."""
    first, *others = (load_for(Translation.purpose, run.path) for run in Run(folder).seeds() or [Run(folder)])
    translator: Translator = first.beside(others)
    return translator
