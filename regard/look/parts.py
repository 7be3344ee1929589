"""The parts of a look, as plain as it is itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.floating[Any]]


def plain(tensor: Tensor) -> Array:
    """A tensor as an array of a record."""
    array: Array = tensor.float().cpu().numpy()
    return array


@dataclass(frozen=True)
class Side:
    """A sequence as the model reads it, with its special tokens; `word_of` tells each token's word, if it has one.

    Where two texts are read as one sequence, `texts` has both, and `text_of` tells each token's, None for the special
    ones around them.
    """

    text: str
    tokens: list[str]
    ids: list[int]
    words: list[str]
    word_of: list[int | None]
    texts: list[str] = field(default_factory=list)
    text_of: list[int | None] = field(default_factory=list)

    def by_words(self) -> Array:
        """(words, tokens): 1 where a token belongs to a word."""
        table = np.zeros((len(self.words), len(self.tokens)), dtype=np.float32)
        for token, word in enumerate(self.word_of):
            if word is not None:
                table[word, token] = 1
        return table


@dataclass(frozen=True)
class Layer:
    """An attention layer; the array of its name is (H, T, S): from the tokens of `rows` to those of `columns`."""

    name: str
    stack: str
    index: int
    role: str
    rows: str
    columns: str
    heads: int


def fitted(layer: Layer, weights: Array, sides: dict[str, Side]) -> Layer:
    """The layer with sides as long as its weights (H, T, S). Where blocks made a sequence shorter, or keys are fewer
    than tokens, a side is added of which only the numbers of its places are known."""
    names = []
    for side, length in zip((layer.rows, layer.columns), weights.shape[1:], strict=True):
        known, name = sides[side], side
        if length != len(known.tokens):
            name = f"{side} in {length}"
            places = [str(place) for place in range(1, length + 1)]
            sides.setdefault(name, Side(known.text, places, list(range(length)), places, list(range(length))))
        names.append(name)
    return replace(layer, rows=names[0], columns=names[1])


@dataclass(frozen=True)
class Grid:
    """Where the tokens of a picture's side lie: behind `own` tokens of the model, cells row by row. The array of the
    side's name is the picture itself (H, W, 3), from 0 to 255."""

    side: str
    rows: int
    columns: int
    own: int


@dataclass(frozen=True)
class Window:
    """Where a layer of local attention may look: at columns at most `reach` tokens from the centre of a row, which
    counts from 0 and may stand between two. arXiv:1508.04025"""

    reach: int
    centres: list[float]


@dataclass(frozen=True)
class Choice:
    """A token that may stand at a place."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class Prediction:
    """What stands after a place of the written side (in it, where a text is read whole), and what else might have."""

    place: int
    token: str
    id: int
    probability: float
    rank: int
    best: list[Choice]


@dataclass(frozen=True)
class Lens:
    """The residual stream at each depth, read through the output layer: the top word of each place and its
    probability, and the probability of the word that was written in the end. nostalgebraist 2020, "logit lens"."""

    layers: list[str]
    tokens: list[list[str]]
    probabilities: list[list[float]]
    chosen: list[list[float]]


@dataclass(frozen=True)
class Rollout:
    """Attention followed through all layers; its array is (1, T, S). arXiv:2005.00928"""

    name: str
    rows: str
    columns: str


@dataclass(frozen=True)
class Alignment:
    """Which source word each target word looks at, as one layer reads it; the array "alignment" is (1, words, words).

    Links and gold links are (source word, target word); `error_rate` compares them where gold is known.
    """

    layer: str
    shift: int
    links: list[tuple[int, int]]
    gold: list[tuple[int, int]] | None = None
    error_rate: float | None = None


@dataclass(frozen=True)
class Changes:
    """What silent heads change: the output and its log-probability with them, and before; a score has none."""

    text: str
    before: str
    log_prob: float | None
    before_log_prob: float | None


@dataclass(frozen=True)
class Verdict:
    """A label that a text may have."""

    label: str
    probability: float


@dataclass(frozen=True)
class PairScore:
    """What a judge of pairs gives instead of a label, and the scale that it learnt."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Masked:
    """A place of the text at which a mask stands; `was` is the token behind it and `id` its number, where known."""

    place: int
    was: str | None = None
    id: int | None = None


@dataclass(frozen=True)
class Mark:
    """What is said of the tokens from `first` to `last`, which spell `text`: their tag, or that they are the answer.

    That there is none is said of the token that stands for all.
    """

    first: int
    last: int
    label: str
    probability: float
    text: str


@dataclass(frozen=True)
class Logits:
    """The highest logits, and the log of the sum of the exponentials of all."""

    tokens: list[str]
    logits: list[float]
    total: float


@dataclass(frozen=True)
class Node:
    """A token of some hypotheses, after those on the way from the root."""

    id: int
    parent: int | None
    token: str
    log_prob: float
    probability: float
    hypotheses: list[int]


@dataclass(frozen=True)
class Leaf:
    """A hypothesis and the node at which it ends. `score` is its log-probability divided by a power of its length,
    which hypotheses are ranked by; `log_prob` is that of all its tokens together."""

    text: str
    score: float
    log_prob: float
    leaf: int


@dataclass(frozen=True)
class Tree:
    """How a beam branched."""

    nodes: list[Node]
    hypotheses: list[Leaf]


@dataclass(frozen=True)
class Taken:
    """What a view takes: the `field` of a request that holds it ("text", "second", "target" or "picture"), what people
    call it, and whether nothing is shown without it."""

    field: str
    name: str
    needed: bool


@dataclass(frozen=True)
class View:
    """A way to see a run: `name` stands in its address on the page, `title` on its link; `draws` says which of the
    page's drawings shows it."""

    name: str
    title: str
    draws: str
    takes: list[Taken] = field(default_factory=list)
