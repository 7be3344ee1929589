"""Beginning from a trained run: its tokenizer, and its weights in the reader of a new model."""

from __future__ import annotations

from dataclasses import dataclass

from regard.checkpoint import Run, RunError, read_tensors, read_text, write_text
from regard.config import Config, from_dict
from regard.models import Model, ModelConfig, TextReader, TextReaderConfig


@dataclass(frozen=True)
class Initial(Config):
    """The run to begin from; `frozen` keeps the weights that come from it as they are."""

    run: str
    frozen: bool = False


def reader_of(run: Run) -> TextReaderConfig:
    """The config of a run's model, or of the reader inside it."""
    model = from_dict(ModelConfig, run.section("model"), "model")
    text = model.text()
    if not isinstance(text, TextReaderConfig):
        raise RunError(
            f"{run.path}: its model, of kind {model.kind!r}, reads no text whole, so nothing can begin from it"
        )
    return text


def take_tokenizer(initial: Initial, run: Run) -> None:
    """What the weights know are the pieces of that run: the new one must cut texts alike."""
    if not run.tokenizer_path.exists():
        write_text(run.tokenizer_path, read_text(Run(initial.run).tokenizer_path))


def take_weights(initial: Initial, model: Model) -> None:
    """Copy what the reader of a model has in common with the run; of a frozen one it does not learn any more.

    What the reader adds to it (a mix of layers) keeps its fresh weights; what only the run has (an output layer) stays
    behind.
    """
    reader = next((part for part in model.children() if isinstance(part, TextReader)), None)
    if reader is None:
        raise RunError(f"a model of kind {model.config.kind!r} has no reader that could begin from {initial.run}")
    path = Run(initial.run).weights_path
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
        own[name].requires_grad_(not initial.frozen)
