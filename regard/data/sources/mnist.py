"""MNIST: 60,000 handwritten digits of 28 × 28 pixels. LeCun et al. 1998.

Files of the form idx, gzipped or not. Its test part is other files; of the training pictures the last 5,000 are held
out as "valid".
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from regard.data.files import locate, open_file
from regard.data.pictures.examples import LabelledPicture, MadePicture
from regard.errors import DataError, reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ABOUT = "handwritten digits, 60,000 pictures of 28 pixels"
SPLITS = ("train", "valid")
PICTURES, LABELS = 0x803, 0x801  # the first four bytes of each kind of file
_HELD_OUT = 5_000


def labelled(languages: str, split: str) -> Iterable[LabelledPicture]:
    paths = [
        locate("mnist", f"train-{name}", f"train-{name}.gz") for name in ("images-idx3-ubyte", "labels-idx1-ubyte")
    ]
    pictures, labels = idx(paths[0], PICTURES), idx(paths[1], LABELS)
    if len(pictures) != len(labels):
        raise DataError(f"{paths[0]} has {len(pictures):,} pictures and {paths[1]} {len(labels):,} labels")
    cut = len(labels) - _HELD_OUT
    chosen = range(cut) if split == "train" else range(cut, len(labels))
    return [
        LabelledPicture(grey(pictures[number], f"{paths[0]}, picture {number + 1}"), str(labels[number]))
        for number in chosen
    ]


def idx(path: Path, kind: int) -> NDArray[np.uint8]:
    """The bytes of such a file, in the shape that it states."""
    import numpy as np

    with reading(path), open_file(path) as file:
        data = file.read()
    if len(data) < 8 or int.from_bytes(data[:4], "big") != kind:
        raise DataError(f"{path} is no file of the form idx{kind & 0xFF}")
    shape = np.frombuffer(data, ">u4", kind & 0xFF, 4).tolist()
    found = np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape))
    if found.size != np.prod(shape):
        raise DataError(f"{path} has {found.size:,} values instead of {np.prod(shape):,}; copy it again")
    return found.reshape(shape)


def grey(pixels: NDArray[np.uint8], name: str) -> MadePicture:
    """A picture of grey values."""

    return MadePicture(name, lambda: pixels[:, :, None].repeat(3, 2))
