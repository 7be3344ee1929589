"""What the tasks have in common that hide words of a text: texts in, a model that finds hidden words out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.config import Config, Size
from regard.data.corpus import Rowing
from regard.data.documents import Document
from regard.data.encoding import encoded
from regard.data.examples import TextData, held_apart
from regard.data.shards import TokenShard, shards
from regard.data.text import Sampled, Texts, sampled
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError
from regard.models import EncoderModel, Model
from regard.page.records import Section, Table
from regard.results import Figures, Scores
from regard.runfolder import Run
from regard.tasks.base import Evaluation, Say, Task, TokenTask, Validation, sample
from regard.tasks.plain_text import text_stores
from regard.tasks.pretraining.filling import MaskFiller
from regard.tasks.pretraining.masking import glue
from regard.tasks.pretraining.passages import InMemory, Row, Rows, sentences

SEED = 1  # of what is hidden where it is measured: the same at every step and in every run
ROWS_AT_ONCE = 32  # that are measured at once
SAMPLES = 5
TOKENS_AROUND = 12  # tokens to either side of a hidden word in a sample

E = TypeVar("E", bound=EncoderModel)


@dataclass(frozen=True)
class Hidden:
    """What a model is asked in a batch: states (N, D), the tokens (N,) that they are to tell, all tokens (B, T) that it
    reads, and the row and column (N, 2) of each that is asked for. `pairs` are logits (B, 2) of whether the second text
    of each row followed the first, and `relations` what is right."""

    states: Tensor
    targets: Tensor
    tokens: Tensor
    places: Tensor
    pairs: Tensor | None = None
    relations: Tensor | None = None


class HidingReader(ABC, Generic[E]):
    """Makes rows of texts, and of rows what a model reads and is asked. In samples, `sign` stands for a hidden word."""

    sign: ClassVar[str]
    tokenizer: Tokenizer

    @property
    @abstractmethod
    def rowing(self) -> Rowing:
        """How a store is made of sentences."""

    @abstractmethod
    def rows(self, shard: TokenShard) -> Sequence[Sequence[Sequence[int] | Row]]:
        """Those of a shard. At its end a row ends, wherever it is."""

    @abstractmethod
    def ask(
        self, model: E, held: Any, indices: np.ndarray[Any, Any], generator: torch.Generator | None = None
    ) -> Iterator[Hidden]:
        """What the model makes of these rows, part by part; draws come from the generator."""

    def source(self, rows: Rows, which: str) -> Any:
        """What is asked about, of the rows of the `which` ("training") text."""
        return rows

    def shows(self, token: Tensor) -> bool:
        """Whether a token that the model reads where it is asked can stand in a sample."""
        return True

    def passages(self, documents: Iterable[Document]) -> Iterator[Sequence[Sequence[int] | Row]]:
        """The rows of texts, one shard in memory at a time."""
        for shard in encoded(self.tokenizer, shards(sentences(documents)), workers=1):
            yield from self.rows(shard)

    @torch.no_grad()
    def measure(
        self, model: E, held: Any, chosen: np.ndarray[Any, Any]
    ) -> tuple[dict[str, float], list[dict[str, str]]]:
        """Metrics by name over the chosen rows, and samples of what was found."""
        generator, head = torch.Generator().manual_seed(SEED), model.head
        assert head is not None
        loss, right, words, matched, paired = 0.0, 0, 0, 0, False
        samples: list[dict[str, str]] = []
        for start in range(0, len(chosen), ROWS_AT_ONCE):
            for part in self.ask(model, held, chosen[start : start + ROWS_AT_ONCE], generator):
                if part.pairs is not None and part.relations is not None:
                    matched, paired = matched + int((part.pairs.argmax(-1) == part.relations).sum()), True
                if not len(part.targets):
                    continue
                found = head.logits(part.states).argmax(-1)
                loss += float(head.total_loss(part.states, part.targets))
                right += int((found == part.targets).sum())
                words += len(part.targets)
                samples += self.samples(part, found) if len(samples) < SAMPLES else []
        mean = loss / max(words, 1)
        metrics = {"loss": mean, "perplexity": math.exp(min(mean, 700)), "accuracy": right / max(words, 1)}
        return {**metrics, **({"next_sentence": matched / len(chosen)} if paired else {})}, samples[:SAMPLES]

    @cached_property
    def glue(self) -> tuple[Tensor, Tensor]:
        """Which tokens go on with the word before them, and behind which a word may go on."""
        return glue(self.tokenizer)

    def goes_on(self, tokens: Tensor) -> list[bool]:
        """(T + 1,): whether each token goes on with the word of the token before it; none does behind the last."""
        begins, ends = self.glue
        row = tokens.cpu()
        return [False, *(begins[row[1:]] & ends[row[:-1]]).tolist(), False]

    def samples(self, part: Hidden, found: Tensor) -> list[dict[str, str]]:
        """Of each row the first place that hides a word, or else a part of one, with some whole words around it."""
        whole = part.tokens.clone()
        whole[part.places[:, 0], part.places[:, 1]] = part.targets
        seen: dict[int, tuple[bool, dict[str, str]]] = {}
        for (row, place), best, right in zip(part.places.tolist(), found.tolist(), part.targets.tolist(), strict=True):
            line, goes_on = part.tokens[row], self.goes_on(whole[row])
            word = not (goes_on[place] or goes_on[place + 1])
            if not self.shows(line[place]) or (row in seen and (seen[row][0] or not word)):
                continue
            first, end = max(place - TOKENS_AROUND, 0), min(place + 1 + TOKENS_AROUND, len(line))
            while goes_on[first] and first < place:  # the context begins and ends with whole words
                first += 1
            while goes_on[end] and end > place + 1:
                end -= 1
            before, after = line[first:place].tolist(), line[place + 1 : end].tolist()
            shown = f"{self.tokenizer.decode(before)} {self.sign} {self.tokenizer.decode(after)}"
            words = (self.tokenizer.token(token).strip() for token in (best, right))
            seen[row] = word, sample(" ".join(shown.split()), *words)
        return [one for _, one in seen.values()]


@dataclass(frozen=True)
class HiddenWords(TokenTask):
    """What hides words in rows of `context` tokens. Validation hides the same tokens each time, in `validated` rows;
    without a text of its own, it is given the last tenth of the training text."""

    needed: ClassVar[Mapping[str, str]] = {"train": "train"}
    purpose = "find masked words"
    special: ClassVar[Mapping[str, bool]] = {"mask": True}  # what the tokenizer needs beside its pieces
    finding: ClassVar[str]  # what the report shows

    train: TextData = TextData()
    valid: TextData = TextData()
    context: Size = 128
    validated: Size = 256

    def reader(self, tokenizer: Tokenizer) -> HidingReader[Any]:
        """What hides words as this task does."""
        raise TypeError(f"{type(self).__name__} is a family, not a task")

    def open(self, folder: Path, say: Say) -> HiddenWordsTask[Any]:
        raise TypeError(f"{type(self).__name__} is a family, not a task")

    def tool(self, model: EncoderModel, tokenizer: Tokenizer, run: Run) -> MaskFiller:
        return MaskFiller(model, tokenizer)

    def evaluate(self, asked: Evaluation) -> Scores:
        """How well hidden words are found; it compares only between runs that share a tokenizer."""
        asked.asked(Config)
        filler: MaskFiller = asked.tool(self)
        reader = self.reader(filler.tokenizer)
        held = InMemory(list(reader.passages(asked.examples(self.valid))))
        if not len(held):
            raise DataError(f"{asked.data}: no text (all lines are empty)")
        metrics, _ = reader.measure(filler.model, reader.source(held, "test"), np.arange(len(held)))
        return Figures(metrics, {"passages": len(held), "tokens": held.tokens})


C = TypeVar("C", bound=HiddenWords)


class HiddenWordsTask(Task[C]):
    """Tokens on disk beside the run; what is hidden is drawn when they are read."""

    def prepare(self, say: Say) -> None:
        config = self.config
        train, valid = held_apart(config.train, config.valid, say)
        self.tokenizer = self.learn_tokenizer(
            lambda: Texts(sampled(train, config.tokenizer)), say, lower=config.lower, **config.special
        )
        self.reader = config.reader(self.tokenizer)
        streams = sentences(train), sentences(Sampled(valid))  # of the validation text a sample is enough
        self.store, self.valid = text_stores(self.run.path, train, streams, self.tokenizer, self.reader.rowing, say)
        self.training = self.reader.source(self.store, "training")
        self.validation = self.reader.source(self.valid, "validation")
        say(f"{self.store.tokens(0):,} tokens of training text in {len(self.store):,} passages")

    def validate(self, model: Model) -> Validation:
        chosen = np.linspace(0, len(self.valid) - 1, min(self.config.validated, len(self.valid))).astype(np.int64)
        return Validation(*self.reader.measure(cast(EncoderModel, model), self.validation, chosen))

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        rows = [[one["source"], one["output"], one["reference"]] for one in self.validate(model).samples]
        return [Section(self.config.finding, [Table(["text", "found", "was"], rows)])]
