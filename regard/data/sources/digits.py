"""scikit-learn's handwritten digits: 1,797 pictures of 8 × 8 pixels, with no download. Alpaydin and Kaynak 1998.

Every fifth is held out as "valid"; writers are not told apart there.
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.pictures.examples import LabelledPicture
from regard.data.sources.mnist import grey
from regard.errors import DataError

ABOUT = "built in with scikit-learn: handwritten digits, 1,797 pictures of 8 pixels"
SPLITS = ("train", "valid")
LIGHTEST = 16  # of the grey values there
_EVERY = 5


def labelled(languages: str, split: str) -> Iterable[LabelledPicture]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise DataError("the digits come with scikit-learn, which is not installed: pip install scikit-learn") from None
    found = load_digits()
    pictures = (found.images * (255 / LIGHTEST)).round().astype("uint8")
    return [
        LabelledPicture(grey(picture, f"digit {number + 1}"), str(label))
        for number, (picture, label) in enumerate(zip(pictures, found.target, strict=True))
        if (number % _EVERY == 0) == (split == "valid")
    ]
