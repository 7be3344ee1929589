"""One text that goes in, read sentence by sentence or framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.given import checked_texts, is_blank, refuse_blank
from regard.data.sentences import fitting, sentence_tokens
from regard.data.tokenizers import Tokenizer
from regard.models.padding import padded
from regard.sides.base import Row, TextSide

FRAME = 2  # the start and the end around a text


class OneText(TextSide[str]):
    """A text of more than `longest` tokens is read up to its last sentence that ends before. A `framed` one stands
    between the tokenizer's start and end, as encoders read it, and is read up to the last token that fits."""

    names = ("text",)
    plural = "texts"

    def __init__(self, tokenizer: Tokenizer, longest: int, framed: bool = False) -> None:
        super().__init__(tokenizer, longest)
        self.framed = framed

    @staticmethod
    def of(example: Any) -> str:
        return str(example.text)

    @staticmethod
    def texts(value: str) -> Sequence[str]:
        return (value,)

    def parse(self, line: str, number: int) -> str | None:
        return line or None

    def check(self, values: Sequence[str]) -> None:
        refuse_blank(checked_texts(values), "so it has no label: take it out or give it words")

    def is_blank(self, value: str, number: int) -> bool:
        return is_blank(value)

    def rows(self, values: Sequence[str]) -> tuple[list[Row], int]:
        if self.framed:
            return framed_rows(self.tokenizer, values, self.longest)
        found = [fitting(sentences, self.longest) for sentences in sentence_tokens(self.tokenizer, values)]
        return [row for row, _ in found], sum(not whole for _, whole in found)

    def size(self, lengths: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        return lengths[0]

    def padded(
        self, rows: Sequence[Row], segmented: bool, device: torch.device
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """A start that closes texts is a segment of its own, as XLNet has it."""
        tokens, keep = padded([np.asarray(row) for row in rows], device)
        segments = tokens.eq(self.tokenizer.start) * 2 if segmented and self.tokenizer.closes else None
        return tokens, keep, segments


def framed_rows(tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> tuple[list[Row], int]:
    """The tokens of each text with start and end, as far as they are read, and how many texts were cut."""
    rows = tokenizer.encode(texts)
    cut = sum(len(row) + FRAME > longest for row in rows)
    before, behind = tokenizer.around
    return [[*before, *row[: longest - FRAME], *behind] for row in rows], cut
