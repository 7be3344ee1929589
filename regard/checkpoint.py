"""The weights of a run: safetensors alone, read strictly, never unpickled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from regard.config import from_dict
from regard.data.tokenizers import Tokenizer
from regard.models import LabellerConfig, Model, ModelConfig, TextModelConfig
from regard.runfolder import LABELS, Run, RunError, load_tokenizer, read_labels, replacing

STATISTICS = ("running_mean", "running_var")  # of a batch norm


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, str] | None = None) -> None:
    with replacing(path) as beside:
        try:
            safetensors.torch.save_file(dict(tensors), beside, metadata=dict(about or {}))
            beside.chmod(0o644)  # readable like every other file of the run
        except safetensors.SafetensorError as error:  # it wraps the operating system's error
            raise OSError(str(error)) from error


def read_tensors(path: Path, device: str = "cpu") -> dict[str, Tensor]:
    with readable(path):
        return safetensors.torch.load_file(path, device=device)


def check_tensors(path: Path) -> None:
    """Whether a file is there and whole, without reading what is in it."""
    with readable(path), safetensors.safe_open(path, framework="pt") as tensors:
        tensors.keys()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise RunError(f"{path} is missing") from None
    except (OSError, safetensors.SafetensorError) as error:
        raise RunError(f"{path} is no whole safetensors file ({error}); copy it again or train anew") from error


# --- weights ----------------------------------------------------------------------------------------------------------


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """The parameters by name, each once: what is tied stands under its first name. And what batch norms have seen."""
    return {name: tensor.detach().contiguous() for name, tensor in lasting(model).items()}


def lasting(model: nn.Module) -> dict[str, Tensor]:
    """The tensors themselves that what a trained model gives depends on, parameters first."""
    seen = {name: buffer for name, buffer in model.named_buffers() if name.rpartition(".")[2] in STATISTICS}
    return dict(model.named_parameters()) | seen


def running(model: nn.Module) -> dict[str, Tensor]:
    """What a model keeps of its training beside its weights, such as a baseline: the persistent buffers by name.

    They belong to a checkpoint; whoever uses the trained model needs none of them but the statistics of batch norms.
    """
    kept = model.state_dict(keep_vars=True).keys()
    return {name: buffer.detach().contiguous() for name, buffer in model.named_buffers() if name in kept}


def put_weights(model: nn.Module, weights: Mapping[str, Tensor], where: str) -> None:
    """Copy weights into a model of exactly their names and shapes; otherwise nothing is changed."""
    own = lasting(model)
    missing, extra = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
    if missing or extra:
        parts = [f"{word} {_some(names)}" for word, names in (("lacks", missing), ("has extra", extra)) if names]
        raise RunError(f"{where} {' and '.join(parts)}: it belongs to another configuration")
    for name, parameter in own.items():
        if parameter.shape != weights[name].shape:
            raise RunError(
                f"{where}: {name} has shape {tuple(weights[name].shape)}, the model's is {tuple(parameter.shape)}: "
                "it belongs to another configuration"
            )
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])


def check_finite(weights: Mapping[str, Tensor], path: Path) -> None:
    """Raise `RunError` where a weight is infinite or not a number: every output would be so too."""
    if broken := [name for name, weight in weights.items() if not weight.isfinite().all()]:
        raise RunError(f"{path}: {_some(broken)}: there are values that are infinite or no numbers")


def _some(names: list[str], most: int = 4) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


# --- what a run holds -------------------------------------------------------------------------------------------------


def load_model(run: Run) -> Model:
    """The model of a run with its best weights."""
    model = from_dict(ModelConfig, run.section("model"), "model").build()
    weights = read_tensors(run.weights_path)
    put_weights(model, weights, str(run.weights_path))
    check_finite(weights, run.weights_path)
    return model


def load_whole(run: Run) -> tuple[Model, Tokenizer | None]:
    """Model and tokenizer, which must belong together, and the names of labels with them. Where neither reads nor
    writes a text there is no tokenizer."""
    model = load_model(run)
    check_labels(run, model.config)
    text = model.config.text()
    if text is None:
        return model, None
    tokenizer = load_tokenizer(run)
    check_together(run, tokenizer, text)
    return model, tokenizer


def load_both(run: Run) -> tuple[Model, Tokenizer]:
    """The same of a model that reads or writes texts."""
    model, tokenizer = load_whole(run)
    if tokenizer is None:
        raise RunError(f"{run.config_path}: a model of kind {model.config.kind!r} reads no text")
    return model, tokenizer


def check_labels(run: Run, model: ModelConfig) -> None:
    """Raise `RunError` where a run names more or fewer labels than its model gives scores for."""
    path = run.path / LABELS
    if not isinstance(model, LabellerConfig) or not path.exists():
        return
    names = read_labels(run.path)
    if len(names) != model.labels:
        raise RunError(
            f"{path} has {len(names)} labels, the model {model.labels}: they do not belong together; copy it again or "
            "train anew"
        )


def check_together(run: Run, tokenizer: Tokenizer, model: TextModelConfig) -> None:
    """Raise `RunError` where tokenizer and model have vocabularies of different sizes."""
    if tokenizer.vocabulary != model.vocabulary:
        raise RunError(
            f"{run.tokenizer_path} has {tokenizer.vocabulary} pieces, the model {model.vocabulary}: "
            "they do not belong together"
        )
