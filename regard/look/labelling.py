"""Looking at a classifier: what it takes a text for, and which sentences and words it attends to."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

from regard.data.sentences import sentence_spans
from regard.look.parts import Array, Changes, Layer, PairScore, Side, Verdict, fitted, plain
from regard.look.picturing import as_inputs, read_picture
from regard.look.records import PICTURE, POOLED_SENTENCES, POOLED_WORDS, SHARES, Look
from regard.look.rollout import all_blocks, rollouts
from regard.look.slots import with_slots
from regard.look.subject import MAX_LOOKED_TOKENS, Subject
from regard.look.texts import given, read_texts, words_in
from regard.models.hierarchical import SENTENCES
from regard.nn.call.watch import Seen, silenced, watch
from regard.nn.pooling import Pool


@torch.no_grad()
def look_at_labels(
    subject: Subject, given: Any, second: str | None, heads: Mapping[str, set[int]], layers: Sequence[str] = ()
) -> Look:
    """What is said of a text, a pair or a picture. `heads` are silent, by layer; the look then says what they change.
    `layers` narrows the maps by name."""
    sentences: list[str] = []
    name, grid, unread = subject.reading_side, None, ""
    if subject.pictures is None:
        side, sentences, unread = read(subject, given, second)
        inputs = as_inputs(subject, side)
    else:
        side, grid, pixels, inputs = read_picture(subject, given)
    with silenced(subject.model, heads) if heads else nullcontext():
        seen, said, verdicts, score = judge(subject, inputs, layers)
    number = subject.labels.index(said) if said in subject.labels else 0
    sides = {name: side, "label": Side(said, [said], [number], [said], [0])}
    hierarchical = SENTENCES in subject.model.attention_names()
    if hierarchical:
        numbers = list(range(len(sentences)))
        sides["sentences"] = Side(side.text, sentences, numbers, sentences, list(numbers))
    # What stands inside the reader of a hierarchical model has a row for each sentence, and no place in the text.
    shown = {name: calls[-1][0] for name, calls in seen.items() if name.startswith("pool.") or not hierarchical}
    arrays = {name: plain(weights) for name, weights in shown.items()}
    named = [described_layer(subject, name, len(array)) for name, array in arrays.items()]
    named, slots = with_slots(subject.model, named, arrays)
    sides |= slots
    described = [fitted(layer, arrays[layer.name], sides) for layer in named]
    look = Look(
        subject.family, sides, described, verdicts=verdicts, score=score, unread=unread, grid=grid, arrays=arrays
    )
    look.start = None if hierarchical or grid is not None else subject.start_of(side)
    share_out(subject, look)
    if grid is not None:
        arrays[PICTURE] = pixels
    look.without = [f"{name}.{head}" for name, some in heads.items() for head in sorted(some)]
    if heads:
        _, before, others, _ = judge(subject, inputs, layers[:1])
        look.changes = changed(said, verdicts, before, others)
    return look


def judge(
    subject: Subject, inputs: tuple[Any, ...], layers: Sequence[str]
) -> tuple[Seen, str, list[Verdict], PairScore | None]:
    """What was seen, what the model says in words, and the labels from the likeliest on, or a score."""
    names = subject.model.attention_names()
    wanted = [pattern for pattern in layers if fnmatch.filter(names, pattern)]
    with watch(subject.model, *wanted) as seen:
        logits = subject.model(*inputs)[0]
    if subject.says is not None:
        return seen, *subject.says(logits.float()), None
    if subject.scale is not None:
        value = float(subject.scale.outside(logits.float().cpu().numpy())[0])
        return seen, f"{value:.2f}", [], PairScore(value, subject.scale.low, subject.scale.high)
    probabilities = logits.float().softmax(-1).tolist()
    order = sorted(range(len(probabilities)), key=lambda i: -probabilities[i])
    verdicts = [Verdict(subject.labels[i], probabilities[i]) for i in order]
    return seen, verdicts[0].label, verdicts, None


def changed(now: str, verdicts: Sequence[Verdict], before: str, others: Sequence[Verdict]) -> Changes:
    """How the verdict changed; of labels, by the probability of the likeliest of now."""
    if not verdicts:
        return Changes(now, before, None, None)
    same = next(one for one in others if one.label == verdicts[0].label)
    return Changes(now, before, *(float(np.log(max(one.probability, 1e-30))) for one in (verdicts[0], same)))


def share_out(subject: Subject, look: Look) -> None:
    """Add how much each token counts in the vector of the text: by the attention that pools, of sentences times words;
    in an encoder followed from there through all layers, by rollout."""
    arrays, rolled = look.arrays, None
    inner = [layer for layer in look.layers if layer.stack != "pool"]
    whole = {layer.name for layer in look.layers} == set(subject.model.attention_names())
    followed = subject.encoder is not None or look.grid is not None
    if inner and whole and followed and all_blocks(subject):
        look.rollout, maps = rollouts(inner, arrays)
        arrays.update(maps)
        rolled = maps[look.rollout[0].name][0] if look.rollout else None  # (T, T)
    pooled = pooled_shares(subject, look)
    if pooled is None or len(pooled) != len(look.written.ids) or (rolled is None and POOLED_WORDS not in arrays):
        return
    arrays[SHARES] = (pooled if rolled is None else pooled @ rolled).reshape(1, 1, -1)
    look.shares = "attention" if rolled is None else "rollout"


def pooled_shares(subject: Subject, look: Look) -> Array | None:
    """(T,): how much the state of each token counts in the vector; None where no attention tells it."""
    if POOLED_WORDS in look.arrays:
        weights = look.arrays[POOLED_WORDS][0]  # (sentences or 1, T)
        if POOLED_SENTENCES in look.arrays:
            weights = look.arrays[POOLED_SENTENCES][0] @ weights
        return np.asarray(weights.reshape(-1), dtype=np.float32)
    pool = getattr(subject.model, "pool", None)
    shares = pool.shares(len(look.written.ids)) if isinstance(pool, Pool) else None
    return None if shares is None else np.array(shares, dtype=np.float32)


def described_layer(subject: Subject, name: str, heads: int) -> Layer:
    """The rows of a pooling layer are sentences or the label; those of other layers are words."""
    stack, index, role = name.split(".")
    rows = columns = subject.reading_side
    if name == SENTENCES:
        rows, columns = "label", "sentences"
    elif stack == "pool":
        rows = "sentences" if SENTENCES in subject.model.attention_names() else "label"
    return Layer(name, stack, int(index), role, rows, columns, heads)


def read(subject: Subject, text: str, second: str | None) -> tuple[Side, list[str], str]:
    """A text as a classifier reads it, sentence by sentence, its sentences, and the rest that it does not read; or two,
    where it judges pairs."""
    if len(given(subject, text, second)) > 1:
        return read_texts(subject, text, second)[0], [], ""
    most = min(subject.most or MAX_LOOKED_TOKENS, subject.model.longest or MAX_LOOKED_TOKENS)
    if subject.whole:
        return read_framed(subject, text, most)
    ids: list[int] = []
    starts: list[int | None] = []
    sentences: list[str] = []
    end = 0
    for start, last in sentence_spans(text):
        pieces = subject.tokenizer.pieces(text[start:last])
        if len(ids) + len(pieces) + 1 > most:
            if ids:
                break
            pieces = pieces[: most - 1]
            end = start + (pieces[-1][2] if pieces else 0)
        else:
            end = last
        ids += [*(i for i, _, _ in pieces), subject.tokenizer.end]
        starts += [*(start + place for _, place, _ in pieces), None]
        sentences.append(text[start:end])
    return side_of(subject, text[:end], ids, starts), sentences, text[end:].strip()


def read_framed(subject: Subject, text: str, most: int) -> tuple[Side, list[str], str]:
    """The tokens between start and end, without the marks between sentences."""
    pieces = subject.tokenizer.pieces(text)
    read = pieces[: most - 2]
    end = len(text) if len(read) == len(pieces) else read[-1][2]
    before, behind = subject.tokenizer.around
    ids = [*before, *(i for i, _, _ in read), *behind]
    starts = [*(None for _ in before), *(start for _, start, _ in read), *(None for _ in behind)]
    sentences = [text[start:last] for start, last in sentence_spans(text[:end])]
    return side_of(subject, text[:end], ids, starts), sentences, text[end:].strip()


def side_of(subject: Subject, text: str, ids: list[int], starts: Sequence[int | None]) -> Side:
    """Tokens, of which `starts` says where in the text they begin, with the word that each belongs to."""
    words, word_of = words_in(text, starts)
    return Side(text, [subject.tokenizer.token(i) for i in ids], ids, words, word_of)
