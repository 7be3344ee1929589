"""What looking gives: plain records, with arrays of numbers beside them. No tensors, no models.

A record goes to a page or another program as JSON, or, where maps are large, as one safetensors file: its metadata
holds the plain part, its tensors the arrays.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from types import UnionType
from typing import Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import safetensors
import safetensors.numpy

from regard.config import nearest
from regard.errors import Error
from regard.look.parts import (
    Alignment,
    Array,
    Changes,
    Grid,
    Layer,
    Lens,
    Logits,
    Mark,
    Masked,
    PairScore,
    Prediction,
    Rollout,
    Side,
    Verdict,
    Window,
)
from regard.page.records import Element, ReadingSteps, WordMatrix

R = TypeVar("R", bound="Record")

VERSION = 1  # of the records; raised when older readers could misread them
MEDIA_TYPE = "application/vnd.regard.look"
POOLED_WORDS, POOLED_SENTENCES = "pool.0.words", "pool.1.sentences"  # what becomes the vector of a text
PICTURE = "picture"  # the side of a picture, and the array of its pixels
SHARES = "shares"  # the array of what each token counts in that vector
MARKS = ".,;:!?…\"'“”‘’«»()[]"


@dataclass
class Record:
    """A plain part and named arrays. Arrays are stored as `stored`: half precision is enough for weights."""

    stored: ClassVar[type[np.floating[Any]]] = np.float16

    arrays: dict[str, Array] = field(default_factory=dict, kw_only=True)

    def plain(self) -> dict[str, Any]:
        """Everything but the arrays, as JSON values."""
        values = asdict(self)
        del values["arrays"]
        return {"version": VERSION, **values}

    def to_dict(self) -> dict[str, Any]:
        """With the arrays as nested lists under "arrays"."""
        return {**self.plain(), "arrays": {name: array.tolist() for name, array in self.arrays.items()}}

    def to_bytes(self) -> bytes:
        arrays = {name: np.ascontiguousarray(array, dtype=self.stored) for name, array in self.arrays.items()}
        return safetensors.numpy.save(arrays, metadata={"look": json.dumps(self.plain(), ensure_ascii=False)})

    @classmethod
    def from_bytes(cls: type[R], data: bytes) -> R:
        plain, arrays = unpack(data)
        found: R = restored(cls, {**cls.older(plain), **plain, "arrays": arrays})
        return found

    @classmethod
    def older(cls, plain: dict[str, Any]) -> dict[str, Any]:
        """What records did not say of themselves when they were first written."""
        return {}


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """The plain part and the arrays of `Record.to_bytes`."""
    try:
        arrays = safetensors.numpy.load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        plain = json.loads(header["__metadata__"]["look"])
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise Error(f"this is no look ({error})") from error
    version = plain.pop("version", None)
    if version != VERSION:
        raise Error(f"this look has version {version!r}; this program reads version {VERSION}")
    return plain, {name: array.astype(np.float32) for name, array in arrays.items()}


hints_of = functools.cache(get_type_hints)


def restored(hint: Any, value: Any) -> Any:
    """A JSON value as a field of this type has it: records from objects, pairs from lists."""
    origin, inside = get_origin(hint), get_args(hint)
    if value is None:
        return None
    if isinstance(hint, type) and is_dataclass(hint):
        hints = hints_of(hint)
        return hint(**{name: restored(hints.get(name, Any), one) for name, one in value.items()})
    if origin in (Union, UnionType):  # with None
        return restored(inside[0], value)
    if origin is dict:
        return {name: restored(inside[1], one) for name, one in value.items()}
    if origin is list:
        return [restored(inside[0], one) for one in value]
    return tuple(value) if origin is tuple else value


# --- a look -----------------------------------------------------------------------------------------------------------


@dataclass
class Look(Record):
    """All that was seen of one input. `writes` names the side that the model writes, where it writes one. `importance`,
    where it was asked for, is what the output loses in log-probability without each head, by layer. `windows` tells of
    layers of local attention, by name, where they looked.

    Of a model that reads from either end: its `predictions` are of each token but the first, judged by those before it,
    and `backward` has those of each but the last, judged by those behind it.

    Of a classifier: its `verdicts`, from the likeliest on, or its `score`, and the end of a long text that is `unread`;
    the array "shares" (1, 1, T) is how much each token counts in the vector of the text, and `shares` says whether by
    "attention" or by "rollout". Of a model that finds masked words: its `masks`, whose words stand among the
    predictions; None of any other. Of one that says something of single tokens, their tags or which are the answer:
    its `marks`; None of any other. Of an encoder: `start`, the place of the token in front of the text, [CLS], which
    stands for all of it. Of a picture: the `grid` of its cells.
    """

    family: str
    sides: dict[str, Side]
    layers: list[Layer]
    predictions: list[Prediction] = field(default_factory=list)
    lens: Lens | None = None
    rollout: list[Rollout] = field(default_factory=list)
    alignment: Alignment | None = None
    without: list[str] = field(default_factory=list)
    changes: Changes | None = None
    importance: dict[str, list[float]] | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    score: PairScore | None = None
    unread: str = ""
    shares: str = ""
    masks: list[Masked] | None = None
    start: int | None = None
    marks: list[Mark] | None = None
    backward: list[Prediction] = field(default_factory=list)
    windows: dict[str, Window] = field(default_factory=dict)
    writes: str | None = None
    grid: Grid | None = None

    @property
    def judged(self) -> list[Prediction]:
        """What a look is measured by: what stands behind the masks, where there are some, else all that is written."""
        return [self.predictions[one.place] for one in self.masks] if self.masks else self.predictions

    @property
    def written(self) -> Side:
        """The side that the model writes, or its only one."""
        return next(self.sides[name] for name in ("target", "text", PICTURE) if name in self.sides)

    def map(self, name: str, head: int | None = None, words: bool = False) -> Map:
        """The weights of one head, or the mean of the heads; merged to words if asked."""
        maps: dict[str, Layer | Rollout] = {entry.name: entry for entry in self.layers}
        maps.update({entry.name: entry for entry in self.rollout})
        if name not in maps:
            raise Error(f"this look has no map {name!r}: {nearest(name, maps)}")
        weights = self.arrays[name]
        if head is not None and not 0 <= head < len(weights):
            raise Error(f"{name} has heads 0 to {len(weights) - 1}, not {head}")
        chosen = weights.mean(0) if head is None else weights[head]
        rows, columns = self.sides[maps[name].rows], self.sides[maps[name].columns]
        if not words:
            return Map(name, head, rows.tokens, columns.tokens, chosen)
        return Map(name, head, rows.words, columns.words, merged(chosen, rows.by_words(), columns.by_words()))

    def reader(self, name: str | None = None, head: int | None = None, words: bool = True) -> ReadText:
        """The text as it is read step by step, by one self-attention layer that looks at earlier words alone (the last,
        unless named) and head, or the mean of its heads."""
        own = {
            layer.name: layer for layer in self.layers if layer.role == "self" and looks_back(self.arrays[layer.name])
        }
        if not own:
            raise Error("this model has no attention to earlier words")
        if name is not None and name not in own:
            raise Error(f"no layer {name!r} looks at earlier words: {nearest(name, own)}")
        chosen = own[name or list(own)[-1]]
        side = self.sides[chosen.rows]
        groups = in_words(side) if words else [[place] for place in range(len(side.tokens))]
        map_ = self.map(chosen.name, head)
        rows = np.stack([map_.weights[group].mean(0) for group in groups])
        merged = np.stack([rows[:, group].sum(1) for group in groups], 1)
        return ReadText(map_.name, head, [label(side, group, words) for group in groups], merged)

    def salient(self) -> list[tuple[str, float]]:
        """The words of a classified text with their shares of the pooling attention, the largest first:
        a word's share of its sentence times the sentence's share, or what attention rollout says of an encoder. Empty
        where nothing attends to words."""
        if SHARES not in self.arrays:
            return []
        text = self.sides["text"]
        shares = text.by_words() @ self.arrays[SHARES].reshape(-1)
        order = np.argsort(-shares, kind="stable")
        return [(text.words[i].strip(MARKS) or text.words[i], float(shares[i])) for i in order]

    @classmethod
    def older(cls, plain: dict[str, Any]) -> dict[str, Any]:
        return {"writes": {"encoder-decoder": "target", "decoder": "text"}.get(plain["family"])}

    def _repr_html_(self) -> str:
        from regard.look.page import in_notebook

        return in_notebook(self)


@dataclass(frozen=True)
class Map:
    """One map of attention: rows take from columns. It draws itself in a notebook."""

    name: str
    head: int | None
    rows: Sequence[str]
    columns: Sequence[str]
    weights: Array

    def element(self) -> Element:
        return WordMatrix(self.rows, self.columns, self.weights.tolist(), label=self.name)

    def _repr_html_(self) -> str:
        return self.element()._repr_html_()


@dataclass(frozen=True)
class ReadText:
    """A text as it is read: `weights` (T, T) say how much each word looks at those before it. It draws itself in a
    notebook as Figure 1 of Cheng et al. 2016, arXiv:1601.06733."""

    name: str
    head: int | None
    words: Sequence[str]
    weights: Array

    def element(self) -> Element:
        return ReadingSteps(self.words, self.weights.tolist(), self.name)

    def _repr_html_(self) -> str:
        return self.element()._repr_html_()


def looks_back(weights: Array) -> bool:
    """Whether nothing of (H, T, T) goes to a later token."""
    return not np.triu(weights, 1).any()


def label(side: Side, places: Sequence[int], words: bool) -> str:
    word = side.word_of[places[0]]
    if words and word is not None:
        return side.words[word]
    token = side.tokens[places[0]]
    return token.strip() or ("↵" if "\n" in token else "␣")


def in_words(side: Side) -> list[list[int]]:
    """The tokens of each word; a token of no word is a group by itself."""
    groups: list[list[int]] = []
    for place, word in enumerate(side.word_of):
        if word is not None and place and side.word_of[place - 1] == word:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def merged(weights: Array, rows: Array, columns: Array) -> Array:
    """(T, S) tokens → words: the rows of a word are averaged, its columns added."""
    averaged = rows / np.maximum(rows.sum(1, keepdims=True), 1)
    return np.asarray(averaged @ weights @ columns.T, dtype=np.float32)


# --- other records ----------------------------------------------------------------------------------------------------


@dataclass
class Way(Record):
    """One place's way through a model, stage by stage; `predictions` are the likeliest tokens at its end."""

    stored = np.float32

    family: str
    sides: dict[str, Side]
    place: int
    source_place: int | None
    stages: list[dict[str, Any]]
    predictions: Logits | None
    writes: str | None = None


@dataclass
class PositionPicture(Record):
    """A position scheme: "image" (length, width) is what it adds to the input, where it does; "products" (H or 1,
    length, length) what position alone adds to the score of each pair of places."""

    stored = np.float32

    kind: str
    about: str
    learnt: bool
    length: int
    width: int
    heads: int
    image: str | None
    products: str
