"""How pictures reach a model from elsewhere: by which fit and to which side they are brought, how pixels are scaled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.pictures.sizing import Fit
from regard.errors import DataError
from regard.interop.vocabularies import read_object
from regard.models import PictureReaderConfig
from regard.models.base import Scaling
from regard.models.pixels import MEANS_AND_DEVIATIONS, WHITE

PREPROCESSOR = "preprocessor_config.json"
USUAL: dict[str, Scaling] = {"vit": "half"}  # where nothing is said; of all others "imagenet"
BICUBIC = 3  # Pillow's number of it


@dataclass(frozen=True)
class Seeing:
    """`side` is None where the model's own is meant."""

    pixels: Scaling
    side: int | None = None
    fit: Fit = "crop"


def read_preprocessor(folder: Path, family: str) -> Seeing:
    path = folder / PREPROCESSOR
    if not path.exists():
        return Seeing(USUAL.get(family, "imagenet"), None, "stretch" if family == "vit" else "crop")
    given = read_object(path)
    if given.get("do_normalize", True) is False or given.get("do_rescale", True) is False:
        raise DataError(f"{path}: pixels that are not scaled have no counterpart here")
    factor = given.get("rescale_factor", 1 / WHITE)
    if not isinstance(factor, float) or not math.isclose(factor, 1 / WHITE, rel_tol=1e-3):
        raise DataError(f"{path}: rescale_factor {factor!r} has no counterpart here, 1/{WHITE} alone has")
    pixels = scaling_of(given.get("image_mean"), given.get("image_std"), USUAL.get(family, "imagenet"), str(path))
    size, cropped = given.get("size"), given.get("do_center_crop", False)
    side = side_of(given.get("crop_size") if cropped else size, str(path))
    edges = isinstance(size, dict) and "shortest_edge" in size
    stretched = not (cropped or edges or "crop_pct" in given)
    return Seeing(pixels, side, "stretch" if stretched else "crop")


def scaling_of(mean: Any, deviation: Any, usual: Scaling, where: str) -> Scaling:
    """The name of a mean and a deviation of colours from 0 to 1."""
    if mean is None and deviation is None:
        return usual
    for name, known in MEANS_AND_DEVIATIONS.items():
        if all(alike(given, own) for given, own in zip((mean, deviation), known, strict=True)):
            return name
    known_means = " and ".join(str(list(known[0])) for known in MEANS_AND_DEVIATIONS.values())
    raise DataError(
        f"{where}: a mean of {mean} and a deviation of {deviation} have no counterpart: known are the means"
        f" {known_means}"
    )


def alike(given: Any, own: Sequence[float]) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) == len(own)
        and all(
            isinstance(a, int | float) and math.isclose(a, b, abs_tol=1e-3) for a, b in zip(given, own, strict=True)
        )
    )


def side_of(size: Any, where: str) -> int | None:
    """Of a size as a number, or as one or two of them by name."""
    found = set(size.values()) if isinstance(size, dict) else {size}
    if found == {None}:
        return None
    if len(found) != 1 or not isinstance(side := next(iter(found)), int) or side < 1:
        raise DataError(f"{where}: a size of {size} has no counterpart here: pictures are squares of whole pixels")
    return side


def preprocessor_of(reader: PictureReaderConfig, task: Mapping[str, Any]) -> dict[str, Any]:
    """The file that says the same; pictures with grey beside them have no counterpart, and are cropped there."""
    side = task.get("side") or reader.side
    square = {"height": side, "width": side}
    mean, deviation = MEANS_AND_DEVIATIONS[reader.pixels]
    stretched = task.get("fit") == "stretch"
    crop = {"do_center_crop": True, "crop_size": square}
    return {
        "image_processor_type": "ViTImageProcessor" if stretched else "BitImageProcessor",
        "do_resize": True,
        "size": square if stretched else {"shortest_edge": side},
        **({} if stretched else crop),
        "resample": BICUBIC,
        "do_rescale": True,
        "rescale_factor": 1 / WHITE,
        "do_normalize": True,
        "image_mean": list(mean),
        "image_std": list(deviation),
    }
