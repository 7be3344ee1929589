"""What is looked at: a model with its tokenizer, of any family, from a run folder or at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from regard.checkpoint import load_both
from regard.config import from_dict, nearest
from regard.data.pairs import Pair
from regard.data.roles import Roles, roles
from regard.data.tokenizers import Tokenizer
from regard.data.words import words as words_in
from regard.errors import Error
from regard.fast import for_use
from regard.look.alignment import Reading, cross_layers, membership, usual_reading
from regard.look.parts import Side, Verdict
from regard.look.records import Look
from regard.models import (
    EncoderModel,
    MemoryWriter,
    Model,
    PictureWriter,
    SourceWriter,
    TextLabeller,
    TextReader,
    TextWriter,
    TokenLabeller,
    encoder_in,
    picture_reader_in,
    reader_in,
)
from regard.models.encoder import own_segments
from regard.nn.heads import Head
from regard.runfolder import Run, RunError, Scale, read_labels

MAX_LOOKED_TOKENS = 1024  # of a side, unless the model reads fewer


@dataclass
class Subject:
    """A model and its tokenizer. `reading` is the layer that the run recorded as its alignment; `known` has sentence
    pairs whose gold links are known; `labels` are the names of what a labeller tells apart, `scale` that of its scores;
    `most` is how many tokens the task lets it read, `whole` whether between start and end or sentence by sentence;
    `task` is what it was trained for, which says how many texts it reads at once. `says` makes of the numbers (W,) that
    a labeller gives what they say in words, and the labels with their probabilities, where there are any; without it
    they are labels of which one is right, or a score. `pictures` makes of a picture its name, its pixels (H, W, 3) as
    the model sees them, and what the model is called with."""

    model: Model
    tokenizer: Tokenizer
    reading: Reading | None = None
    known: Mapping[tuple[str, str], Pair] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    most: int | None = None
    whole: bool = False
    scale: Scale | None = None
    task: str | None = None
    says: Callable[[torch.Tensor], tuple[str, list[Verdict]]] | None = None
    pictures: Callable[[Any], tuple[str, NDArray[np.uint8], tuple[Any, ...]]] | None = None

    @property
    def family(self) -> str:
        """What kinds of sides it has: of an encoder-decoder, a decoder, an encoder (whatever reads a text whole and
        stays with its tokens) or a classifier."""
        if isinstance(self.model, PictureWriter):
            return "captioner"
        if isinstance(self.model, SourceWriter):
            return "encoder-decoder"
        if isinstance(self.model, TextLabeller):
            return "classifier"
        if isinstance(self.model, TextReader | TokenLabeller):
            return "encoder"
        return "decoder" if isinstance(self.model, TextWriter) else self.model.config.kind

    @property
    def writes(self) -> str | None:
        """The side that it writes, where it writes one."""
        if isinstance(self.model, MemoryWriter):
            return "target"
        return "text" if isinstance(self.model, TextWriter) else None

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def encoder(self) -> EncoderModel | None:
        """The model itself or its reader, whichever is an encoder."""
        return encoder_in(self.model)

    @property
    def reader(self) -> TextReader | None:
        """The model itself or what it reads with, where there is something to show of the tokens: an encoder, a reader
        that attends to them or expects them, or any below what is said of them."""
        reader = reader_in(self.model)
        if reader is None or self.encoder is not None or isinstance(self.model, TokenLabeller):
            return reader
        shows = reader is self.model and (self.head is not None or reader.attention_names())
        return reader if shows else None

    @property
    def head(self) -> Head | None:
        """The output head over tokens, where the model has one."""
        head = getattr(self.model, "head", None)
        return head if isinstance(head, Head) else None

    @property
    def body(self) -> Model:
        """The module that holds the stacks: the reader where that is shown, else the model."""
        pictures = picture_reader_in(self.model) if isinstance(self.model, TextLabeller) else None
        return self.reader or pictures or self.model

    @property
    def reading_side(self) -> str:
        """What a model that judges reads."""
        return "text" if picture_reader_in(self.model) is None else "picture"

    @property
    def source(self) -> str:
        """What a model reads that writes of it."""
        return "source" if isinstance(self.model, SourceWriter) else "picture"

    @property
    def segmented(self) -> bool:
        """Whether it tells the texts of a pair apart by segments."""
        return self.encoder is not None and self.encoder.segmented

    @property
    def roles(self) -> Roles:
        """The texts that it reads at once."""
        return roles(self.task, encodes=isinstance(self.model, EncoderModel))

    @property
    def reads(self) -> int:
        """How many source tokens a translator reads at once, without the end token."""
        most = self.most or MAX_LOOKED_TOKENS
        return min(most, self.model.longest or most) - 1

    @property
    def fills(self) -> bool:
        """Whether it finds masked words."""
        model = self.model
        return isinstance(model, EncoderModel) and model.head is not None and self.tokenizer.mask is not None

    @property
    def stacks(self) -> dict[str, str]:
        """The stacks by the side that they read, from first to last."""
        if isinstance(self.model, MemoryWriter):
            return {self.source: "encoder", "target": "decoder"}
        if isinstance(self.model, TextWriter):
            return {"text": "decoder"}
        if self.reader is not None or picture_reader_in(self.model) is not None:
            return {self.reading_side: "encoder"}
        raise Error(f"a model of kind {self.model.config.kind!r} without an encoder cannot be looked at yet")

    def start_of(self, side: Side) -> int | None:
        """The place of the token that stands for the whole text, where an encoder reads one."""
        if self.encoder is None or not self.tokenizer.opens or self.tokenizer.start not in side.ids:
            return None
        return side.ids.index(self.tokenizer.start)

    def segments(self, side: Side) -> torch.Tensor | None:
        """(1, T): the segment of each token; None where the model tells none apart."""
        if not side.text_of:
            return own_segments(self.model, self.tokenizer, torch.tensor([side.ids], device=self.device))
        if not self.segmented:
            return None
        first, second = (range(side.text_of.count(number)) for number in range(2))
        marks = self.tokenizer.paired(first, second, segmented=True)[1]
        return torch.from_numpy(marks)[None].to(self.device)

    def side(self, name: str, text: str, words: Sequence[str] | None = None) -> Side:
        """A text as the model reads it on this side."""
        if not text.strip():
            raise Error(f"the {name} is empty: there is nothing to look at")
        pieces = self.tokenizer.pieces(text)
        return self.framed(name, text, [i for i, _, _ in pieces], [(s, e) for _, s, e in pieces], words)

    def written(self, name: str, ids: Sequence[int]) -> Side:
        """Tokens that the model wrote itself; the tokenizer might have cut their text in other places."""
        text = self.tokenizer.decode(ids)
        pieces = self.tokenizer.pieces(text)
        if [i for i, _, _ in pieces] == list(ids):
            return self.framed(name, text, ids, [(start, end) for _, start, end in pieces])
        ends = [len(self.tokenizer.decode(ids[: count + 1])) for count in range(len(ids))]
        return self.framed(name, text, ids, list(zip([0, *ends], ends, strict=False)))

    def framed(
        self,
        name: str,
        text: str,
        ids: Sequence[int],
        places: Sequence[tuple[int, int]],
        words: Sequence[str] | None = None,
    ) -> Side:
        """With the special tokens of its side: a source ends, what is written starts; a text as language models read
        it, of which some begin with the text itself."""
        bare = name == "source" or (isinstance(self.model, TextWriter) and ids and not self.tokenizer.opens)
        before = [] if bare else [self.tokenizer.start]
        after = [self.tokenizer.end] if name == "source" else []
        whole = [*before, *ids, *after]
        longest = min(self.model.longest or MAX_LOOKED_TOKENS, MAX_LOOKED_TOKENS)
        if len(whole) > longest:
            raise Error(f"the {name} has {len(whole)} tokens with its specials; at most {longest} can be looked at")
        words = list(words_in(text) if words is None else words)
        inside = membership([(i, *place) for i, place in zip(ids, places, strict=True)], text, words)
        word_of = [int(column.argmax()) if column.any() else None for column in inside.T]
        return Side(
            text=text,
            tokens=[self.tokenizer.token(i) for i in whole],
            ids=whole,
            words=words,
            word_of=[*(None for _ in before), *word_of, *(None for _ in after)],
        )

    def pair(self, source: str, target: str) -> Pair:
        """The pair, with gold links where these are known."""
        return self.known.get((source, target), Pair(source, target))


def open_run(folder: str | Path) -> Subject:
    """The best weights of a run, whatever it was trained for."""
    run = Run(folder)
    model, tokenizer = load_both(run)
    model = for_use(model)
    reading = recorded_reading(run, model) if cross_layers(model) else None
    known = {(pair.source, pair.target): pair for pair in known_pairs(run)}
    task = run.read_config().get("task", {})
    named = isinstance(model, TextLabeller) or task.get("kind") == "tag"
    return Subject(
        model,
        tokenizer,
        reading,
        known,
        read_labels(run.path) if named else (),
        most=task.get("max_length"),
        whole=task.get("framed", False),
        scale=Scale.read(run.path),
        task=task.get("kind"),
    )


def recorded_reading(run: Run, model: Model) -> Reading:
    """The layer that the run recorded as its alignment."""
    recorded = run.read_config().get("alignment")
    if recorded is None:
        return usual_reading(model)
    reading = from_dict(Reading, {key: value for key, value in recorded.items() if key != "error_rate"}, "alignment")
    layers = cross_layers(model)
    if reading.layer not in layers:
        raise RunError(f"{run.config_path}: the model has no layer {reading.layer!r}: {nearest(reading.layer, layers)}")
    return reading


def known_pairs(run: Run) -> Iterator[Pair]:
    """The probe sentences of a run whose gold links are known."""
    for path in run.probes(run.probed()[-1]) if run.probed() else ():
        look = Look.from_bytes(path.read_bytes())
        if look.alignment is not None and look.alignment.gold:
            source, target = look.sides["source"], look.sides["target"]
            gold = cast("tuple[tuple[int, int], ...]", tuple(look.alignment.gold))
            yield Pair(source.text, target.text, tuple(source.words), tuple(target.words), gold)
