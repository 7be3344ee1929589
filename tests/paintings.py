"""Small pictures that a tiny model tells apart: a colour with noise, in folders by the name of the colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
