"""How long a training step takes: measured of all contestants in turn, so that each gets as many steps as its time."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from regard.fast import choose_device, quicken
from regard.lab.experiment import Say
from regard.models import ModelConfig
from regard.runfolder import Run, read_json, write_text
from regard.tasks.base import Task
from regard.training.records import ignore
from regard.training.settings import Training
from regard.training.strategy import Alone
from regard.training.trainer import Trainer

STEPS_PER_ROUND, ROUNDS = 6, 4  # each contestant is timed in every round


def paces(
    task: Task[Any], models: Mapping[str, ModelConfig], training: Training, path: Path, say: Say
) -> tuple[Mapping[str, float], float]:
    """Seconds a step by name, kept in a file, so that an experiment that goes on plans as it did before; and how many
    times as long a step takes by the clock while the machine does other things, 1 where it was not measured now.

    The quickest of some rounds counts, and on a CPU its own time alone: what else the machine does now must not decide
    who gets how many steps.
    A plan of steps, rather than a clock, keeps the schedule a function of the step: what is resumed is the same.
    """
    if path.exists():
        return read_json(path), 1.0
    say("timing a few steps of each contestant")
    trainers = {}
    batches = task.batches(training.batch_tokens, training.seed)
    device = choose_device(training.device)
    for name, model in models.items():
        torch.manual_seed(training.seed)
        built = quicken(model.build().to(device).train())
        trainers[name] = Trainer(Run(path.parent), task, built, training, batches, Alone(), ignore)
    chosen = [indices for _, _, indices in islice(batches.iterate(), STEPS_PER_ROUND)]
    worked: dict[str, list[float]] = {name: [] for name in models}
    took: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, trainer in trainers.items():
            begun, work_begun = time.perf_counter(), clock(trainer.strategy.device)
            for indices in chosen:
                trainer.step([indices])
            worked[name].append((clock(trainer.strategy.device) - work_begun) / STEPS_PER_ROUND)
            took[name].append((time.perf_counter() - begun) / STEPS_PER_ROUND)
    found = {name: min(measured) for name, measured in worked.items()}
    write_text(path, json.dumps(found, indent=2) + "\n")
    return found, max(1.0, sum(map(mean, took.values())) / sum(found.values()))


def clock(device: torch.device) -> float:
    """Seconds of work: processor time on a CPU, wall-clock time elsewhere."""
    if device.type == "cpu":
        return time.process_time() / torch.get_num_threads()
    torch.accelerator.synchronize()
    return time.perf_counter()
