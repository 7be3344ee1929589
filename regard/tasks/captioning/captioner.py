"""A trained captioner: pictures in, texts out. It needs no training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from regard.data.pictures.examples import Picture, as_picture
from regard.data.pictures.sizing import Fit
from regard.data.tokenizers import Tokenizer
from regard.decoding import Decoding, Hypothesis, write
from regard.decoding.parallel import even
from regard.fast import pack
from regard.look.subject import Subject
from regard.models import PictureWriter
from regard.nn.call.memory import Memory
from regard.results import Result
from regard.sides import OnePicture
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool
from regard.tasks.writing.translator import chosen_search

PICTURES_AT_ONCE = 32


@dataclass(frozen=True)
class Caption(Result):
    """A text about a `picture`, by its name; `log_prob` and `score` as in `Hypothesis`."""

    picture: str
    text: str
    score: float
    log_prob: float

    def line(self, scores: bool = False) -> str:
        return f"{self.score:.4f}\t{self.text}" if scores and self.picture else self.text


class Captioner(Tool):
    """Writes about pictures: `captioner("a.jpg", beam=3)`. They are brought to `side` pixels a side by `fit`; a text
    has fewer than `max_length` tokens unless told."""

    pictures = True

    def __init__(self, model: PictureWriter, tokenizer: Tokenizer, side: int, fit: Fit, max_length: int) -> None:
        super().__init__(model, tokenizer)
        self.source, self.max_length = OnePicture(side, fit), max_length

    def __call__(self, *given: Any, **options: Any) -> Any:
        """The best text about a picture, or about each of a list; the options are the fields of `Decoding`."""
        (pictures,) = given
        if not isinstance(pictures, list | tuple):
            return self.results([pictures], **options)[0].text
        count = options.get("nbest", 1)
        return [one.text for one in self.results(pictures, **options)[::count]]

    def results(
        self,
        inputs: Sequence[Any],
        batch: int | None = None,
        say: Say | None = None,
        done: Done | None = None,
        **options: Any,
    ) -> list[Caption]:
        """The best of each picture in turn, as many as are asked for; the options are the fields of `Decoding`."""
        search = self.search(**options)
        blank = [isinstance(value, str) and not value.strip() for value in inputs]
        pictures = [as_picture(value, i) for i, value in enumerate(inputs, 1) if not blank[i - 1]]
        found = iter(self.captions(pictures, search, batch or PICTURES_AT_ONCE, done))
        every = [[Caption("", "", 0.0, 0.0)] * search.nbest if empty else next(found) for empty in blank]
        return [one for best in every for one in best]

    def captions(
        self, pictures: Sequence[Picture], search: Decoding, batch: int = PICTURES_AT_ONCE, done: Done | None = None
    ) -> list[list[Caption]]:
        """The best texts about each picture."""

        def work(chosen: Sequence[int]) -> list[list[Caption]]:
            memory = self.remembered([pictures[i] for i in chosen])
            found = self.hypotheses(memory, search)
            return [self.named(pictures[i], best) for i, best in zip(chosen, found, strict=True)]

        pack(self.model, len(pictures) * max(search.beam, search.nbest))  # here, so that all processes share it
        batches = even(range(len(pictures)), batch, self.device)
        return self.in_order(batches, work, done, alone=search.sample)  # draws have an order

    def named(self, picture: Picture, best: Sequence[Hypothesis]) -> list[Caption]:
        return [Caption(picture.name, self.text(one), one.score, one.log_prob) for one in best]

    def text(self, hypothesis: Hypothesis) -> str:
        return " ".join(self.tokenizer.decode(hypothesis.tokens).split())

    @torch.inference_mode()
    def remembered(self, pictures: Sequence[Picture]) -> Memory:
        pixels = np.stack([self.source.read(picture) for picture in pictures])
        memory: Memory = self.model.encode(*self.source.seen(pixels, self.model))
        return memory

    def hypotheses(self, memory: Memory, search: Decoding) -> list[list[Hypothesis]]:
        most = search.max_length or self.max_length - 1
        return write(self.model, memory, search, self.tokenizer.start, self.tokenizer.end, most)

    def search(self, **options: Any) -> Decoding:
        """The search that these fields of `Decoding` ask for."""
        return chosen_search(**options)

    def subject(self) -> Subject:
        return Subject(
            self.model,
            self.tokenizer,
            most=self.max_length,
            pictures=lambda given: self.source.looked_at(given, self.model),
        )
