"""Writing on from a prompt, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.decoding import Decoding
    from regard.look import Subject
    from regard.studio.schemas import GenerateRequest


def generate(subject: Subject, asked: GenerateRequest) -> Iterator[dict[str, Any]]:
    """Each token as it is drawn, then the whole text and why it ended.

    The draws are those of `regard.decoding.complete` with the same seed.
    """
    from regard.decoding.stream import write_on
    from regard.models import TextWriter

    model, tokenizer = subject.model, subject.tokenizer
    if not isinstance(model, TextWriter):
        raise ValueError(f"a model of kind {subject.family!r} does not write on from a prompt; take a language model")
    prompt = [tokenizer.start, *tokenizer.encode([asked.prompt])[0]]
    if model.longest is not None and len(prompt) > model.longest:
        raise ValueError(f"the prompt has {len(prompt) - 1} tokens; the model reads at most {model.longest - 1}")
    written: list[int] = []
    reason = "full"
    for one in write_on(model, prompt, drawing(asked), tokenizer.end, asked.max_tokens):
        if one.token == tokenizer.end:
            reason = "end"
            break
        written.append(one.token)
        yield {"token": tokenizer.token(one.token), "id": one.token, "probability": one.probability}
    if len(written) == asked.max_tokens:
        reason = "max_tokens"
    yield {"done": True, "text": tokenizer.decode(written), "reason": reason}


def drawing(asked: GenerateRequest) -> Decoding:
    """A temperature of 0 takes the likeliest."""
    from regard.decoding import Decoding

    if asked.temperature == 0:
        return Decoding()
    return Decoding(sample=True, temperature=asked.temperature, top_k=asked.top_k, top_p=asked.top_p, seed=asked.seed)
