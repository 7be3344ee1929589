"""Two texts that go in together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.given import checked_text, is_blank
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError
from regard.models.padding import padded
from regard.sides.base import Row, TextSide

FRAME = 4  # special tokens around two texts, at most

TextPair = tuple[str, str]
Tokens = tuple[Row, Row]


class TwoTexts(TextSide[TextPair]):
    """Of texts that have more than `longest` tokens together, the longer one is cut."""

    columns = 2
    names = ("text_a", "text_b")
    plural = "pairs"

    @staticmethod
    def of(example: Any) -> TextPair:
        return example.first, example.second

    @staticmethod
    def texts(value: TextPair) -> Sequence[str]:
        return value

    def parse(self, line: str, number: int) -> TextPair | None:
        """Both texts of a line, with a tab between them."""
        cells = [cell.strip() for cell in line.split("\t")]
        if not any(cells):
            return None
        if len(cells) < len(self.names):
            raise DataError(f"pair {number}: no tab between two texts")
        if not (cells[0] and cells[1]):
            raise DataError(f"pair {number}: one of the two texts is empty")
        return cells[0], cells[1]

    def check(self, values: Sequence[TextPair]) -> None:
        for number, pair in enumerate(values, 1):
            if check_pair(pair, number):
                raise DataError(f"pair {number}: both texts are empty: there is nothing to compare")

    def is_blank(self, value: TextPair, number: int) -> bool:
        return check_pair(value, number)

    def rows(self, values: Sequence[TextPair]) -> tuple[list[Tokens], int]:
        return pair_tokens(self.tokenizer, values, self.longest - FRAME)

    def size(self, lengths: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        return lengths[0] + lengths[1] + FRAME

    def padded(
        self, rows: Sequence[Tokens], segmented: bool, device: torch.device
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        both = [self.tokenizer.paired(first, second, segmented) for first, second in rows]
        tokens, keep = padded([ids for ids, _ in both], device)
        return tokens, keep, padded([marks for _, marks in both], device)[0] if segmented else None


def check_pair(pair: TextPair, number: int) -> bool:
    """Whether both texts are blank; that one of them is, or is no text, is an error."""
    blank = [
        is_blank(checked_text(text, f"the {which} text of pair {number}"))
        for which, text in zip(("first", "second"), pair, strict=True)
    ]
    if blank[0] != blank[1]:
        raise DataError(f"pair {number}: one of the two texts is empty")
    return blank[0]


def pair_tokens(tokenizer: Tokenizer, pairs: Sequence[TextPair], room: int) -> tuple[list[Tokens], int]:
    """The tokens of both texts, as far as they are read, and how many pairs were cut."""
    firsts, seconds = (tokenizer.encode([pair[side] for pair in pairs]) for side in (0, 1))
    cut = sum(len(one) + len(other) > room for one, other in zip(firsts, seconds, strict=True))
    return [cut_to(room, one, other) for one, other in zip(firsts, seconds, strict=True)], cut


def cut_to(room: int, one: list[int], other: list[int]) -> Tokens:
    """Both within so many tokens: the longer is cut until they are equal, then both."""
    if len(one) + len(other) <= room:
        return one, other
    half = room // 2
    first = max(half, room - len(other)) if len(one) > half else len(one)
    return one[:first], other[: room - first]
