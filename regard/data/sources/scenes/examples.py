"""Scenes as examples of each form."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from regard.data.pairs import again
from regard.data.pictures.examples import AskedPicture, BoxedPicture, CaptionedPicture, LabelledPicture, MadePicture
from regard.data.sources.scenes.draw import RECOMBINED, Scene, scene
from regard.data.sources.scenes.words import captions, questions

QUESTIONS = 3  # about each scene


@again
def labelled(size: str, split: str, count: int) -> Iterator[LabelledPicture]:
    """Scenes with one thing, and its shape."""
    for number in range(count):
        every = scene(split, number)
        thing = next((one for one in every.things if (one.colour, one.shape) in RECOMBINED), every.things[0])
        alone = Scene((thing,), every.light, every.slope, every.grain)
        yield LabelledPicture(picture(alone, size, split, number), thing.shape)


@again
def captioned(size: str, split: str, count: int) -> Iterator[CaptionedPicture]:
    for number, every in scenes(split, count):
        yield CaptionedPicture(picture(every, size, split, number), tuple(captions(every, number)))


@again
def asked(size: str, split: str, count: int) -> Iterator[AskedPicture]:
    """So many questions, some about each scene."""
    return itertools.islice(every_question(size, split), count)


def every_question(size: str, split: str) -> Iterator[AskedPicture]:
    for number in itertools.count():
        every = scene(split, number)
        shown = picture(every, size, split, number)
        for question, answer in questions(every, number, QUESTIONS):
            yield AskedPicture(shown, question, answer)


@again
def boxed(size: str, split: str, count: int) -> Iterator[BoxedPicture]:
    for number, every in scenes(split, count):
        yield BoxedPicture(picture(every, size, split, number), tuple(every.boxes(int(size))))


def scenes(split: str, count: int) -> Iterable[tuple[int, Scene]]:
    return ((number, scene(split, number)) for number in range(count))


def picture(shown: Scene, size: str, split: str, number: int) -> MadePicture:
    return MadePicture(f"scene {number} of {split}", lambda: shown.pixels(int(size)))
