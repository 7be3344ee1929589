"""A trained judge of pairs: two texts in, a label or a score out. It needs no training data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.checkpoint import Scale
from regard.data.files import DataError
from regard.data.given import checked_text, is_blank
from regard.data.tokenizers import Tokenizer
from regard.decoding.parallel import side_by_side
from regard.look.capture import look
from regard.look.records import Look
from regard.look.subject import Subject
from regard.models import TextLabeller, encoder_in
from regard.nn.watch import observed
from regard.tasks.pretraining.passages import joined
from regard.tasks.vectors.embedding import by_tokens
from regard.tasks.writing.translator import padded

FRAME = 4  # special tokens around two texts, at most

TextPair = tuple[str, str]
Tokens = tuple[Sequence[int], Sequence[int]]


class PairJudge:
    """Judges with a model and its tokenizer: `judge("A text.", "Another.")` is a label, or a score where it learnt
    scores.

    Of texts that are too long together, the longer one is cut.
    """

    def __init__(
        self,
        model: TextLabeller,
        tokenizer: Tokenizer,
        labels: Sequence[str],
        max_length: int,
        scale: Scale | None = None,
    ) -> None:
        self.model, self.tokenizer, self.labels, self.scale = model, tokenizer, tuple(labels), scale
        self.longest = min(max_length, model.longest or max_length)

    def __call__(self, first: str, second: str) -> str | float:
        """Its label or score; of two empty texts an empty label, or a score that is no number."""
        check_pairs([(first, second)])
        if is_blank(first) and is_blank(second):
            return "" if self.scale is None else math.nan
        verdict = self.judge([(first, second)])[0]
        return float(verdict[0]) if self.scale is not None else self.labels[int(verdict.argmax())]

    def judge(
        self,
        pairs: Sequence[TextPair],
        batch: int = 64,
        say: Callable[[str], None] | None = None,
        done: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """(pairs, labels): probabilities; or (pairs, 1): scores. `say` hears of texts that were cut."""
        check_pairs(pairs)
        for number, pair in enumerate(pairs, 1):
            if all(map(is_blank, pair)):
                raise DataError(f"pair {number}: both texts are empty: there is nothing to compare")
        rows, cut = pair_tokens(self.tokenizer, pairs, self.longest - FRAME)
        if cut and say is not None:
            say(f"{cut:,} of {len(pairs):,} pairs have more than {self.longest:,} tokens and were cut")
        return self.judge_tokens(rows, batch, done)

    def look(self, first: str, second: str, **options: Any) -> Look:
        """See what the model attends to in a pair, and what it takes it for; a notebook draws it.

        The options are those of `regard.look.look`.
        """
        subject = Subject(
            self.model, self.tokenizer, labels=self.labels, most=self.longest, scale=self.scale, task="pair"
        )
        return look(subject, first, second=second, **options)

    def judge_tokens(
        self, rows: Sequence[Tokens], batch: int = 64, done: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Of tokens, in their order; batches are made by length."""
        batches = list(by_tokens([[*first, *second] for first, second in rows], batch))

        def work(chosen: Sequence[int]) -> NDArray[np.float32]:
            with torch.no_grad():
                logits = read_pairs(self.model, self.tokenizer, [rows[i] for i in chosen]).float()
            found = logits if self.scale is not None else logits.softmax(-1)
            return np.asarray(found.cpu().numpy(), dtype=np.float32)

        device = next(self.model.parameters()).device
        found = map(work, batches) if observed(self.model) else side_by_side(work, batches, device)
        result = np.zeros((len(rows), len(self.labels)), dtype=np.float32)
        for chosen, verdicts in zip(batches, found, strict=True):
            result[chosen] = verdicts
            if done is not None:
                done(len(chosen))
        return result if self.scale is None else self.scale.outside(result)


def check_pairs(pairs: Sequence[TextPair]) -> None:
    """Both are texts, and there is something to read in both or in neither."""
    for number, (first, second) in enumerate(pairs, 1):
        checked_text(first, f"the first text of pair {number}")
        checked_text(second, f"the second text of pair {number}")
        if is_blank(first) != is_blank(second):
            raise DataError(f"pair {number}: one of the two texts is empty")


def pair_tokens(tokenizer: Tokenizer, pairs: Sequence[TextPair], room: int) -> tuple[list[Tokens], int]:
    """The tokens of both texts, as far as they are read, and how many pairs were cut."""
    firsts, seconds = (tokenizer.encode([pair[side] for pair in pairs]) for side in (0, 1))
    cut = sum(len(one) + len(other) > room for one, other in zip(firsts, seconds, strict=True))
    return [shortened(one, other, room) for one, other in zip(firsts, seconds, strict=True)], cut


def shortened(one: list[int], other: list[int], room: int) -> Tokens:
    """Both within so many tokens: the longer is cut until they are equal, then both."""
    if len(one) + len(other) <= room:
        return one, other
    half = room // 2
    first = max(half, room - len(other)) if len(one) > half else len(one)
    return one[:first], other[: room - first]


def read_pairs(model: TextLabeller, tokenizer: Tokenizer, rows: Sequence[Tokens]) -> Tensor:
    """(B, labels): what a model gives for pairs."""
    logits: Tensor = model(*joined_pairs(model, tokenizer, rows))
    return logits


def joined_pairs(
    model: TextLabeller, tokenizer: Tokenizer, rows: Sequence[Tokens]
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Pairs as a model reads them: the tokens, which of them are real, and the segments where its reader tells them."""
    encoder, device = encoder_in(model), next(model.parameters()).device
    segmented = encoder is not None and encoder.segmented
    both = [joined(tokenizer, first, second, segmented) for first, second in rows]
    tokens, keep = padded([ids for ids, _ in both], device)
    return tokens, keep, padded([marks for _, marks in both], device)[0] if segmented else None
