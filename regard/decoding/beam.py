"""Beam search: the K likeliest beginnings of each sentence go on side by side.

A sentence is over when K of its hypotheses have ended, or at its length limit, where what has not ended is cut. An end
counts if it is among the K best candidates of its step. These are fairseq's rules (arXiv:1904.01038); with one beam
they are greedy search.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.decoding.hypothesis import Hypothesis, ranked, scored
from regard.decoding.options import Decoding
from regard.decoding.steps import Outlook, StepModel, look
from regard.models.base import State, Writer
from regard.nn.heads import NEVER

MOST_BRANCHES = 8  # hypotheses that share a row of the cache; the work of wider beams would grow with their square


def beam_search(
    model: StepModel, first: Outlook, state: State, end: int, options: Decoding, limits: Tensor
) -> list[list[Hypothesis]]:
    """Go on from what may be each sentence's first token; `nbest` hypotheses for each, best first."""
    beams = Beams(first.logits, end, options, limits)
    rows, sentences = beams.rows.flatten(), beams.sentences  # each sentence K times; its memory once
    branching = isinstance(model, Writer) and model.branches and options.beam <= MOST_BRANCHES
    if branching:
        state.branch(options.beam)
    else:
        state.select(rows, sentences)
    outlook = first.select(rows)
    while True:
        beams.extend(outlook)
        rows, going = beams.leave()
        if len(rows) == 0:
            return [ranked(pool, options.nbest) for pool in beams.pools]
        state.select(rows, going)
        outlook = look(model, beams.prefix[:, -1:], state, beams.prefix, end, options, candidates(options))


def candidates(options: Decoding) -> int:
    """Of each row: so that K of a sentence's best are not the end."""
    return 2 * options.beam


class Beams:
    """The hypotheses of the R sentences that go on, K each, those of a sentence next to each other.

    `prefix` (R·K, t) are their tokens and `log_probs` (R, K) their probabilities: -inf for a beam that is not there,
    as all but one at the start. `rows` (R, K) are the rows of the model's state that they come from, `sentences` (R,)
    their places in the batch, `ended` (R,) counts what the sentence has in its pool.
    """

    def __init__(self, logits: Tensor, end: int, options: Decoding, limits: Tensor) -> None:
        self.size, self.end, self.options, self.limits = options.beam, end, options, limits
        count = len(logits)
        self.pools: list[list[Hypothesis]] = [[] for _ in range(count)]
        self.sentences = torch.arange(count, device=logits.device)
        self.ended = torch.zeros_like(self.sentences)
        self.rows = self.sentences[:, None].expand(-1, self.size)
        self.prefix = self.sentences.new_empty(count * self.size, 0)
        self.log_probs = logits.new_full((count, self.size), NEVER)
        self.log_probs[:, 0] = 0.0

    def extend(self, outlook: Outlook) -> None:
        """By one token, of what may follow the R·K rows: what ends goes into the pool, the K best others go on."""
        log_probs, rows, tokens = self.candidates(outlook)
        ends = tokens == self.end
        self.collect(log_probs[:, : self.size], rows[:, : self.size], ends[:, : self.size])
        self.log_probs, order = log_probs.masked_fill(ends, NEVER).topk(self.size)
        self.rows = rows.gather(1, order)
        self.prefix = torch.cat([self.prefix[self.rows.flatten()], tokens.gather(1, order).view(-1, 1)], dim=1)

    def candidates(self, outlook: Outlook) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probability, row and token (R, 2K) of what may come next, best first: K of them are not the end."""
        gained = outlook.logits - outlook.totals.unsqueeze(1)
        together = (gained + self.log_probs.view(-1, 1)).view(len(self.sentences), -1)  # (R, K · 2K)
        log_probs, places = together.topk(candidates(self.options))
        beams = places // gained.shape[1]
        first = torch.arange(0, len(gained), self.size, device=gained.device)
        return log_probs, beams + first[:, None], outlook.words.view(together.shape).gather(1, places)

    def collect(self, log_probs: Tensor, rows: Tensor, chosen: Tensor, finished: bool = True) -> None:
        """Take the chosen ones (R, K) into the pools of their sentences."""
        chosen = chosen & (log_probs != NEVER)
        if not chosen.any():
            return
        self.ended += chosen.sum(1)
        sentences = self.sentences[:, None].expand_as(rows)[chosen].tolist()
        found = zip(sentences, self.prefix[rows[chosen]].tolist(), log_probs[chosen].tolist(), strict=True)
        for sentence, tokens, log_prob in found:
            self.pools[sentence].append(scored(tokens, log_prob, finished, self.options.length_penalty))

    def leave(self) -> tuple[Tensor, Tensor | None]:
        """Let go of the sentences that are over; returns the rows of the state that go on, and which sentences do.

        None where all of them do.
        """
        cut = self.limits <= self.prefix.shape[1]
        over = cut | (self.ended >= self.size)
        if not over.any():
            return self.rows.flatten(), None
        own = torch.arange(len(self.prefix), device=over.device).view(self.rows.shape)
        self.collect(self.log_probs, own, (over & (self.ended < self.size))[:, None].expand_as(own), finished=False)
        going = (~over).nonzero().squeeze(1)
        self.prefix = self.prefix[own[going].flatten()]
        self.log_probs, rows, self.limits = self.log_probs[going], self.rows[going], self.limits[going]
        self.sentences, self.ended = self.sentences[going], self.ended[going]
        return rows.flatten(), going
