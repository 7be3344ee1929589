"""Where a model looks on a picture, as a strip of pictures in PNG or SVG, or as an animation in GIF: a frame for each
word that looks at it, or for each head. What is attended to stays light, the rest goes dark, as in Xu et al. 2015,
arXiv:1502.03044."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.config import nearest
from regard.data.pictures.reading import pillow
from regard.errors import Error
from regard.look.parts import Array, Layer, Rollout, Side
from regard.look.picturing import cells_of
from regard.look.records import SHARES, Look, merged
from regard.page.svg import CaptionedPng, picture_strip

FRAME_PIXELS = 192  # a frame's longer side
LABEL_PIXELS = 22  # of height below a frame
ACROSS = 6  # frames in a row
BEAT_MILLISECONDS = 900  # of a frame in an animation
DARKEST = 0.82  # of what is not attended to

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Frame:
    """A picture with its label; `weights` (rows, columns) of its cells, None for the picture as it is."""

    label: str
    weights: Array | None


def frames(look: Look, name: str | None = None, head: int | None = None) -> list[Frame]:
    """The picture itself, and where it is looked at: by each word, where words look at it; else by each head of a
    layer, from the model's own token or from all cells on the mean. Unless a layer is named, what counts in a verdict,
    or the last layer that looks at the picture."""
    if look.grid is None:
        raise Error("this run reads no pictures: --svg and --gif are of those")
    side = look.grid.side
    seen: list[Layer | Rollout] = [*look.layers, *look.rollout]
    maps = {one.name: one for one in seen if one.columns == side}
    whole = Frame(look.sides[side].text, None)
    if name is None and SHARES in look.arrays:
        return [whole, Frame(look.sides["label"].text, cells_of(look, look.arrays[SHARES][0, 0]))]
    if name is not None and name not in maps:
        raise Error(f"no layer {name!r} looks at the picture: {nearest(name, maps)}")
    if not maps:
        return [whole]
    crossing = [one.name for one in maps.values() if one.rows != side]
    chosen = name or (crossing or list(maps))[-1]
    weights = look.arrays[chosen]
    if head is not None and not 0 <= head < len(weights):
        raise Error(f"{chosen} has heads 0 to {len(weights) - 1}, not {head}")
    if maps[chosen].rows != side:
        rows = as_written(look, maps[chosen].rows)
        by_word = merged(weights.mean(0) if head is None else weights[head], rows.by_words(), np.eye(weights.shape[-1]))
        return [whole, *(Frame(*one) for one in zip(rows.words, cells_of(look, by_word), strict=True))]
    heads = range(len(weights)) if head is None else [head]
    own = look.grid.own
    return [whole, *(Frame(f"head {i}", cells_of(look, weights[i, 0] if own else weights[i].mean(0))) for i in heads)]


def as_written(look: Look, name: str) -> Side:
    """A side as its rows predict it, where it is written: everything one place earlier, and the end last."""
    side = look.sides[name]
    if name != look.writes:
        return side
    return replace(side, tokens=[*side.tokens[1:], ""], word_of=[*side.word_of[1:], None])


def shown(look: Look, frame: Frame, smooth: bool = True) -> Any:
    """A frame as a picture of Pillow's; weights fill the scale from 0 to their highest."""
    assert look.grid is not None
    image, pixels = pillow(), look.arrays[look.grid.side].astype(np.uint8)
    scale = FRAME_PIXELS / max(pixels.shape[:2])
    size = (max(round(scale * pixels.shape[1]), 1), max(round(scale * pixels.shape[0]), 1))
    found = image.fromarray(pixels).resize(size, image.Resampling.NEAREST if scale > 2 else image.Resampling.BICUBIC)
    if frame.weights is None:
        return found
    light = frame.weights / max(float(frame.weights.max()), 1e-9)
    way = image.Resampling.BICUBIC if smooth else image.Resampling.NEAREST
    spread = image.fromarray((255 * light).astype(np.uint8)).resize(size, way)
    kept = 1 - DARKEST * (1 - np.asarray(spread, dtype=np.float32) / 255)
    return image.fromarray((np.asarray(found) * kept[..., None]).astype(np.uint8))


def labelled(look: Look, frame: Frame, smooth: bool) -> Any:
    """With its label below."""
    image, picture = pillow(), shown(look, frame, smooth)
    found = image.new("RGB", (picture.width, picture.height + LABEL_PIXELS), "white")
    found.paste(picture, (0, 0))
    pen = pillow("ImageDraw").Draw(found)
    font = pillow("ImageFont").load_default(14)
    width = pen.textlength(frame.label, font=font)
    pen.text((max((picture.width - width) / 2, 0), picture.height + 2), frame.label, fill="black", font=font)
    return found


def write_strip(look: Look, path: Path, every: Sequence[Frame], smooth: bool = True) -> None:
    """All frames side by side, as PNG."""
    drawn = [labelled(look, frame, smooth) for frame in every]
    across, (width, height) = min(len(drawn), ACROSS), drawn[0].size
    sheet = pillow().new("RGB", (across * (width + 6) - 6, math.ceil(len(drawn) / across) * height), "white")
    for number, one in enumerate(drawn):
        sheet.paste(one, (number % across * (width + 6), number // across * height))
    sheet.save(path, format="PNG")


def write_animation(look: Look, path: Path, every: Sequence[Frame], smooth: bool = True) -> None:
    """One frame after the other, as GIF that begins again: where the eye goes."""
    first, *others = (labelled(look, frame, smooth) for frame in every)
    first.save(path, format="GIF", save_all=True, append_images=others, duration=BEAT_MILLISECONDS, loop=0)


def svg(look: Look, every: Sequence[Frame], smooth: bool = True) -> str:
    """The strip as SVG, its pictures inside and its labels as text."""
    found = []
    for frame in every:
        picture, data = shown(look, frame, smooth), io.BytesIO()
        picture.save(data, format="PNG")
        found.append(CaptionedPng(frame.label, data.getvalue(), picture.width, picture.height))
    return picture_strip(found, ACROSS)
