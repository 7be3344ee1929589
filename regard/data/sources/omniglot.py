"""Omniglot, the first small background set: 136 characters of five alphabets, each drawn by 20 people. Lake et al.
2015, "Human-level concept learning through probabilistic program induction".

In the variant "turned" each character turned by 90, 180 and 270 degrees is a character of its own, as Santoro et al.
2016 (arXiv:1605.06065) have it. A label is ALPHABET/CHARACTER.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from regard.data.files import locate
from regard.data.pairs import again
from regard.data.pictures.examples import LabelledPicture
from regard.data.sources.mnist import grey
from regard.errors import DataError

ABOUT = "handwritten characters of five alphabets, 2,720 pictures of 105 pixels"
VARIANTS = ("upright", "turned")
SPLITS = ("train",)
SIDE, PAPER = 105, 255
TURNS = {"upright": (0,), "turned": (0, 1, 2, 3)}


@again
def labelled(variant: str, split: str) -> Iterator[LabelledPicture]:
    import numpy as np

    ink, names, drawers = arrays()
    for turns in TURNS[variant]:
        for bits, name, drawer in zip(ink, names, drawers, strict=True):
            drawn = np.unpackbits(bits)[: SIDE * SIDE].reshape(SIDE, SIDE)
            turned = np.ascontiguousarray(np.rot90(drawn, turns)) * np.uint8(PAPER)
            label = f"{name} turned {90 * turns}" if turns else str(name)
            yield LabelledPicture(grey(PAPER - turned, f"{label} by drawer {drawer}"), label)


def arrays() -> Iterable[Any]:
    """The packed ink, the characters and the drawers."""
    import numpy as np

    path = locate("omniglot", "small1.npz")
    try:
        with np.load(path, allow_pickle=False) as found:
            return found["ink"], found["character"], found["drawer"]
    except (zipfile.BadZipFile, ValueError, KeyError, OSError) as error:
        raise DataError(f"{path} is damaged or something else ({error}); copy it again") from None
