"""A trained translator: text in, text out. It needs no training data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from regard.config import from_dict
from regard.data.given import checked_texts, one_or_several, several
from regard.data.readable import Parts, readable
from regard.data.tokenizers import Tokenizer
from regard.decoding import Decoding, Hypothesis, translate
from regard.decoding.parallel import even
from regard.errors import DataError
from regard.fast import pack, quicken
from regard.look.alignment import Reading
from regard.look.subject import Subject
from regard.models import Ensemble, SourceWriter
from regard.models.padding import padded
from regard.results import Result
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool

BEAM = 4  # where nothing else is asked for
MESSAGE_CHARACTERS = 20  # letters by which a message names a text


@dataclass(frozen=True)
class Rendering(Result):
    """One translation of a text; `log_prob` and `score` as in `Hypothesis`.

    `parts` are the pieces of text that were translated one by one, with their translations: mostly one, the whole; none
    of a text in which there is nothing to read, whose translation is empty.
    """

    text: str
    score: float
    log_prob: float
    parts: tuple[tuple[str, str], ...]

    def line(self, scores: bool = False) -> str:
        """An empty line of the input stays one, of as many columns."""
        text = " ".join(self.text.splitlines())
        if not scores:
            return text
        return f"{self.score:.4f}\t{text}" if self.parts else "\t"


class Translator(Tool):
    """Translates with a model and its tokenizer: `translator("A sentence.", beam=5)`.

    `reading` is the layer that is recorded as its alignment. A text is translated line by line, and a line of more than
    `max_length` - 1 tokens in parts, sentence by sentence, never cut. An empty text stays empty.
    """

    def __init__(
        self, model: SourceWriter, tokenizer: Tokenizer, max_length: int, reading: Reading | None = None
    ) -> None:
        super().__init__(model, tokenizer)
        self.reading = reading
        self.longest = min(max_length, model.longest or max_length) - 1  # and the end

    def beside(self, others: Sequence[Translator]) -> Translator:
        """All of them as one, which writes each word by the mean of what they expect: runs of other seeds, say. Their
        alignments would be several, so it has none. Without others it stays itself."""
        if not others:
            return self
        if any(other.tokenizer != self.tokenizer for other in others):
            raise DataError("translators with different tokenizers cannot write together; train them on the same one")
        every = [self, *others]
        together = quicken(Ensemble([one.model for one in every]))
        return Translator(together, self.tokenizer, min(one.longest for one in every) + 1)

    @overload
    def __call__(self, texts: str, **options: Any) -> str: ...

    @overload
    def __call__(self, texts: Sequence[str], **options: Any) -> list[str]: ...

    def __call__(self, texts: str | Sequence[str], **options: Any) -> str | list[str]:
        """The best translation of a text, or of each; the options are the fields of `Decoding`."""
        search = self.search(**options)
        found = self.texts(one_or_several(texts), search)
        return found if several(texts) else found[0]

    def texts(self, texts: Iterable[str], options: Decoding, batch: int = 32, done: Done | None = None) -> list[str]:
        """The best translation of each text."""
        return [found[0].text for found in self.translate(texts, options, batch, done=done)]

    def translate(
        self,
        texts: Iterable[str],
        options: Decoding,
        batch: int = 32,
        say: Say | None = None,
        done: Done | None = None,
    ) -> list[list[Rendering]]:
        """The best translations of each text, in the order of the texts.

        `say` hears of texts that were split, `done` how many more are translated.
        """
        texts = checked_texts(texts)
        split = self.parts(texts)
        for text, whole in zip(texts, split, strict=True):
            self.check_parts(text, whole, options, say)
        rows = self.tokenizer.encode([part for whole in split for part in whole.texts])
        found = iter(self.hypotheses(rows, options, batch, done))
        return [self.renderings(whole, [next(found) for _ in whole.texts], options) for whole in split]

    def search(self, **options: Any) -> Decoding:
        """The search that these fields of `Decoding` ask for."""
        return chosen_search(**options)

    def parts(self, texts: Sequence[str]) -> list[Parts]:
        """What is read at once of each text."""
        return readable(self.tokenizer, texts, self.longest)

    def results(
        self,
        inputs: Sequence[str],
        batch: int | None = None,
        say: Say | None = None,
        done: Done | None = None,
        **options: Any,
    ) -> list[Rendering]:
        """The best of each text in turn, as many as are asked for; the options are the fields of `Decoding`."""
        found = self.translate(inputs, self.search(**options), batch or 32, say, done)
        return [one for best in found for one in best]

    def check_parts(self, text: str, whole: Parts, options: Decoding, say: Say | None) -> None:
        """What is translated in parts has one translation: the best of each part."""
        count = len(whole.texts)
        why = f"has more than the {self.longest} tokens that the model reads" if whole.cut else "has several lines"
        if count > 1 and options.nbest > 1:
            many = f"in parts it has no {options.nbest} best translations; ask for one"
            raise DataError(f"{text[:MESSAGE_CHARACTERS]!r}… {why}: {many}")
        if whole.cut and say is not None:
            say(f"{text[:MESSAGE_CHARACTERS]!r}… {why}: it is translated in {count} parts")

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
        self, rows: Sequence[Sequence[int]], options: Decoding, batch: int, done: Done | None = None
    ) -> list[list[Hypothesis]]:
        """Of source tokens, in their order; batches are made by length."""
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        batches = even(order, batch, self.device)

        def work(chosen: Sequence[int]) -> list[list[Hypothesis]]:
            source, keep = padded([np.array([*rows[i], self.tokenizer.end]) for i in chosen], self.device)
            return translate(self.model, source, keep, options, self.tokenizer.start, self.tokenizer.end)

        pack(self.model, len(rows) * max(options.beam, options.nbest))  # here, so that all processes share it
        return self.in_order(batches, work, done, alone=options.sample)  # draws have an order

    def subject(self) -> Subject:
        return Subject(self.model, self.tokenizer, self.reading, most=self.longest + 1)


def chosen_search(**options: Any) -> Decoding:
    """The search that these fields of `Decoding` ask for, with a beam unless it draws or another width is named."""
    return from_dict(Decoding, {"beam": 1 if options.get("sample") else BEAM, **options})
