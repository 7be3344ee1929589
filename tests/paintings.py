"""Small pictures that a tiny model tells apart: a colour with noise, in folders by the name of the colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from regard.checkpoint import weights_of, write_tensors
from regard.config import to_dict
from regard.data.tokenizers import Tokenizer
from regard.models import Classifier
from regard.nn.pooling import AttentionPooling
from regard.runfolder import Run, write_labels
from regard.tasks.captioning.task import Captioning
from regard.tasks.judging.picturing import PictureClassification
from regard.zoo import get
from tests.helpers import randomise

SIDE = 16
COLOURS = {"blue": (40, 60, 200), "green": (40, 170, 60), "red": (210, 50, 40)}
MODEL = ("--layers", 1, "--width", 16, "--heads", 2, "--hidden", 32, "--task.side", SIDE)
TRAINING = ("--max-steps", 40, "--validate-every", 20, "--batch-tokens", 12, "--rate", 0.005, "--warmup", 5)


def painting(colour: str, seed: int, height: int = SIDE, width: int = SIDE) -> NDArray[np.uint8]:
    noise = np.random.default_rng(seed).integers(-40, 41, (height, width, 3))
    return (np.array(COLOURS[colour]) + noise).clip(0, 255).astype(np.uint8)


def write_paintings(folder: Path, count: int, seed: int = 0) -> Path:
    """So many of each colour, of several sizes."""
    from PIL import Image

    for colour in COLOURS:
        (folder / colour).mkdir(parents=True)
        for number in range(count):
            pixels = painting(colour, seed + number, SIDE + number % 3, SIDE + number % 2)
            Image.fromarray(pixels).save(folder / colour / f"{number}.png")
    return folder


def write_painted(folder: Path, side: int = SIDE) -> Path:
    """A run that nobody trained: a small ViT with a class token, over cells of 4 pixels."""
    sizes = {"layers": 2, "width": 16, "heads": 2, "hidden": 32, "rows": side // 4, "columns": side // 4}
    reader = get("vit-tiny", side=side, size=4, **sizes)
    config = Classifier(reader=reader, pool=AttentionPooling(), labels=len(COLOURS))
    torch.manual_seed(7)
    model = config.build()
    randomise(model)
    run, task = Run(folder), PictureClassification(side=side)
    run.write_config({"task": to_dict(task), "model": to_dict(config)})
    write_labels(folder, COLOURS)
    write_tensors(run.weights_path, weights_of(model))
    return folder


def write_captioner(folder: Path, side: int = SIDE) -> Path:
    """The same of a captioner, which knows a few words."""
    tokenizer = Tokenizer.train(["a red thing on a blue thing"] * 4, "word")
    config = get("captioner", vocabulary=tokenizer.vocabulary, side=side, width=16, heads=2, hidden=32)
    torch.manual_seed(7)
    model = config.build()
    randomise(model)
    run = Run(folder)
    run.write_config({"task": to_dict(Captioning(side=side, max_length=8)), "model": to_dict(config)})
    tokenizer.save(run.tokenizer_path)
    write_tensors(run.weights_path, weights_of(model))
    return folder
