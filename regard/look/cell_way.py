"""A token's way through a recurrent encoder-decoder: one step of its decoder, as the model itself takes it."""

from __future__ import annotations

from typing import Any

import torch

from regard.look.capture import Captured, row
from regard.look.parts import Array, plain
from regard.look.subject import Subject
from regard.models.recurrent import PLACE, RecurrentModel
from regard.nn.attention.source import NAME
from regard.nn.call.watch import watch

ATTENTION = f"{PLACE}.{NAME}"
PARTS = ("", ".memory")  # of a state: what an LSTM keeps in its cell is the second


def follow_cells(
    subject: Subject, seen: Captured, places: dict[str, int], stages: list[dict[str, Any]], arrays: dict[str, Array]
) -> None:
    """Add the stages of reading a source token, and of the step that reads a target token.

    Earlier target tokens are read first; only the step of the followed one is watched."""
    model = subject.model
    assert isinstance(model, RecurrentModel)
    source, target = (row(subject, seen.sides[side]) for side in ("source", "target"))
    at, embeddings = places["target"], seen.seen.notes["embedding"]
    memory = model.encode(source)
    arrays["encoder.embedding"] = plain(embeddings[0][0, places["source"]])
    arrays["encoder.state"] = plain(memory.states[0, places["source"]])
    arrays["decoder.embedding"] = plain(embeddings[1][0, at])
    stages += [
        {"stage": "tokens", "side": "source"},
        {"stage": "embedding", "side": "source", "array": "encoder.embedding"},
        {"stage": "encoded", "side": "source", "array": "encoder.state", "directions": model.encoder.directions},
        {"stage": "tokens", "side": "target"},
        {"stage": "embedding", "side": "target", "array": "decoder.embedding"},
    ]
    state = model.begin(memory)
    if at:
        model.read(target[:, :at], state)
    with watch(model, notes=[f"{PLACE}.*"]) as step:
        model.step(target[:, at : at + 1], state)
    for when in ("before", "after"):
        parts = step.notes[f"{PLACE}.{when}"][-1][:, 0, -1]  # of the top layer: (parts, H)
        arrays |= {f"decoder.{when}{name}": plain(part) for name, part in zip(PARTS, parts, strict=False)}
    arrays["decoder.output"] = plain(step.notes[f"{PLACE}.output"][-1][0])
    beside = model.reader.beside
    if beside is not None:
        arrays["decoder.beside"] = plain(step.notes[f"{PLACE}.beside"][-1][0])
    memories = [f"decoder.{when}.memory" for when in ("before", "after") if f"decoder.{when}.memory" in arrays]
    cell = {
        "stage": "cell",
        "side": "target",
        "cell": model.config.cell,
        "layers": model.decoder.layers,
        "beside": beside,
        "arrays": ["decoder.embedding", *(["decoder.beside"] if beside else []), "decoder.before", "decoder.after"],
        "memories": memories,
    }
    looking = [] if model.reader.attention is None else [attention(step.last(ATTENTION), step.notes, arrays)]
    stages += [{"stage": "state", "side": "target", "array": "decoder.before", "first": at == 0}]
    stages += [*looking, cell] if model.reader.asks_first else [cell, *looking]
    stages.append({"stage": "output", "side": "target", "array": "decoder.output"})


def attention(weights: torch.Tensor, notes: dict[str, list[torch.Tensor]], arrays: dict[str, Array]) -> dict[str, Any]:
    """The one head by which the decoder looks at the source in this step."""
    arrays[ATTENTION] = plain(weights[0, :, 0])  # (1, S)
    for part in ("queries", "keys", "scores", "mixed"):
        value = notes[f"{ATTENTION}.{part}"][-1][0]
        arrays[f"{ATTENTION}.{part}"] = plain(value if part == "keys" else value[:, 0])
    parts = {part: f"{ATTENTION}.{part}" for part in ("queries", "keys", "scores", "mixed")}
    hidden = (weights[0, 0, 0] == 0).nonzero().flatten().tolist()
    return {
        **{"stage": "looked", "side": "target", "name": ATTENTION, "heads": 1, "columns": "source"},
        **{"weights": ATTENTION, "hidden": hidden, **parts},
    }
