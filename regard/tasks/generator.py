"""A trained language model: text in, more text out, or what it thinks of a text. It needs no training data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import ConfigError, from_dict
from regard.data.files import DataError
from regard.data.text import Document, Pieces
from regard.data.tokenizers import Tokenizer
from regard.decoding import Decoding, Hypothesis, complete
from regard.decoding.stream import Writing, Written
from regard.look.capture import look
from regard.look.records import Look
from regard.look.subject import Subject
from regard.models import TextWriter
from regard.tasks.continuations import Continuation, Piece, Sheet, gathered, pieces

TOKENS = 100  # that are written where nothing else is asked for
AT_ONCE = 1 << 14  # tokens that are scored together
PIECES = 64  # of a text that are tokenized together
ROWS = 512  # of which all log-probabilities are made at once
Long = Literal["slide", "refuse"]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Score:
    """What a text costs a model. `nats` are those of all tokens, `tokens` how many, `size` the bytes of the text."""

    nats: float
    tokens: int
    size: int

    @property
    def loss(self) -> float:
        """Nats a token."""
        return self.nats / max(self.tokens, 1)

    @property
    def perplexity(self) -> float:
        return math.exp(min(self.loss, 700.0))

    @property
    def bits_per_byte(self) -> float:
        """The same whatever the tokenizer, so that models compare."""
        return self.nats / math.log(2) / max(self.size, 1)

    def metrics(self) -> dict[str, float]:
        return {"bits_per_byte": self.bits_per_byte, "perplexity": self.perplexity, "loss": self.loss}


class Generator:
    """Writes with a language model and its tokenizer: `writer("Once", tokens=50, seed=1)`.

    It has at most `context` tokens in sight, as it was trained.
    """

    def __init__(self, model: TextWriter, tokenizer: Tokenizer, context: int) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.context = min(context, model.longest or context)

    def __call__(self, prompt: str = "", tokens: int = TOKENS, stop: Sequence[str] = (), **options: Any) -> str:
        """The prompt and at most so many tokens after it, up to a `stop` string; the options are those of `Decoding`.

        It draws, unless a `beam` or `sample=False` asks for the likeliest.
        """
        return prompt + self.continued([prompt], tokens, chosen_drawing(**options), stop)[0][0].text

    def continued(
        self,
        prompts: Sequence[str],
        tokens: int,
        options: Decoding,
        stop: Sequence[str] = (),
        long: Long = "slide",
        say: Say | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> list[list[Continuation]]:
        """What follows each prompt, `nbest` of each; all are written together, and each as if it were alone."""
        if options.beam > 1:
            return [self.best(prompt, tokens, options, stop, long, say) for prompt in prompts]
        count = options.nbest
        found = gathered(self.write(prompts, tokens, options, stop, long, say, stopped), len(prompts) * count)
        return [found[i : i + count] for i in range(0, len(found), count)]

    def stream(self, prompt: str, tokens: int, options: Decoding, stop: Sequence[str] = ()) -> Iterator[str]:
        """What follows a prompt, in pieces of whole characters as they are written."""
        return (piece.text for piece in self.write([prompt], tokens, options, stop) if piece.text)

    def write(
        self,
        prompts: Sequence[str],
        tokens: int,
        options: Decoding,
        stop: Sequence[str] = (),
        long: Long = "slide",
        say: Say | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> Iterator[Piece]:
        """What follows prompts as it is written, `nbest` texts of each, numbered in this order.

        `long` says what becomes of a prompt that is longer than the context, and `say` hears of it; `stopped` is asked
        before each token whether to end here.
        """
        rows = [self.read(prompt, long, say) for prompt in prompts]
        writing = Writing(self.model, rows, options, self.tokenizer.end, window=self.context)
        return pieces(writing, self.sheets(rows, options, stop, tokens), stopped)

    def sheets(self, rows: Sequence[Sequence[int]], options: Decoding, stop: Sequence[str], tokens: int) -> list[Sheet]:
        every = [row for row in rows for _ in range(options.nbest)]
        return [Sheet(number, self.tokenizer, row, stop, tokens) for number, row in enumerate(every)]

    def best(
        self,
        prompt: str,
        tokens: int,
        options: Decoding,
        stop: Sequence[str] = (),
        long: Long = "slide",
        say: Say | None = None,
    ) -> list[Continuation]:
        """The `nbest` likeliest continuations that fit into the context beside the prompt.

        Where the prompt leaves room for less than is asked for and than half of the context, it is cut to that.
        """
        read = self.read(prompt, long, say, room=min(tokens, max(self.context // 2, 1)) - 1)
        room = self.context + 1 - len(read)
        if room < tokens and say is not None:
            say(f"a beam writes {room} tokens after this prompt: more are not in sight of {self.context} at once")
        search = from_dict(Decoding, {**vars(options), "max_length": min(tokens, room)})
        found = complete(self.model, torch.tensor([read], device=self.device), None, search, self.tokenizer.end)[0]
        return [self.whole(read, one, stop) for one in found]

    def whole(self, read: Sequence[int], found: Hypothesis, stop: Sequence[str]) -> Continuation:
        """A hypothesis as it would have been read, had it been written token by token."""
        sheet, text = Sheet(0, self.tokenizer, read, stop, len(found.tokens)), Continuation()
        for one in self.known(read, found.tokens):
            if not sheet.over:
                text.add(sheet.add(one))
        if found.finished and text.reason != "stop":
            text.reason = "end"
        return text

    @torch.no_grad()
    def known(self, read: Sequence[int], tokens: Sequence[int]) -> list[Written]:
        """Tokens that follow others, with what the model gives to them."""
        if not tokens:
            return []
        seen = torch.tensor([[*read, *tokens[:-1]]], device=self.device)
        logs = self.model.head.log_probs(self.model.features(seen)[0, len(read) - 1 :])
        own = logs.gather(1, torch.tensor(tokens, device=self.device)[:, None]).squeeze(1).tolist()
        return [Written(token, log) for token, log in zip(tokens, own, strict=True)]

    def read(self, prompt: str, long: Long = "slide", say: Say | None = None, room: int = 0) -> list[int]:
        """The tokens of a prompt behind the start, where its tokenizer has one, and what else of the context is empty.

        Of a prompt that is too long the last tokens are in sight, or it is refused.
        """
        ids = self.tokenizer.encode([prompt])[0]
        before = [self.tokenizer.start] if self.tokenizer.opens or not ids else []
        most = max(self.context - room, 1) - len(before)
        if len(ids) > most:
            beside = f", with room for {room + 1} more" if room else ""
            sentence = f"the prompt has {len(ids):,} tokens and the model has {most:,} of it in sight{beside}"
            if long == "refuse":
                raise DataError(f"{sentence}: shorten it, or let it slide")
            if say is not None:
                say(f"{sentence}: it goes on from the last {most:,}")
        return [*before, *ids[max(len(ids) - most, 0) :]]

    def score(self, text: str | Iterable[Document]) -> Score:
        """What a text costs, or several; every token is scored once, with at least half of the context before it."""
        documents = [Document("the text", lambda: [text])] if isinstance(text, str) else text
        ids, size = encoded(self.tokenizer, documents)
        return measure(self.model, ids, size, self.context, self.tokenizer.start)

    def log_probs(self, text: str) -> list[tuple[str, float]]:
        """The tokens of a text with the log-probabilities that the model gives to them."""
        ids = np.array(self.tokenizer.encode([text])[0], dtype=np.int64)
        logs = token_log_probs(self.model, ids, self.context, self.tokenizer.start)
        return [(self.tokenizer.token(int(i)), float(log)) for i, log in zip(ids, logs, strict=True)]

    def look(self, text: str, **options: Any) -> Look:
        """See what the model attends to and expects as it reads a text; a notebook draws it.

        The options are those of `regard.look.look`.
        """
        return look(Subject(self.model, self.tokenizer), text, **options)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device


def chosen_drawing(**options: Any) -> Decoding:
    """The search that these fields of `Decoding` ask for: it draws unless a beam is named or `sample` is false; a
    temperature of 0 takes the likeliest."""
    options = dict(options)
    if options.get("temperature") == 0:
        if options.get("sample"):
            raise ConfigError("temperature 0 takes the likeliest token, so nothing is drawn: leave sample out")
        options = {"sample": False, **{key: value for key, value in options.items() if key != "temperature"}}
    return from_dict(Decoding, {"sample": options.get("beam", 1) == 1, **options})


# --- texts as one stream of tokens ------------------------------------------------------------------------------------


def token_rows(tokenizer: Tokenizer, documents: Iterable[Document]) -> Iterator[tuple[list[int], int]]:
    """The tokens of texts, piece by piece, and of how many bytes; between two texts stands the end, which has none."""
    stream = iter(Pieces(documents))
    while some := list(itertools.islice(stream, PIECES)):  # together, so that all cores cut them
        rows = iter(tokenizer.encode([piece for piece in some if piece is not None]))
        for piece in some:
            yield ([tokenizer.end], 0) if piece is None else (next(rows), len(piece.encode("utf-8")))


def encoded(tokenizer: Tokenizer, documents: Iterable[Document]) -> tuple[NDArray[np.int64], int]:
    """All tokens in one row, and how many bytes of text they are."""
    rows: list[NDArray[np.int64]] = []
    size = 0
    for row, count in token_rows(tokenizer, documents):
        rows.append(np.array(row, dtype=np.int64))
        size += count
    return (np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)), size


def unknown(tokenizer: Tokenizer, ids: NDArray[np.int64]) -> int:
    """How many of them stand for what the tokenizer does not know."""
    return 0 if tokenizer.unknown is None else int((ids == tokenizer.unknown).sum())


# --- scoring ----------------------------------------------------------------------------------------------------------


def shifted(windows: NDArray[Any], start: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """What is read and what is to be predicted (B, T): a window is read behind the start, but for its last token."""
    targets = torch.from_numpy(np.ascontiguousarray(windows, dtype=np.int64)).to(device)
    return torch.cat([targets.new_full((len(targets), 1), start), targets[:, :-1]], 1), targets


def sliding(ids: NDArray[np.int64], context: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Batches of windows (B, context) that move on by half of it, and which of their tokens are scored: each once, all
    but the first window's with half a context before it."""
    stride = max(context // 2, 1)
    count = 1 + max(math.ceil((len(ids) - context) / stride), 0)
    padded = np.concatenate([ids, np.zeros(count * stride + context - len(ids), dtype=np.int64)])
    rows = max(AT_ONCE // context, 1)
    for first in range(0, count, rows):
        starts = stride * np.arange(first, min(first + rows, count))
        places = starts[:, None] + np.arange(context)
        seen = np.where(starts == 0, 0, starts + context - stride)  # up to here the windows before have scored
        yield padded[places], (places >= seen[:, None]) & (places < len(ids))


@torch.no_grad()
def measure(
    model: TextWriter,
    ids: NDArray[np.int64],
    size: int,
    context: int,
    start: int,
    done: Callable[[int], None] | None = None,
) -> Score:
    """What a stream of tokens costs a model; `done` hears how many more are scored."""
    device, nats = next(model.parameters()).device, 0.0
    for windows, scored in sliding(ids, context) if len(ids) else ():
        read, targets = shifted(windows, start, device)
        chosen = torch.from_numpy(scored).to(device)
        nats += float(model.head.total_loss(model.features(read)[chosen], targets[chosen]))
        if done is not None:
            done(int(scored.sum()))
    return Score(nats, len(ids), size)


@torch.no_grad()
def token_log_probs(model: TextWriter, ids: NDArray[np.int64], context: int, start: int) -> NDArray[np.float64]:
    """Of each token of a stream."""
    device = next(model.parameters()).device
    found: list[NDArray[np.float64]] = []
    for windows, scored in sliding(ids, context) if len(ids) else ():
        read, targets = shifted(windows, start, device)
        chosen = torch.from_numpy(scored).to(device)
        hidden, wanted = model.features(read)[chosen], targets[chosen].unsqueeze(-1)
        for some, own in zip(torch.split(hidden, ROWS), torch.split(wanted, ROWS), strict=True):
            found.append(model.head.log_probs(some).gather(-1, own).squeeze(-1).double().cpu().numpy())
    return np.concatenate(found) if found else np.zeros(0)
