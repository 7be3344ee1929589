"""BCCD: blood cells under the microscope, red and white ones and platelets, with their boxes.

A TSV with a header (image, class, x0, y0, x1, y1) beside a folder of pictures, and lists of the files of each split.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from regard.data.files import lines, locate
from regard.data.pictures.examples import BoxedPicture
from regard.data.pictures.tables import BoxTable

ABOUT = "blood cells under the microscope with their boxes, 292 pictures"
SPLITS = ("train", "valid")
_LISTS = {"train": "train.txt", "valid": "val.txt"}


def boxed(languages: str, split: str) -> Iterable[BoxedPicture]:
    names = {line.strip() for line in lines(locate("bccd", _LISTS[split]))}
    return [one for one in BoxTable(locate("bccd", "boxes.tsv")) if Path(one.picture.name).name in names]
