"""Sequence labelling: sentences with a tag for every word in, a tagger out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import Size, change
from regard.data.batches import Batches
from regard.data.examples import TaggedData
from regard.data.pairs import TextsOf
from regard.data.spelt import Spelt, spelt
from regard.data.tagged import Tagged
from regard.data.tokenizers import Kind, Tokenizer
from regard.errors import DataError
from regard.metrics.entities import scheme_of
from regard.metrics.labels import label_table
from regard.metrics.tags import TagScores
from regard.models import BiLMModel, Model, ModelConfig, TaggerModel, TokenLabeller
from regard.models.padding import padded
from regard.page.records import BarChart, Card, Cards, Section, Table
from regard.results import Scores
from regard.runfolder import LABELS, Run, read_labels, write_labels
from regard.sides.label import class_weights
from regard.tasks.base import Done, Evaluation, Say, Task, Validation, sample, usual
from regard.tasks.tagging.tagger import FRAME, WordTagger, told, written
from regard.tasks.tuning import OnTokens

IGNORED = -100  # the label of a place that is not judged
SAMPLES = 5
BATCH = 64  # sentences that are tagged at once
NAMED = 3  # tags that a message names
MISTAKES = 12  # that the report lists
OF_ENTITIES = ("entity_f1", "entity_precision", "entity_recall")


@dataclass(frozen=True)
class Tagging(OnTokens, kind="tag"):
    """Tag the words of sentences. A word's tag is told at its first piece.

    Sentences of more than `max_length` tokens are dropped from training, and counted. Word pieces are the usual ones:
    they fall alike on words of a file and on running text. Where tags mark entities (`entities.scheme_of`), these are
    scored too. `balanced` weighs each tag by how rare it is, so that all count alike.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        **dict.fromkeys(("accuracy", "macro_f1", *OF_ENTITIES), True),
        "loss": False,
    }
    purpose = "tag"
    lacks = "gives words no tags, so it cannot learn to tag"
    frame = FRAME
    usual: ClassVar[Mapping[str, Any]] = usual(1280, rate=4e-3, average=0.98, max_steps=600, validate_every=100)

    train: TaggedData = TaggedData()
    valid: TaggedData = TaggedData()
    tokenizer: Kind = "wordpiece"
    pieces: Size | None = None
    balanced: bool = False

    def open(self, folder: Path, say: Say) -> TaggingTask:
        return TaggingTask(self, folder, say)

    def tool(self, model: TokenLabeller, tokenizer: Tokenizer, run: Run) -> WordTagger:
        return WordTagger(model, tokenizer, read_labels(run.path), self.max_length)

    def evaluate(self, asked: Evaluation) -> Scores:
        tagger: WordTagger = asked.tool(self)
        sentences = list(asked.examples(self.valid))
        check_tags(sentences, tagger.names, asked)

        def work(done: Done) -> Scores:
            return judged(tagger, sentences, asked.batch, done)

        words = sum(len(one.words) for one in sentences)
        return asked.measured("words", words, work, "sentences tagged", len(sentences))


class TaggingTask(Task[Tagging]):
    """Tokens and tags on disk beside the run: for each sentence its pieces, and for each piece its label and one, or 0
    where it is not the first of a word."""

    def prepare(self, say: Say) -> None:
        config, folder = self.config, self.run.path
        self.valid = list(config.valid.open())  # at once: that a file is missing is said before the rest takes its time
        self.tokenizer = self.learn_tokenizer(lambda: TextsOf(config.train.open(), joined_words), say)
        if not (folder / LABELS).exists():
            write_labels(folder, (tag for sentence in config.train.open() for tag in sentence.tags))
        self.names = read_labels(folder)
        if len(self.names) < 2:
            raise DataError(f"all training words have the tag {self.names[0]!r}: a tagger takes at least two")
        self.numbers = {name: number for number, name in enumerate(self.names)}
        spared = () if scheme_of(self.names) else OF_ENTITIES
        self.metrics = {name: higher for name, higher in config.metrics.items() if name not in spared}
        self.say_unknown(say)
        limit = max(self.tokenizer.vocabulary, len(self.names) + 1)
        self.store = self.stored(lambda: self.rows(say), 2, limit, say)
        self.weights = self.tag_weights() if config.balanced else None

    def tag_weights(self) -> Tensor:
        marks = np.concatenate(list(self.store.rows(1, np.arange(len(self.store)))))
        return class_weights(torch.from_numpy(marks[marks > 0].astype(np.int64) - 1), len(self.names))

    def say_unknown(self, say: Say) -> None:
        unknown = Counter(tag for sentence in self.valid for tag in sentence.tags if tag not in self.numbers)
        if unknown:
            some = ", ".join(sorted(unknown)[:SAMPLES])
            say(f"{unknown.total():,} validation words have tags that training never has ({some}): they count as wrong")

    def rows(self, say: Say) -> Iterator[tuple[Sequence[int], ...]]:
        kept = dropped = 0
        for sentence in self.config.train.open():
            pieces = spelt(self.tokenizer, sentence.words)
            if len(pieces.ids) + FRAME > self.config.max_length:
                dropped += 1
                continue
            kept += 1
            yield pieces.ids, self.marks(pieces, sentence.tags)
        if not kept:
            raise DataError(f"no training sentence is within {self.config.max_length} tokens")
        if dropped:
            say(f"{dropped:,} training sentences of more than {self.config.max_length} tokens were dropped")

    def marks(self, pieces: Spelt, tags: Sequence[str]) -> list[int]:
        marks = [0] * len(pieces.ids)
        for first, tag in zip(pieces.firsts, tags, strict=True):
            marks[first] = self.numbers[tag] + 1
        return marks

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(model, {"vocabulary": self.tokenizer.vocabulary, "labels": len(self.names)})

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([self.store.lengths(0) + FRAME], budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        device = next(model.parameters()).device
        rows = [self.tokenizer.framed(row) for row in self.store.rows(0, indices)]
        first = len(self.tokenizer.around[0])
        marks = [np.pad(row, (first, FRAME - first)).astype(np.int64) for row in self.store.rows(1, indices)]
        labels, _ = padded(marks, device)
        logits = told(cast(TokenLabeller, model), self.tokenizer, *padded(rows, device)).flatten(0, 1)
        targets = torch.where(labels == 0, IGNORED, labels - 1).flatten()
        weights = None if self.weights is None else self.weights.to(device)
        loss = F.cross_entropy(logits.float(), targets, weights, ignore_index=IGNORED, reduction="sum")
        return loss, sum(int((row > 0).sum()) for row in marks)

    def validate(self, model: Model) -> Validation:
        scores = self.scores(model)
        samples = [
            sample(" ".join(one.words), written(one.words, tags), written(one.words, one.tags))
            for one, tags in zip(self.valid[:SAMPLES], scores.found, strict=False)
        ]
        return Validation(scores.metrics(), samples)

    def scores(self, model: Model) -> TagScores:
        """Those of the validation sentences."""
        return judged(self.tool(model), self.valid)

    def findings(self, model: Model) -> dict[str, Any]:
        """How much each layer of a biLM counts, where the reader mixes them."""
        reader = model.reader if isinstance(model, TaggerModel) else None
        if not isinstance(reader, BiLMModel) or reader.mix is None:
            return {}
        return {"mix": {"weights": reader.mix.weights().tolist(), "gamma": reader.mix.gamma.item()}}

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        scores = self.scores(model)
        words = [word for sentence in self.valid for word in sentence.words]
        triples = zip(words, scores.gold, scores.flat, strict=True)
        wrong = Counter(triple for triple in triples if triple[1] != triple[2])
        rows = [[word, right, given, str(count)] for (word, right, given), count in wrong.most_common(MISTAKES)]
        entities = [*scores.entities.labels(), scores.entities.overall()] if scores.entities else []
        return [
            Section("Entities", [label_table("type", entities, "entities")]),
            Section("Scores by tag", [label_table("tag", scores.tags, "validation words")]),
            Section("What it takes for something else", [Table(["word", "is", "taken for", "times"], rows)]),
            Section("How much each layer counts", self.mixed(findings.get("mix"))),
        ]

    def mixed(self, mix: Mapping[str, Any] | None) -> list[Cards]:
        """Of the reader's layers, where it mixes them."""
        if mix is None:
            return []
        names = ["token vectors", *(f"layer {number}" for number in range(1, len(mix["weights"])))]
        shares = zip(names, mix["weights"], strict=True)
        bars = [(name, 100 * share, f"{name}: {share:.1%}") for name, share in shares]
        chart = BarChart(bars, "", "layers of the mix")
        return [Cards([Card(f"percent of the mix, scaled by {mix['gamma']:.2f}", chart)])]


def joined_words(sentence: Tagged) -> list[str]:
    return [" ".join(sentence.words)]


def judged(
    tagger: WordTagger, sentences: Sequence[Tagged], batch: int | None = None, done: Done | None = None
) -> TagScores:
    """The scores of a tagger on sentences whose tags are known. The loss is that of words whose tags it knows."""
    logits = torch.cat(tagger.scores([sentence.words for sentence in sentences], batch or BATCH, done))
    numbers = {name: number for number, name in enumerate(tagger.names)}
    right = [list(sentence.tags) for sentence in sentences]
    targets = torch.tensor([numbers.get(tag, IGNORED) for tags in right for tag in tags])
    known = max(int((targets != IGNORED).sum()), 1)
    loss = F.cross_entropy(logits, targets, ignore_index=IGNORED, reduction="sum") / known
    return TagScores(tagger.names, right, logits.softmax(-1).numpy(), float(loss))


def check_tags(sentences: Iterable[Tagged], names: Sequence[str], asked: Evaluation) -> None:
    """Tell of tags that the tagger cannot give; where it can give none, the scores would say nothing."""
    gold = [tag for sentence in sentences for tag in sentence.tags]
    unknown = Counter(tag for tag in gold if tag not in names)
    if not unknown:
        return
    some = ", ".join(sorted(unknown)[:NAMED]) + (", …" if len(unknown) > NAMED else "")
    if unknown.total() == len(gold):
        trained = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        raise DataError(
            f"{asked.data}: {asked.run.path} was trained on none of its tags ({some}), but on {trained}: is the tag "
            "another column? (--columns)"
        )
    asked.say(f"{unknown.total():,} words have tags that training never had ({some}): they count as wrong")
