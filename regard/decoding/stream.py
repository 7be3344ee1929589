"""Writing on from a prompt, one token at a time as they are chosen, for whoever reads along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from regard.decoding.options import Decoding
from regard.decoding.single import draw, take
from regard.decoding.steps import look
from regard.models.base import TextWriter


@dataclass(frozen=True)
class Written:
    """A token, and the probability that the model itself gave to it."""

    token: int
    probability: float


def write_on(
    model: TextWriter,
    prompt: Sequence[int],
    options: Decoding,
    end: int,
    count: int,
    window: int | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[Written]:
    """At most `count` tokens that follow a prompt, greedily or drawn; the end is the last one where it comes.

    A model that reads no more tokens than it has read stops there. With a `window`, it never has more than so many in
    sight: when they are full it reads the later half of them again, behind the prompt's first token, and goes on. What
    is drawn is what `complete` draws with the same seed; without a seed, something new each time.
    """
    device = next(model.parameters()).device
    if options.sample and generator is None:
        generator = torch.Generator(device)
        generator.seed() if options.seed is None else generator.manual_seed(options.seed)
    most = model.longest if window is None else min(window, model.longest or window)
    read, written = list(prompt), list[int]()
    state, new = model.begin(), read
    while len(written) < count:
        if most is not None and len(read) > most:
            if window is None:
                return
            read = [read[0], *read[len(read) - max(most // 2, 1) :]]
            state, new = model.begin(), read
        tokens = torch.tensor([new], device=device)
        prefix = torch.tensor([written], dtype=torch.long, device=device)
        with torch.no_grad():
            if options.sample:
                logits, state = model.step(tokens, state)
                chosen, gained = draw(logits, prefix, end, options, generator)
            else:
                outlook, state = look(model, tokens, state, prefix, end, options, 1)
                chosen, gained = take(outlook)
        token = int(chosen)
        yield Written(token, float(gained.exp()))
        if token == end:
            return
        written.append(token)
        read.append(token)
        new = [token]
