"""Time and memory of training steps, measured inside the environment of the side that makes them.

The step around the model's own loss (clipping, optimiser) is the same code for all sides, so that a difference is
one of model and loss. Only torch and the standard library may be imported here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.command import asked, tell
from benchmarks.machine import foreign_work, memory
from benchmarks.sizes import SIZES, THREADS, Size
from benchmarks.step.record import Record
from benchmarks.step.workload import CLIP, LEARNING_RATE, Batch, random_batch

WARM_UP = 3
TOLERANCE = 0.02  # of the number of parameters: toolkits differ in biases and last norms


@dataclass(frozen=True)
class Trainee:
    """A model and its loss on the batch, as its toolkit computes it: the mean over target tokens."""

    model: nn.Module
    loss: Callable[[], Tensor]
    fused: bool = True


Build = Callable[[Size, Batch], Trainee]


def trained(model: nn.Module) -> list[nn.Parameter]:
    """Without frozen ones: Marian keeps its table of sinusoids as a parameter."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def training_step(trainee: Trainee) -> Callable[[], Tensor]:
    parameters = trained(trainee.model)
    optimiser = torch.optim.AdamW(parameters, lr=LEARNING_RATE, fused=trainee.fused)

    def step() -> Tensor:
        loss = trainee.loss()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, CLIP)
        optimiser.step()
        optimiser.zero_grad()
        return loss.detach()

    return step


def measure(build: Build, size: Size, steps: int) -> Record:
    torch.manual_seed(0)
    trainee = build(size, random_batch())
    trainee.model.train()
    parameters = sum(parameter.numel() for parameter in trained(trainee.model))
    if abs(parameters / size.parameters - 1) > TOLERANCE:
        raise ValueError(f"the model has {parameters:,} parameters instead of about {size.parameters:,}")
    step = training_step(trainee)
    built = memory("VmRSS")
    losses = [step() for _ in range(WARM_UP)]
    seconds = []
    foreign = foreign_work()
    for _ in range(steps):
        start = time.perf_counter()
        losses.append(step())
        seconds.append(time.perf_counter() - start)
    foreign_cores = (foreign_work() - foreign) / sum(seconds)
    first, last = losses[0].item(), losses[-1].item()
    if not last < first:
        raise ValueError(f"the loss went from {first:.2f} to {last:.2f}: this is not training")
    return Record(seconds, first, last, parameters, built, memory("VmHWM"), foreign_cores)


def main(**variants: Build) -> None:
    """The command line of a side: which variant, which size, how many steps; prints one JSON line."""
    build, given = asked(variants, size=SIZES.__getitem__, steps=int)
    torch.set_num_threads(THREADS)
    tell(measure(build, given.size, given.steps))
