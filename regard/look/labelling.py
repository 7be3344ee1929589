"""Looking at a classifier: what it takes a text for, and which sentences and words it attends to."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import numpy as np
import torch

from regard.data.sentences import sentence_spans
from regard.look.records import Changes, Layer, Look, Side, Verdict
from regard.look.subject import LONGEST, Subject
from regard.models.encoder import own_segments
from regard.models.hierarchical import SENTENCES
from regard.nn.watch import Seen, silenced, watch


@torch.no_grad()
def look_at_labels(subject: Subject, text: str, heads: Mapping[str, set[int]], layers: Sequence[str] = ()) -> Look:
    """`heads` are silent, by layer; the look then says what they change. `layers` narrows the maps by name."""
    side, sentences, unread = read(subject, text)
    with ExitStack() as stack:
        if heads:
            stack.enter_context(silenced(subject.model, heads))
        seen, verdicts = judge(subject, side, layers)
    best = verdicts[0]
    chosen = subject.labels.index(best.label)
    sides = {"text": side, "label": Side(best.label, [best.label], [chosen], [best.label], [0])}
    hierarchical = SENTENCES in subject.model.attention_names()
    if hierarchical:
        numbers = list(range(len(sentences)))
        sides["sentences"] = Side(side.text, sentences, numbers, sentences, list(numbers))
    # What stands inside the reader of a hierarchical model has a row for each sentence, and no place in the text.
    shown = {name: calls[-1][0] for name, calls in seen.items() if name.startswith("pool.") or not hierarchical}
    arrays = {name: weights.float().cpu().numpy() for name, weights in shown.items()}
    described = [described_layer(subject, name, len(array)) for name, array in arrays.items()]
    look = Look(subject.family, sides, described, verdicts=verdicts, unread=unread, arrays=arrays)
    look.without = [f"{name}.{head}" for name, some in heads.items() for head in sorted(some)]
    if heads:
        _, before = judge(subject, side, layers[:1])
        same = next(one for one in before if one.label == best.label)
        look.changes = Changes(
            best.label, before[0].label, float(np.log(best.probability)), float(np.log(same.probability))
        )
    return look


def judge(subject: Subject, side: Side, layers: Sequence[str]) -> tuple[Seen, list[Verdict]]:
    """What was seen, and the labels from the likeliest on."""
    names = subject.model.attention_names()
    wanted = [pattern for pattern in layers if fnmatch.filter(names, pattern)]
    with watch(subject.model, *wanted) as seen:
        ids = torch.tensor([side.ids], device=subject.device)
        segments = own_segments(subject.model, subject.tokenizer, ids)
        logits = (subject.model(ids) if segments is None else subject.model(ids, None, segments))[0]
    probabilities = logits.float().softmax(-1).tolist()
    order = sorted(range(len(probabilities)), key=lambda i: -probabilities[i])
    return seen, [Verdict(subject.labels[i], probabilities[i]) for i in order]


def described_layer(subject: Subject, name: str, heads: int) -> Layer:
    """A pool's rows are sentences or the label that comes of it all; other layers go from words to words."""
    stack, index, role = name.split(".")
    rows, columns = "text", "text"
    if name == SENTENCES:
        rows, columns = "label", "sentences"
    elif stack == "pool":
        rows = "sentences" if SENTENCES in subject.model.attention_names() else "label"
    return Layer(name, stack, int(index), role, rows, columns, heads)


def read(subject: Subject, text: str) -> tuple[Side, list[str], str]:
    """A text as a classifier reads it, sentence by sentence, its sentences, and the rest that it does not read."""
    if not text.strip():
        raise ValueError("the text is empty: there is nothing to look at")
    most = min(subject.most or LONGEST, subject.model.longest or LONGEST)
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
    """The same with start and end, and no mark between sentences."""
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
    words = [(found.start(), found.end(), found.group()) for found in re.finditer(r"\S+", text)]
    ends = np.array([last for _, last, _ in words])
    # The word that ends first after a piece begins: a piece may begin with the space before its word.
    word_of = [None if start is None else int(np.searchsorted(ends, start, "right")) for start in starts]
    tokens = [subject.tokenizer.token(i) for i in ids]
    return Side(text, tokens, ids, [word for _, _, word in words], word_of)
