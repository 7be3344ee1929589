"""One token's way through a model: from its id to the probabilities of what comes next, stage by stage."""

from __future__ import annotations

from typing import Any

import torch

from regard.errors import Error
from regard.look.capture import Captured, capture
from regard.look.cell_way import follow_cells
from regard.look.parts import Array, Logits, plain
from regard.look.records import Way
from regard.look.rollout import all_blocks
from regard.look.slots import slot_layers
from regard.look.subject import Subject
from regard.models import TextLabeller
from regard.models.recurrent import RecurrentModel
from regard.nn.stacks import StackLayers

SHOWN_LOGITS = 20  # the highest ones
NOTES = ("embedding", "*coder.*")  # what models note of embeddings, streams and attention


@torch.no_grad()
def way(subject: Subject, text: str, target: str | None = None, place: int = -1, source_place: int = -1) -> Way:
    """The way of one place; in an encoder-decoder that of a source token first, then that of a target token.

    Places count from 0, or from the end where they are negative.
    """
    if slot_layers(subject.model):
        raise Error("a model that attends to slots has no way of a token yet")
    seen = capture(subject, text, target, notes=NOTES)
    stages: list[dict[str, Any]] = []
    arrays: dict[str, Array] = {}
    places: dict[str, int] = {}
    for side in subject.stacks:
        asked = source_place if side == "source" else place
        places[side] = counted(asked, len(seen.sides[side].tokens), side)
    if isinstance(subject.model, RecurrentModel):
        follow_cells(subject, seen, places, stages, arrays)
    else:
        for number, (side, stack) in enumerate(subject.stacks.items()):
            follow(subject, seen, number, side, stack, places[side], stages, arrays)
    last = list(places.values())[-1]
    predictions = expected(subject, seen, last)
    if predictions is not None:
        stages.append({"stage": "logits"})
    return Way(
        subject.family, seen.sides, last, places.get("source"), stages, predictions, subject.writes, arrays=arrays
    )


def has_way(subject: Subject) -> bool:
    """Whether a token can be followed through the model: it reads one text, in blocks that attend to tokens or in
    cells."""
    if isinstance(subject.model, TextLabeller) or subject.roles.least > 1:
        return False
    return isinstance(subject.model, RecurrentModel) or all_blocks(subject)


def counted(place: int, length: int, side: str) -> int:
    """The place from the start; a negative one counts from the end."""
    if not -length <= place < length:
        raise Error(f"place {place} is not one of the {length} tokens of the {side}, which count from 0")
    return place % length


def follow(
    subject: Subject,
    seen: Captured,
    number: int,
    side: str,
    stack: str,
    place: int,
    stages: list[dict[str, Any]],
    arrays: dict[str, Array],
) -> None:
    """Add the stages of one stack, the `number`-th that the input passes."""
    layers = getattr(subject.body, stack, None)
    if not isinstance(layers, StackLayers):
        raise Error(f"a model of kind {subject.model.config.kind!r} has no blocks to follow a token through")
    if layers.shortens:
        raise Error("the blocks of this model make a text shorter: no token can be followed through them")
    notes = seen.seen.notes
    arrays[f"{stack}.embedding"] = plain(notes["embedding"][number][0, place])
    arrays[f"{stack}.input"] = plain(notes[f"{stack}.input"][-1][0, place])
    stages += [
        {"stage": "tokens", "side": side},
        {"stage": "embedding", "side": side, "array": f"{stack}.embedding"},
        {"stage": "position", "side": side, "array": f"{stack}.input"},
    ]
    for index, block in enumerate(layers.layers):
        for role in (mixer.role for mixer in block.mixers() if mixer.watched):
            columns = "source" if role == "cross" else side
            stages.append(attention(seen, f"{stack}.{index}.{role}", side, columns, place, arrays))
        output, stream = f"{stack}.{index}.feedforward", f"{stack}.{index}"
        arrays[output] = plain(notes[output][-1][0, place])
        arrays[stream] = plain(notes[f"{stream}.stream"][-1][0, place])
        stages.append({"stage": "feedforward", "side": side, "name": stream, "output": output, "stream": stream})


def attention(
    seen: Captured, name: str, side: str, columns: str, place: int, arrays: dict[str, Array]
) -> dict[str, Any]:
    """One attention layer at one place: its queries, all keys, scores, weights, what they mix, what comes out."""
    notes = seen.seen.notes
    weights = seen.seen.last(name)[0, :, place]  # (H, S)
    for part in ("queries", "scores", "mixed"):  # (B, H, T, …)
        arrays[f"{name}.{part}"] = plain(notes[f"{name}.{part}"][-1][0, :, place])
    keys = notes[f"{name}.keys"][-1][0]  # (G, S, K)
    arrays[f"{name}.keys"] = plain(keys.repeat_interleave(len(weights) // len(keys), 0))
    arrays[f"{name}.output"] = plain(notes[f"{name}.output"][-1][0, place])
    arrays[name] = plain(weights)
    return {
        "stage": "attention",
        "side": side,
        "name": name,
        "heads": len(weights),
        "queries": f"{name}.queries",
        "keys": f"{name}.keys",
        "scores": f"{name}.scores",
        "hidden": (weights == 0).all(0).nonzero().flatten().tolist(),
        "weights": name,
        "mixed": f"{name}.mixed",
        "output": f"{name}.output",
        "columns": columns,
    }


def expected(subject: Subject, seen: Captured, place: int) -> Logits | None:
    """The highest logits at a place; with the log of the sum over all words, a page can apply any temperature to the
    shown ones."""
    if subject.head is None:
        return None
    logits = subject.head.logits(seen.hidden[place]).float()
    values, ids = logits.topk(min(SHOWN_LOGITS, len(logits)))
    tokens = [subject.tokenizer.token(i) for i in ids.tolist()]
    return Logits(tokens, values.tolist(), float(logits.logsumexp(-1)))
