"""What a person uses of a trained run: a model with its tokenizer. It needs no training data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from regard.data.given import several
from regard.data.tokenizers import Tokenizer
from regard.decoding.parallel import side_by_side
from regard.look.capture import look
from regard.look.records import Look
from regard.look.subject import Subject
from regard.models import Model
from regard.nn.call.watch import observed
from regard.results import Result
from regard.tasks.base import Done, Say

R = TypeVar("R")


def logits_of(model: Model, tokens: Tensor, keep: Tensor | None, segments: Tensor | None) -> Tensor:
    """What a model that gives labels makes of a batch; only some are told of segments."""
    logits: Tensor = model(tokens, keep) if segments is None else model(tokens, keep, segments)
    return logits


class Tool:
    """A kind of tool says what its model makes of inputs (`results`), how an input is read from a line (`parse`), and
    what of it is looked at (`subject`)."""

    pictures = False  # whether an input is the file of a picture
    tokenizer: Any  # a Tokenizer; None where the model reads and writes no text

    def __init__(self, model: Any, tokenizer: Tokenizer | None) -> None:
        self.model, self.tokenizer = model, tokenizer

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.model.parameters()).device
        return device

    def parse(self, line: str, number: int) -> Any:
        """The input on a line of text, which is the `number`th."""
        return line

    def results(
        self, inputs: Sequence[Any], batch: int | None = None, say: Say | None = None, done: Done | None = None
    ) -> Sequence[Result]:
        """What comes out for each input, in their order; a blank input has a blank result. `say` hears of inputs that
        were cut or split, `done` how many more are done."""
        raise TypeError(f"{type(self).__name__} makes no results of lines")

    def __call__(self, *given: Any, **options: Any) -> Any:
        """What comes out for an input, or for each of several; a kind of tool that gives plain values says which."""
        (inputs,) = given
        found = self.results(list(inputs) if several(inputs) else [inputs], **options)
        return found if several(inputs) else found[0]

    def in_order(
        self,
        batches: Iterable[Sequence[int]],
        work: Callable[[Sequence[int]], Iterable[R]],
        done: Done | None = None,
        alone: bool = False,
    ) -> list[R]:
        """What `work` makes of the rows of all batches, in the order of their numbers: on all cores; in one process
        where `alone`, or where somebody watches the model."""
        every, results = list(batches), dict[int, R]()
        found = map(work, every) if alone or observed(self.model) else side_by_side(work, every, self.device)
        for chosen, some in zip(every, found, strict=True):
            results.update(zip(chosen, some, strict=True))
            if done is not None:
                done(len(chosen))
        return [results[number] for number in range(len(results))]

    def subject(self) -> Subject:
        """What of it is looked at."""
        return Subject(self.model, self.tokenizer)

    def look(self, *texts: str, **options: Any) -> Look:
        """See what the model attends to in a text, in two that it reads as one, or in a text and what it writes instead
        of its own; a notebook draws it.

        The options are those of `regard.look.look`.
        """
        subject, (first, *others) = self.subject(), texts
        if others:
            options["second" if subject.roles.two else "target"] = others[0]
        return look(subject, first, **options)
