"""A trained classifier: text in, label out. It needs no training data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import nearest
from regard.data.files import DataError
from regard.data.given import checked_texts, is_blank, one_or_several, refuse_blank, several
from regard.data.labelled import Labelled
from regard.data.sentences import fitting, sentence_tokens
from regard.data.tokenizers import Tokenizer
from regard.decoding.parallel import side_by_side
from regard.look.capture import look
from regard.look.records import Look
from regard.look.subject import Subject
from regard.models import TextLabeller
from regard.models.encoder import own_segments
from regard.nn.watch import observed
from regard.tasks.vectors.embedding import framed_rows
from regard.tasks.writing.translator import padded

NAMED = 10  # labels that a message names
BATCH_TOKENS = 8192  # that are read at once, padding included
MANY = 100  # labels: as many as there are texts, they are no classes


class TextClassifier:
    """Classifies with a model and its tokenizer: `classifier("A text.")` is the name of its class.

    A text of more than `max_length` tokens is read up to its last sentence that ends before, as in training; a `framed`
    one, between start and end, up to the last token that fits.
    """

    def __init__(
        self, model: TextLabeller, tokenizer: Tokenizer, labels: Sequence[str], max_length: int, framed: bool = False
    ) -> None:
        self.model, self.tokenizer, self.labels, self.framed = model, tokenizer, tuple(labels), framed
        self.longest = min(max_length, model.longest or max_length)

    @overload
    def __call__(self, texts: str) -> str: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, texts: Sequence[str]) -> list[str]: ...

    def __call__(self, texts: str | Sequence[str]) -> str | list[str]:
        """The likeliest label of a text, or of each; an empty text has none, and gets an empty one."""
        found = [next(iter(scores), "") for scores in self.each(one_or_several(texts))]
        return found if several(texts) else found[0]

    @overload
    def scores(self, texts: str) -> dict[str, float]: ...  # type: ignore[overload-overlap]

    @overload
    def scores(self, texts: Sequence[str]) -> list[dict[str, float]]: ...

    def scores(self, texts: str | Sequence[str]) -> dict[str, float] | list[dict[str, float]]:
        """The probability of each label, from the likeliest on; none of an empty text."""
        found = self.each(one_or_several(texts))
        return found if several(texts) else found[0]

    def each(
        self,
        texts: Sequence[str],
        batch: int = 64,
        say: Callable[[str], None] | None = None,
        done: Callable[[int], None] | None = None,
    ) -> list[dict[str, float]]:
        """The labels of each text with their probabilities, as `scores`; `say` and `done` as in `probabilities`."""
        found = iter(self.probabilities([text for text in texts if not is_blank(text)], batch, say, done))
        return [{} if is_blank(text) else ranked(self.labels, next(found)) for text in texts]

    def probabilities(
        self,
        texts: Sequence[str],
        batch: int = 64,
        say: Callable[[str], None] | None = None,
        done: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """(texts, labels). `say` hears of texts that were cut, `done` how many more are classified."""
        texts = checked_texts(texts)
        refuse_blank(texts, "so it has no label: take it out or give it words")
        rows, cut = self.rows(texts)
        if cut and say is not None:
            say(f"{cut:,} of {len(texts):,} texts have more than {self.longest:,} tokens and were read up to there")
        return self.judge(rows, batch, done)

    def rows(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """The tokens of each text, as far as they are read, and how many texts were cut."""
        return read_rows(self.tokenizer, texts, self.longest, self.framed)

    @torch.no_grad()
    def judge(
        self, rows: Sequence[Sequence[int]], batch: int = 64, done: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """(rows, labels): probabilities of tokens, in their order; batches are made by length."""
        batches = list(by_length(rows, batch))

        def work(chosen: Sequence[int]) -> NDArray[np.float32]:
            tokens, keep = padded([np.array(rows[i]) for i in chosen], self.device)
            with torch.no_grad():
                logits: Tensor = judged(self.model, self.tokenizer, tokens, keep)
            return np.asarray(logits.float().softmax(-1).cpu().numpy(), dtype=np.float32)

        found = map(work, batches) if observed(self.model) else side_by_side(work, batches, self.device)
        result = np.zeros((len(rows), len(self.labels)), dtype=np.float32)
        for chosen, probabilities in zip(batches, found, strict=True):
            result[chosen] = probabilities
            if done is not None:
                done(len(chosen))
        return result

    def look(self, text: str, **options: Any) -> Look:
        """See which sentences and words the model attends to; a notebook draws it.

        The options are those of `regard.look.look`.
        """
        subject = Subject(self.model, self.tokenizer, labels=self.labels, most=self.longest, whole=self.framed)
        return look(subject, text, **options)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device


def judged(model: TextLabeller, tokenizer: Tokenizer, tokens: Tensor, keep: Tensor | None) -> Tensor:
    """(B, labels): the logits of texts, with segments where the reader has them for a single text."""
    segments = own_segments(model, tokenizer, tokens)
    logits: Tensor = model(tokens, keep) if segments is None else model(tokens, keep, segments)
    return logits


def read_rows(tokenizer: Tokenizer, texts: Sequence[str], longest: int, framed: bool) -> tuple[list[list[int]], int]:
    """The tokens of each text, as far as they are read, and how many texts were cut."""
    if framed:
        return framed_rows(tokenizer, texts, longest)
    found = [fitting(sentences, longest) for sentences in sentence_tokens(tokenizer, texts)]
    return [row for row, _ in found], sum(not whole for _, whole in found)


def by_length(rows: Sequence[Sequence[int]], most: int) -> Iterable[list[int]]:
    """The numbers of rows of similar length: at most so many, and no more tokens than are read at once."""
    batch: list[int] = []
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i])):
        if batch and (len(batch) == most or len(rows[i]) * (len(batch) + 1) > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def ranked(labels: Sequence[str], probabilities: NDArray[np.float32]) -> dict[str, float]:
    """Labels and probabilities, from the likeliest on."""
    return {labels[i]: float(probabilities[i]) for i in np.argsort(-probabilities, kind="stable")}


# --- the names of labels ----------------------------------------------------------------------------------------------


def find_labels(examples: Iterable[Labelled]) -> set[str]:
    """Those of a training set; one alone cannot be told from another."""
    found = Counter(example.label for example in examples)
    if len(found) < 2:
        only = f"all training texts have the label {next(iter(found))!r}" if found else "there are no training texts"
        raise DataError(f"{only}; a classifier takes at least two labels")
    if len(found) > MANY and 2 * len(found) > found.total():
        some = next(iter(found))[:40]
        raise DataError(
            f"{found.total():,} training texts have {len(found):,} labels, such as {some!r}: is the label another "
            "column? (--columns)"
        )
    return set(found)


def numbers_of(examples: Sequence[Labelled], labels: Sequence[str], which: str) -> list[int]:
    """The number of each example's label; one that is not known is named."""
    known = {label: i for i, label in enumerate(labels)}
    for example in examples:
        if example.label not in known:
            some = f"{', '.join(labels[:NAMED])}{', …' if len(labels) > NAMED else ''}"
            close = nearest(example.label, labels) if len(labels) <= NAMED else f"(known: {some})"
            place = f"{example.where}: " if example.where else ""
            raise DataError(
                f"{place}the {which} text {example.text[:40]!r} has the label {example.label!r}, "
                f"which no training text has: {close}"
            )
    return [known[example.label] for example in examples]
