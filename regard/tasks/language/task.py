"""Language modelling: text in, a writer out."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import Config, ConfigError, Size
from regard.data.corpus import Rowing, document_rows, tokenized
from regard.data.documents import bytes_in
from regard.data.examples import TextData, held_apart
from regard.data.text import Pieces, Texts, sampled
from regard.data.tokenizers import Tokenizer
from regard.data.windows import Windows
from regard.decoding import Decoding, complete
from regard.decoding.spelling import BAD
from regard.errors import DataError
from regard.look.capture import look
from regard.look.subject import Subject
from regard.models import Model, ModelConfig, TextWriter, TextWriterConfig
from regard.nn.losses import words_loss
from regard.page.records import Card, Cards, Code, Section, ShadedText
from regard.results import Scores
from regard.runfolder import HELD, TOKENS, Run
from regard.tasks.base import Done, Evaluation, Say, Task, TaskConfig, Validation, sample
from regard.tasks.language.generator import Generator
from regard.tasks.language.scoring import chosen_stride, encoded, measure, reading, shifted, unknown, words_in
from regard.tasks.tuning import check_context

SAMPLES, PROMPT, CONTINUED = 3, 24, 40  # how many; tokens of each
PASSAGE = 120  # tokens whose probabilities the report shows
SEARCHED = 2_000  # tokens of the validation text among which lines are found that fit on a slide
DRAWING = Decoding(sample=True, temperature=0.8, max_length=CONTINUED, seed=1)


@dataclass(frozen=True)
class LanguageModelling(TaskConfig, kind="lm"):
    """Write on from a text, token by token.

    Training text is one long stream of tokens, cut into windows of `context` tokens at another place in each epoch;
    where a window holds several texts, a Transformer reads each as if it stood alone.
    Validation scores every token of its text once, with at least half a context before it: the first `validated`, or
    all, where that is none. Without a text of its own, it is given the last tenth of the training text.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"bits_per_byte": False, "perplexity": False, "loss": False}
    needed: ClassVar[Mapping[str, str]] = {"train": "train"}
    purpose = "write on from a text"
    preset: ClassVar[str] = "gpt-tiny"
    usual: ClassVar[Mapping[str, Any]] = {"batch_tokens": 2048, "max_steps": 1000, "validate_every": 250}

    train: TextData = TextData()
    valid: TextData = TextData()
    tokenizer: Literal["bpe", "unigram", "char", "byte"] = "bpe"
    pieces: Size | None = None
    context: Size = 256
    validated: Size | None = 1 << 16

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, TextWriterConfig):
            raise ConfigError(f"model: one of kind {model.kind} does not write on from a text; take a decoder")

    def within(self, model: ModelConfig) -> LanguageModelling:
        check_context(model, self.context)
        return self

    def following(self, run: Run) -> Mapping[str, Any]:
        return self.like(run, "context")

    def open(self, folder: Path, say: Say) -> LanguageTask:
        return LanguageTask(self, folder, say)

    def tool(self, model: TextWriter, tokenizer: Tokenizer, run: Run) -> Generator:
        return Generator(model, tokenizer, self.context)

    def evaluate(self, asked: Evaluation) -> Scores:
        """Every token once, with at least context - stride tokens before it."""
        wanted = asked.asked(Sliding).stride
        writer: Generator = asked.tool(self)
        stride, documents = chosen_stride(writer.context, wanted), asked.examples(self.valid)
        ids, size = encoded(writer.tokenizer, documents)
        if not len(ids):
            raise DataError("the text is empty: there is nothing to score")

        def work(done: Done) -> Scores:
            start, end, words = writer.tokenizer.start, writer.tokenizer.end, words_in(documents)
            score = measure(writer.model, ids, size, writer.context, start, end, done, stride, words)
            return replace(score, unknown=unknown(writer.tokenizer, ids))

        return asked.measured("tokens", len(ids), work, "tokens scored", len(ids))


@dataclass(frozen=True)
class Sliding(Config):
    """By how many tokens the context moves on; half of it unless told, 1 is exact and slow."""

    stride: Size | None = None


class LanguageTask(Task[LanguageModelling]):
    """Tokens on disk beside the run, so that a corpus may be larger than memory and a resumed run reads none again."""

    def prepare(self, say: Say) -> None:
        config, folder = self.config, self.run.path
        train, valid = held_apart(config.train, config.valid, say)
        self.tokenizer = self.learn_tokenizer(lambda: Texts(sampled(train, config.tokenizer)), say)
        rowing = Rowing(partial(document_rows, end=self.tokenizer.end), joined=True)
        read = partial(tokenized, tokenizer=self.tokenizer, rowing=rowing, say=say)
        self.store = read(folder / TOKENS, Pieces(train), total=partial(bytes_in, train))
        held = read(folder / HELD, Pieces(valid), most=config.validated, what="tokenizing the validation text")
        self.valid, self.size = self.validation(held.stream(0), held.size or 0, say)
        say(f"{self.store.tokens(0):,} tokens of training text, {len(self.valid):,} of validation text")

    def validation(self, ids: NDArray[Any], size: int, say: Say) -> tuple[NDArray[Any], int]:
        """The tokens that are scored, and how many bytes of text they are."""
        if not len(ids):
            raise DataError("the validation text is empty")
        if self.config.validated is not None and self.config.validated < len(ids):
            ids = ids[: self.config.validated]
            while self.tokenizer.decode(ids.tolist()).endswith(BAD) and len(ids) > 1:  # the bytes of half a character
                ids = ids[:-1]
            size = len(self.tokenizer.decode(ids.tolist()).encode("utf-8"))
        if count := unknown(self.tokenizer, ids):
            say(f"{count:,} tokens of the validation text are unknown: bits per byte do not say what they cost")
        return ids, size

    def batches(self, budget: int, seed: int) -> Windows:
        return Windows(self.store.tokens(0), self.config.context, budget, seed)

    def loss(self, model: Model, indices: np.ndarray[Any, Any]) -> tuple[Tensor, int]:
        writer = cast(TextWriter, model)
        windows = self.store.windows(0, indices, self.config.context)
        read, targets = shifted(windows, self.tokenizer.start, next(model.parameters()).device)
        self.open_half(read, indices)
        states = reading(writer, read, targets, self.tokenizer.start, self.tokenizer.end)
        return words_loss(writer.head, states, targets), targets.numel()

    def open_half(self, read: Tensor, indices: np.ndarray[Any, Any]) -> None:
        """Every other window is read behind the token that stands before it, where its text goes on from there, instead
        of the start: so a model learns both to begin and to go on."""
        before = self.store.windows(0, np.maximum(indices - 1, 0), 1)[:, 0].astype(np.int64)
        goes_on = (np.arange(len(indices)) % 2 == 1) & (indices > 0) & (before != self.tokenizer.end)
        rows = torch.from_numpy(np.flatnonzero(goes_on))
        read[rows, 0] = torch.from_numpy(before)[rows].to(read.device)

    def validate(self, model: Model) -> Validation:
        start, end = self.tokenizer.start, self.tokenizer.end
        score = measure(cast(TextWriter, model), self.valid, self.size, self.config.context, start, end)
        return Validation(score.metrics(), self.samples(model))

    def samples(self, model: Model) -> list[dict[str, str]]:
        """How the model goes on from a few places of the validation text."""
        given = min(PROMPT, max(self.config.context // 2, 1))
        passages = self.passages(given + CONTINUED)
        prompts = np.stack([passage[:given] for passage in passages])
        read, _ = shifted(np.pad(prompts, ((0, 0), (0, 1))), self.tokenizer.start, next(model.parameters()).device)
        found = complete(cast(TextWriter, model), read, None, DRAWING, self.tokenizer.end)
        return [
            sample(
                self.line(passage[:given]),
                self.line(best[0].tokens),
                self.line(passage[given:]),
                prompt=self.tokenizer.decode(list(passage[:given])).lstrip(),  # as a person can give it
            )
            for passage, best in zip(passages, found, strict=True)
        ]

    def passages(self, length: int) -> list[NDArray[Any]]:
        """Some tokens from a few places of the validation text, evenly apart; fewer where it is short."""
        last = max(len(self.valid) - length, 0)
        starts = sorted({last * (2 * i + 1) // (2 * SAMPLES) for i in range(SAMPLES)})
        return [self.valid[start : start + length] for start in starts]

    def line(self, tokens: Sequence[int] | NDArray[Any]) -> str:
        """A text on one line, with a sign where lines end."""
        return self.tokenizer.decode(list(tokens)).replace("\n", "⏎ ")

    def probes(self, model: Model) -> list[bytes]:
        """Of a few lines of the validation text; none of a model without attention, which has nothing to play back."""
        if not model.attention_names():
            return []
        subject = Subject(model, self.tokenizer)
        return [look(subject, text).to_bytes() for text in self.fitting_a_slide()]

    def fitting_a_slide(self) -> list[str]:
        """Lines of a length that does, and that the model can read; else the first tokens."""
        text = self.tokenizer.decode(self.valid[:SEARCHED].tolist())
        lines = [line.strip() for line in text.splitlines() if 5 <= len(line.split()) <= 12]
        rows = self.tokenizer.encode(lines)
        fitting = [line for line, row in zip(lines, rows, strict=True) if len(row) < self.config.context]
        return fitting[:SAMPLES] or [self.tokenizer.decode(self.valid[: min(20, self.config.context - 2)].tolist())]

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        writer: Generator = self.tool(model)
        written = writer(tokens=PASSAGE, temperature=DRAWING.temperature, seed=1)
        passages = [self.tokenizer.decode(passage.tolist()) for passage in self.passages(PASSAGE)]
        sure = [Card("of the validation text; point at a token", self.sureness(writer, text)) for text in passages]
        back = [self.looked_back(writer, text) for text in self.fitting_a_slide()]
        return [
            Section("What it writes from nothing", [Code(written)]),
            Section("How sure it was of each token", [Cards(sure)]),
            Section("What it looked back at", [Cards([one for one in back if one is not None])]),
        ]

    def sureness(self, writer: Generator, text: str) -> ShadedText:
        logs = writer.log_probs(text)
        return ShadedText([(token, math.exp(log), f"{token!r}: {math.exp(log):.3f}") for token, log in logs])

    def looked_back(self, writer: Generator, text: str) -> Card | None:
        """The last layer that looks at earlier words, step by step; None without one."""
        names = fnmatch.filter(writer.model.attention_names(), "decoder.*.self")
        return Card(names[-1], writer.look(text).reader(names[-1]).element()) if names else None
