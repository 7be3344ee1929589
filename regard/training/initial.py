"""Beginning from a trained run: its tokenizer, and its weights in the reader of a new model, or in one like its own."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch

from regard.checkpoint import check_finite, check_together, lasting, read_tensors
from regard.config import Config, ConfigError, Count, Positive, Within, from_dict
from regard.models import (
    Encoder,
    InputReader,
    InputReaderConfig,
    Model,
    ModelConfig,
    PictureReaderConfig,
    TextModelConfig,
    Writer,
)
from regard.nn.lowrank import adapt
from regard.runfolder import Run, RunError, load_tokenizer, read_json, read_text, write_text

TAKEN = "taken.json"  # in the run folder: the weights that came from another run
HEAD_RATE = 10.0
READER = "reader."  # how the names of weights begin that a labeller's reader has
POOL = "pool."  # how the names of a pool's weights begin, in an encoder and in what is built around one
BLOCK, EACH = re.compile(r"\bblocks\.(\d+)\."), re.compile(r"\b(?:blocks|positions)\.(\d+)\.")


@dataclass(frozen=True)
class Initial(Config):
    """The run to begin from; `frozen` keeps the weights that come from it as they are, `frozen_layers` those of the
    tables and of so many of the lowest layers. With `layer_decay` each layer learns at this share of the rate of the
    one above it, down to the tables. Howard and Ruder 2018, arXiv:1801.06146; Clark et al. 2020, arXiv:2003.10555.
    What is new above them learns at `head_rate` times the rate; unless told, ten times above an encoder, whose rate is
    low: it has everything to learn, from vectors that are much alike. With `head_first` the output layer starts as the
    best that can be made of the weights as they come, and learns no faster: what was learnt before is then not bent
    towards a head that knows nothing. Kumar et al. 2022, arXiv:2202.10054.

    With a `rank` the weights that come from it stay as they are, and adapters of that rank learn beside its matrices,
    at `scale` / rank; in the trained run they are merged. Hu et al. 2021, arXiv:2106.09685.

    `part` is what of the model begins from the run, where that is neither the whole nor what reads its texts: the
    encoder of a captioner. A `fresh` model takes shape and tokenizer alone and learns from nothing: what pre-training
    is worth is told by it.
    """

    run: str
    frozen: bool = False
    frozen_layers: Count = 0
    layer_decay: Annotated[float, Within(low=0.01, high=1)] = 1.0
    head_rate: Positive | None = None
    head_first: bool = False
    rank: Count = 0
    scale: Positive = 16.0
    fresh: bool = False
    part: Literal["encoder"] | None = None

    def check(self) -> None:
        if self.frozen and (self.frozen_layers or self.layer_decay != 1):
            raise ConfigError(
                "initial.frozen: all that comes from the run stays as it is; leave frozen_layers and layer_decay out"
            )
        if self.fresh and (self.rank or self.frozen or self.frozen_layers or self.head_first or self.layer_decay != 1):
            raise ConfigError("initial.fresh: what learns from nothing has no weights to keep or to slow down")
        if self.rank and (self.frozen or self.frozen_layers or self.layer_decay != 1):
            raise ConfigError(
                "initial.rank: with adapters all that comes from the run stays as it is; name nothing else"
            )


def beginning_of(run: Run) -> TextModelConfig | PictureReaderConfig:
    """The config of what reads tokens or pictures in a run's model: itself, or the reader inside it."""
    model = from_dict(ModelConfig, run.section("model"), "model")
    inside = getattr(model, "reader", model)
    found = inside if isinstance(inside, PictureReaderConfig) else model.text()
    if found is None:
        raise RunError(f"{run.path}: its model, of kind {model.kind!r}, reads no tokens, so nothing can begin from it")
    return found


def reader_of(run: Run) -> InputReaderConfig:
    """The same as the reader of another model."""
    found = beginning_of(run)
    if not isinstance(found, InputReaderConfig):
        raise RunError(
            f"{run.path}: its model, of kind {found.kind!r}, is no encoder, so only the task that it was trained for "
            "can begin from it"
        )
    return found.inside()


def take_tokenizer(initial: Initial, run: Run) -> None:
    """What the weights know are the pieces of that run: the new one must cut texts alike. Readers of pictures have
    none."""
    if run.tokenizer_path.exists() or (run.path / TAKEN).exists():
        return
    source = Run(initial.run)
    text = beginning_of(source)
    if not isinstance(text, TextModelConfig):
        return
    check_together(source, load_tokenizer(source), text)
    write_text(run.tokenizer_path, read_text(source.tokenizer_path))


def take_weights(initial: Initial, model: Model, run: Run) -> None:
    """Copy what the reader of a model has in common with the run to begin from; of a frozen one it does not learn any
    more. Which weights these are is written into `run`, so that it can be resumed when the other one is gone.

    What the reader adds to it (a mix of layers) keeps its fresh weights; what only the other run has (an output layer)
    stays behind. Where both pool alike, the weights of that are taken too.
    """
    if initial.fresh:
        write_text(run.path / TAKEN, json.dumps({"weights": [], "pool": []}, indent=2) + "\n")
        return
    reader, path = reader_in(model, initial), Run(initial.run).weights_path
    weights, own = read_tensors(path), lasting(reader)
    check_finite(weights, path)
    labeller = not isinstance(reader, Writer) and any(name.startswith(READER) for name in weights)
    inside = READER if labeller else ""
    shared = {name: weights[inside + name] for name in own if inside + name in weights}
    for name, weight in shared.items():
        if own[name].shape != weight.shape:
            raise RunError(f"{path}: {name} has shape {tuple(weight.shape)}, the model's is {tuple(own[name].shape)}")
    if not shared:
        raise RunError(f"{path} has no weights in common with a reader of kind {reader.config.kind!r}")
    for name, weight in shared.items():
        own[name].data.copy_(weight)
    pools = {name: weight for name, weight in model.named_parameters() if name.startswith(POOL)}
    pooled = {name: weights[name] for name in pools if name in weights and weights[name].shape == pools[name].shape}
    for name, weight in pooled.items():
        pools[name].data.copy_(weight)
    taken = {"weights": sorted(shared), "pool": sorted(pooled)}
    write_text(run.path / TAKEN, json.dumps(taken, indent=2) + "\n")
    freeze(initial, model, run)


def freeze(initial: Initial, model: Model, run: Run) -> None:
    """Let the weights that were taken learn, unless they are to stay as they are."""
    reader, taken = reader_in(model, initial), read_json(run.path / TAKEN)
    own, whole = dict(reader.named_parameters()), dict(model.named_parameters())
    lowest = depths(reader) if initial.frozen_layers else {}
    if lowest and initial.frozen_layers > max(lowest.values()):
        raise ConfigError(f"frozen_layers {initial.frozen_layers}: the model has {max(lowest.values())} layers")
    for name in taken["weights"]:
        low = name in lowest and lowest[name] <= initial.frozen_layers
        if name in own:  # and no statistic of a batch norm
            own[name].requires_grad_(not (initial.frozen or low))
    for name in taken.get("pool", ()):
        whole[name].requires_grad_(not initial.frozen)
    if initial.rank:
        adapt(reader, initial.rank, initial.scale)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ConfigError("frozen: the whole model comes from the run, so that nothing of it would learn")


def depths(reader: Model) -> dict[str, int]:
    """How far above the tables, which are 0, each weight of a reader stands: those of its first block are 1, and so are
    its positions, where every block has its own."""
    names = [name for name, _ in reader.named_parameters()]
    layer = EACH if any("positions.1." in name for name in names) else BLOCK
    found = {name: int(block.group(1)) + 1 for name in names if (block := layer.search(name))}
    if not found:
        raise ConfigError(f"a reader of kind {reader.config.kind!r} has no layers to learn at different rates")
    top = max(found.values())
    return {
        name: found.get(name, top if name.endswith(("encoder.norm.weight", "encoder.norm.bias")) else 0)
        for name in names
    }


def slow_down(optimisers: list[torch.optim.Optimizer], model: Model, initial: Initial) -> None:
    """Let lower layers learn at lower rates, and what is new above them at a higher one."""
    if initial.fresh:
        return
    reader = reader_in(model, initial)
    own = dict(reader.named_parameters())
    slow = initial.head_first or not isinstance(reader.config, Encoder)
    faster = initial.head_rate or (1.0 if slow else HEAD_RATE)
    taken = {id(parameter) for parameter in own.values()}
    shares = {
        id(parameter): faster
        for name, parameter in model.named_parameters()
        if id(parameter) not in taken and not name.startswith(POOL)
    }
    if initial.layer_decay != 1:
        depth = depths(reader)
        top = max(depth.values()) + 1
        shares |= {id(own[name]): initial.layer_decay ** (top - below) for name, below in depth.items()}
    if set(shares.values()) <= {1.0}:
        return
    for optimiser in optimisers:
        asked = max(group["full_rate"] for group in optimiser.param_groups)
        groups = [part for group in optimiser.param_groups for part in parted(group, shares)]
        # The rate that is told is the first: what was asked for, not that of what learns faster.
        groups.sort(key=lambda group: (group["full_rate"] > asked, -group["full_rate"]))
        optimiser.param_groups[:] = groups


def parted(group: dict[str, Any], shares: Mapping[int, float]) -> list[dict[str, Any]]:
    """A group of parameters as several, one for each share of its rate."""
    by_share: dict[float, list[Any]] = defaultdict(list)
    for parameter in group["params"]:
        by_share[shares.get(id(parameter), 1.0)].append(parameter)
    return [
        {**group, "params": some, "lr": group["lr"] * share, "full_rate": group["full_rate"] * share}
        for share, some in by_share.items()
    ]


def reader_in(model: Model, initial: Initial) -> Model:
    """What begins from the run: the model itself, or the reader that it is built around."""
    if initial.part is not None:
        part: Model = getattr(model, initial.part)
        return part
    if isinstance(model, InputReader | Writer):
        return model
    reader = next((part for part in model.children() if isinstance(part, InputReader)), None)
    if reader is None:
        raise RunError(f"a model of kind {model.config.kind!r} has no reader that could begin from {initial.run}")
    return reader
