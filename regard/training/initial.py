"""Beginning from a trained run: its tokenizer, and its weights in the reader of a new model."""

from __future__ import annotations

import json
from dataclasses import dataclass

from regard.checkpoint import Run, RunError, read_json, read_tensors, read_text, write_text
from regard.config import Config, from_dict
from regard.models import Model, ModelConfig, TextReader, TextReaderConfig

TAKEN = "taken.json"  # in the run folder: the weights that came from another run


@dataclass(frozen=True)
class Initial(Config):
    """The run to begin from; `frozen` keeps the weights that come from it as they are."""

    run: str
    frozen: bool = False


def reader_of(run: Run) -> TextReaderConfig:
    """The config of a run's model, or of the reader inside it, as the reader of another model."""
    model = from_dict(ModelConfig, run.section("model"), "model")
    text = model.text()
    if not isinstance(text, TextReaderConfig):
        raise RunError(
            f"{run.path}: its model, of kind {model.kind!r}, reads no text whole, so nothing can begin from it"
        )
    return text.inside()


def take_tokenizer(initial: Initial, run: Run) -> None:
    """What the weights know are the pieces of that run: the new one must cut texts alike."""
    if not run.tokenizer_path.exists():
        write_text(run.tokenizer_path, read_text(Run(initial.run).tokenizer_path))


def take_weights(initial: Initial, model: Model, run: Run) -> None:
    """Copy what the reader of a model has in common with the run to begin from; of a frozen one it does not learn any
    more. Which weights these are is written into `run`, so that it can be resumed when the other one is gone.

    What the reader adds to it (a mix of layers) keeps its fresh weights; what only the other run has (an output layer)
    stays behind.
    """
    reader, path = reader_in(model, initial), Run(initial.run).weights_path
    weights, own = read_tensors(path), dict(reader.named_parameters())
    inside = "reader." if any(name.startswith("reader.") for name in weights) else ""  # of a labeller's run
    shared = {name: weights[inside + name] for name in own if inside + name in weights}
    for name, weight in shared.items():
        if own[name].shape != weight.shape:
            raise RunError(f"{path}: {name} has shape {tuple(weight.shape)}, the model's is {tuple(own[name].shape)}")
    if not shared:
        raise RunError(f"{path} has no weights in common with a reader of kind {reader.config.kind!r}")
    for name, weight in shared.items():
        own[name].data.copy_(weight)
    write_text(run.path / TAKEN, json.dumps({"weights": sorted(shared)}, indent=2) + "\n")
    freeze(initial, model, run)


def freeze(initial: Initial, model: Model, run: Run) -> None:
    """Let the weights that were taken learn, unless they are to stay as they are."""
    own = dict(reader_in(model, initial).named_parameters())
    for name in read_json(run.path / TAKEN)["weights"]:
        own[name].requires_grad_(not initial.frozen)


def reader_in(model: Model, initial: Initial) -> TextReader:
    reader = next((part for part in model.children() if isinstance(part, TextReader)), None)
    if reader is None:
        raise RunError(f"a model of kind {model.config.kind!r} has no reader that could begin from {initial.run}")
    return reader
