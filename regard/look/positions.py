"""Pictures of position schemes: what each adds to the input, and what distance means in it.

Nothing here knows a scheme by name. Its seam is asked: what it adds to an empty input, and what it does to the score of
a query and a key that hold the same vector at every place, so that only position can tell places apart.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.config import kinds, nearest
from regard.errors import Error
from regard.look.records import PositionPicture
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.init import Xavier
from regard.nn.positions import Position, PositionConfig
from regard.nn.positions.base import HeadDims

SEED = 1  # learnt schemes are shown as they are initialised
MAX_LENGTH, MAX_WIDTH, MAX_HEADS = 512, 512, 32


def schemes() -> dict[str, type[PositionConfig]]:
    """By kind, as `regard list parts` names them."""
    return {kind: part for kind, part in kinds(PositionConfig).items() if issubclass(part, PositionConfig)}


def about(scheme: type[PositionConfig]) -> str:
    """The first sentence that its docstring says."""
    return (scheme.__doc__ or "").partition("\n")[0]


@torch.no_grad()
def picture(kind: str, length: int = 64, width: int = 64, heads: int = 4) -> PositionPicture:
    """One scheme for so many places, vectors of this width, and heads of the same width."""
    known = schemes()
    if kind not in known:
        raise Error(f"there is no position scheme {kind!r}: {nearest(kind, known)}")
    for name, value, most in (("length", length, MAX_LENGTH), ("width", width, MAX_WIDTH), ("heads", heads, MAX_HEADS)):
        if not 1 <= value <= most:
            raise Error(f"{name} {value} is not between 1 and {most}")
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        position = known[kind]().build(HeadDims(width, heads, heads, width, width)).eval()
        Xavier().apply(position)
    context = Context.whole(torch.zeros(1, length, width), Mask())
    image = position.embed(torch.zeros(1, length, width - position.taken), context)[0]  # (T, D)
    seen = bool(image.any())
    arrays = {"products": products(position, image if seen else None, width, heads, context).numpy()}
    if seen:
        arrays["image"] = image.numpy()
    learnt = any(True for _ in position.parameters())
    shown = "image" if seen else None
    return PositionPicture(kind, about(known[kind]), learnt, length, width, heads, shown, "products", arrays=arrays)


def products(position: Position, image: Tensor | None, width: int, heads: int, context: Context) -> Tensor:
    """(H or 1, T, T): the scores of places whose content is the same, or which have none where the input has positions.

    What the content alone would score is the same for each pair, and left out where the scheme moves no vector.
    """
    length = context.geometry.reach
    content = torch.full((length, width), width**-0.5) if image is None else image
    vectors = content.expand(1, heads, length, width)
    q, k, _ = position.place(vectors, vectors, vectors, context)
    scores = q @ k.transpose(-1, -2)
    if image is None and torch.equal(q, vectors):
        scores = torch.zeros_like(scores)
    bias = position.bias(q, 1.0, context)
    scores = (scores if bias is None else scores + bias)[0]  # (H, T, T)
    return scores[:1] if torch.equal(scores, scores[:1].expand_as(scores)) else scores
