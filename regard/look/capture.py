"""One pass over one input, with everything that is seen on the way turned into a record."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.config import nearest
from regard.data.given import checked_text, is_blank
from regard.data.pairs import Pair
from regard.data.readable import readable
from regard.decoding import Decoding, translate, write
from regard.errors import Error
from regard.look.alignment import alignment_error_rate, cross_layers, usual_reading
from regard.look.expecting import expectations
from regard.look.labelling import described_layer, look_at_labels
from regard.look.marking import marks, spoken
from regard.look.parts import Alignment, Array, Changes, Grid, Layer, Lens, Masked, Side, Window, fitted, plain
from regard.look.picturing import read_picture
from regard.look.records import PICTURE, Look, merged
from regard.look.rollout import all_blocks, rollouts
from regard.look.slots import with_slots
from regard.look.subject import Subject
from regard.look.texts import check_masks, check_second, read_texts
from regard.models import PictureWriter, SourceWriter, TextLabeller, TextWriter
from regard.nn.call.watch import Seen, silenced, watch
from regard.nn.heads import Head
from regard.nn.stacks import StackLayers

BEAM = 4
MAX_CAPTION_TOKENS = 64  # of a picture, unless the task says otherwise
NOTES = ("*coder.input", "*coder.*.stream", "*coder.*.centres")


@torch.no_grad()
def look(
    subject: Subject,
    text: Any,
    target: str | None = None,
    *,
    second: str | None = None,
    mask: Sequence[int] = (),
    without: Sequence[str] = (),
    best: int = 5,
    layers: Sequence[str] = (),
    beam: int = BEAM,
    gold: Sequence[tuple[int, int]] | None = None,
) -> Look:
    """See what a model attends to and expects on one input: a text, or a picture where it reads pictures.

    A translation is written by the model unless a `target` is given. `second` is the other text of a pair, where the
    model reads two as one. A model that finds masked words is shown at each [MASK] of the text, and at the words of
    which `mask` gives the numbers, from 0 on.

    `without` silences heads ("decoder.3.cross.5", or "3.5" for head 5 of every attention layer of block 3); the look
    then says what they change. `layers` narrows the maps by name, with * as a wildcard; `best` is how many alternatives
    each place gets; `gold` are the links (source word, target word) that are known to be right.
    """
    for name, given in (
        ("the text", text if subject.pictures is None else ""),
        ("the target", target),
        ("the second text", second),
    ):
        if given is not None or name == "the text":
            checked_text(given, name)
    heads = chosen_heads(subject, without)
    if isinstance(subject.model, TextLabeller):
        if target is not None:
            raise Error("a classifier reads one text and writes none; leave the second out")
        if mask:
            check_masks(subject)
        return look_at_labels(subject, text, second, heads, layers)
    with silenced(subject.model, heads) if heads else nullcontext():
        seen = capture(subject, text, target, layers, beam, second=second, mask=mask)
        found = record(subject, seen, best, gold)
    found.without = [f"{name}.{head}" for name, some in heads.items() for head in sorted(some)]
    if heads:
        with_all = capture(subject, text, target, layers[:1], beam, second=second, mask=mask)
        before = record(subject, with_all, 1, gold)
        now, then = (whole_text(subject, one) for one in (found, before))
        found.changes = Changes(now, then, log_prob(found), log_prob(before))
    return found


def log_prob(look: Look) -> float:
    """The log-probability of the written tokens with their end, of the masked tokens, or of the tags."""
    said = look.judged if look.marks is None else look.marks
    return float(sum(np.log(max(one.probability, 1e-30)) for one in said))


def whole_text(subject: Subject, look: Look) -> str:
    """The written text; with the likeliest words in place of masks; or tags and answers as one text."""
    if look.marks is not None:
        return spoken(look.marks)
    if not look.masks:
        return look.written.text
    ids = list(look.written.ids)
    for one in look.masks:
        found = look.predictions[one.place]
        ids[one.place] = found.best[0].id if found.best else found.id
    return subject.tokenizer.decode(ids)


def chosen_heads(subject: Subject, without: Sequence[str]) -> dict[str, set[int]]:
    """ "decoder.3.cross.5" or "3.5" → layer names and heads."""
    names = subject.model.attention_names()
    if without and not names:
        raise Error(f"{without[0]!r} names no head: this model has no attention")
    found: dict[str, set[int]] = {}
    for text in without:
        place, _, head = text.rpartition(".")
        pattern = f"*.{place}.*" if place.isdecimal() else place
        matching = fnmatch.filter(names, pattern)
        if not head.isdecimal() or not matching:
            raise Error(f"{text!r} names no head; heads are written LAYER.HEAD: {nearest(place, names)}")
        for name in matching:
            count = subject.model.heads(name)
            if int(head) >= count:
                raise Error(f"{text!r}: {name} has heads 0 to {count - 1}")
            found.setdefault(name, set()).add(int(head))
    return found


# --- one pass ---------------------------------------------------------------------------------------------------------


@dataclass
class Captured:
    """What one pass showed: sides, attention weights, notes, and the hidden states that enter the head."""

    sides: dict[str, Side]
    seen: Seen
    hidden: Tensor  # (T, D), or (T, 2, D) of both directions
    pair: Pair | None = None
    masks: list[Masked] | None = None
    grid: Grid | None = None
    pixels: Array | None = None

    @property
    def written(self) -> Side:
        return list(self.sides.values())[-1]


@torch.no_grad()
def capture(
    subject: Subject,
    text: Any,
    target: str | None,
    layers: Sequence[str] = (),
    beam: int = BEAM,
    notes: Sequence[str] = NOTES,
    second: str | None = None,
    mask: Sequence[int] = (),
) -> Captured:
    """Run a model once over an input. Without a `target`, a translation is searched for first."""
    check_second(subject, second)
    if mask:
        check_masks(subject)
    pair, masks = None, None
    if isinstance(subject.model, PictureWriter):
        return captioned(subject, text, target, layers, beam, notes)
    if isinstance(subject.model, SourceWriter):
        sides, pair = translated(subject, text, target, beam)
    elif target is not None:
        raise Error(f"a model of kind {subject.family!r} writes no target; leave the target out")
    elif subject.reader is not None:
        side, masks = read_texts(subject, text, second, mask)
        sides = {"text": side}
    else:
        sides = {side: subject.side(side, text) for side in subject.stacks}
    with watch(subject.model, *layers, notes=notes) as seen:
        hidden = run(subject, sides)
    if masks:
        hidden = behind_masks(subject, sides["text"], hidden, masks)
    return Captured(sides, seen, hidden, pair, masks)


def captioned(
    subject: Subject, picture: Any, target: str | None, layers: Sequence[str], beam: int, notes: Sequence[str]
) -> Captured:
    """A picture, and what is written about it, given or searched for."""
    model = subject.model
    assert isinstance(model, PictureWriter)
    side, grid, pixels, inputs = read_picture(subject, picture)
    if target is None:
        tokenizer, most = subject.tokenizer, (subject.most or MAX_CAPTION_TOKENS) - 1
        found = write(model, model.encode(inputs[0]), Decoding(beam=beam), tokenizer.start, tokenizer.end, most)
        written = subject.written("target", found[0][0].tokens)
    else:
        written = given_target(subject, target)
    with watch(model, *layers, notes=notes) as seen:
        hidden = model.features(inputs[0], row(subject, written))[0]
    return Captured({PICTURE: side, "target": written}, seen, hidden, grid=grid, pixels=pixels)


def translated(subject: Subject, text: str, target: str | None, beam: int) -> tuple[dict[str, Side], Pair]:
    """The source and the target, given or searched for, cut into gold words where these are known."""
    subject.side("source", text)  # raises where the text is empty
    written = search(subject, text, beam) if target is None else given_target(subject, target)
    pair = subject.pair(text, written.text)
    if pair.target_words:
        written = subject.side("target", pair.target, pair.target_words)
    return {"source": subject.side("source", text, pair.source_words or None), "target": written}, pair


def given_target(subject: Subject, text: str) -> Side:
    """The side of a given translation. An empty one shows how likely the model is to end at once."""
    if is_blank(text):
        return replace(subject.written("target", []), text=text)
    return subject.side("target", text)


def run(subject: Subject, sides: Mapping[str, Side]) -> Tensor:
    """The hidden states (T, D) of the written side; (T, 2, D) of a model that reads in both directions."""
    rows = [row(subject, sides[name]) for name in subject.stacks]
    if isinstance(subject.model, SourceWriter):
        return subject.model.features(*rows)[0]
    if subject.encoder is not None:
        return subject.encoder.features(rows[0], segments=subject.segments(sides["text"]))[0]
    if subject.reader is not None:
        return subject.reader.features(rows[0])[0]
    assert isinstance(subject.model, TextWriter)
    return subject.model.features(rows[0])[0]


def behind_masks(subject: Subject, side: Side, states: Tensor, masks: Sequence[Masked]) -> Tensor:
    """The states (T, D); at masks, those from which the model predicts words (in XLNet another stream)."""
    assert subject.encoder is not None
    places = torch.tensor([one.place for one in masks], device=subject.device)
    tokens = row(subject, side)
    hidden = torch.zeros_like(tokens, dtype=torch.bool).index_fill(1, places, True)
    found = subject.encoder.expected(tokens, None, hidden, subject.segments(side))  # (N, D)
    return states.index_copy(0, places, found.to(states.dtype))


def search(subject: Subject, text: str, beam: int) -> Side:
    """What the run's translator writes with this beam. A text that is too long is translated in parts."""
    tokenizer = subject.tokenizer
    (whole,) = readable(tokenizer, [text], subject.reads)
    found = [search_part(subject, part, beam) for part in whole.texts]
    written = whole.with_these([tokenizer.decode(ids) for ids in found])
    if len(found) != 1:
        return given_target(subject, written)
    return replace(subject.written("target", found[0]), text=written)


def search_part(subject: Subject, text: str, beam: int) -> list[int]:
    """The tokens of the best translation; an empty list where the model ends at once."""
    assert isinstance(subject.model, SourceWriter)
    source, tokenizer = row(subject, subject.side("source", text)), subject.tokenizer
    return translate(subject.model, source, None, Decoding(beam=beam), tokenizer.start, tokenizer.end)[0][0].tokens


def row(subject: Subject, side: Side) -> Tensor:
    return torch.tensor([side.ids], device=subject.device)


# --- what was seen, as records ----------------------------------------------------------------------------------------


def record(subject: Subject, seen: Captured, best: int, gold: Sequence[tuple[int, int]] | None) -> Look:
    arrays = {name: plain(calls[-1][0]) for name, calls in seen.seen.items()}
    named = [described(subject, name, len(array)) for name, array in arrays.items()]
    named, slots = with_slots(subject.model, named, arrays)
    sides = seen.sides | slots
    layers = [fitted(layer, arrays[layer.name], sides) for layer in named]
    look = Look(subject.family, sides, layers, masks=seen.masks, writes=subject.writes, arrays=arrays)
    look.start, look.marks = subject.start_of(seen.written), marks(subject, seen.written)
    if seen.grid is not None and seen.pixels is not None:
        look.grid, arrays[PICTURE] = seen.grid, seen.pixels
    look.windows = windows(subject, seen.seen)
    if subject.head is not None and len(seen.hidden) == len(seen.written.ids):
        look.predictions, look.backward = expectations(subject, seen.written, seen.hidden, best, seen.masks or ())
        look.lens = lens(subject, seen, subject.head, [one.id for one in look.predictions])
    whole = arrays.keys() - {PICTURE} == set(subject.model.attention_names())
    if whole and all_blocks(subject):
        look.rollout, rolled = rollouts(layers, arrays)
        arrays.update(rolled)
    if seen.pair is not None and cross_layers(subject.model):
        look.alignment = alignment(subject, seen, arrays, gold)
    return look


def described(subject: Subject, name: str, heads: int) -> Layer:
    if isinstance(subject.model, TextLabeller):
        return described_layer(subject, name, heads)
    stack, index, role = name.split(".")
    side = next((side for side, other in subject.stacks.items() if other == stack), None)
    if side is None:
        kind = subject.model.config.kind
        raise Error(f"a model of kind {kind!r} attends to several texts at once: it cannot be looked at yet")
    return Layer(name, stack, int(index), role, side, subject.source if role == "cross" else side, heads)


def windows(subject: Subject, seen: Seen) -> dict[str, Window]:
    """Of each layer that looks in a window, where that stood. Plain numbers: half precision could not tell which of
    many columns is the last in reach."""
    reaches = {name: subject.model.reach(name) for name in seen}
    return {
        name: Window(reach, seen.notes[f"{name}.centres"][-1][0].float().tolist())
        for name, reach in reaches.items()
        if reach is not None
    }


def lens(subject: Subject, seen: Captured, head: Head, chosen: Sequence[int]) -> Lens | None:
    """The stream after each block, normed as at the end of its stack, through the head; None without blocks."""
    name = list(subject.stacks.values())[-1]
    stack = getattr(subject.body, name, None)
    if not isinstance(stack, StackLayers):
        return None
    notes = seen.seen.notes
    depths = {"input": notes[f"{name}.input"][-1][0]}
    for index in range(len(stack.layers)):
        depths[f"{name}.{index}"] = notes[f"{name}.{index}.stream"][-1][0]
    depths = {depth: stream for depth, stream in depths.items() if len(stream) == len(chosen)}
    found = Lens([], [], [], [])
    for depth, stream in depths.items():
        probabilities = head.log_probs(stream if stack.norm is None else stack.norm(stream)).float().exp()  # (T, V)
        values, ids = probabilities.max(-1)
        own = probabilities[torch.arange(len(chosen)), torch.tensor(chosen, device=probabilities.device)]
        found.layers.append(depth)
        found.tokens.append([subject.tokenizer.token(i) for i in ids.tolist()])
        found.probabilities.append(values.tolist())
        found.chosen.append(own.tolist())
    return found


def alignment(
    subject: Subject, seen: Captured, arrays: dict[str, Array], gold: Sequence[tuple[int, int]] | None
) -> Alignment | None:
    """The alignment as the run's recorded layer reads it; None where that layer was not captured."""
    reading, pair = subject.reading or usual_reading(subject.model), seen.pair
    assert pair is not None
    if reading.layer not in arrays:
        return None
    source, target = seen.sides["source"], seen.sides["target"]
    columns, rows = source.by_words()[:, :-1], target.by_words()[:, 1:]  # without the end, without the start
    weights = arrays[reading.layer].mean(0)[reading.shift :][: rows.shape[1], : columns.shape[1]]
    shown = merged(weights, rows, columns)
    arrays["alignment"] = shown[None]
    links = reading.links(shown)
    known = list(pair.alignment) if gold is None else [(int(s), int(t)) for s, t in gold]
    for s, t in known:
        if not (0 <= s < len(source.words) and 0 <= t < len(target.words)):
            raise Error(f"the gold link {s}-{t} is outside of {len(source.words)} and {len(target.words)} words")
    error = alignment_error_rate([links], [known]) if known else None
    return Alignment(reading.layer, reading.shift, links, known or None, error)
