"""Classifiers, taggers and readers that nobody trained, as run folders: something to show, and it takes no time."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import regard
from regard.checkpoint import weights_of, write_tensors
from regard.config import change, from_dict, to_dict
from regard.data.tokenizers import Kind, Tokenizer
from regard.models import (
    BiLM,
    Classifier,
    Encoder,
    LSTMNEncoder,
    ModelConfig,
    RecurrentEncoder,
    Tagger,
    TextReaderConfig,
)
from regard.nn.pooling import FirstToken, LastToken
from regard.runfolder import Run, write_labels
from regard.zoo import get
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


PAIR = ("The dog runs home.", "A dog is at home!")


def write_reader(
    folder: Path, task: str | None, preset: str = "bert-base", labels: Sequence[str] = ("no", "yes"), **changes: Any
) -> Path:
    """The same around a small encoder, for a task that reads with one; for others the encoder by itself."""
    bert = preset.startswith("bert")
    texts = [TEXT, *PAIR] * 3
    closes = preset.startswith("xlnet")
    kind: Kind = "wordpiece" if bert else "bpe"
    tokenizer = Tokenizer.train(texts, kind, 70 if bert else 330, lower=True, mask=True, closes=closes)
    torch.manual_seed(3)
    encoder = get(preset, vocabulary=tokenizer.vocabulary, width=16, layers=2, heads=2, hidden=24)
    assert isinstance(encoder, Encoder)
    config: ModelConfig = replace(encoder, **{"pool": None, **changes})
    if task in ("pair", "classify"):
        config = Classifier(
            reader=encoder.inside(), labels=len(labels), **{"pool": LastToken() if closes else FirstToken(), **changes}
        )
        write_labels(folder, labels)
    elif task in ("answer", "tag"):
        config = Tagger(reader=encoder.inside(), labels=len(labels))
        if task == "tag":
            write_labels(folder, labels)
    model = config.build()
    randomise(model)
    run = Run(folder)
    fields = {"classify": {"max_length": 64, "framed": True}} | {
        name: {"max_length": 64} for name in ("pair", "answer", "tag")
    }
    section = {"task": {"kind": task, **fields.get(task, {})}} if task else {}
    run.write_config({"model": to_dict(model.config), **section})
    tokenizer.save(run.tokenizer_path)
    write_tensors(run.weights_path, weights_of(model))
    return folder


BILM = BiLM(vocabulary=9, width=12, hidden=16)
RECURRENT: dict[str, TextReaderConfig] = {
    "lstm": RecurrentEncoder(vocabulary=9, width=12, hidden=8),
    "lstmn": LSTMNEncoder(vocabulary=9, width=12, hidden=8, layers=2),
    "elmo": BILM.inside(),
}


def write_recurrent(folder: Path, config: ModelConfig, task: str, labels: Sequence[str] = ("no", "yes")) -> Path:
    """The same of recurrent layers: what reads with some, or they by themselves."""
    tokenizer = Tokenizer.train([TEXT, *PAIR] * 3, "wordpiece", 70, lower=True)
    torch.manual_seed(3)
    model = change(config, {"vocabulary": tokenizer.vocabulary}).build()
    randomise(model)
    run = Run(folder)
    run.write_config({"model": to_dict(model.config), "task": {"kind": task, "max_length": 64}})
    if task == "tag":
        write_labels(folder, labels)
    tokenizer.save(run.tokenizer_path)
    write_tensors(run.weights_path, weights_of(model))
    return folder


def write_every_recurrent(folder: Path) -> Path:
    """A tagger over each reader, a biLM, a reader by itself, and a classifier that attends to earlier words."""
    for name, reader in RECURRENT.items():
        write_recurrent(folder / name, Tagger(reader=reader), "tag")
    write_recurrent(folder / "bilm", BILM, "bilm")
    write_recurrent(folder / "bare", RECURRENT["lstm"], "similar")
    write_classifier(folder / "intra", "classifier", reader="lstmn-encoder")
    return folder


def write_translator(folder: Path, trained: Path, bias: float) -> Path:
    """As a trained translator, but with random weights, and this much more for the end than for another token."""
    shutil.copytree(trained, folder)
    run = Run(folder)
    sections = run.read_config()
    config = from_dict(ModelConfig, sections["model"], "model")
    torch.manual_seed(5)
    model = change(config, {"head.tied": False, "head.bias": True}).build()
    randomise(model)
    with torch.no_grad():
        model.head.bias.zero_()[2] = bias  # type: ignore[union-attr, operator, index]
    run.write_config(
        {**{key: value for key, value in sections.items() if key != "format"}, "model": to_dict(model.config)}
    )
    write_tensors(run.weights_path, weights_of(model))
    return folder
