"""A batch shared out over processes, so that each core works by itself.

A training step of a small model is thousands of small operations. Two threads that share each of them fork and join as
often; two processes with half of the batch each do so once a step, which is 1.3 to 1.4 times as fast (translator, two
cores). Helpers are copies of this process: they see the data without a copy of it, the weights stand in memory that all
of them share, and each leaves the gradient of its share there as well. Who leads adds them up and takes the step.

What a share draws at random follows from a seed that the leader draws, so a resumed run continues to the same losses,
and a share may as well be computed by the leader where no copy can be made.
"""

from __future__ import annotations

import mmap
import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from typing import Any

import torch
from torch import Tensor, nn

from regard.checkpoint import running
from regard.config import ConfigError
from regard.data.batches import Batches, Indices
from regard.decoding.parallel import forkable

Work = Callable[[Indices], tuple[Tensor, int]]  # the summed loss of some examples and their tokens; gradients are left
Gradients = list[Tensor | None]

ENOUGH = 900  # tokens of a share that are worth a process (docs/experiments.md)


class HelperError(RuntimeError):
    """A helper could not do its share."""


def shares_of(batches: Batches, model: nn.Module, asked: int | None = None) -> int:
    """Over how many processes a batch is shared out, as asked for; otherwise one for each core, while each has enough
    to do. One, where a batch counts as a whole, or where a layer keeps something of every batch, which would stay with
    its helper."""
    kept = list(running(model))
    if asked is not None and asked > 1 and (batches.whole or kept):
        why = "it is judged as a whole" if batches.whole else f"the model keeps something of it in {kept[0]}"
        raise ConfigError(f"training.processes: a batch cannot be shared out over {asked}, for {why}; leave it out")
    if asked is not None:
        return asked
    if batches.whole or kept or not forkable(next(model.parameters()).device):
        return 1
    return max(1, min(torch.get_num_threads(), int(batches.size() / ENOUGH)))


class Crew:
    """A leader and its helpers. Without helpers the leader computes all shares, to the same gradients."""

    def __init__(self, model: nn.Module, work: Work, shares: int) -> None:
        self.work, self.shares = work, shares
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.threads = max(1, torch.get_num_threads() // shares)
        self.helpers: list[Helper] = []
        if shares > 1 and forkable(next(model.parameters()).device):
            share_memory(self.parameters)
            for _ in range(shares - 1):
                self.helpers.append(Helper(self.parameters, work, self.threads, self.helpers))

    def backward(self, indices: Indices) -> tuple[Tensor, int]:
        """The summed loss of a batch and its tokens; its gradient is left in, or added to, that of the parameters."""
        if self.shares == 1:
            return self.work(indices)
        before, parts = self.taken(), [part for part in split(indices, self.shares) if len(part)]
        seeds = torch.randint(1 << 62, (len(parts),)).tolist()
        with few_threads(self.threads):
            for helper, part, seed in zip(self.helpers, parts[1:], seeds[1:], strict=False):
                helper.ask(part, seed)
            loss, count = self.work(parts[0])
            own: list[Gradients] = [before, self.taken()]
            borrowed: list[Gradients] = []
            for i, part in enumerate(parts[1:]):
                if self.helpers:
                    more, tokens, found = self.helpers[i].answer()
                else:
                    more, tokens, found = self.alone(part, seeds[i + 1])
                loss, count = loss + more, count + tokens
                borrowed.append(found)
        for i, parameter in enumerate(self.parameters):
            parameter.grad = added([one[i] for one in own], [one[i] for one in borrowed])
        return loss, count

    def alone(self, part: Indices, seed: int) -> tuple[float, int, Gradients]:
        """A share that no helper takes, by the same random numbers."""
        state = torch.get_rng_state()
        torch.default_generator.manual_seed(seed)
        loss, count = self.work(part)
        torch.set_rng_state(state)
        return float(loss), count, self.taken()

    def taken(self) -> Gradients:
        """The gradients, which the parameters then no longer have."""
        gradients = [parameter.grad for parameter in self.parameters]
        for parameter in self.parameters:
            parameter.grad = None
        return gradients

    def close(self) -> None:
        for helper in self.helpers:
            helper.close()
        self.helpers = []


class Helper:
    """A copy of this process that computes what it is asked for."""

    def __init__(self, parameters: Sequence[nn.Parameter], work: Work, threads: int, others: Sequence[Helper]) -> None:
        self.gradients = shared_like(parameters)
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=help_out, args=(theirs, [self.pipe, *(one.pipe for one in others)], self, parameters, work, threads)
        )
        self.process.daemon = True
        Finalize(self, self.pipe.close, exitpriority=0)  # where nobody closes it, this program ends all the same
        with warnings.catch_warnings():  # of PyTorch's own threads, which a helper makes anew
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def ask(self, indices: Indices, seed: int) -> None:
        try:
            self.pipe.send((indices, seed))
        except OSError:
            raise HelperError(self.lost()) from None

    def answer(self) -> tuple[float, int, Gradients]:
        try:
            loss, count, missing = self.pipe.recv()
        except (EOFError, OSError):
            raise HelperError(self.lost()) from None
        if isinstance(loss, str):
            raise HelperError(loss)
        return loss, count, [None if i in missing else gradient for i, gradient in enumerate(self.gradients)]

    def lost(self) -> str:
        return "a process that computes a part of each batch was killed, perhaps for lack of memory"

    def close(self) -> None:
        self.pipe.close()  # which ends it
        self.process.join(timeout=5)
        if self.process.is_alive():
            self.process.kill()


def help_out(
    pipe: Connection,
    others: Sequence[Connection],
    helper: Helper,
    parameters: Sequence[nn.Parameter],
    work: Work,
    threads: int,
) -> None:
    """The life of a helper: until its leader is gone. Ctrl-C and a polite kill, which may be sent to all of a program's
    processes, are the leader's affair: it ends after the step, and needs every share of it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for other in others:  # the leader's ends: were they held open here, nobody would hear that it is gone
        other.close()
    torch.set_num_threads(threads)
    while True:
        try:
            indices, seed = pipe.recv()
        except (EOFError, OSError):
            return
        torch.default_generator.manual_seed(seed)
        answer: tuple[Any, ...]
        try:
            loss, count = work(indices)
            answer = (float(loss), count, leave(parameters, helper.gradients))
        except Exception as error:  # whatever it is, the leader shall say it
            answer = (f"{type(error).__name__}: {error}", 0, set())
        try:
            pipe.send(answer)
        except OSError:
            return


@torch.no_grad()
def leave(parameters: Sequence[nn.Parameter], places: Sequence[Tensor]) -> set[int]:
    """Put the gradients into their places; returns which parameters have none."""
    missing = set()
    for i, (parameter, place) in enumerate(zip(parameters, places, strict=True)):
        if parameter.grad is None:
            missing.add(i)
        else:
            place.copy_(parameter.grad)
            parameter.grad = None
    return missing


def added(own: Sequence[Tensor | None], borrowed: Sequence[Tensor | None]) -> Tensor | None:
    """Their sum, none where there is nothing; it may stand in the place of its own, but of no borrowed one."""
    total: Tensor | None = None
    for gradient in own:
        if gradient is not None:
            total = gradient if total is None else total.add_(gradient)
    for gradient in borrowed:
        if gradient is not None:
            total = gradient.clone() if total is None else total.add_(gradient)
    return total


def split(indices: Indices, shares: int) -> Iterator[Indices]:
    """In turns: a batch is ordered by length, and every share shall have as much to do."""
    for first in range(shares):
        yield indices[first::shares]


@contextmanager
def few_threads(count: int) -> Iterator[None]:
    """As many as a share has to itself."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# --- memory that copies of a process share ----------------------------------------------------------------------------


def share_memory(parameters: Sequence[nn.Parameter]) -> None:
    """Move parameters there, in place."""
    for parameter, place in zip(parameters, shared_like(parameters), strict=True):
        place.copy_(parameter.data)
        parameter.data = place


def shared_like(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of these shapes and types, zero at first. Anonymous memory: no file system has to have room for it."""
    made = []
    for tensor in tensors:
        memory = mmap.mmap(-1, max(1, tensor.numel() * tensor.element_size()))
        flat = torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel()) if tensor.numel() else tensor.detach()
        made.append(flat.view(tensor.shape))
    return made
