"""A trained translator: text in, text out. It needs no training data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from regard.config import from_dict
from regard.data.batches import pad
from regard.data.files import DataError
from regard.data.tokenizers import PAD, Tokenizer
from regard.decoding import Decoding, Hypothesis, translate
from regard.decoding.parallel import even, side_by_side
from regard.look.alignment import Reading
from regard.look.capture import look
from regard.look.records import Look
from regard.look.subject import Subject
from regard.models import Ensemble, SourceWriter
from regard.nn.few import SEVERAL, pack
from regard.nn.watch import observed

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
BEAM = 4  # where nothing else is asked for
SHOWN = 20  # letters by which a message names a text


@dataclass(frozen=True)
class Rendering:
    """One translation of a text; `log_prob` and `score` as in `Hypothesis`.

    `parts` are the pieces of text that were translated one by one, with their translations: mostly one, the whole.
    """

    text: str
    score: float
    log_prob: float
    parts: tuple[tuple[str, str], ...]


class Translator:
    """Translates with a model and its tokenizer: `translator("A sentence.", beam=5)`.

    `reading` is the layer that is recorded as its alignment. A text of more than `max_length` - 1 tokens is translated
    in parts, sentence by sentence, never cut.
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
        return Translator(Ensemble([one.model for one in every]), self.tokenizer, min(one.longest for one in every) + 1)

    @overload
    def __call__(self, texts: str, **options: Any) -> str: ...

    @overload
    def __call__(self, texts: Sequence[str], **options: Any) -> list[str]: ...

    def __call__(self, texts: str | Sequence[str], **options: Any) -> str | list[str]:
        """The best translation of a text, or of each; the options are the fields of `Decoding`."""
        search = chosen_search(**options)
        return self.texts([texts], search)[0] if isinstance(texts, str) else self.texts(texts, search)

    def texts(
        self, texts: Sequence[str], options: Decoding, batch: int = 32, done: Callable[[int], None] | None = None
    ) -> list[str]:
        """The best translation of each text."""
        return [found[0].text for found in self.translate(texts, options, batch, done=done)]

    def translate(
        self,
        texts: Sequence[str],
        options: Decoding,
        batch: int = 32,
        say: Callable[[str], None] | None = None,
        done: Callable[[int], None] | None = None,
    ) -> list[list[Rendering]]:
        """The best translations of each text, in the order of the texts.

        `say` hears of texts that were split, `done` how many more are translated.
        """
        parts: list[str] = []
        places: list[slice] = []  # of each text among the parts
        for text, found in zip(texts, self.fitting(texts), strict=True):
            places.append(slice(len(parts), len(parts) + len(found)))
            parts += found
            if len(found) > 1:
                long = f"{text[:SHOWN]!r}… has more than the {self.longest} tokens that the model reads"
                if options.nbest > 1:
                    raise DataError(f"{long}: in parts it has no {options.nbest} best translations; ask for one")
                if say is not None:
                    say(f"{long}: it is translated in {len(found)} parts")
        hypotheses = self.hypotheses(self.tokenizer.encode(parts), options, batch, done)
        return [
            [self.rendering(parts[place], best, options) for best in zip(*hypotheses[place], strict=True)]
            for place in places
        ]

    def rendering(self, sources: Sequence[str], best: Sequence[Hypothesis], options: Decoding) -> Rendering:
        """A text that was translated whole, or in parts, with one hypothesis each."""
        targets = [self.tokenizer.decode(one.tokens) for one in best]
        log_prob, length = sum(one.log_prob for one in best), sum(len(one.tokens) + one.finished for one in best)
        score = log_prob / max(length, 1) ** options.length_penalty
        return Rendering(" ".join(targets), score, log_prob, tuple(zip(sources, targets, strict=True)))

    def hypotheses(
        self, rows: Sequence[Sequence[int]], options: Decoding, batch: int, done: Callable[[int], None] | None = None
    ) -> list[list[Hypothesis]]:
        """Of source tokens, in their order; batches are made by length."""
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        batches = even(order, batch, self.device)

        def work(chosen: Sequence[int]) -> list[list[Hypothesis]]:
            source, keep = padded([np.array([*rows[i], self.tokenizer.end]) for i in chosen], self.device)
            return translate(self.model, source, keep, options, self.tokenizer.start, self.tokenizer.end)

        if len(rows) * options.beam >= SEVERAL:
            pack(self.model)  # here, so that all processes share what is packed
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
        return look(Subject(self.model, self.tokenizer, self.reading), text, target, **options)

    def fitting(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Each text as the parts that the model can read."""
        for text, row in zip(texts, self.tokenizer.encode(list(texts)), strict=True):
            yield [text] if len(row) <= self.longest else list(self.parts(text)) or [""]

    def parts(self, text: str) -> Iterator[str]:
        """Sentences; what is still too long is halved, between words where it has several."""
        sentences = [part for part in SENTENCE_END.split(text) if part.strip()]
        for sentence in sentences:
            if len(self.tokenizer.encode([sentence])[0]) <= self.longest:
                yield sentence
            elif len(sentences) > 1:
                yield from self.parts(sentence)
            else:
                halves = halved(sentence)
                if not all(halves):
                    raise DataError(f"{sentence!r} has more than the {self.longest} tokens that the model reads")
                for half in halves:
                    yield from self.parts(half)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device


def chosen_search(**options: Any) -> Decoding:
    """The search that these fields of `Decoding` ask for, with a beam unless it draws or another width is named."""
    return from_dict(Decoding, {"beam": 1 if options.get("sample") else BEAM, **options})


def halved(text: str) -> tuple[str, str]:
    """Two halves, between words where white space parts some."""
    words = text.split()
    middle = len(words) // 2
    if middle:
        return " ".join(words[:middle]), " ".join(words[middle:])
    return text[: len(text) // 2], text[len(text) // 2 :]


def padded(rows: Sequence[np.ndarray[Any, Any]], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """(B, T) on the device and the mask of real tokens; no mask where all rows are of one length."""
    lengths = np.array([len(row) for row in rows])
    batch = torch.from_numpy(pad(rows, PAD)).to(device)
    if lengths.min() == lengths.max():
        return batch, None
    return batch, (torch.arange(batch.shape[1]) < torch.from_numpy(lengths)[:, None]).to(device)
