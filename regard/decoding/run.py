"""Decode with any model that answers `step`; and from a source or a prompt to hypotheses in one call."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.decoding.beam import beam_search, candidates
from regard.decoding.hypothesis import Hypothesis, ranked
from regard.decoding.options import Decoding
from regard.decoding.single import single
from regard.decoding.steps import StepModel, look
from regard.errors import Error
from regard.models.base import MemoryWriter, SourceWriter, State, TextWriter
from regard.nn.call.memory import Memory


@torch.inference_mode()  # calls are quicker than under `no_grad`; what outlives it must be made outside of it
def decode(
    model: StepModel,
    state: State,
    start: Tensor | int,
    end: int,
    options: Decoding,
    limits: Tensor | int,
    keep: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """The `nbest` hypotheses of each row, best first, in the order of the batch.

    `start` is the token before the first one, the same for each row of the state's memory, or the tokens (B, T) that
    each row begins with, of which `keep` (B, T) are real. `limits` are the most tokens that a row (B,), or any of
    them, may get. `generator` draws the samples; without it `options.seed` does, or PyTorch's global generator.
    """
    start = starts(start, state)
    limits = torch.as_tensor(limits, device=start.device).expand(len(start))
    if len(start) == 0:
        return []
    if int(limits.min()) < 1:
        raise Error(f"a limit of {int(limits.min())} tokens is not allowed; it takes at least 1")
    prefix = start.new_empty(len(start), 0)
    state.reserve(start.shape[1] + int(limits.max()) * options.beam)
    if not options.sample:
        count = candidates(options) if options.beam > 1 else 1
        outlook = look(model, start, state, prefix, end, options, count, keep)
        check_vocabulary(outlook.vocabulary, end, options)
        if options.beam > 1:
            return beam_search(model, outlook, state, end, options, limits)
        return [[found] for found in single(model, outlook, state, end, options, limits)]
    logits = model.step(start, state, keep)
    check_vocabulary(logits.shape[-1], end, options)
    if options.seed is not None and generator is None:
        generator = torch.Generator(start.device).manual_seed(options.seed)
    rows = torch.arange(len(start), device=start.device).repeat_interleave(options.nbest)
    if options.nbest > 1:
        logits = logits[rows]
        state.select(rows)
    drawn = single(model, logits, state, end, options, limits[rows], generator)
    return [ranked(drawn[i : i + options.nbest], options.nbest) for i in range(0, len(drawn), options.nbest)]


def translate(
    model: SourceWriter,
    source: Tensor,
    keep: Tensor | None,
    options: Decoding,
    start: int,
    end: int,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """Targets of source tokens (B, S), of which `keep` are real."""
    with torch.inference_mode():
        memory = model.encode(source, keep)
    return write(model, memory, options, start, end, limits_of(source, keep, options), generator)


def write(
    model: MemoryWriter,
    memory: Memory,
    options: Decoding,
    start: int,
    end: int,
    limits: Tensor | int,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """What is written of each row of a memory, in at most `limits` tokens (B,)."""
    with torch.inference_mode():
        state = model.begin(memory)
    if model.longest is not None:  # the start takes a place, the last token none
        limits = torch.as_tensor(limits, device=memory.states.device).clamp(max=model.longest)
    return decode(model, state, start, end, options, limits, generator=generator)


def complete(
    model: TextWriter,
    prompt: Tensor,
    keep: Tensor | None,
    options: Decoding,
    end: int,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """What follows prompts (B, T), of which `keep` are real; hypotheses leave them out.

    Padding may stand on either side, for a recurrent model at the end alone.
    """
    limits = limits_of(prompt, keep, options)
    if model.longest is not None:
        lengths = prompt.shape[1] if keep is None else keep.sum(1)
        limits = torch.minimum(limits, model.longest + 1 - torch.as_tensor(lengths, device=limits.device))
    return decode(model, model.begin(), prompt, end, options, limits, keep=keep, generator=generator)


def limits_of(tokens: Tensor, keep: Tensor | None, options: Decoding) -> Tensor:
    """(B,): the most tokens that may be written where these (B, S) are read, as `Decoding` says."""
    count, span = tokens.shape
    if options.max_length is not None:
        return torch.full((count,), options.max_length, device=tokens.device)
    lengths = torch.full((count,), span, device=tokens.device) if keep is None else keep.sum(1)
    return ((lengths * options.max_ratio).long() + options.max_extra).clamp(min=options.min_length)


def starts(start: Tensor | int, state: State) -> Tensor:
    if isinstance(start, Tensor):
        return start
    if state.memory is None:
        raise ValueError(f"the start token {start} does not say how many rows; without a memory, give (B, T) tokens")
    states = state.memory.states
    return torch.full((len(states), 1), start, device=states.device)


def check_vocabulary(size: int, end: int, options: Decoding) -> None:
    """Something must always be left to choose: an end that exists, or a word that is not blocked."""
    if not 0 <= end < size:
        raise Error(f"the end token {end} is not in the vocabulary of {size}")
    if options.no_repeat and options.min_length - options.no_repeat >= size - 1:
        raise Error(
            f"{size} words do not give {options.min_length} tokens of which no {options.no_repeat} in a row come twice"
        )
