"""The way through a recurrent translator: each number is that of the model's own step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.look import Subject, look, way
from regard.look.records import Way
from regard.models import Recurrent
from regard.models.recurrent import STATE, Bahdanau, Fixed, Luong, ReaderConfig, RecurrentModel, Start
from regard.nn.attention.local import Predictive
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from tests.look.test_look import lone

TEXT, TARGET = "a cab", "bad"
PLACES = [0, 2]
READERS: dict[str, ReaderConfig] = {
    "bahdanau": Bahdanau(),
    "bahdanau-plain": Bahdanau(output="plain"),
    "luong": Luong(),
    "luong-unfed": Luong(feeding=False),
    "luong-local": Luong(window=Predictive(reach=1)),
}
every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
every_cell = pytest.mark.parametrize("cell", ["gru", "lstm", "rnn"])
every_place = pytest.mark.parametrize("place", PLACES)


def subject_with(reader: ReaderConfig, cell: str = "gru", **changes: object) -> Subject:
    sizes = {"vocabulary": 9, "width": 16, "hidden": 12}
    return lone(Recurrent(**{**sizes, "cell": cell, "reader": reader, **changes}))  # type: ignore[arg-type]


def model_of(subject: Subject) -> RecurrentModel:
    assert isinstance(subject.model, RecurrentModel)
    return subject.model


def stage(found: Way, name: str) -> dict[str, object]:
    (one,) = [stage for stage in found.stages if stage["stage"] == name]
    return one


@every_reader
@every_cell
@every_place
def test_states_and_predictions_are_those_of_the_models_own_steps(reader: ReaderConfig, cell: str, place: int) -> None:
    subject = subject_with(reader, cell)
    model, found = model_of(subject), way(subject, TEXT, TARGET, place=place, source_place=1)
    source, target = (torch.tensor([found.sides[side].ids]) for side in ("source", "target"))
    with torch.no_grad():
        memory = model.encode(source)
        state = model.begin(memory)
        for at in range(place + 1):
            held = state.cache.held(STATE)
            logits = model.step(target[:, at : at + 1], state)
    after = state.cache.held(STATE)
    assert after is not None
    for name, part in zip(("", ".memory"), after, strict=False):
        np.testing.assert_allclose(found.arrays[f"decoder.after{name}"], part[0, -1], atol=1e-6)
    assert ("decoder.after.memory" in found.arrays) == (cell == "lstm")
    if held is not None:
        np.testing.assert_allclose(found.arrays["decoder.before"], held[0][0, -1], atol=1e-6)
    np.testing.assert_allclose(found.arrays["encoder.state"], memory.states[0, 1], atol=1e-6)
    assert found.predictions is not None
    best = logits[0].topk(len(found.predictions.logits)).values
    np.testing.assert_allclose(found.predictions.logits, best, atol=1e-4)
    shown = look(subject, TEXT, TARGET).predictions[place].best
    assert found.predictions.tokens[: len(shown)] == [choice.token for choice in shown]


@every_reader
@every_cell
@every_place
def test_each_stage_follows_from_those_before(reader: ReaderConfig, cell: str, place: int) -> None:
    subject = subject_with(reader, cell)
    model, found = model_of(subject), way(subject, TEXT, TARGET, place=place)
    own, arrays = model.reader, {name: torch.tensor(array) for name, array in found.arrays.items()}
    cross = stage(found, "looked")
    asked = arrays["decoder.before" if own.asks_first else "decoder.after"]
    attention = own.attention
    assert attention is not None
    query = asked if attention.query is None else attention.query(asked)
    with torch.no_grad():
        torch.testing.assert_close(arrays["decoder.0.cross.queries"][0], query)
        keys = arrays["decoder.0.cross.keys"][None]
        scores = attention.kernel.scores(query.view(1, 1, 1, -1), keys, Context.whole(keys[:, 0], Mask()))
        torch.testing.assert_close(arrays["decoder.0.cross.scores"][0], scores[0, 0, 0])
        weights = arrays["decoder.0.cross"][0]
        if attention.window is None:
            torch.testing.assert_close(weights, arrays["decoder.0.cross.scores"][0].softmax(-1))
        assert cross["hidden"] == (weights == 0).nonzero().flatten().tolist()
        memory = model.encode(torch.tensor([found.sides["source"].ids])).states[0]
        torch.testing.assert_close(arrays["decoder.0.cross.mixed"][0], weights @ memory)
        entering = [arrays["decoder.embedding"], *([arrays["decoder.beside"]] if own.beside else [])]
        by_hand = {"gru": torch.nn.GRUCell, "lstm": torch.nn.LSTMCell, "rnn": torch.nn.RNNCell}[cell](
            model.decoder.kernel.input_size, 12
        )
        by_hand.load_state_dict(
            {name.removesuffix("_l0"): value for name, value in model.decoder.kernel.state_dict().items()}
        )
        before = arrays["decoder.before"][None]
        state = (before, arrays["decoder.before.memory"][None]) if cell == "lstm" else before
        after = by_hand(torch.cat(entering)[None], state)
        torch.testing.assert_close(arrays["decoder.after"], (after[0] if cell == "lstm" else after)[0])
        if cell == "lstm":
            torch.testing.assert_close(arrays["decoder.after.memory"], after[1][0])
        logits = model.head.logits(arrays["decoder.output"])
    assert found.predictions is not None
    given = torch.tensor(found.predictions.logits)
    torch.testing.assert_close(logits.topk(len(given)).values, given)


@every_cell
def test_the_order_of_stages_is_that_of_the_paper(cell: str) -> None:
    """Bahdanau's state asks before the step, Luong's after it."""
    read = ["tokens", "embedding", "encoded", "tokens", "embedding", "state"]
    for reader, step in (("bahdanau", ["looked", "cell"]), ("luong", ["cell", "looked"])):
        found = way(subject_with(READERS[reader], cell), TEXT, TARGET, place=1)
        assert [one["stage"] for one in found.stages] == [*read, *step, "output", "logits"]


@pytest.mark.parametrize(("reader", "beside"), [(Fixed(), "summary"), (Start(), None)])
def test_without_attention_there_is_a_way_without_looking(reader: ReaderConfig, beside: str | None) -> None:
    found = way(subject_with(reader, layers=2), TEXT, TARGET, place=-1)
    assert "looked" not in [one["stage"] for one in found.stages]
    assert stage(found, "cell")["beside"] == beside
    back = Way.from_bytes(found.to_bytes())
    assert back.plain() == found.plain()


def test_what_enters_is_the_last_output_where_luongs_decoder_feeds_it() -> None:
    subject = subject_with(Luong())
    first, second = (way(subject, TEXT, TARGET, place=place) for place in (1, 2))
    np.testing.assert_allclose(second.arrays["decoder.beside"], first.arrays["decoder.output"], atol=1e-6)
    np.testing.assert_allclose(second.arrays["decoder.before"], first.arrays["decoder.after"], atol=1e-6)
