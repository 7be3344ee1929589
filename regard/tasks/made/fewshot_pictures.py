"""Few-shot learning of pictures: characters of alphabets that were never seen before, say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.config import ConfigError, Size, change
from regard.data.examples import LabelledPictureData
from regard.data.pictures.examples import as_picture
from regard.data.pictures.sizing import Fit
from regard.errors import DataError
from regard.models import FewShot, FewShotModel, Model, ModelConfig, PictureReaderConfig
from regard.runfolder import Run
from regard.sides import OnePicture
from regard.tasks.base import Say
from regard.tasks.made.episodes import Episode
from regard.tasks.made.fewshot import Episodic, EpisodicTask, named, shown_in_turn
from regard.tasks.tool import Tool

GROUP = "/"  # what stands behind the group in a label: Greek/character01


@dataclass(frozen=True)
class FewShotPictures(Episodic, kind="fewshot-pictures"):
    """Pictures, brought to `side` pixels a side. Where labels name groups (GROUP/CLASS) and these are `grouped`,
    `tested` counts groups: all classes of a group are then held out together."""

    preset: ClassVar[str] = "prototypical-pictures"

    train: LabelledPictureData = LabelledPictureData()
    side: Size = 28
    fit: Fit = "stretch"
    grouped: bool = False

    def check_model(self, model: ModelConfig) -> None:
        super().check_model(model)
        if not (isinstance(model, FewShot) and isinstance(model.reader, PictureReaderConfig)):
            raise ConfigError(
                "model: its reader reads no pictures; take a preset whose does, such as prototypical-pictures"
            )

    def divided(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        if not self.grouped:
            return super().divided(names)
        groups = defaultdict(list)
        for name in sorted(names):
            groups[name.partition(GROUP)[0]].append(name)
        random = np.random.default_rng(self.division)
        order = [sorted(groups)[i] for i in random.permutation(len(groups))]
        if len(order) <= self.tested:
            raise DataError(f"{len(order)} groups are too few to hold {self.tested} of them out")
        rest = [name for group in order[self.tested :] for name in groups[group]]
        if len(rest) <= self.validated:
            raise DataError(f"{len(rest)} classes are too few to hold {self.validated} of them out for validation")
        shuffled = [rest[i] for i in random.permutation(len(rest))]
        tested = [name for group in order[: self.tested] for name in groups[group]]
        return shuffled[self.validated :], shuffled[: self.validated], tested

    def open(self, folder: Path, say: Say) -> FewShotPicturesTask:
        return FewShotPicturesTask(self, folder, say)

    def tool(self, model: FewShotModel, tokenizer: Any, run: Run) -> FewShotPictureClassifier:
        return FewShotPictureClassifier(model, self.reads())

    def reads(self) -> OnePicture:
        """What goes in, as this task reads it."""
        return OnePicture(self.side, self.fit)


class FewShotPicturesTask(EpisodicTask[FewShotPictures]):
    """Pictures in memory, as small as they are read."""

    counted = "pictures"

    def examples(self, say: Say) -> tuple[list[str], dict[str, list[int]]]:
        self.source = self.config.reads()
        every = list(self.config.train.open())
        say(f"reading {len(every):,} pictures")
        with ThreadPoolExecutor() as threads:
            self.pixels = np.stack(list(threads.map(lambda one: self.source.read(one.picture), every)))
        found: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(every):
            found[one.label].append(number)
        names = [one.picture.name for one in every]
        return names, {name: own for name, own in found.items() if len(own) > self.config.shots}

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(super().fit(model), {"reader.side": self.config.side})

    def inputs(self, episodes: Sequence[Episode], model: Model) -> tuple[Tensor, Tensor | None, Tensor]:
        numbers = self.numbers(episodes)
        (pictures,) = self.source.seen(self.pixels[numbers.flatten()], model)
        return pictures.unflatten(0, numbers.shape), None, self.labels(episodes, pictures.device)

    def untrained(self) -> tuple[str, Callable[[Episode], NDArray[np.int64]]]:
        vectors = self.pixels.reshape(len(self.pixels), -1).astype(np.float32)

        def nearest(episode: Episode) -> NDArray[np.int64]:
            ways = range(self.config.ways)
            means = np.stack([vectors[episode.examples[episode.labels == label]].mean(0) for label in ways])
            found: NDArray[np.int64] = np.square(vectors[episode.queries][:, None] - means).sum(-1).argmin(-1)
            return found

        return "pixels", nearest


class FewShotPictureClassifier(Tool):
    """A trained learner: give it pictures of classes of your own, and it tells pictures apart by them."""

    def __init__(self, model: FewShotModel, source: OnePicture) -> None:
        super().__init__(model, None)
        self.source = source

    def classify(self, examples: Mapping[str, Sequence[Any]], pictures: Sequence[Any]) -> list[str]:
        """`classify({"alpha": ["a1.png", "a2.png"], "beta": ["b1.png"]}, ["which.png"])`."""
        names, shown = shown_in_turn(examples, self.model.config.ways)
        every = [as_picture(one, number) for number, one in enumerate([*(one for one, _ in shown), *pictures], 1)]
        (given,) = self.source.batch(self.source.rows(every)[0], self.model)
        return named(self.model, given.unsqueeze(0), None, shown, names)
