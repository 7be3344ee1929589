"""Watching: all layers or some, by name, in this thread only, at no cost when nobody does."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
import torch
from torch import nn

import regard
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.call.watch import attach, silenced
from tests.helpers import built, decoder, encoder_decoder, tokens


def test_named_layers_alone_are_recorded() -> None:
    model = built(encoder_decoder())
    with regard.watch(model, "decoder.*.cross") as seen:
        model(tokens(2, 6), tokens(2, 4))
    assert list(seen) == ["decoder.0.cross", "decoder.1.cross"]
    assert seen.last("decoder.0.cross").shape == (2, 4, 4, 6)


def test_each_step_of_decoding_is_recorded() -> None:
    model = built(encoder_decoder())
    with regard.watch(model, "decoder.1.self") as seen:
        state = model.begin(model.encode(tokens(2, 5)))
        for _ in range(3):
            model.step(tokens(2, 1), state)
    assert [weights.shape[-1] for weights in seen["decoder.1.self"]] == [1, 2, 3]


def test_an_unknown_layer_names_the_nearest_one() -> None:
    model = built(decoder())
    with (
        pytest.raises(ValueError, match=r"no attention layer is called 'decoder\.7\.self'.*did you mean 'decoder\."),
        regard.watch(model, "decoder.7.self"),
    ):
        pass
    with regard.watch(model, "decoder.0.self") as seen:
        model(tokens())
    with pytest.raises(ValueError, match=r"no weights of 'decoder\.1\.self' were seen"):
        seen.last("decoder.1.self")


def test_only_the_watched_model_is_recorded() -> None:
    one, other = built(decoder()), built(decoder())
    with regard.watch(one) as seen, regard.watch(other) as seen_too:
        one(tokens(2, 3))
        other(tokens(2, 5))
    assert seen.last("decoder.0.self").shape[-1] == 3
    assert seen_too.last("decoder.0.self").shape[-1] == 5


def test_another_thread_sees_nothing() -> None:
    model = built(decoder())
    with regard.watch(model) as seen:
        thread = threading.Thread(target=lambda: model(tokens(2, 3)))
        thread.start()
        thread.join()
    assert not seen


def test_recording_ends_with_the_block() -> None:
    model = built(decoder())
    with regard.watch(model) as seen:
        model(tokens(2, 3))
    model(tokens(2, 5))
    assert len(seen["decoder.0.self"]) == 1


def test_a_foreign_module_cannot_be_watched() -> None:
    with pytest.raises(ValueError, match="Linear is not a model of this library"), regard.watch(torch.nn.Linear(2, 2)):
        pass


def operators(run) -> list[str]:  # type: ignore[no-untyped-def]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        run()
    return [event.name for event in profile.events() if event.name.startswith("aten::")]


def test_without_a_watcher_the_same_operators_run_as_if_there_were_none(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """A model whose layers cannot even be watched runs the same operators as ours with nobody watching."""
    from regard.nn.attention.layer import Attention

    model, sentence = built(decoder()), tokens(2, 6)
    model(sentence)
    ours = operators(lambda: model(sentence))

    def attend_unwatchably(self, q, k, v, context):  # type: ignore[no-untyped-def]
        return self.out(self.kernel.mix(q, k, v, context).transpose(1, 2).flatten(2))

    monkeypatch.setattr(Attention, "attend", attend_unwatchably)
    assert operators(lambda: model(sentence)) == ours


class Averaging(nn.Module):
    """Someone's own part: two heads of which each takes its share of the mean of all rows."""

    def attention_names(self) -> list[str]:
        return ["own.look"]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        context = attach(Context.whole(x, Mask()), self).enter("own")
        weights = x.new_full((len(x), 2, x.shape[1], x.shape[1]), 1 / x.shape[1])
        mixed = context.attended("look", weights @ x.unsqueeze(1), lambda: weights)  # (B, 2, T, D)
        return mixed.sum(1)


def test_a_part_of_ones_own_is_seen_and_silenced_by_one_call() -> None:
    part, x = Averaging(), torch.randn(2, 3, 4)
    with regard.watch(part) as seen:
        whole = part(x)
    assert seen.last("own.look").shape == (2, 2, 3, 3)
    for heads, left in (([0], 0.5), ([1], 0.5), ([0, 1], 0.0), ([], 1.0)):
        with silenced(part, {"own.look": heads}):
            torch.testing.assert_close(part(x), left * whole)
    torch.testing.assert_close(part(x), whole)


def test_nothing_but_the_context_tells_a_watcher_or_asks_for_silent_heads() -> None:
    """A part that attends calls `attended`, or `silent` and `see` where it attends step by step."""
    asks = re.compile(r"(watcher\.see\(|silence\.heads|\.silence is)")
    rooms = [Path(regard.__file__).parent / room for room in ("nn", "models")]
    found = {path.name for room in rooms for path in room.rglob("*.py") if asks.search(path.read_text("utf-8"))}
    assert found == {"context.py", "hierarchical.py"}  # whose watcher hands on what it sees
