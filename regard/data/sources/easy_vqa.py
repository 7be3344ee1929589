"""easy-VQA: drawn shapes of 64 × 64 pixels, questions about them, 13 answers. Zhou 2019, the package `easy-vqa`.

A JSON list of question, answer and number of the picture, beside a folder of pictures. Its test part is another folder;
of this one every tenth picture is held out as "valid".
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from regard.data.files import locate
from regard.data.pictures.examples import AskedPicture, PictureFile
from regard.errors import DataError

ABOUT = "questions about drawn shapes, 38,575 on 4,000 pictures of 64 pixels"
SPLITS = ("train", "valid")
_EVERY = 10


def asked(languages: str, split: str) -> Iterable[AskedPicture]:
    path = locate("easy-vqa", "train/questions.json", "data/train/questions.json")
    try:
        every = [
            (str(question), str(answer), int(number)) for question, answer, number in json.loads(path.read_bytes())
        ]
    except (ValueError, TypeError):
        raise DataError(f"{path} is no list of questions, answers and numbers of pictures") from None
    return [
        AskedPicture(PictureFile(path.parent / "images" / f"{number}.png"), question, answer)
        for question, answer, number in every
        if (number % _EVERY == 0) == (split == "valid")
    ]
