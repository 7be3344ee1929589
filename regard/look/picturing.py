"""A picture as a model reads it: the cells of a grid, behind tokens of the model's own."""

from __future__ import annotations

from typing import Any

import torch

from regard.errors import Error
from regard.look.parts import Array, Grid, Side
from regard.look.records import PICTURE, Look
from regard.look.subject import Subject
from regard.models import PictureEncoderModel, picture_reader_in

OWN = "[CLS]"  # what people call a token in front of the cells


def read_picture(subject: Subject, given: Any) -> tuple[Side, Grid, Array, tuple[Any, ...]]:
    """The cells of a picture, where they lie, its pixels (H, W, 3) and what the model is called with."""
    reader = picture_reader_in(subject.model)
    if subject.pictures is None or reader is None:
        raise Error(f"a model of kind {subject.model.config.kind!r} reads no pictures")
    name, pixels, inputs = subject.pictures(given)
    rows, columns = reader.grid(*pixels.shape[:2])
    own = reader.config.tokens if isinstance(reader, PictureEncoderModel) else 0
    cells = [f"{row},{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)]
    tokens = [*(OWN if own == 1 else f"{OWN[:-1]}{number}]" for number in range(1, own + 1)), *cells]
    places = list(range(len(tokens)))
    side = Side(name, tokens, places, cells, [None] * own + list(range(len(cells))))
    return side, Grid(PICTURE, rows, columns, own), pixels.astype("float32"), inputs


def cells_of(look: Look, weights: Array) -> Array:
    """(…, own tokens and cells) → (…, rows, columns): the share of each cell."""
    assert look.grid is not None
    grid: Array = weights[..., look.grid.own :]
    return grid.reshape(*grid.shape[:-1], look.grid.rows, look.grid.columns)


def as_inputs(subject: Subject, side: Side) -> tuple[Any, ...]:
    """What a model that judges a text is called with."""
    tokens, segments = torch.tensor([side.ids], device=subject.device), subject.segments(side)
    return (tokens,) if segments is None else (tokens, None, segments)
