"""A folder of runs as a person has them: good ones, a decoder, one that trains, broken ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fastapi import FastAPI
from fastapi.testclient import TestClient

from regard.checkpoint import weights_of, write_tensors
from regard.config import to_dict
from regard.data.tokenizers import Tokenizer
from regard.models import ModelConfig
from regard.runfolder import Run
from regard.studio.app import make_app
from regard.zoo import get
from tests.helpers import decoder, encoder, randomise
from tests.toy import Toy

PROBED = [100, 200, 300]  # the validations of the good run
SMALL = {"width": 16, "hidden": 24}
CONTEXT = 64  # tokens that the decoder reads at most


def write_untrained(folder: Path, config: ModelConfig) -> None:
    """A run folder that was made by no training: a config, weights and a tokenizer of bytes."""
    tokenizer = Tokenizer.train([], "byte")
    torch.manual_seed(3)
    model = type(config)(**{**vars(config), "vocabulary": tokenizer.vocabulary}).build()
    randomise(model)
    Run(folder).write_config({"model": to_dict(model.config)})
    write_tensors(folder / "model.safetensors", weights_of(model))
    tokenizer.save(folder / "tokenizer.json")


def write_training(folder: Path, config: Path, steps: int) -> None:
    """A run that is at this step of its training."""
    folder.mkdir(exist_ok=True)
    shutil.copy(config, folder / "config.json")
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        for step in range(1, steps + 1):
            file.write(json.dumps({"event": "step", "step": step, "loss": 1 / step, "seconds": step / 10}) + "\n")


@pytest.fixture(scope="session")
def runs(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs to read: tests that write make a folder of their own."""
    folder = tmp_path_factory.mktemp("studio") / "runs"
    shutil.copytree(toy.good, folder / "good")
    shutil.copytree(toy.poor, folder / "poor")
    write_untrained(folder / "decoder", decoder())
    write_untrained(folder / "encoder", encoder())
    write_untrained(folder / "recurrent", get("luong-2015-local-p", **SMALL, reach=3))
    write_untrained(folder / "inattentive", get("cho-2014", **SMALL))
    write_training(folder / "training", toy.good / "config.json", 5)
    (folder / "broken").mkdir()
    (folder / "broken" / "config.json").write_text("{]")
    (folder / "empty").mkdir()
    (folder.parent / "outside").mkdir()
    shutil.copytree(toy.good, folder.parent / "outside", dirs_exist_ok=True)
    (folder / "link").symlink_to(folder.parent / "outside")
    return folder


@pytest.fixture(scope="session")
def app(runs: Path) -> FastAPI:
    return make_app(runs)


@pytest.fixture(scope="session")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://localhost") as client:
        yield client
