"""A picture and a text about it that go in together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.given import checked_text, is_blank
from regard.data.pictures.examples import Picture, PictureFile
from regard.data.pictures.prepare import as_batch
from regard.data.pictures.reading import Pixels
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError
from regard.models import Model
from regard.models.padding import padded
from regard.sides.base import Batch, InputSide, Row
from regard.sides.picture import OnePicture

Asked = tuple[Picture, str]


class PictureAndText(InputSide[Asked]):
    """A picture, which `picture` reads, and a question of which `longest` tokens are read; a row is the values of the
    picture and the tokens. Values that are one array in several rows of a batch are one picture to a model."""

    columns = 2
    names = ("picture", "question")
    plural = "questions"
    tokenizer: Tokenizer

    def __init__(self, picture: OnePicture, tokenizer: Tokenizer, longest: int) -> None:
        self.picture, self.tokenizer, self.longest = picture, tokenizer, longest

    @staticmethod
    def of(example: Any) -> Asked:
        return example.picture, example.question

    @staticmethod
    def texts(value: Asked) -> Sequence[str]:
        picture, question = value
        return picture.name, question

    def parts(self, value: Asked) -> dict[str, str]:
        """None that a person could type."""
        return {}

    def parse(self, line: str, number: int) -> Asked | None:
        """The file and the question of a line, with a tab between them."""
        if not line.strip():
            return None
        name, tab, question = line.partition("\t")
        if not tab or not name.strip():
            raise DataError(f"question {number}: a picture, a tab and a question about it are needed: {line.strip()!r}")
        return PictureFile(Path(name.strip())), question.strip()

    def check(self, values: Sequence[Asked]) -> None:
        for number, (picture, question) in enumerate(values, 1):
            if is_blank(checked_text(question, f"question {number}")):
                raise DataError(f"question {number}, about {picture.name}, is empty: ask something")

    def is_blank(self, value: Asked, number: int) -> bool:
        return False

    def rows(self, values: Sequence[Asked]) -> tuple[list[tuple[Row, Row]], int]:
        """Each picture is read once, however often it is asked about."""
        seen = {picture: self.picture.read(picture).reshape(-1) for picture in dict.fromkeys(p for p, _ in values)}
        tokens, cut = self.tokens([question for _, question in values])
        return [(seen[picture], row) for (picture, _), row in zip(values, tokens, strict=True)], cut

    def tokens(self, questions: Sequence[str]) -> tuple[list[Row], int]:
        """Of each question as far as it is read, and how many questions were cut."""
        rows = self.tokenizer.encode(questions)
        return [row[: self.longest] for row in rows], sum(len(row) > self.longest for row in rows)

    def size(self, lengths: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        """Questions are counted, not their words."""
        return np.ones_like(lengths[0])

    def batch(self, rows: Sequence[Any], model: Model) -> Batch:
        pixels, which = self.pictures(rows)
        return self.asked(pixels, which, rows, model)

    def pictures(self, rows: Sequence[Any]) -> tuple[Pixels, list[int]]:
        """The pictures (P, side, side, 3) of a batch, each once, and which of them each row is about."""
        places: dict[int, int] = {}
        which = [places.setdefault(id(pixels), len(places)) for pixels, _ in rows]
        first = {place: pixels for place, (pixels, _) in zip(which, rows, strict=True)}
        return as_batch([first[place] for place in range(len(first))], self.picture.side), which

    def asked(self, pixels: Pixels, which: Sequence[int], rows: Sequence[Any], model: Model) -> Batch:
        (pictures,) = self.picture.seen(pixels, model)
        tokens, keep = padded([np.asarray(row) for _, row in rows], pictures.device)
        return pictures, tokens, keep, torch.tensor(which, device=pictures.device)

    def count(self, batch: Batch) -> int:
        return len(batch[1])
