"""What a text costs a language model: every token once, each with some of the text before it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import ConfigError
from regard.data.documents import Document
from regard.data.store_files import id_type
from regard.data.text import Pieces
from regard.data.tokenizers import Tokenizer
from regard.decoding.stream import Written
from regard.models import DecoderModel, TextWriter
from regard.nn.call.masks import Mask
from regard.results import Scores

TOKENS_AT_ONCE = 1 << 14  # tokens that are scored together
PIECES_AT_ONCE = 64  # of a text that are tokenized together
ROWS_AT_ONCE = 512  # of which all log-probabilities are made at once


@dataclass(frozen=True)
class TextScore(Scores):
    """What a text costs a model that reads it in windows of `context` tokens, which move on by a `stride`. `nats` are
    those of all tokens, `tokens` how many, of which some are `unknown`, `size` the bytes of the text, and `words` how
    many white space parts; 0 where nobody counted."""

    nats: float
    tokens: int
    size: int
    context: int
    stride: int
    words: int = 0
    unknown: int = 0

    @property
    def loss(self) -> float:
        """Nats a token."""
        return self.nats / max(self.tokens, 1)

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))

    @property
    def word_perplexity(self) -> float:
        """All that the text costs, shared out over its words: the same whatever the tokenizer, as in the papers."""
        return math.exp(min(self.nats / max(self.words, 1), 700.0))

    @property
    def bits_per_byte(self) -> float:
        """The same whatever the tokenizer, so that models compare."""
        return self.nats / math.log(2) / max(self.size, 1)

    def metrics(self) -> dict[str, float]:
        found = {"bits_per_byte": self.bits_per_byte, "perplexity": self.perplexity, "loss": self.loss}
        return {**found, "word_perplexity": self.word_perplexity} if self.words else found

    @property
    def signature(self) -> str:
        """The exact way in which the figures were computed."""
        before = f"with at least {self.context - self.stride} before it where there are"
        words = "words by white space, bytes of UTF-8"
        return f"context {self.context}, stride {self.stride}: every token once, {before}; {words}"

    def record(self) -> dict[str, Any]:
        return {
            "scores": {name: {"score": value, "signature": self.signature} for name, value in self.metrics().items()},
            "context": self.context,
            "stride": self.stride,
            "tokens": self.tokens,
            "unknown tokens": self.unknown,
            "bytes": self.size,
            "words": self.words,
        }

    def table(self) -> str:
        lines = [f"{name.replace('_', ' '):<16}{value:.4f}" for name, value in self.metrics().items()]
        sizes = f"{self.tokens:,} tokens, {self.words:,} words, {self.size:,} bytes"
        lines += [f"({self.signature})", sizes]
        if self.unknown:
            lines.append(f"{self.unknown:,} tokens are unknown: bits per byte do not say what they cost")
        return "\n".join(lines)


# --- texts as one stream of tokens ------------------------------------------------------------------------------------


def token_rows(tokenizer: Tokenizer, documents: Iterable[Document]) -> Iterator[tuple[list[int], int]]:
    """The tokens of texts, piece by piece, and of how many bytes; between two texts stands the end, which has none."""
    stream = iter(Pieces(documents))
    while some := list(itertools.islice(stream, PIECES_AT_ONCE)):  # together, so that all cores cut them
        rows = iter(tokenizer.encode([piece for piece in some if piece is not None]))
        for piece in some:
            yield ([tokenizer.end], 0) if piece is None else (next(rows), len(piece.encode("utf-8")))


def encoded(tokenizer: Tokenizer, documents: Iterable[Document]) -> tuple[NDArray[Any], int]:
    """All tokens in one row, as small as the vocabulary allows, and how many bytes of text they are."""
    kind, size = id_type(tokenizer.vocabulary), 0
    rows = [np.zeros(0, dtype=kind)]
    for row, count in token_rows(tokenizer, documents):
        rows.append(np.array(row, dtype=kind))
        size += count
    return np.concatenate(rows), size


def words_in(documents: Iterable[Document]) -> int:
    """How many words texts have, as white space parts them."""
    return sum(len(piece.split()) for piece in Pieces(documents) if piece is not None)


def unknown(tokenizer: Tokenizer, ids: NDArray[Any]) -> int:
    """How many of them stand for what the tokenizer does not know."""
    return 0 if tokenizer.unknown is None else int((ids == tokenizer.unknown).sum())


# --- scoring ----------------------------------------------------------------------------------------------------------


def shifted(windows: NDArray[Any], start: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """What is read and what is to be predicted (B, T): a window is read behind the start, but for its last token."""
    targets = torch.from_numpy(np.ascontiguousarray(windows, dtype=np.int64)).to(device)
    return torch.cat([targets.new_full((len(targets), 1), start), targets[:, :-1]], 1), targets


def reading(model: TextWriter, read: Tensor, targets: Tensor, start: int, end: int) -> Tensor:
    """The hidden states (B, T, D) of windows (B, T): where they hold several texts, a Transformer reads each as if it
    stood alone, in training as in validation."""
    mask = kept_apart(read, targets, start, end)
    if mask is None or not isinstance(model, DecoderModel):
        return model.features(read)
    return model.features(read, mask=mask)


def kept_apart(read: Tensor, targets: Tensor, start: int, end: int) -> Mask | None:
    """Where windows hold several texts: each is read behind the start (put into `read`), as it would be alone, and sees
    nothing of the others. None where no text ends inside of a window."""
    begins = torch.zeros_like(read, dtype=torch.bool)
    begins[:, 1:] = targets[:, :-1] == end
    if not bool(begins.any()):
        return None
    read[begins] = start
    return Mask(documents=begins.long().cumsum(-1))


def sliding(
    ids: NDArray[Any], context: int, stride: int | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Batches of windows (B, context) that move on by a `stride`, half of it by default, and which of their tokens are
    scored: each once, all but the first window's with context - stride tokens before it."""
    stride = chosen_stride(context, stride)
    count = 1 + max(math.ceil((len(ids) - context) / stride), 0)
    rows = max(TOKENS_AT_ONCE // context, 1)
    for first in range(0, count, rows):
        starts = stride * np.arange(first, min(first + rows, count))
        places = starts[:, None] + np.arange(context)
        seen = np.where(starts == 0, 0, starts + context - stride)  # up to here the windows before have scored
        inside = places < len(ids)
        windows = np.where(inside, ids[np.minimum(places, len(ids) - 1)], 0).astype(np.int64)
        yield windows, inside & (places >= seen[:, None])


def chosen_stride(context: int, stride: int | None) -> int:
    if stride is not None and not 1 <= stride <= context:
        raise ConfigError(f"a stride of {stride} is not allowed: windows of {context} tokens move on by 1 to {context}")
    return stride or max(context // 2, 1)


@torch.no_grad()
def measure(
    model: TextWriter,
    ids: NDArray[Any],
    size: int,
    context: int,
    start: int,
    end: int,
    done: Callable[[int], None] | None = None,
    stride: int | None = None,
    words: int = 0,
) -> TextScore:
    """What a stream of tokens, of so many bytes and words, costs a model; `done` hears how many more are scored.

    Texts in it, each with its `end`, are read apart.
    """
    device, nats = next(model.parameters()).device, 0.0
    for windows, scored in sliding(ids, context, stride) if len(ids) else ():
        read, targets = shifted(windows, start, device)
        chosen = torch.from_numpy(scored).to(device)
        states = reading(model, read, targets, start, end)
        nats += float(model.head.total_loss(states[chosen], targets[chosen]))
        if done is not None:
            done(int(scored.sum()))
    return TextScore(nats, len(ids), size, context, chosen_stride(context, stride), words)


@torch.no_grad()
def as_written(
    model: TextWriter, ids: NDArray[np.int64], context: int, start: int, likeliest: int = 0
) -> list[Written]:
    """The tokens of a stream as if the model had written them: what it gives to each, and to so many likeliest ones."""
    device = next(model.parameters()).device
    found: list[Written] = []
    for windows, scored in sliding(ids, context) if len(ids) else ():
        read, targets = shifted(windows, start, device)
        chosen = torch.from_numpy(scored).to(device)
        hidden, wanted = model.features(read)[chosen], targets[chosen].unsqueeze(-1)
        for some, own in zip(torch.split(hidden, ROWS_AT_ONCE), torch.split(wanted, ROWS_AT_ONCE), strict=True):
            logs = model.head.log_probs(some)
            best = logs.topk(min(likeliest, logs.shape[-1]))
            for row, place in enumerate(own.squeeze(-1).tolist()):
                others = tuple(zip(best.indices[row].tolist(), best.values[row].tolist(), strict=True))
                found.append(Written(place, float(logs[row, place]), others))
    return found
