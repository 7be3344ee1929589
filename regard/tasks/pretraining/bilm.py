"""Pre-training of a biLM: sentences in, a model whose layers are word vectors in context out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import Config, ConfigError, Size
from regard.data.batches import Batches
from regard.data.corpus import Rowing
from regard.data.examples import TextData, held_apart
from regard.data.given import checked_text
from regard.data.shards import TokenShard
from regard.data.spelt import spelt
from regard.data.tagged import words_in
from regard.data.text import Sentences, sampled
from regard.data.tokenizers import END, START, Kind, Tokenizer
from regard.errors import DataError
from regard.look.subject import Subject
from regard.models import BiLM, BiLMModel, Model, ModelConfig
from regard.models.padding import padded
from regard.nn.heads import Head
from regard.results import Figures, Scores
from regard.runfolder import Run
from regard.tasks.base import Evaluation, Say, Task, TaskConfig, Validation, usual
from regard.tasks.plain_text import text_stores
from regard.tasks.tagging.tagger import FRAME
from regard.tasks.tool import Tool

IGNORED = -100  # the target of a place that predicts nothing
BATCH = 64  # sentences, where nothing is learnt

Row = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class BiLMObjective(TaskConfig, kind="bilm"):
    """Predict every token from those before it, and from those after it: a biLM, for ELMo.

    Text is read line by line, a sentence a line; a line of more than `max_length` tokens is read in parts. Perplexity
    is that of both directions together. Without a text of its own, validation is given the last tenth of the training
    text. The usual rate suits a width of 128 or so; wider models take a lower one.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"perplexity": False, "loss": False}
    needed: ClassVar[Mapping[str, str]] = {"train": "train"}
    preset: ClassVar[str] = "bilm-small"
    usual: ClassVar[Mapping[str, Any]] = usual(640, rate=8e-3)

    train: TextData = TextData()
    valid: TextData = TextData()
    tokenizer: Kind = "wordpiece"
    pieces: Size | None = None
    max_length: Size = 256

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, BiLM) or model.head is None:
            raise ConfigError(f"model: one of kind {model.kind} does not predict tokens from both sides")

    def open(self, folder: Path, say: Say) -> BiLMTask:
        return BiLMTask(self, folder, say)

    def tool(self, model: BiLMModel, tokenizer: Tokenizer, run: Run) -> ContextVectors:
        return ContextVectors(model, tokenizer)

    def evaluate(self, asked: Evaluation) -> Scores:
        """Perplexities a token of the run's own tokenizer; they compare only between runs that share it."""
        asked.asked(Config)
        reader: ContextVectors = asked.tool(self)
        sentences = list(Sentences(asked.examples(self.valid)))
        if not sentences:
            raise DataError(f"{asked.data}: no text (all lines are empty)")
        forward, backward = reader.losses(sentences)
        found = {
            "perplexity": math.exp((forward + backward) / 2),
            "forward perplexity": math.exp(forward),
            "backward perplexity": math.exp(backward),
        }
        tokens = sum(map(len, reader.tokenizer.encode(sentences)))
        return Figures(found, {"sentences": len(sentences), "tokens": tokens}, digits=2)


class BiLMTask(Task[BiLMObjective]):
    """Sentences as tokens on disk beside the run."""

    def prepare(self, say: Say) -> None:
        config = self.config
        train, valid = held_apart(config.train, config.valid, say)
        self.tokenizer = self.learn_tokenizer(lambda: Sentences(sampled(train, config.tokenizer)), say)
        rowing, streams = Rowing(self.rows, made=f"at most {config.max_length}"), (Sentences(train), Sentences(valid))
        self.store, self.valid = text_stores(self.run.path, train, streams, self.tokenizer, rowing, say)

    def rows(self, shard: TokenShard) -> list[tuple[Row]]:
        """The tokens of each sentence, in parts where it is too long."""
        most = self.config.max_length - FRAME
        sentences = [row for row in shard.texts if row is not None]
        return [(row[start : start + most],) for row in sentences for start in range(0, len(row), most)]

    def batches(self, budget: int, seed: int) -> Batches:
        return Batches([self.store.lengths(0) + FRAME], budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        rows = self.store.rows(0, indices)
        hidden, targets, head = predicted(model, rows)
        return head(hidden, targets), 2 * sum(len(row) + 1 for row in rows)

    def validate(self, model: Model) -> Validation:
        loss = sum(mean_losses(model, self.valid.lengths(0), partial(self.valid.rows, 0))) / 2
        return Validation({"perplexity": math.exp(loss), "loss": loss})


def predicted(model: Model, rows: Sequence[Row]) -> tuple[Tensor, Tensor, Head]:
    """The states (B, T, 2, D) of both directions, the tokens (B, T, 2) that they predict, and what predicts them.

    Forwards the sentence and its end are predicted, backwards the sentence and its start: a token more than it has.
    """
    bilm = cast(BiLMModel, model)
    assert bilm.head is not None
    tokens, keep = padded([np.array([START, *row, END]) for row in rows], next(model.parameters()).device)
    return bilm.features(tokens, keep), neighbours(tokens, keep), bilm.head


def neighbours(tokens: Tensor, keep: Tensor | None) -> Tensor:
    """(B, T, 2): the token after each real one and the token before it, `IGNORED` where there is none."""
    real = tokens if keep is None else tokens.masked_fill(~keep, IGNORED)
    none = real.new_full((len(real), 1), IGNORED)
    before = torch.cat([none, real[:, :-1]], 1)
    if keep is not None:
        before = before.masked_fill(~keep, IGNORED)
    return torch.stack([torch.cat([real[:, 1:], none], 1), before], -1)


@torch.no_grad()
def mean_losses(
    model: Model, lengths: NDArray[np.integer[Any]], rows: Callable[[NDArray[np.int64]], Sequence[Row]]
) -> tuple[float, float]:
    """For each token that is predicted forwards, and for each that is predicted backwards. `rows` gives those that are
    asked for, of these lengths."""
    totals, count = [0.0, 0.0], int(lengths.sum(dtype=np.int64)) + len(lengths)
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), BATCH):
        hidden, targets, head = predicted(model, rows(order[start : start + BATCH]))
        for side in (0, 1):
            totals[side] += float(head.total_loss(hidden[:, :, side], targets[:, :, side]))
    return totals[0] / count, totals[1] / count


class ContextVectors(Tool):
    """A biLM as a reader of words: `words, vectors = reader("The cat sleeps.")`."""

    @torch.no_grad()
    def __call__(self, text: str) -> tuple[list[str], NDArray[np.float32]]:
        """The words of a text, and their vectors (layers, words, 2 · width): the token's own twice, then of each layer
        the state that read on to the word's first piece, and the state that read back to it."""
        words = words_in(checked_text(text))
        if not words:
            raise DataError("the text is empty: it has no words")
        pieces = spelt(self.tokenizer, words)
        tokens, _ = padded([self.tokenizer.framed(pieces.ids)], next(self.model.parameters()).device)
        both = zip(*self.model.layers(tokens), strict=True)
        states = torch.stack([torch.cat([ahead[0], back[0]], -1) for ahead, back in both])
        return words, np.asarray(states[:, torch.tensor(pieces.firsts) + 1].float().cpu())

    def subject(self) -> Subject:
        return Subject(self.model, self.tokenizer, task="bilm")

    def losses(self, sentences: Iterable[str]) -> tuple[float, float]:
        """The mean loss a token of sentences, forwards and backwards; perplexity is its exponential."""
        rows = [np.array(row) for row in self.tokenizer.encode(list(sentences))]
        return mean_losses(self.model, np.array([len(row) for row in rows]), lambda some: [rows[i] for i in some])
