"""Pictures from files and bytes, read strictly: whatever they were, they come as upright RGB in eight bits.

JPEG, PNG, WebP, GIF (its first frame), BMP, TIFF and PNM are read, by Pillow. What is transparent stands on white, and
what has sixteen bits loses its lower eight. A picture with more than `MOST_PIXELS` is refused before it is decoded, for
a file of some kilobytes can hold gigabytes of one colour.
"""

from __future__ import annotations

import importlib
import io
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError, reading

Pixels = NDArray[np.uint8]  # (height, width, 3): red, green, blue

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM")  # others would start programs, or nobody has them
MOST_PIXELS = 100_000_000  # of a photograph that cameras make; decoded it takes 300 MB
WHITE = (255, 255, 255)
SIXTEEN_BITS = 257  # 65535 / 255


def pillow(module: str = "Image") -> ModuleType:
    """A module of Pillow, which not everybody has installed."""
    try:
        return importlib.import_module(f"PIL.{module}")
    except ImportError:
        raise DataError("pictures are read by Pillow, which is not installed: pip install 'regard[vision]'") from None


def read_picture(
    source: Path | bytes, name: str | None = None, least: int | None = None, most: int = MOST_PIXELS
) -> Pixels:
    """The picture in a file, or in bytes that `name` names in messages.

    `least` is the shorter side that is needed of it: a larger JPEG is then decoded at a half, a quarter or an eighth of
    its size, never below that, which takes a fraction of the time. One of more than `most` pixels is refused.
    """
    called = name or (str(source) if isinstance(source, Path) else "the picture")
    if isinstance(source, Path):
        with reading(source):
            source = source.read_bytes()
    if not source:
        raise DataError(f"{called} is empty: it holds no picture")
    return np.array(opened(source, called, least, most), dtype=np.uint8)


def opened(data: bytes, called: str, least: int | None = None, most: int = MOST_PIXELS) -> Any:
    """The picture of Pillow's in some bytes, upright and in RGB."""
    image, library = pillow(), pillow("ImageOps")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", image.DecompressionBombWarning)  # the limit is ours
        try:
            found = image.open(io.BytesIO(data), formats=FORMATS)
        except image.DecompressionBombError:
            raise DataError(
                f"{called} has too many pixels; at most {MOST_PIXELS:,} are read: make it smaller"
            ) from None
        except image.UnidentifiedImageError:
            raise DataError(f"{called} is no picture that can be read; {', '.join(FORMATS)} can") from None
        except Exception as error:  # a decoder raises whatever it stumbles over
            raise DataError(f"{called} is damaged ({why(error)})") from None
        width, height = found.size
        if width * height > most:
            raise DataError(f"{called} is {width:,} × {height:,} pixels; at most {most:,} are read: make it smaller")
        try:
            if least is not None and found.format == "JPEG" and found.mode in ("L", "RGB"):
                found.draft(found.mode, (least, least))
            found.load()
            return in_rgb(library.exif_transpose(found))
        except Exception as error:
            raise DataError(f"{called} is damaged, or only a part of a picture ({why(error)})") from None


def why(error: Exception) -> str:
    return str(error) or type(error).__name__


def in_rgb(found: Any) -> Any:
    """A picture of any mode as people see it."""
    image: Any = pillow()
    if found.mode.startswith(("I", "F")):
        return image.fromarray(in_eight_bits(np.asarray(found))).convert("RGB")
    if found.has_transparency_data:
        seen = found.convert("RGBA")
        behind = image.new("RGBA", seen.size, WHITE)
        return image.alpha_composite(behind, seen).convert("RGB")
    return found.convert("RGB")


def in_eight_bits(values: NDArray[Any]) -> Pixels:
    """Grey values of sixteen bits, or floating-point ones from 0 to 1 or from 0 to 255."""
    if values.dtype.kind == "f":
        values = np.nan_to_num(values) * (255 if np.nanmax(values, initial=0) <= 1 else 1)
    elif values.dtype.itemsize > 1 and values.max(initial=0) > 255:
        values = values // SIXTEEN_BITS
    return values.clip(0, 255).astype(np.uint8)
