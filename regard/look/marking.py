"""What a model says of tokens: the tags of words, or which of them answer a question."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.data.spelt import spelt
from regard.decoding.spans import best_span, over_none
from regard.look.parts import Mark, Side
from regard.look.subject import Subject
from regard.models import TokenLabeller

ANSWER, NO_ANSWER = "answer", "no answer"


def marks(subject: Subject, side: Side) -> list[Mark] | None:
    """The marks of a tagger or answerer; None of any other model."""
    if not isinstance(subject.model, TokenLabeller) or subject.task not in ("answer", "tag"):
        return None
    tokens, segments = torch.tensor([side.ids], device=subject.device), subject.segments(side)
    logits = subject.model(tokens) if segments is None else subject.model(tokens, None, segments)
    told = logits[0].float().cpu()  # (T, labels)
    return [answer(subject, side, told)] if subject.task == "answer" else tags(subject, side, told)


def tags(subject: Subject, side: Side, logits: Tensor) -> list[Mark]:
    """The tag of each word, which its first piece decides."""
    before, found = len(subject.tokenizer.around[0]), spelt(subject.tokenizer, side.words)
    firsts = [before + place for place in found.firsts]
    ends = [*firsts[1:], before + len(found.ids)]
    probabilities, labels = logits[firsts].softmax(-1).max(-1)
    told = zip(firsts, ends, labels.tolist(), probabilities.tolist(), side.words, strict=True)
    return [Mark(first, max(end - 1, first), subject.labels[i], sure, word) for first, end, i, sure, word in told]


def answer(subject: Subject, side: Side, logits: Tensor) -> Mark:
    """The likeliest span of the second text, or "no answer" where that is likelier."""
    offset = side.text_of.index(1)
    pieces = subject.tokenizer.pieces(side.texts[1])
    nowhere = len(side.ids) - 1 if subject.tokenizer.closes else 0
    score, first, last = best_span(logits[offset : offset + len(pieces)])
    share = over_none(score, float(logits[nowhere].sum()))
    if share <= 0.5:
        return Mark(nowhere, nowhere, NO_ANSWER, 1 - share, "")
    text = side.texts[1][pieces[first][1] : pieces[last][2]].strip()
    return Mark(offset + first, offset + last, ANSWER, share, text)


def spoken(marked: list[Mark]) -> str:
    """All marks as one text: the answer, or words with their tags."""
    if marked and marked[0].label in (ANSWER, NO_ANSWER):
        return marked[0].text or NO_ANSWER
    return " ".join(f"{one.text}/{one.label}" for one in marked)
