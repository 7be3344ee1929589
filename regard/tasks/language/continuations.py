"""What follows a prompt, as a person reads it: letters as they come, the tokens they are of, and why it ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from regard.data.tokenizers import Tokenizer
from regard.decoding.spelling import Spelling, Stops
from regard.decoding.stream import Written
from regard.results import Result

Reason = Literal["end", "stop", "length", "full", "interrupted"]


class Steps(Protocol):
    """Texts that are written token by token, as `regard.decoding.stream.Writing` does."""

    def step(self) -> list[tuple[int, Written]]: ...

    def leave(self, over: Collection[int]) -> None: ...


@dataclass(frozen=True)
class Piece:
    """What is new of one of several texts, by its number; the last piece of a text has the reason why it ended.

    "end": by itself; "stop": before a stop string; "length": it has as many tokens as were asked for; "full": the model
    reads no more; "interrupted".
    """

    row: int
    text: str
    tokens: tuple[Written, ...]
    reason: Reason | None = None


@dataclass
class Continuation(Result):
    """What was written after a prompt: its text, its tokens but for the end, and why it ended."""

    text: str = ""
    tokens: list[Written] = field(default_factory=list)
    reason: Reason = "length"

    @property
    def log_prob(self) -> float:
        return sum(one.log_prob for one in self.tokens)

    def line(self, scores: bool = False) -> str:
        text = " ".join(self.text.splitlines())
        return f"{self.log_prob:.4f}\t{text}" if scores else text

    def record(self) -> dict[str, Any]:
        return {"text": self.text, "reason": self.reason, "log_prob": self.log_prob}

    def add(self, piece: Piece) -> None:
        self.text += piece.text
        self.tokens += piece.tokens
        self.reason = piece.reason or self.reason


class Sheet:
    """One text on its way. A token is handed out with the first letter of its text, or at the end."""

    def __init__(self, row: int, tokenizer: Tokenizer, prompt: Sequence[int], stop: Sequence[str], most: int) -> None:
        self.row, self.end, self.most = row, tokenizer.end, most
        self.spelling, self.stops = Spelling(tokenizer, prompt), Stops(stop)
        self.count = self.spelt = self.given = 0  # tokens; letters that are spelt, and of them handed out
        self.waiting: list[tuple[int, Written]] = []  # and where their letters begin
        self.over = False

    def add(self, one: Written) -> Piece:
        if one.token == self.end:
            return self.finish("end")
        self.waiting.append((self.spelt, one))
        self.count += 1
        text = self.spelling.add(one.token)
        self.spelt += len(text)
        shown = self.stops.add(text)
        if self.stops.met:
            return self.last(shown, "stop")
        return self.last(shown + self.rest(), "length") if self.count == self.most else self.piece(shown)

    def finish(self, reason: Reason) -> Piece:
        """With what was held back."""
        return self.last(self.rest(), reason)

    def rest(self) -> str:
        return self.stops.add(self.spelling.rest()) + self.stops.rest()

    def last(self, text: str, reason: Reason) -> Piece:
        self.over = True
        whole = self.given + len(text)
        begun = [one for begin, one in self.waiting if begin < whole or reason != "stop"]
        return Piece(self.row, text, tuple(begun), reason)

    def piece(self, text: str) -> Piece:
        self.given += len(text)
        begun = [one for begin, one in self.waiting if begin < self.given]
        self.waiting = self.waiting[len(begun) :]
        return Piece(self.row, text, tuple(begun))


def pieces(source: Steps, sheets: Sequence[Sheet], stopped: Callable[[], bool] | None = None) -> Iterator[Piece]:
    """All that is written, as it comes; `stopped` is asked before each token whether to end here."""
    while not all(sheet.over for sheet in sheets):
        interrupted = stopped is not None and stopped()
        found = [] if interrupted else source.step()
        if not found:
            yield from (sheet.finish("interrupted" if interrupted else "full") for sheet in sheets if not sheet.over)
            return
        for row, one in found:
            if not sheets[row].over:
                piece = sheets[row].add(one)
                if piece.text or piece.tokens or piece.reason:
                    yield piece
        source.leave({row for row, _ in found if sheets[row].over})


def gathered(found: Iterable[Piece], count: int) -> list[Continuation]:
    """Of so many texts, each whole."""
    texts = [Continuation() for _ in range(count)]
    for piece in found:
        texts[piece.row].add(piece)
    return texts
