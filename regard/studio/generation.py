"""Writing on from a prompt, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from regard.errors import Error

if TYPE_CHECKING:
    from regard.decoding import Decoding
    from regard.studio.schemas import GenerateRequest
    from regard.studio.shelf import Loaded


def generate(loaded: Loaded, asked: GenerateRequest) -> Iterator[dict[str, Any]]:
    """Each token as it is drawn, then the whole text and why it ended: "full" where no more is in sight of the model.

    The draws are those of `regard.decoding.complete` with the same seed.
    """
    from regard.decoding.stream import write_on

    writer, family = loaded.writer, loaded.subject.family
    if writer is None:
        raise Error(f"a model of kind {family!r} does not write on from a prompt; take a language model")
    tokenizer, prompt = writer.tokenizer, writer.read(asked.prompt, long="refuse")
    count = min(asked.max_tokens, writer.context + 1 - len(prompt))
    written: list[int] = []
    reason = "full"
    for one in write_on(writer.model, prompt, drawing(asked), tokenizer.end, count):
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
