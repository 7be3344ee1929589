"""Where a training stands, and how it is saved as a checkpoint and taken up again, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path

import torch
from torch import Tensor, nn

from regard.checkpoint import check_tensors, put_weights, read_tensors, running, weights_of, write_tensors
from regard.fast.device import put_random_state, random_state
from regard.models import Model
from regard.runfolder import Run, RunError, read_json, write_text
from regard.training.averaging import Average
from regard.training.progress import Progress
from regard.training.records import validated

LATER = {"best_loss"}  # fields of `Progress` that checkpoints of earlier versions lack
Optimisers = list[torch.optim.Optimizer]


def save_state(run: Run, model: Model, optimisers: Optimisers, average: Average, progress: Progress) -> None:
    """Write all that the next step depends on as a checkpoint of a run."""
    with run.writing_checkpoint(progress.step) as folder:
        write_tensors(folder / "model.safetensors", weights_of(model))
        if kept := running(model):
            write_tensors(folder / "running.safetensors", kept)
        if averaged := average.state():
            write_tensors(folder / "average.safetensors", averaged)
        write_tensors(folder / "optimiser.safetensors", state_tensors(optimisers, model))
        write_tensors(folder / "random.safetensors", random_state(next(model.parameters()).device))
        write_text(folder / "progress.json", json.dumps(asdict(progress), indent=2) + "\n")


def load_state(run: Run, step: int, model: Model, optimisers: Optimisers, average: Average) -> Progress:
    """Read a checkpoint of a run into all that the next step depends on."""
    folder = run.checkpoint(step)
    put_weights(model, read_tensors(folder / "model.safetensors"), str(folder))
    if kept := running(model):
        saved = read_tensors(folder / "running.safetensors")
        for name, buffer in kept.items():
            buffer.copy_(saved[name])
    averaged = folder / "average.safetensors"
    if average.state() or averaged.exists():  # of some kinds there is nothing yet
        average.put_state(read_tensors(averaged))
    put_state(optimisers, model, read_tensors(folder / "optimiser.safetensors"))
    put_random_state(read_tensors(folder / "random.safetensors"))
    progress = read_progress(folder)
    if progress.best_loss is None:  # as in checkpoints of earlier versions
        progress.best_loss = validated(run.metrics_path, progress.best_step).get("loss")
    return progress


def read_progress(checkpoint: Path) -> Progress:
    path = checkpoint / "progress.json"
    found, known = read_json(path), [one.name for one in fields(Progress)]
    if not set(known) - LATER <= found.keys() <= set(known):
        raise RunError(f"{path} does not have just {', '.join(known)}: it is damaged, or of another version")
    return Progress(**found)


def newest_whole(run: Run, say: Callable[[str], None]) -> int | None:
    """The newest checkpoint that can be read, None where there is none yet. They are written as a whole, but a disk may
    lose a part of one later."""
    steps = run.checkpoints()
    for step in reversed(steps):
        try:
            check_files(run.checkpoint(step))
        except RunError as error:
            say(f"the checkpoint of step {step:,} is left out: {error}")
        else:
            return step
    if steps:
        raise RunError(f"no checkpoint of {run.path} can be read: train anew, into another folder")
    return None


def check_files(checkpoint: Path) -> None:
    read_progress(checkpoint)
    for name in ("model", "optimiser", "random"):
        check_tensors(checkpoint / f"{name}.safetensors")
    for path in checkpoint.glob("*.safetensors"):
        check_tensors(path)


# --- state, as named tensors ------------------------------------------------------------------------------------------


def state_tensors(optimisers: list[torch.optim.Optimizer], model: nn.Module) -> dict[str, Tensor]:
    """Everything the optimisers remember, as "parameter/what" → tensor: safe to store, readable by name."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        f"{names[id(parameter)]}/{key}": value
        for optimiser in optimisers
        for parameter, memory in optimiser.state.items()
        for key, value in memory.items()
    }


def put_state(optimisers: list[torch.optim.Optimizer], model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """The opposite of `state_tensors`."""
    owner = {id(p): optimiser for optimiser in optimisers for group in optimiser.param_groups for p in group["params"]}
    parameters = dict(model.named_parameters())
    for name, value in tensors.items():
        at, _, key = name.rpartition("/")
        parameter = parameters[at]
        owner[id(parameter)].state[parameter][key] = value
