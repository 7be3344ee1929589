"""Completions as OpenAI's API has them, written by a run of this studio."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, field_validator, model_validator

from regard.studio.errors import RefusalError
from regard.studio.schemas import MAX_INTEGER, MAX_TEXT_LETTERS, MAX_TEXTS, MAX_TOKENS, RunName, Strict, Text

if TYPE_CHECKING:
    from regard.decoding import Decoding
    from regard.decoding.stream import Written
    from regard.studio.shelf import Loaded
    from regard.tasks.language.continuations import Piece

MAX_SAMPLES, MAX_STOP_STRINGS, MAX_ALTERNATIVES = (
    16,
    4,
    5,
)  # of a prompt; of a request; of a token
NEUTRAL: dict[str, tuple[Any, ...]] = {  # options that are not supported, with the values that change nothing
    "suffix": (None, ""),
    "logit_bias": (None, {}),
    "presence_penalty": (None, 0),
    "frequency_penalty": (None, 0),
}


Ids = Annotated[list[int], Field(max_length=MAX_TEXT_LETTERS)]  # the tokens of a prompt


class StreamOptions(Strict):
    """Options of a stream: whether its last part counts the tokens."""

    include_usage: bool = False
    include_obfuscation: bool = False


class CompletionRequest(Strict):
    """What `POST /v1/completions` takes; `top_k`, `min_p` and `repetition_penalty` are ours beside OpenAI's."""

    model: RunName
    prompt: Text | Ids | list[Text] | list[Ids] = ""
    max_tokens: int | None = Field(default=16, ge=0, le=MAX_TOKENS)
    temperature: float | None = Field(default=1.0, ge=0, le=100)
    top_p: float | None = Field(default=1.0, gt=0, le=1)
    n: int | None = Field(default=1, ge=1, le=MAX_SAMPLES)
    stop: Text | list[Text] | None = None
    seed: int | None = Field(default=None, ge=0, le=MAX_INTEGER)
    echo: bool | None = False
    logprobs: int | None = Field(default=None, ge=0, le=MAX_ALTERNATIVES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    best_of: int | None = None
    user: str | None = None
    suffix: Any = None
    logit_bias: Any = None
    presence_penalty: Any = None
    frequency_penalty: Any = None
    top_k: int = Field(default=0, ge=0, le=MAX_INTEGER)
    min_p: float = Field(default=0.0, ge=0, le=1)
    repetition_penalty: float = Field(default=1.0, gt=0, le=100)

    @field_validator("prompt", mode="before")
    @classmethod
    def some(cls, value: Any) -> Any:
        if is_prompt(value):
            return value
        if not isinstance(value, list) or not all(map(is_prompt, value)) or len(set(map(type, value))) > 1:
            raise ValueError("it takes a text, the numbers of its tokens, or a list of either")
        if not 1 <= len(value) <= MAX_TEXTS:
            raise ValueError(f"a list of {len(value)} prompts is not allowed; it takes 1 to {MAX_TEXTS}")
        return value

    @model_validator(mode="after")
    def nothing_else(self) -> CompletionRequest:
        for name, allowed in NEUTRAL.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is not supported here; leave it out")
        if self.best_of not in (None, self.samples):
            raise ValueError(f"best_of {self.best_of} is not supported here; leave it out, or ask for as many as n")
        if len(self.stops) > MAX_STOP_STRINGS or not all(self.stops):
            raise ValueError(f"stop takes at most {MAX_STOP_STRINGS} texts, and none that is empty")
        return self

    @property
    def prompts(self) -> list[str | list[int]]:
        return cast(list[str | list[int]], [self.prompt] if is_prompt(self.prompt) else self.prompt)

    @property
    def stops(self) -> list[str]:
        return [self.stop] if isinstance(self.stop, str) else self.stop or []

    @property
    def samples(self) -> int:
        return self.n or 1

    @property
    def most(self) -> int:
        return 16 if self.max_tokens is None else self.max_tokens

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def search(self) -> Decoding:
        from regard.decoding import Decoding

        if self.greedy:  # all samples are the same one
            return Decoding(repetition_penalty=self.repetition_penalty)
        return Decoding(
            sample=True,
            nbest=self.samples,
            temperature=1.0 if self.temperature is None else self.temperature,
            top_p=1.0 if self.top_p is None else self.top_p,
            top_k=self.top_k,
            min_p=self.min_p,
            repetition_penalty=self.repetition_penalty,
            seed=self.seed,
        )


def is_prompt(value: Any) -> bool:
    """Whether it is one text, or the numbers of its tokens."""
    return isinstance(value, str) or (
        isinstance(value, list) and len(value) > 0 and all(type(token) is int for token in value)
    )


class Completion:
    """One answer on its way: its choices come in parts, and in the end it counts the tokens."""

    def __init__(self, loaded: Loaded, asked: CompletionRequest) -> None:
        if loaded.writer is None or loaded.prefixes is None:
            raise RefusalError(409, f"{asked.model} does not write on from a prompt; take a language model")
        self.writer, self.prefixes, self.asked = loaded.writer, loaded.prefixes, asked
        self.head = {"id": f"cmpl-{secrets.token_hex(12)}", "object": "text_completion", "created": int(time.time())}
        self.rows = [
            self.writer.read(prompt, "refuse") for prompt in asked.prompts
        ]  # one prompt that is too long refuses the request
        self.read = sum(len(self.writer.tokens(prompt)) for prompt in asked.prompts)
        self.written = 0

    def answer(self, choices: list[dict[str, Any]], usage: bool) -> dict[str, Any]:
        found = {**self.head, "model": self.asked.model, "choices": choices}
        return {**found, "usage": self.usage()} if usage else found

    def usage(self) -> dict[str, int]:
        both = self.read + self.written
        return {"prompt_tokens": self.read, "completion_tokens": self.written, "total_tokens": both}

    def parts(self) -> Iterator[dict[str, Any]]:
        """Choices, a part of one at a time; the last part of each has its `finish_reason`."""
        for number, prompt in enumerate(self.asked.prompts):
            first = number * self.asked.samples
            offsets = [0] * self.asked.samples
            if self.asked.echo:
                text = prompt if isinstance(prompt, str) else self.writer.tokenizer.decode(prompt)
                for sample in range(self.asked.samples):
                    yield choice(first + sample, text, self.prompt_scores(prompt), None)
                    offsets[sample] = len(text)
            if self.asked.most == 0:
                yield from (choice(first + sample, "", None, "length") for sample in range(self.asked.samples))
                continue
            for piece in self.pieces(self.rows[number]):
                samples = range(self.asked.samples) if self.asked.greedy else [piece.row]
                for sample in samples:
                    self.written += len(piece.tokens)
                    scores = self.scores(piece.tokens, offsets[sample])
                    offsets[sample] += len(piece.text)
                    yield choice(first + sample, piece.text, scores, finish_reason(piece))

    def pieces(self, row: list[int]) -> Iterator[Piece]:
        """The choices of one prompt. What an earlier prompt began with is not read again."""
        from regard.decoding.stream import Writing
        from regard.tasks.language.continuations import pieces

        search = self.asked.search()
        writing = Writing(
            self.writer.model,
            [row],
            search,
            self.writer.tokenizer.end,
            self.writer.context,
            begun=self.prefixes.find(row),
            read=lambda state: self.prefixes.keep(row, state),
            likeliest=self.asked.logprobs or 0,
        )
        return pieces(writing, self.writer.sheets([row], search, self.asked.stops, self.asked.most))

    def prompt_scores(self, prompt: str | list[int]) -> dict[str, Any] | None:
        """The log-probabilities of an echoed prompt."""
        if self.asked.logprobs is None:
            return None
        found = self.scores(self.writer.judged(self.writer.tokens(prompt), self.asked.logprobs), 0)
        if found is not None and isinstance(prompt, str):  # its letters are known, also of tokens that are parts of one
            found["text_offset"] = [start for _, start, _ in self.writer.tokenizer.pieces(prompt)]
        return found

    def scores(self, tokens: Sequence[Written], offset: int) -> dict[str, Any] | None:
        """What the model gives to tokens, if it is asked for; the first begins at this letter of the answer."""
        if self.asked.logprobs is None:
            return None
        name, begins = self.writer.tokenizer.token, []
        for one in tokens:
            begins.append(offset)
            offset += len(self.writer.tokenizer.decode([one.token]))
        return {
            "tokens": [name(one.token) for one in tokens],
            "token_logprobs": [one.log_prob for one in tokens],
            "top_logprobs": [{name(token): log for token, log in one.likeliest} for one in tokens],
            "text_offset": begins,
        }


def choice(index: int, text: str, scores: dict[str, Any] | None, reason: str | None) -> dict[str, Any]:
    return {"index": index, "text": text, "logprobs": scores, "finish_reason": reason}


def finish_reason(piece: Piece) -> str | None:
    return None if piece.reason is None else "stop" if piece.reason in ("end", "stop") else "length"


def joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Whole choices, in their order."""
    found: dict[int, dict[str, Any]] = {}
    for part in parts:
        if (known := found.get(part["index"])) is None:
            found[part["index"]] = part
            continue
        known["text"] += part["text"]
        known["finish_reason"] = part["finish_reason"]
        if part["logprobs"] is not None:
            before = known["logprobs"] or dict.fromkeys(part["logprobs"], ())
            known["logprobs"] = {key: [*before[key], *value] for key, value in part["logprobs"].items()}
    return [found[index] for index in sorted(found)]
