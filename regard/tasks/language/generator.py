"""A trained language model: text in, more text out, or what it thinks of a text. It needs no training data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import torch

from regard.config import ConfigError, from_dict
from regard.data.documents import Document
from regard.data.given import checked_text, checked_texts, several
from regard.data.tokenizers import Tokenizer
from regard.decoding import Decoding, Hypothesis, complete
from regard.decoding.speculative import AHEAD, Speculating, check_rewinds
from regard.decoding.stream import Writing, Written, dice
from regard.errors import DataError
from regard.fast import pack
from regard.models import TextWriter
from regard.tasks.base import Done, Say
from regard.tasks.language.continuations import Continuation, Piece, Sheet, gathered, pieces
from regard.tasks.language.scoring import TextScore, as_written, encoded, measure, unknown, words_in
from regard.tasks.tool import Tool

TOKENS = 100  # that are written where nothing else is asked for
Long = Literal["slide", "refuse"]


class Generator(Tool):
    """Writes with a language model and its tokenizer: `writer("Once", tokens=50, seed=1)`.

    It has at most `context` tokens in sight, as it was trained.
    """

    tokenizer: Tokenizer

    def __init__(self, model: TextWriter, tokenizer: Tokenizer, context: int) -> None:
        super().__init__(model, tokenizer)
        self.context = min(context, model.longest or context)
        self.draft: tuple[Generator, int] | None = None

    def helped_by(self, draft: Generator, ahead: int = AHEAD) -> Generator:
        """The same writer, with a smaller one that writes `ahead`: what it writes has the same distribution, sooner."""
        if draft.tokenizer != self.tokenizer:
            raise DataError("the draft has another tokenizer: one that writes ahead must know the same tokens")
        check_rewinds(self.model)
        check_rewinds(draft.model)
        other = Generator(self.model, self.tokenizer, self.context)
        other.draft = draft, ahead
        return other

    def __call__(
        self, prompt: str = "", tokens: int = TOKENS, stop: Sequence[str] = (), long: Long = "slide", **options: Any
    ) -> str:
        """The prompt and at most so many tokens after it, up to a `stop` string; the options are those of `Decoding`.

        It draws, unless a `beam` or `sample=False` asks for the likeliest. Of a prompt that is longer than the context
        the end is in sight, with a warning, unless `long` is "refuse".
        """
        checked_text(prompt, "the prompt")
        return prompt + self.continued([prompt], tokens, chosen_drawing(**options), stop, long, warn)[0][0].text

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
        prompts = checked_texts(prompts, "prompt")
        if options.beam > 1:
            if self.draft is not None:
                raise ConfigError(f"a beam of {options.beam} with a draft: it writes ahead for one text; leave one out")
            return [self.best(prompt, tokens, options, stop, long, say) for prompt in prompts]
        count = options.nbest
        found = gathered(self.write(prompts, tokens, options, stop, long, say, stopped), len(prompts) * count)
        return [found[i : i + count] for i in range(0, len(found), count)]

    def stream(
        self, prompt: str, tokens: int, options: Decoding, stop: Sequence[str] = (), long: Long = "slide"
    ) -> Iterator[str]:
        """What follows a prompt, in pieces of whole characters as they are written."""
        return (piece.text for piece in self.write([prompt], tokens, options, stop, long, warn) if piece.text)

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
        rows = [self.read(prompt, long, say) for prompt in checked_texts(prompts, "prompt")]
        sheets = self.sheets(rows, options, stop, tokens)
        if self.draft is None:
            return pieces(Writing(self.model, rows, options, self.tokenizer.end, self.context), sheets, stopped)
        return self.ahead(rows, sheets, options, stopped, *self.draft)

    def ahead(
        self,
        rows: Sequence[Sequence[int]],
        sheets: Sequence[Sheet],
        options: Decoding,
        stopped: Callable[[], bool] | None,
        draft: Generator,
        count: int,
    ) -> Iterator[Piece]:
        """As `write`, text by text, with a smaller model that writes ahead."""
        generators = dice(options, len(rows), self.device)
        for number, sheet in enumerate(sheets):
            own = generators[number] if isinstance(generators, Sequence) else generators
            row, end, windows = rows[number // options.nbest], self.tokenizer.end, (self.context, draft.context)
            source = Speculating(self.model, draft.model, row, options, end, count, *windows, own)
            yield from pieces(source, [sheet], stopped)

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
        pack(self.model, options.beam)
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

    def read(
        self, prompt: str | Sequence[int], long: Long = "slide", say: Say | None = None, room: int = 0
    ) -> list[int]:
        """The tokens of a prompt behind the start, where its tokenizer has one, and what else of the context is empty.

        Of a prompt that is too long the last tokens are in sight, or it is refused.
        """
        ids = self.tokens(prompt)
        before = [self.tokenizer.start] if self.tokenizer.opens or not ids else []
        most = max(self.context - room, 1) - len(before)
        if len(ids) > most:
            beside = f", with room for {room + 1} more" if room else ""
            sentence = f"the prompt has {len(ids):,} tokens and the model has {most:,} of it in sight{beside}"
            if long == "refuse":
                raise DataError(f"{sentence}: shorten it, or let it slide")
            if say is not None:
                say(f"{sentence}: it goes on from the last {most:,}")
        if say is not None and (count := unknown(self.tokenizer, np.array(ids))):
            say(f"{count:,} of the prompt's {len(ids):,} tokens are unknown to the model")
        return [*before, *ids[max(len(ids) - most, 0) :]]

    def tokens(self, text: str | Sequence[int]) -> list[int]:
        """Those of a text, or a text that is given by them."""
        if isinstance(text, str):
            return self.tokenizer.encode([text])[0]
        strange = next((token for token in text if not 0 <= token < self.tokenizer.vocabulary), None)
        if strange is not None:
            raise DataError(f"the prompt has a token {strange}: the model knows 0 to {self.tokenizer.vocabulary - 1}")
        return list(text)

    def score(self, text: str | Iterable[Document], stride: int | None = None, done: Done | None = None) -> TextScore:
        """What a text costs, or several; every token is scored once, with at least context - stride tokens before it:
        half of the context, where no `stride` is given."""
        documents: Iterable[Document]
        if isinstance(text, str) or not several(text):
            whole = checked_text(text)
            documents = [Document("the text", lambda: [whole])]
        else:
            documents = text
        ids, size = encoded(self.tokenizer, documents)
        words = words_in(documents)
        start, end = self.tokenizer.start, self.tokenizer.end
        return measure(self.model, ids, size, self.context, start, end, done, stride, words)

    def log_probs(self, text: str) -> list[tuple[str, float]]:
        """The tokens of a text with the log-probabilities that the model gives to them."""
        return [(self.tokenizer.token(one.token), one.log_prob) for one in self.judged(self.tokens(checked_text(text)))]

    def judged(self, ids: Sequence[int], likeliest: int = 0) -> list[Written]:
        """The tokens of a text with what the model gives to them, and to so many likeliest ones in their place."""
        return as_written(self.model, np.array(ids, dtype=np.int64), self.context, self.tokenizer.start, likeliest)


def warn(text: str) -> None:
    """For those who call from Python and gave nothing that listens."""
    warnings.warn(text, stacklevel=4)


def chosen_drawing(**options: Any) -> Decoding:
    """The search that these fields of `Decoding` ask for: it draws unless a beam is named or `sample` is false; a
    temperature of 0 takes the likeliest."""
    options = dict(options)
    if options.get("temperature") == 0:
        if options.get("sample"):
            raise ConfigError("temperature 0 takes the likeliest token, so nothing is drawn: leave sample out")
        if shaped := [name for name in ("top_k", "top_p", "min_p") if name in options]:
            raise ConfigError(f"temperature 0 takes the likeliest token: there is nothing for {shaped[0]} to shape")
        if options.get("nbest", 1) > options.get("beam", 1):
            raise ConfigError(f"temperature 0 gives the same text {options['nbest']} times: draw them, or name a beam")
        options = {"sample": False, **{key: value for key, value in options.items() if key != "temperature"}}
    return from_dict(Decoding, {"sample": options.get("beam", 1) == 1, **options})
