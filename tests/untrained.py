"""A classifier that nobody trained, as a run folder: it has something to show, and takes no time."""

from __future__ import annotations

from pathlib import Path

import torch

import regard
from regard.checkpoint import Run, weights_of, write_labels, write_tensors
from regard.config import to_dict
from regard.data.tokenizers import Tokenizer
from tests.helpers import randomise

TEXT = "The film is long. It is an awful one! A dog runs."


def write_classifier(folder: Path, preset: str, **changes: object) -> Path:
    tokenizer = Tokenizer.train([TEXT] * 2, "word", lower=True)
    torch.manual_seed(3)
    model = regard.build(preset, vocabulary=tokenizer.vocabulary, width=12, hidden=8, labels=3, **changes)
    randomise(model)
    run = Run(folder)
    run.write_config({"model": to_dict(model.config), "task": {"kind": "classify"}})
    write_labels(folder, ["bad", "good", "odd"])
    tokenizer.save(run.tokenizer_path)
    write_tensors(run.weights_path, weights_of(model))
    return folder
