"""Penn-Fudan: pedestrians in streets, with their boxes. Wang et al. 2007, "Object detection combining recognition and
segmentation".

A TSV with a header (image, class, x0, y0, x1, y1) beside a folder of pictures. Every fifth is held out as "valid".
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.files import locate
from regard.data.pictures.examples import BoxedPicture
from regard.data.pictures.tables import BoxTable

ABOUT = "pedestrians in streets with their boxes, 120 pictures"
SPLITS = ("train", "valid")
_EVERY = 5


def boxed(languages: str, split: str) -> Iterable[BoxedPicture]:
    every = enumerate(BoxTable(locate("pennfudan", "boxes.tsv")))
    return [one for number, one in every if (number % _EVERY == 0) == (split == "valid")]
