"""The hypotheses of a beam as one tree: what they share is a common stem."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from regard.data.batches import pad
from regard.decoding import Decoding, Hypothesis, translate
from regard.errors import Error
from regard.look.capture import row
from regard.look.parts import Leaf, Node, Tree
from regard.look.subject import Subject
from regard.models import SourceWriter


@torch.no_grad()
def beam_tree(subject: Subject, text: str, search: Decoding) -> Tree:
    """Nodes from the start token on, each with its own log-probability and those of the hypotheses through it; and the
    `nbest` hypotheses, best first, each with its leaf."""
    model = subject.model
    if not isinstance(model, SourceWriter):
        raise Error(f"a model of kind {subject.family!r} does not translate")
    source = row(subject, subject.side("source", text))
    found = translate(model, source, None, search, start=subject.tokenizer.start, end=subject.tokenizer.end)[0]
    endings = [[*one.tokens, subject.tokenizer.end] if one.finished else list(one.tokens) for one in found]
    return tree(subject, found, endings, token_log_probs(subject, source, endings))


def token_log_probs(subject: Subject, source: torch.Tensor, rows: Sequence[Sequence[int]]) -> list[list[float]]:
    """The log-probability of each token of each row, given the tokens before it."""
    model = subject.model
    assert isinstance(model, SourceWriter)
    start = subject.tokenizer.start
    read = torch.from_numpy(pad([np.array([start, *tokens[:-1]]) for tokens in rows], start)).to(subject.device)
    memory = model.encode(source)
    hidden = model.decode(memory.select(torch.zeros(len(rows), dtype=torch.long, device=subject.device)), read)
    logs = model.head.log_probs(hidden).float()  # (n, T, V)
    return [[float(logs[i, place, token]) for place, token in enumerate(tokens)] for i, tokens in enumerate(rows)]


def tree(
    subject: Subject, found: Sequence[Hypothesis], rows: Sequence[Sequence[int]], logs: Sequence[Sequence[float]]
) -> Tree:
    token = subject.tokenizer.token
    nodes = [Node(0, None, token(subject.tokenizer.start), 0.0, 1.0, [])]
    children: dict[tuple[int, int], int] = {}
    leaves = []
    for number, (hypothesis, tokens, values) in enumerate(zip(found, rows, logs, strict=True)):
        at = 0
        nodes[0].hypotheses.append(number)
        for i, value in zip(tokens, values, strict=True):
            if (at, i) not in children:
                children[at, i] = len(nodes)
                nodes.append(Node(len(nodes), at, token(i), value, math.exp(value), []))
            at = children[at, i]
            nodes[at].hypotheses.append(number)
        leaves.append(Leaf(subject.tokenizer.decode(hypothesis.tokens), hypothesis.score, hypothesis.log_prob, at))
    return Tree(nodes, leaves)
