"""Batches shared out over copies of this process, so that each core works by itself.

A training step of a small model is thousands of small operations. Two threads that share each of them fork and join as
often; two processes with half of the batch each do so once a step, which is 1.3 to 1.4 times as fast (translator, two
cores). Helpers are copies of this process: they see the data without a copy of it, the weights stand in memory that all
of them share, and each leaves the gradient of its share in memory that this process sees, which adds them up.
"""

from __future__ import annotations

import mmap
import multiprocessing
import signal
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize

import torch
from torch import Tensor, nn

from regard.checkpoint import running
from regard.config import ConfigError
from regard.data.batches import Batches
from regard.decoding.parallel import forkable
from regard.errors import Error
from regard.training.strategy import Groups, Loss, Share, Strategy, StrategyError, Summed

Gradients = list[Tensor | None]  # of the parameters that learn, in their order

MIN_TOKENS_A_SHARE = 900  # so many are worth a process (docs/experiments.md)


def shares_of(batches: Batches, model: nn.Module, asked: int | None = None) -> int:
    """Over how many processes a batch is shared out: as many as asked for; otherwise one for each core, while each has
    enough to do. One where the examples of a batch are compared with each other, or where a layer keeps something of
    every batch, which would stay with its helper."""
    kept = list(running(model))
    if asked is not None and asked > 1 and (batches.whole or kept):
        why = "it is judged as a whole" if batches.whole else f"the model keeps something of it in {kept[0]}"
        raise ConfigError(f"training.processes: a batch cannot be shared out over {asked}, for {why}; leave it out")
    if asked is not None:
        return asked
    if batches.whole or kept or not forkable(next(model.parameters()).device):
        return 1
    return max(1, min(torch.get_num_threads(), int(batches.size() / MIN_TOKENS_A_SHARE)))


class Forked(Strategy):
    """This process and copies of it, its helpers. Where no copy can be made this process computes all shares, to the
    same gradients."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.threads = max(1, torch.get_num_threads() // ranks)
        self.helpers: list[Helper] = []

    def begin(self, model: nn.Module, loss: Loss) -> None:
        super().begin(model, loss)
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        if forkable(self.device):
            share_memory(self.parameters)
            for _ in range(self.ranks - 1):
                self.helpers.append(Helper(self, [helper.pipe for helper in self.helpers]))

    def backward(self, groups: Groups) -> Summed:
        own, *others = self.shares(groups)
        with threads(self.threads):
            for helper, share in zip(self.helpers, others, strict=False):
                helper.ask(share)
            loss, count = self.compute(*own)
            gradients = self.taken()
            for rank, share in enumerate(others):
                more, tokens, found = self.helpers[rank].answer() if self.helpers else self.answer(share)
                loss, count = loss + more, count + tokens
                add(gradients, found)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        return loss, count

    def answer(self, share: Share) -> tuple[float, int, Gradients]:
        """Loss, tokens and gradients of a share, computed here."""
        loss, count = self.compute(*share)
        return float(loss), count, self.taken()

    def taken(self) -> Gradients:
        """The gradients, which the parameters then no longer have."""
        gradients = [parameter.grad for parameter in self.parameters]
        for parameter in self.parameters:
            parameter.grad = None
        return gradients

    @property
    def about(self) -> str:
        return f"{self.ranks} processes share out each batch (otherwise: --processes 1)" if self.helpers else ""

    def close(self) -> None:
        for helper in self.helpers:
            helper.close()
        self.helpers = []


class Helper:
    """A copy of this process that computes the shares it is asked for."""

    def __init__(self, strategy: Forked, others: Sequence[Connection]) -> None:
        self.gradients = shared_like(strategy.parameters)
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=self.serve, args=(strategy, theirs, [self.pipe, *others]), daemon=True
        )
        Finalize(self, self.pipe.close, exitpriority=0)  # where nobody closes it, this program ends all the same
        with warnings.catch_warnings():  # of PyTorch's own threads, which a helper makes anew
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def ask(self, share: Share) -> None:
        try:
            self.pipe.send(share)
        except OSError:
            raise StrategyError(LOST) from None

    def answer(self) -> tuple[float, int, Gradients]:
        try:
            loss, count, missing = self.pipe.recv()
        except (EOFError, OSError):
            raise StrategyError(LOST) from None
        if isinstance(loss, str):
            raise (
                RuntimeError(f"a process that computes a part of each batch failed:\n{loss}")
                if count == BUG
                else StrategyError(loss)
            )
        return loss, count, [None if i in missing else gradient for i, gradient in enumerate(self.gradients)]

    def close(self) -> None:
        self.pipe.close()  # which ends it
        self.process.join(timeout=5)
        if self.process.is_alive():
            self.process.kill()

    def serve(self, strategy: Forked, pipe: Connection, others: Sequence[Connection]) -> None:
        """The life of a helper, until the process that asks it is gone. Ctrl-C and SIGTERM, which may be sent to all
        processes of a program, are for that process alone: it ends after the step, and needs every share of it."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for other in others:  # the ends of who asks: were they held open here, nobody would hear that it is gone
            other.close()
        torch.set_num_threads(strategy.threads)
        while True:
            try:
                share: Share = pipe.recv()
            except (EOFError, OSError):
                return
            answer: tuple[float | str, int, set[int]]
            try:
                loss, count, gradients = strategy.answer(share)
                answer = loss, count, self.leave(gradients)
            except Error as error:
                answer = str(error), 0, set()
            except Exception:  # a bug: the process that asked shows where it happened
                answer = traceback.format_exc(), BUG, set()
            try:
                pipe.send(answer)
            except OSError:
                return

    @torch.no_grad()
    def leave(self, gradients: Gradients) -> set[int]:
        """Put gradients where the process that asked sees them; returns which parameters have none."""
        for gradient, place in zip(gradients, self.gradients, strict=True):
            if gradient is not None:
                place.copy_(gradient)
        return {i for i, gradient in enumerate(gradients) if gradient is None}


BUG = -1  # in the place of the number of words: what a helper raised is no mistake of the user's
LOST = "a process that computes a part of each batch was killed, perhaps for lack of memory"


@torch.no_grad()
def add(gradients: Gradients, more: Gradients) -> None:
    """Add more gradients in place. Those that are added stand in the memory of a helper, which will use it again."""
    for i, gradient in enumerate(more):
        if gradient is not None:
            own = gradients[i]
            gradients[i] = gradient.clone() if own is None else own.add_(gradient)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads for each operation while the block runs."""
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
