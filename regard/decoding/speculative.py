"""Speculative decoding: a small model writes ahead, and the large one reads all of it at once and keeps what it may.

What is kept follows the large model's own distribution, whatever the small one proposes: Leviathan et al. 2023,
arXiv:2211.17192; Chen et al. 2023, arXiv:2302.01318. A proposed token x of chance q(x) is kept with the chance
min(1, p(x) / q(x)); at the first that is not, one is drawn from max(0, p - q) instead. Where all are kept, the large
model's pass has already said what comes next. p and q are what the filters leave of both models' chances.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from regard.decoding.filters import forbid, penalise
from regard.decoding.options import Decoding
from regard.decoding.reading import Prefix
from regard.decoding.single import chances, pick
from regard.decoding.stream import Written, dice
from regard.errors import Error
from regard.fast.topk import log_total
from regard.models.base import TextWriter

AHEAD = 4  # tokens that are proposed at a time


class Sight:
    """What one model has in sight of a text: its first token and the last ones, as `Writing` lets it slide."""

    def __init__(self, model: TextWriter, window: int | None) -> None:
        self.reading, self.first, self.slides = Prefix(model), 1, window is not None
        self.most = model.longest if window is None else min(window, model.longest or window)

    def room(self, text: Sequence[int]) -> int | None:
        """How many more tokens fit beside those in sight, which slide first where there are too many; None: any."""
        if self.most is None:
            return None
        if len(self.of(text)) > self.most and self.slides:
            self.first = len(text) - max(self.most // 2, 1)
        return self.most - len(self.of(text))

    def of(self, text: Sequence[int]) -> list[int]:
        return [text[0], *text[self.first :]]

    def follow(self, text: Sequence[int], count: int = 1) -> Tensor:
        return self.reading.follow(self.of(text), count)


class Speculating:
    """One text that a model writes on with the help of a smaller one of the same tokens; `ahead` are proposed at once.

    The steps are those of `Writing`, but for several tokens at a time.
    """

    def __init__(
        self,
        model: TextWriter,
        draft: TextWriter,
        prompt: Sequence[int],
        options: Decoding,
        end: int,
        ahead: int = AHEAD,
        window: int | None = None,
        draft_window: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        for one in (model, draft):
            check_rewinds(one)
        self.options, self.end, self.ahead = options, end, ahead
        self.own, self.draft = Sight(model, window), Sight(draft, draft_window)
        self.text, self.begin, self.over = list(prompt), len(prompt), False
        made = dice(options, 1, self.own.reading.device) if generator is None else generator
        self.generator = made[0] if isinstance(made, Sequence) else made
        self.proposed = self.kept = 0  # how well the small model guesses

    @torch.inference_mode()
    def step(self) -> list[tuple[int, Written]]:
        """The tokens that were kept and one more, or those up to the end; none when it is over."""
        room = self.own.room(self.text)
        if self.over or (room is not None and room < 0):
            return []
        guesses = self.propose(self.ahead if room is None else min(self.ahead, room))
        logits = self.own.follow([*self.text, *(token for token, _ in guesses)], len(guesses) + 1)
        found: list[tuple[int, Written]] = []
        for place in range(len(guesses) + 1):
            guess = guesses[place] if place < len(guesses) else None
            token, kept = self.decide(logits[place : place + 1], guess)
            found.append((0, Written(token, float(logits[place, token] - log_total(logits[place : place + 1])))))
            self.text.append(token)
            self.kept += kept
            self.over = token == self.end
            if self.over or not kept:
                break
        self.proposed += len(guesses)
        return found

    def leave(self, over: Collection[int]) -> None:
        self.over = self.over or bool(over)

    def propose(self, count: int) -> list[tuple[int, Tensor]]:
        """At most so many tokens that the small model writes, and what it drew each from; the end is the last."""
        room = self.draft.room(self.text)
        guesses: list[tuple[int, Tensor]] = []
        text = list(self.text)
        while len(guesses) < (count if room is None else min(count, room + 1)):
            probs = self.chances(self.draft.follow(text), text)
            token = self.choose(probs)
            guesses.append((token, probs))
            text.append(token)
            if token == self.end:
                break
        return guesses

    def decide(self, logits: Tensor, guess: tuple[int, Tensor] | None) -> tuple[int, bool]:
        """The next token, by the large model's logits (1, V), and whether it is the one that was proposed."""
        probs = self.chances(logits.clone(), self.text)
        if guess is None:
            return self.choose(probs), False
        token, others = guess
        if not self.options.sample:
            best = self.choose(probs)
            return best, best == token
        lot = torch.rand((), generator=self.generator, device=probs.device)
        if bool(lot * others[0, token] < probs[0, token]):
            return token, True
        left = (probs - others).clamp_(min=0)
        return self.choose(left if bool(left.sum() > 0) else probs), False

    def chances(self, logits: Tensor, text: Sequence[int]) -> Tensor:
        """What a token is chosen by (1, V): probabilities that the filters leave, or logits where the best is taken."""
        prefix = torch.tensor([text[self.begin :]], dtype=torch.long, device=logits.device)
        if self.options.sample:
            return chances(logits, prefix, self.end, self.options)
        return penalise(forbid(logits, prefix, self.end, self.options), prefix, self.options.repetition_penalty)

    def choose(self, probs: Tensor) -> int:
        return int(pick(probs, self.generator) if self.options.sample else probs.argmax(-1))


def check_rewinds(model: TextWriter) -> None:
    """What was proposed and not kept must be forgotten again."""
    if not model.rewinds:
        raise Error(
            f"a model of kind {model.config.kind} with a recurrent state cannot write ahead or be written ahead for, "
            "since it cannot go back to an earlier token: leave the draft out"
        )
