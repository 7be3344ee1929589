"""Captioning: pictures with captions in, a captioner out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import ConfigError, Rate, Size, change
from regard.data.batches import Batches
from regard.data.examples import CaptionData
from regard.data.pictures.augment import Augment
from regard.data.pictures.examples import CaptionedPicture
from regard.data.pictures.prepare import BYTES, as_batch, pictured
from regard.data.pictures.sizing import Fit
from regard.data.progress import counting
from regard.data.splitting import Row
from regard.data.store import HEADER, Store, write_store
from regard.data.tokenizers import Kind, Tokenizer
from regard.decoding.parallel import even
from regard.errors import DataError
from regard.metrics.captions import CaptionScores
from regard.models import Model, ModelConfig, PictureReader, PictureWriter, PictureWriterConfig
from regard.models.pixels import scaled
from regard.nn.call.memory import Memory
from regard.nn.losses import words_loss
from regard.results import Scores
from regard.runfolder import FEATURES, HELD_PICTURES, PICTURES, TOKENS, Run
from regard.sides import OnePicture
from regard.tasks.base import Done, Evaluation, Say, Task, TaskConfig, Validation, sample, usual
from regard.tasks.captioning.captioner import Captioner
from regard.tasks.captioning.captions import Captions, caption_row, short_captions
from regard.tasks.captioning.features import Features, features, frozen
from regard.tasks.tuning import longest_of
from regard.tasks.writing.task import SAMPLES, shifted

Indices = NDArray[np.integer[Any]]

PICTURES_AT_ONCE = 64  # where nothing is learnt
UNCHANGED = Augment(flip=0.0)


@dataclass(frozen=True)
class Captioning(TaskConfig, kind="caption"):
    """Say what a picture shows. Pictures are brought to `side` pixels a side, those of the model unless told, by `fit`,
    and changed at random while training as `augment` says; mind that what is mirrored is no longer to the left.

    An epoch shows each picture once, with `captions_each` of its captions, drawn anew: it is read once for all of them.
    A batch has at most `batch_pictures`. Captions of `max_length` tokens or more are dropped from training and counted.
    Pictures that a table names and that are `missing` are refused, or skipped and counted. Of the validation pictures
    the first `validated` are written about, without being told a word; the loss is computed on all.
    """

    metrics: ClassVar[Mapping[str, bool]] = {
        **dict.fromkeys(("cider", "bleu_4", "bleu_3", "bleu_2", "bleu_1", "rouge_l", "exact"), True),
        "loss": False,
    }
    purpose = "caption"
    shows_itself: ClassVar[bool] = True
    preset: ClassVar[str] = "captioner"
    usual: ClassVar[Mapping[str, Any]] = usual(4096)

    train: CaptionData = CaptionData()
    valid: CaptionData = CaptionData()
    side: Size | None = None
    fit: Fit = "crop"
    augment: Augment = UNCHANGED
    missing: Literal["refuse", "skip"] = "refuse"
    tokenizer: Kind = "word"
    pieces: Size | None = None
    lower: bool = True
    max_length: Size = 64
    smoothing: Rate = 0.1
    captions_each: Size = 5
    batch_pictures: Size = 64
    validated: Size = 500

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, PictureWriterConfig):
            raise ConfigError(
                f"model: one of kind {model.kind} reads no pictures and writes, so it cannot learn captions"
            )

    def within(self, model: ModelConfig) -> Captioning:
        assert isinstance(model, PictureWriterConfig)
        longest = min(self.max_length, longest_of(model) or self.max_length)
        return replace(self, side=self.side or model.encoder.side, max_length=longest)

    def following(self, run: Run) -> Mapping[str, Any]:
        return self.like(run, "side", "fit", "max_length")

    def open(self, folder: Path, say: Say) -> CaptioningTask:
        return CaptioningTask(self, folder, say)

    def tool(self, model: PictureWriter, tokenizer: Tokenizer, run: Run | None = None) -> Captioner:
        return Captioner(model, tokenizer, self.side or model.config.encoder.side, self.fit, self.max_length)

    def evaluate(self, asked: Evaluation) -> Scores:
        captioner: Captioner = asked.tool(self)
        search = captioner.search(**asked.options)
        examples: list[CaptionedPicture] = list(asked.examples(self.valid))
        pictures = [example.picture for example in examples]

        def work(done: Done) -> Scores:
            found = captioner.captions(pictures, search, asked.batch or PICTURES_AT_ONCE, done)
            return scores_of(examples, [best[0].text for best in found])

        return asked.measured("pictures", len(examples), work, "pictures captioned", len(examples))


def scores_of(examples: Sequence[CaptionedPicture], found: Sequence[str]) -> CaptionScores:
    return CaptionScores(tuple(found), tuple(example.captions for example in examples))


class CaptioningTask(Task[Captioning]):
    """Pixels of all pictures and tokens of all captions on disk; where what reads the pictures does not learn, what it
    makes of them too."""

    def prepare(self, say: Say) -> None:
        config, folder = self.config, self.run.path
        ready = (folder / PICTURES / HEADER).exists()
        valid = self.examples(config.valid, "validation", say)  # at once: what is missing is said before all else
        train = [] if ready else self.examples(config.train, "training", say)
        self.tokenizer = self.learn_tokenizer(lambda: every_caption(train), say, lower=config.lower)
        self.valid = self.short(valid, "validation", say)
        if not ready:
            train = self.short(train, "training", say)
            rows = ([caption_row(self.tokenizer, one.captions)] for one in train)
            write_store(folder / TOKENS, rows, self.tokenizer.vocabulary, 1, self.tokenizer.fingerprint)
        self.captions = Captions(Store.open(folder / TOKENS), self.tokenizer.end)
        self.store, self.valid_store = self.pixels(PICTURES, train, say), self.pixels(HELD_PICTURES, self.valid, say)
        if len(self.valid_store) != len(self.valid):
            raise DataError(
                f"the validation captions are of other pictures than those in {folder / HELD_PICTURES}: remove it"
            )
        self.known: dict[Store, Features] = {}

    def examples(self, data: CaptionData, which: str, say: Say) -> list[CaptionedPicture]:
        """All of them, which names their pictures and reads none."""
        lost: set[str] = set()
        found = list(data.without_missing(lost.add) if self.config.missing == "skip" else data.open())
        if lost:
            say(f"{len(lost):,} {which} pictures are missing and were skipped, such as {min(lost)}")
        return found

    def short(self, examples: Sequence[CaptionedPicture], which: str, say: Say) -> list[CaptionedPicture]:
        """With the captions that can be written."""
        found, longer = short_captions(examples, self.tokenizer, self.config.max_length)
        if not found:
            raise DataError(f"there are no {which} captions of fewer than {self.config.max_length} tokens")
        if longer:
            say(f"{longer:,} {which} captions of {self.config.max_length} tokens or more were dropped")
        return found

    def pixels(self, name: str, examples: Sequence[CaptionedPicture], say: Say) -> Store:
        """Of each picture, in a folder of the run."""
        source = OnePicture(self.side, self.config.fit)
        made, which = f"{source.side} {source.fit}", "training" if name == PICTURES else "validation"
        what = f"reading {which} pictures"
        return pictured(
            self.run.path / name, examples, source.read, lambda part: [[]] * len(part), BYTES, made, say, 1, what
        )

    @property
    def side(self) -> int:
        assert self.config.side is not None  # the model says so, where nobody does
        return self.config.side

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(model, {"vocabulary": self.tokenizer.vocabulary, "encoder.side": self.side})

    def batches(self, budget: int, seed: int) -> Batches:
        """By the tokens of the captions that a picture is shown with."""
        tokens = np.minimum(self.captions.counts, self.config.captions_each) * self.captions.longest
        return Batches([tokens], budget, seed, max_rows=self.config.batch_pictures)

    def ready(self, model: Model) -> None:
        encoder = cast(PictureWriter, model).encoder
        if not frozen(encoder):
            return
        if self.config.augment != UNCHANGED:
            raise ConfigError("augment: what reads the pictures is frozen and sees each of them once: leave it out")
        for name, store in (("training", self.store), ("validation", self.valid_store)):
            read = partial(self.pictures, encoder, store)
            self.known[store] = features(self.run.path / FEATURES / name, encoder, store, read)

    # --- learning ---

    def loss(self, model: Model, indices: Indices) -> tuple[Tensor, int]:
        chosen = [self.some(captions) for captions in self.captions.of(indices)]
        memory = self.memory(model, self.store, indices)
        return self.loss_of(model, memory, chosen, self.config.smoothing)

    def some(self, captions: list[Row]) -> list[Row]:
        """Those of a picture that are shown this time, by torch's own random numbers, with which a run is resumed."""
        most = self.config.captions_each
        return captions if len(captions) <= most else [captions[i] for i in torch.randperm(len(captions))[:most]]

    def memory(self, model: Model, store: Store, indices: Indices) -> Memory:
        """What the model makes of these pictures of a store, or what is known of them."""
        writer = cast(PictureWriter, model)
        if store in self.known:
            return writer.remember(self.known[store].states(indices, next(writer.parameters()).device))
        return writer.encode(self.pictures(writer.encoder, store, indices))

    def pictures(self, encoder: PictureReader, store: Store, indices: Indices) -> Tensor:
        """(B, 3, H, W); those to learn from are changed at random."""
        pixels = as_batch(store.rows(0, indices), self.side)
        if store is self.store and encoder.training and self.config.augment != UNCHANGED:
            random = np.random.default_rng(int(torch.randint(1 << 31, ())))  # resumed with torch's own state
            pixels = np.stack([self.config.augment(one, random) for one in pixels])
        return scaled(pixels, encoder.config.pixels, next(encoder.parameters()).device)

    def loss_of(
        self, model: Model, memory: Memory, captions: Sequence[Sequence[Row]], smoothing: float
    ) -> tuple[Tensor, int]:
        """Of the captions of each picture."""
        writer, device = cast(PictureWriter, model), memory.states.device
        counts = torch.tensor([len(some) for some in captions], device=device)
        if int(counts.min()) < int(counts.max()):  # otherwise each picture serves as many captions
            memory = memory.select(torch.arange(len(counts), device=device).repeat_interleave(counts))
        rows = [row for some in captions for row in some]
        target, labels = shifted(rows, self.tokenizer, device)
        loss = words_loss(writer.head, writer.decode(memory, target), labels, smoothing)
        return loss, sum(len(row) + 1 for row in rows)

    # --- judging ---

    def validate(self, model: Model) -> Validation:
        chosen = self.valid[: self.config.validated]
        with counting("validating, pictures", len(chosen) + len(self.valid), bar=False) as done:
            found = self.written(model, len(chosen), done)
            loss = self.valid_loss(model, done)
        shown = zip(chosen[:SAMPLES], found, strict=False)
        samples = [sample(one.picture.name, text, " / ".join(one.captions)) for one, text in shown]
        return Validation({**scores_of(chosen, found).metrics(), "loss": loss}, samples)

    @torch.no_grad()
    def written(self, model: Model, count: int, done: Done) -> list[str]:
        """What a greedy search writes about the first validation pictures."""
        tool = self.tool(model)
        search = tool.search(beam=1)

        def work(chosen: Sequence[int]) -> list[str]:
            memory = self.memory(model, self.valid_store, np.array(chosen))
            return [tool.text(best) for best, *_ in tool.hypotheses(memory, search)]

        found: list[str] = tool.in_order(even(range(count), PICTURES_AT_ONCE, tool.device), work, done)
        return found

    @torch.no_grad()
    def valid_loss(self, model: Model, done: Done) -> float:
        """The mean loss of a token of all captions, without smoothing."""
        total, count = 0.0, 0
        for start in range(0, len(self.valid), PICTURES_AT_ONCE):
            some = self.valid[start : start + PICTURES_AT_ONCE]
            rows = [[np.array(row) for row in self.tokenizer.encode(one.captions)] for one in some]
            memory = self.memory(model, self.valid_store, np.arange(start, start + len(some)))
            loss, tokens = self.loss_of(model, memory, rows, 0.0)
            total, count = total + float(loss), count + tokens
            done(len(some))
        return total / count


def every_caption(examples: Iterable[CaptionedPicture]) -> list[str]:
    return [text for example in examples for text in example.captions]
