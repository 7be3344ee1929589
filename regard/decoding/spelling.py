"""From tokens to text as they come: whole characters, and nothing that may yet become a stop string."""

from __future__ import annotations

from collections.abc import Sequence

from regard.config import ConfigError
from regard.data.tokenizers import Tokenizer

BAD = "\ufffd"  # of bytes that are no whole character yet
UNFINISHED = 3  # bytes of a character that may still be whole
BEFORE = 8  # tokens of the prompt that say how the first one is spelt: whether a space stands before it


class Spelling:
    """The text of tokens that follow a prompt, in pieces of whole characters.

    How a token is spelt may depend on those before it, so that some of them are always spelt again; `given` is how much
    of their text was handed out.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int] = ()) -> None:
        self.tokenizer, self.ids = tokenizer, list(prompt[-BEFORE:])
        self.settled = len(self.ids)  # tokens whose text is whole
        self.given = len(tokenizer.decode(self.ids))

    def add(self, token: int) -> str:
        """What can be read now."""
        self.ids.append(token)
        text = self.tokenizer.decode(self.ids)
        doubtful = min(len(text) - len(text.rstrip(BAD)), UNFINISHED)
        new = text[self.given : len(text) - doubtful]
        self.given += len(new)
        if not doubtful:
            self.ids, self.settled = self.ids[self.settled :], len(self.ids) - self.settled
            self.given = len(self.tokenizer.decode(self.ids))
        return new

    def rest(self) -> str:
        """What is left when no more tokens come: bytes that are no whole character."""
        return self.tokenizer.decode(self.ids)[self.given :]


class Stops:
    """Holds back what may yet become one of some strings, and ends before the first that comes."""

    def __init__(self, strings: Sequence[str] = ()) -> None:
        if not all(strings):
            raise ConfigError("a stop string is empty: every text would end before its first letter")
        self.strings, self.held, self.met = tuple(strings), "", False

    def add(self, text: str) -> str:
        """What can be read now."""
        if not self.strings or self.met:
            return "" if self.met else text
        text = self.held + text
        places = [place for place in (text.find(string) for string in self.strings) if place >= 0]
        self.met = bool(places)
        end = min(places) if places else len(text) - self.doubtful(text)
        self.held = "" if self.met else text[end:]
        return text[:end]

    def doubtful(self, text: str) -> int:
        """How many letters at the end may begin a stop string."""
        longest = min(max(map(len, self.strings)) - 1, len(text))
        begins = (n for n in range(longest, 0, -1) if any(string.startswith(text[-n:]) for string in self.strings))
        return next(begins, 0)

    def rest(self) -> str:
        """What is left when no more text comes."""
        held, self.held = self.held, ""
        return held
