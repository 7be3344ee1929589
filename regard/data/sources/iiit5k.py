"""IIIT 5K: words cut out of photographs. Mishra et al. 2012, "Scene text recognition using higher order language
priors".

A TSV with a header (image, word) beside a folder of pictures. No word stands in both splits, in whatever case: a hash
of its letters says in which, about half of them in "valid".
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from regard.data.files import locate
from regard.data.pictures.examples import LabelledPicture
from regard.data.pictures.tables import LabelledPictureTable

ABOUT = "words in photographs, 2,000 pictures"
SPLITS = ("train", "valid")


def labelled(languages: str, split: str) -> Iterable[LabelledPicture]:
    every = LabelledPictureTable(locate("iiit5k", "labels.tsv"))
    return [one for one in every if zlib.crc32(one.label.lower().encode()) % 2 == (split == "valid")]
