"""Writing on from a prompt, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.look import Subject
    from regard.studio.schemas import GenerateRequest


def generate(subject: Subject, asked: GenerateRequest) -> Iterator[dict[str, Any]]:
    """Each token as it is drawn, then the whole text and why it ended.

    The draws are those of `regard.decoding.complete` with the same seed.
    """
    import torch

    from regard.data.tokenizers import END, START
    from regard.models import TextWriter

    model, tokenizer = subject.model, subject.tokenizer
    if not isinstance(model, TextWriter):
        raise ValueError(f"a model of kind {subject.family!r} does not write on from a prompt; take a language model")
    prompt = [START, *tokenizer.encode([asked.prompt])[0]]
    if model.longest is not None and len(prompt) > model.longest:
        raise ValueError(f"the prompt has {len(prompt) - 1} tokens; the model reads at most {model.longest - 1}")
    choose = chooser(asked, subject.device)
    written: list[int] = []
    reason = "max_tokens"
    state, new = model.begin(), prompt
    while len(written) < asked.max_tokens:
        if model.longest is not None and len(prompt) + len(written) > model.longest:
            reason = "full"
            break
        logits, state = model.step(torch.tensor([new], device=subject.device), state)
        token, probability = choose(logits, written)
        if token == END:
            reason = "end"
            break
        written.append(token)
        new = [token]
        yield {"token": tokenizer.token(token), "id": token, "probability": probability}
    yield {"done": True, "text": tokenizer.decode(written), "reason": reason}


def chooser(asked: GenerateRequest, device: Any) -> Any:
    """(logits, tokens so far) → the next token and the probability that the model itself gives to it."""
    import torch

    from regard.data.tokenizers import END
    from regard.decoding import Decoding
    from regard.decoding.single import draw

    if asked.temperature == 0:

        def likeliest(logits: Any, written: list[int]) -> tuple[int, float]:
            probability, token = logits.float().softmax(-1)[0].max(-1)
            return int(token), float(probability)

        return likeliest
    options = Decoding(sample=True, temperature=asked.temperature, top_k=asked.top_k, top_p=asked.top_p)
    generator = torch.Generator(device)
    generator.seed() if asked.seed is None else generator.manual_seed(asked.seed)

    def drawn(logits: Any, written: list[int]) -> tuple[int, float]:
        prefix = torch.tensor([written], dtype=torch.long, device=device)
        token, log_prob = draw(logits, prefix, END, options, generator)
        return int(token), float(log_prob.exp())

    return drawn
