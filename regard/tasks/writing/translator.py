"""A trained translator: text in, text out. It needs no training data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from regard.config import from_dict
from regard.data.batches import pad
from regard.data.files import DataError
from regard.data.given import checked_texts, one_or_several, several
from regard.data.readable import Parts, readable
from regard.data.tokenizers import PAD, Tokenizer
from regard.decoding import Decoding, Hypothesis, translate
from regard.decoding.parallel import even, side_by_side
from regard.fast import pack, quicken
from regard.look.alignment import Reading
from regard.look.capture import look
from regard.look.records import Look
from regard.look.subject import Subject
from regard.models import Ensemble, SourceWriter
from regard.nn.watch import observed

BEAM = 4  # where nothing else is asked for
SHOWN = 20  # letters by which a message names a text


@dataclass(frozen=True)
class Rendering:
    """One translation of a text; `log_prob` and `score` as in `Hypothesis`.

    `parts` are the pieces of text that were translated one by one, with their translations: mostly one, the whole; none
    of a text in which there is nothing to read, whose translation is empty.
    """

    text: str
    score: float
    log_prob: float
    parts: tuple[tuple[str, str], ...]


class Translator:
    """Translates with a model and its tokenizer: `translator("A sentence.", beam=5)`.

    `reading` is the layer that is recorded as its alignment. A text is translated line by line, and a line of more than
    `max_length` - 1 tokens in parts, sentence by sentence, never cut. An empty text stays empty.
    """

    def __init__(
        self, model: SourceWriter, tokenizer: Tokenizer, max_length: int, reading: Reading | None = None
    ) -> None:
        self.model, self.tokenizer, self.reading = model, tokenizer, reading
        self.longest = min(max_length, model.longest or max_length) - 1  # and the end

    def beside(self, others: Sequence[Translator]) -> Translator:
        """All of them as one, which writes each word by the mean of what they expect: runs of other seeds, say. Their
        alignments would be several, so it has none."""
        if any(other.tokenizer != self.tokenizer for other in others):
            raise DataError("translators with different tokenizers cannot write together; train them on the same one")
        every = [self, *others]
        return Translator(
            quicken(Ensemble([one.model for one in every])), self.tokenizer, min(one.longest for one in every) + 1
        )

    @overload
    def __call__(self, texts: str, **options: Any) -> str: ...

    @overload
    def __call__(self, texts: Sequence[str], **options: Any) -> list[str]: ...

    def __call__(self, texts: str | Sequence[str], **options: Any) -> str | list[str]:
        """The best translation of a text, or of each; the options are the fields of `Decoding`."""
        search = chosen_search(**options)
        found = self.texts(one_or_several(texts), search)
        return found if several(texts) else found[0]

    def texts(
        self, texts: Iterable[str], options: Decoding, batch: int = 32, done: Callable[[int], None] | None = None
    ) -> list[str]:
        """The best translation of each text."""
        return [found[0].text for found in self.translate(texts, options, batch, done=done)]

    def translate(
        self,
        texts: Iterable[str],
        options: Decoding,
        batch: int = 32,
        say: Callable[[str], None] | None = None,
        done: Callable[[int], None] | None = None,
    ) -> list[list[Rendering]]:
        """The best translations of each text, in the order of the texts.

        `say` hears of texts that were split, `done` how many more are translated.
        """
        texts = checked_texts(texts)
        split = readable(self.tokenizer, texts, self.longest)
        for text, whole in zip(texts, split, strict=True):
            self.check_parts(text, whole, options, say)
        rows = self.tokenizer.encode([part for whole in split for part in whole.texts])
        found = iter(self.hypotheses(rows, options, batch, done))
        return [self.renderings(whole, [next(found) for _ in whole.texts], options) for whole in split]

    def check_parts(self, text: str, whole: Parts, options: Decoding, say: Callable[[str], None] | None) -> None:
        """What is translated in parts has one translation: the best of each part."""
        count = len(whole.texts)
        why = f"has more than the {self.longest} tokens that the model reads" if whole.cut else "has several lines"
        if count > 1 and options.nbest > 1:
            many = f"in parts it has no {options.nbest} best translations; ask for one"
            raise DataError(f"{text[:SHOWN]!r}… {why}: {many}")
        if whole.cut and say is not None:
            say(f"{text[:SHOWN]!r}… {why}: it is translated in {count} parts")

    def renderings(self, whole: Parts, found: Sequence[Sequence[Hypothesis]], options: Decoding) -> list[Rendering]:
        """The best translations of one text, by those of its parts."""
        if not found:
            return [Rendering("", 0.0, 0.0, ())] * options.nbest
        return [self.rendering(whole, best, options) for best in zip(*found, strict=True)]

    def rendering(self, whole: Parts, best: Sequence[Hypothesis], options: Decoding) -> Rendering:
        """A text of which each part has one hypothesis."""
        targets = [self.tokenizer.decode(one.tokens) for one in best]
        log_prob, length = sum(one.log_prob for one in best), sum(len(one.tokens) + one.finished for one in best)
        score = log_prob / max(length, 1) ** options.length_penalty
        return Rendering(whole.with_these(targets), score, log_prob, tuple(zip(whole.texts, targets, strict=True)))

    def hypotheses(
        self, rows: Sequence[Sequence[int]], options: Decoding, batch: int, done: Callable[[int], None] | None = None
    ) -> list[list[Hypothesis]]:
        """Of source tokens, in their order; batches are made by length."""
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        batches = even(order, batch, self.device)

        def work(chosen: Sequence[int]) -> list[list[Hypothesis]]:
            source, keep = padded([np.array([*rows[i], self.tokenizer.end]) for i in chosen], self.device)
            return translate(self.model, source, keep, options, self.tokenizer.start, self.tokenizer.end)

        pack(self.model, len(rows) * max(options.beam, options.nbest))  # here, so that all processes share it
        alone = options.sample or observed(self.model)  # what is drawn or watched has an order
        found = map(work, batches) if alone else side_by_side(work, batches, self.device)
        results: list[list[Hypothesis]] = [[] for _ in rows]
        for chosen, hypotheses in zip(batches, found, strict=True):
            for i, best in zip(chosen, hypotheses, strict=True):
                results[i] = best
            if done is not None:
                done(len(chosen))
        return results

    def look(self, text: str, target: str | None = None, **options: Any) -> Look:
        """See what the model attends to as it translates a text, or writes the given target; a notebook draws it.

        The options are those of `regard.look.look`.
        """
        subject = Subject(self.model, self.tokenizer, self.reading, most=self.longest + 1)
        return look(subject, text, target, **options)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device


def chosen_search(**options: Any) -> Decoding:
    """The search that these fields of `Decoding` ask for, with a beam unless it draws or another width is named."""
    return from_dict(Decoding, {"beam": 1 if options.get("sample") else BEAM, **options})


def padded(rows: Sequence[np.ndarray[Any, Any]], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """(B, T) on the device and the mask of real tokens; no mask where all rows are of one length."""
    lengths = np.array([len(row) for row in rows])
    batch = torch.from_numpy(pad(rows, PAD)).to(device)
    if lengths.min() == lengths.max():
        return batch, None
    return batch, (torch.arange(batch.shape[1]) < torch.from_numpy(lengths)[:, None]).to(device)
