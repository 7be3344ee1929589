"""Writing on from prompts, one token at a time as they are chosen, for whoever reads along."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.decoding.options import Decoding
from regard.decoding.single import Dice, draw, take
from regard.decoding.steps import Outlook, look
from regard.models.base import State, TextWriter
from regard.nn.heads import exact

GOLDEN = 0x9E3779B97F4A7C15  # apart by this, the seeds of samples are nobody's own
SEEDS = 2**63


@dataclass(frozen=True)
class Written:
    """A token, and the log-probability that the model itself gave to it; and the likeliest ones, where they are asked
    for."""

    token: int
    log_prob: float
    likeliest: tuple[tuple[int, float], ...] = ()

    @property
    def probability(self) -> float:
        return math.exp(self.log_prob)


@dataclass
class Begun:
    """What a model has read already: the state of one row, after so many tokens of its prompt."""

    state: State
    length: int


class Writing:
    """Texts that are written on side by side: `nbest` of each prompt, those of a prompt next to each other.

    Each is what it would be alone. A model that reads no more tokens than it has read ends a text there. With a
    `window`, a text never has more than so many tokens in sight: when they are full the later half of them is read
    again, behind the prompt's first token, and it goes on. `begun` is what was read of a single prompt before, and
    `read` hears the state when all of it was. Of each token so many `likeliest` ones are told.
    """

    def __init__(
        self,
        model: TextWriter,
        prompts: Sequence[Sequence[int]],
        options: Decoding,
        end: int,
        window: int | None = None,
        generator: Dice = None,
        begun: Begun | None = None,
        read: Callable[[State], None] | None = None,
        likeliest: int = 0,
    ) -> None:
        assert (begun is None and read is None) or len(prompts) == 1
        self.heard, self.likeliest = read, likeliest
        self.model, self.options, self.end, self.slides, self.begun = model, options, end, window is not None, begun
        self.device = next(model.parameters()).device
        self.most = model.longest if window is None else min(window, model.longest or window)
        self.sight = [list(prompt) for prompt in prompts for _ in range(options.nbest)]
        self.rows = list(range(len(self.sight)))  # that go on
        self.prefix = torch.empty(len(self.rows), 0, dtype=torch.long, device=self.device)  # what they have written
        self.generator = dice(options, len(prompts), self.device) if generator is None else generator
        self.state: State | None = None

    @torch.inference_mode()
    def step(self) -> list[tuple[int, Written]]:
        """A token for each text that goes on, by its number; the end is a text's last. Empty when all are over."""
        self.make_room()
        if not self.rows:
            return []
        ahead = self.read()
        others = self.others(ahead) if self.likeliest else None
        if isinstance(ahead, Tensor):
            chosen, gained = draw(ahead, self.prefix, self.end, self.options, self.generator)
        else:
            chosen, gained = take(ahead.best())
        self.prefix = torch.cat([self.prefix, chosen], dim=1)
        tokens, logs = chosen.squeeze(1).tolist(), gained.tolist()
        told = [()] * len(tokens) if others is None else others
        steps = zip(self.rows, tokens, logs, told, strict=True)
        found = [(row, Written(token, log, tuple(best))) for row, token, log, best in steps]
        for row, one in found:
            self.sight[row].append(one.token)
        self.leave([row for row, one in found if one.token == self.end])
        return found

    def others(self, ahead: Tensor | Outlook) -> list[list[tuple[int, float]]]:
        """The likeliest tokens of each row, with the log-probabilities that the model gives to them."""
        if isinstance(ahead, Tensor):
            best = exact(ahead).log_softmax(-1).topk(min(self.likeliest, ahead.shape[1]))
            words, logs = best.indices, best.values
        else:
            words, logs = ahead.words, ahead.logits - ahead.totals.unsqueeze(1)
        return [list(zip(*row, strict=True)) for row in zip(words.tolist(), logs.tolist(), strict=True)]

    @torch.inference_mode()  # as the state was made, or its cache could not be written to
    def leave(self, over: Collection[int]) -> None:
        """These texts need no more tokens."""
        going = [place for place, row in enumerate(self.rows) if row not in over]
        if len(going) == len(self.rows):
            return
        kept = torch.tensor(going, dtype=torch.long, device=self.device)
        self.rows, self.prefix = [self.rows[place] for place in going], self.prefix[kept]
        if isinstance(self.generator, Sequence):
            self.generator = [self.generator[place] for place in going]
        if self.state is not None and going:
            self.state.select(kept)

    def make_room(self) -> None:
        """Texts whose sight is full slide, or are over."""
        full = [row for row in self.rows if self.most is not None and len(self.sight[row]) > self.most]
        if full and not self.slides:
            self.leave(full)
        elif full:
            for row in full:
                self.sight[row] = slid(self.sight[row], self.most or 1)
            self.state = None

    def read(self) -> Tensor | Outlook:
        """What may come next: logits to draw from, or the best words."""
        if self.state is not None:
            return self.look(self.prefix[:, -1:], self.state, None)
        samples = self.options.nbest if self.prefix.shape[1] == 0 else 1  # which have all read the same
        begun = self.begun or Begun(self.model.begin(), 0)
        self.begun = None
        tokens, keep = ragged([self.sight[row][begun.length :] for row in self.rows[::samples]], self.device)
        self.state = begun.state
        ahead = self.look(tokens, self.state, keep)
        if self.heard is not None:
            self.heard(self.state)
            self.heard = None
        if samples > 1:
            rows = torch.arange(len(tokens), device=self.device).repeat_interleave(samples)
            self.state.select(rows)
            ahead = ahead[rows] if isinstance(ahead, Tensor) else ahead.select(rows)
        return ahead

    def look(self, tokens: Tensor, state: State, keep: Tensor | None) -> Tensor | Outlook:
        if self.options.sample:
            return self.model.step(tokens, state, keep)
        prefix = self.prefix[:: len(self.prefix) // len(tokens)]  # of samples that have written nothing yet, one each
        return look(self.model, tokens, state, prefix, self.end, self.options, max(self.likeliest, 1), keep)


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

    What is drawn is what `complete` draws with the same seed; without a seed, something new each time.
    """
    writing = Writing(model, [prompt], options, end, window, generator)
    for _ in range(count):
        for _, one in writing.step():
            yield one


def slid(sight: Sequence[int], most: int) -> list[int]:
    """The later half of what was in sight, behind the first token."""
    return [sight[0], *sight[len(sight) - max(most // 2, 1) :]]


def dice(options: Decoding, prompts: int, device: torch.device) -> Dice:
    """What samples of so many prompts are drawn by. With a seed, each has its own: the same whatever is beside it."""
    if not options.sample:
        return None
    if options.seed is None:
        fresh = torch.Generator(device)
        fresh.seed()
        return fresh
    seeds = [(options.seed + sample * GOLDEN) % SEEDS for sample in range(options.nbest)]
    return [torch.Generator(device).manual_seed(seed) for _ in range(prompts) for seed in seeds]


def ragged(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Tokens (B, T), padded at their end, and which are real; None where all are."""
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], dtype=torch.long, device=device)
    if bool((lengths == longest).all()):
        return tokens, None
    return tokens, (torch.arange(longest) < lengths[:, None]).to(device)
