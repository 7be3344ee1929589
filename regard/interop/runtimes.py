"""Exports for programs that run models: CTranslate2 and ONNX. Their packages are asked for when they are needed."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.checkpoint import load_both
from regard.config import ConfigError
from regard.errors import Error, writing
from regard.interop.exporting import check_free, export_huggingface
from regard.models import Encoder, EncoderModel, LabellerConfig, ModelConfig, TextWriter
from regard.runfolder import Run, write_text

Say = Callable[[str], None]


def need(form: str, *packages: str) -> None:
    """Refuse where a package is missing that writes this form."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise Error(f"--to {form} takes the packages {', '.join(missing)}: pip install {' '.join(missing)}")


def export_ctranslate2(run: str | Path, out: str | Path, say: Say = lambda line: None) -> None:
    """Through a folder of Hugging Face, by the package's own converter."""
    need("ctranslate2", "ctranslate2", "transformers")
    folder = Path(out)
    check_free(folder)
    model, tokenizer = load_both(Run(run))
    check_headless(model.config)
    import ctranslate2

    with tempfile.TemporaryDirectory() as between:
        export_huggingface(run, between, say)
        ctranslate2.converters.TransformersConverter(between).convert(str(folder))
    about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    end = tokenizer.backend.id_to_token(tokenizer.end)  # the program wants a name where there is no such token
    named = {key: end if key.endswith("_token") and value is None else value for key, value in about.items()}
    write_text(folder / "config.json", json.dumps(named, indent=2) + "\n")
    write_text(folder / "tokenizer.json", tokenizer.to_json())


def check_headless(config: ModelConfig) -> None:
    if isinstance(config, Encoder) and config.head is not None:
        raise ConfigError("a head that finds masked words has no counterpart in CTranslate2: export to onnx instead")
    if isinstance(config, LabellerConfig):
        raise ConfigError("a head that gives labels has no counterpart in CTranslate2: export to huggingface instead")


class _Call(nn.Module):
    """A model as others call it: tokens and a mask of whole numbers in; logits, or an encoder's states, out."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        result: Tensor = self.model(input_ids, attention_mask.bool())
        return result


def export_onnx(run: str | Path, out: str | Path, say: Say = lambda line: None) -> None:
    """`model.onnx`, which takes any number of texts of any length, and `tokenizer.json`."""
    need("onnx", "onnx", "onnxscript")
    folder = Path(out)
    check_free(folder)
    model, tokenizer = load_both(Run(run))
    if not isinstance(model, (TextWriter, EncoderModel)):
        raise ConfigError(f"a model of kind {model.config.kind!r} is not exported to onnx: an encoder or decoder is")
    result = "last_hidden_state" if isinstance(model, EncoderModel) and model.head is None else "logits"
    tokens = torch.full((2, 5), tokenizer.end)
    keep = torch.ones_like(tokens)
    keep[1, 3:] = 0
    axes: dict[int, Any] = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}
    with quietly():
        program = torch.onnx.export(
            _Call(model).eval(),
            (tokens, keep),
            input_names=["input_ids", "attention_mask"],
            output_names=[result],
            dynamic_shapes={"input_ids": axes, "attention_mask": axes},
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        program.save(folder / "model.onnx")
    write_text(folder / "tokenizer.json", tokenizer.to_json())
    say(f"input_ids and attention_mask in, {result} out")


@contextmanager
def quietly() -> Iterator[None]:
    """The exporter warns of packages and of names of axes that nobody asked for."""
    import logging

    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
