"""What a token may not be, and what a draw is narrowed to. Logits (B, V) in, logits out; -inf is never chosen."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.decoding.options import Decoding
from regard.nn.heads import NEVER


def forbid(logits: Tensor, prefix: Tensor, end: int, options: Decoding) -> Tensor:
    """Block, in place, what may not follow the tokens (B, t) so far: an early end, repetitions."""
    if prefix.shape[1] < options.min_length:
        logits[:, end] = NEVER
    if options.no_repeat:
        block_repeats(logits, prefix, options.no_repeat)
    return logits


def block_repeats(logits: Tensor, prefix: Tensor, size: int) -> Tensor:
    """Block, in place, each token that would complete an n-gram of this size for the second time. arXiv:1705.04304"""
    if prefix.shape[1] < size:
        return logits
    grams = prefix.unfold(1, size, 1)  # (B, t - size + 1, size)
    newest = prefix[:, prefix.shape[1] - size + 1 :]  # (B, size - 1): what the next token would complete
    again = (grams[..., :-1] == newest.unsqueeze(1)).all(-1)
    # A token may be named by several n-grams, of which some begin otherwise: added up, -inf prevails.
    return logits.scatter_add_(1, grams[..., -1], logits.new_zeros(again.shape).masked_fill_(again, NEVER))


def penalise(logits: Tensor, prefix: Tensor, penalty: float) -> Tensor:
    """Tokens that were written before, less likely: CTRL's penalised sampling, Keskar et al. 2019, arXiv:1909.05858.

    The paper divides logits by the penalty, which would make one below zero likelier: it is multiplied, as is usual.
    """
    before = logits.gather(1, prefix)
    return logits.scatter(1, prefix, torch.where(before > 0, before / penalty, before * penalty))


def narrow(logits: Tensor, options: Decoding) -> Tensor:
    """The logits to draw from."""
    if options.temperature != 1.0:
        logits = logits / options.temperature
    if 0 < options.top_k < logits.shape[-1]:
        logits = top_k(logits, options.top_k)
    if options.top_p < 1.0:
        logits = top_p(logits, options.top_p)
    if options.min_p > 0.0:
        logits = min_p(logits, options.min_p)
    return logits


def top_k(logits: Tensor, count: int) -> Tensor:
    """Only the `count` likeliest tokens. Fan et al. 2018, arXiv:1805.04833"""
    best = logits.topk(count, dim=-1)
    return logits.new_full(logits.shape, NEVER).scatter_(-1, best.indices, best.values)


def top_p(logits: Tensor, mass: float) -> Tensor:
    """Only the fewest tokens that together have this probability. Holtzman et al. 2020, arXiv:1904.09751"""
    falling, order = logits.sort(dim=-1, descending=True)
    probs = falling.softmax(-1)
    before = probs.cumsum(-1) - probs  # what the likelier ones have: 0 for the first, which therefore stays
    return logits.new_empty(logits.shape).scatter_(-1, order, falling.masked_fill(before >= mass, NEVER))


def min_p(logits: Tensor, share: float) -> Tensor:
    """Only tokens with at least this share of the likeliest one's probability. Nguyen et al. 2024, arXiv:2407.01082"""
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True) + math.log(share), NEVER)
