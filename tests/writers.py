"""Language models that nobody trained, as run folders: they write nonsense at once, the same every time."""

from __future__ import annotations

from pathlib import Path

import torch

from regard.checkpoint import weights_of, write_tensors
from regard.config import change, to_dict
from regard.data.tokenizers import Tokenizer
from regard.models import ModelConfig
from regard.runfolder import Run
from tests.helpers import decoder, randomise

LETTERS = "abcdefghijklmnopqrstuvwxyz .,\nABC"
CONTEXT = 24


def write_writer(
    folder: Path,
    config: ModelConfig | None = None,
    context: int = CONTEXT,
    seed: int = 3,
    tokenizer: Tokenizer | None = None,
) -> Path:
    """Letters are its tokens, unless another tokenizer is given; it hardly ever ends by itself."""
    tokenizer = tokenizer or Tokenizer.train([LETTERS], "char")
    torch.manual_seed(seed)
    given = {"vocabulary": tokenizer.vocabulary, "head.tied": False, "head.bias": True}
    model = change(config or decoder(), given).build()
    randomise(model)
    with torch.no_grad():
        model.head.weight.normal_(std=0.3)  # type: ignore[union-attr, operator]
        model.head.bias[sorted(tokenizer.specials)] = -20.0  # type: ignore[union-attr, index]
    run = Run(folder)
    run.write_config({"model": to_dict(model.config), "task": {"kind": "lm", "context": context}})
    tokenizer.save(run.tokenizer_path)
    write_tensors(run.weights_path, weights_of(model))
    return folder
