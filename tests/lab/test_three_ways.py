"""Recurrence, convolution and attention: what is measured is what the formulas say."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.config import ConfigError
from regard.lab.measuring import alone, chain, kept_bytes, reach
from regard.lab.recall import Learning, Recall, RecallLearner
from regard.lab.three_ways import ATTENTION, CONVOLUTION, KEPT, RECURRENCE, ThreeWays
from regard.nn.attention import Mixer
from regard.nn.init import Xavier
from regard.nn.positions import Position
from tests.conftest import Say

SMALL = ThreeWays(width=16, heads=2, rows=2, lengths=(8, 16, 32))


def layer(name: str) -> Mixer:
    module = SMALL.mixers()[name].build(16, Position(), causal=True)
    Xavier().apply(module)
    return module


def output(name: str, length: int) -> torch.Tensor:
    return alone(layer(name))(torch.randn(1, length, 16, requires_grad=True))


def test_only_recurrence_has_operations_in_a_row_that_grow_with_the_length() -> None:
    growth = {name: chain(output(name, 64)) - chain(output(name, 32)) for name in SMALL.mixers()}
    assert growth[CONVOLUTION] == growth[ATTENTION] == growth[KEPT] == 0
    assert growth[RECURRENCE] >= 32


def test_the_longest_chain_is_found() -> None:
    x = torch.ones(2, requires_grad=True)
    short = x * 2
    long = ((x * 3).exp() + 1).exp()
    assert chain(short) == 2  # and that which takes up the gradient
    assert chain(short + long) == 6


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_stacked_convolutions_reach_by_their_taps_and_the_others_reach_everything(layers: int) -> None:
    for name in (RECURRENCE, CONVOLUTION, ATTENTION):
        stacked = [alone(layer(name).double()) for _ in range(layers)]

        def through(x: torch.Tensor, stacked=stacked) -> torch.Tensor:  # type: ignore[no-untyped-def]
            for one in stacked:
                x = one(x)
            return x

        assert reach(through, 20, 16) == (4 * layers if name == CONVOLUTION else 19)


def test_the_path_between_the_ends_is_as_long_as_the_gradient_says() -> None:
    found = {name: SMALL.measured(SMALL.mixers()[name], Path()) for name in (RECURRENCE, CONVOLUTION, ATTENTION)}
    hops = {name: SMALL.hops(name, one) for name, one in found.items()}
    assert hops == {RECURRENCE: 31, CONVOLUTION: math.ceil(31 / 4), ATTENTION: 1}
    stacked = [alone(layer(CONVOLUTION).double()) for _ in range(hops[CONVOLUTION])]
    for count, joined in ((len(stacked) - 1, False), (len(stacked), True)):

        def through(x: torch.Tensor, count=count) -> torch.Tensor:  # type: ignore[no-untyped-def]
            for one in stacked[:count]:
                x = one(x)
            return x

        assert (reach(through, 32, 16) == 31) is joined


def test_weights_that_are_kept_take_memory_with_the_square_of_the_length() -> None:
    sizes = {}
    for name in (ATTENTION, KEPT):
        module = layer(name)
        owned = {one.untyped_storage().data_ptr() for one in module.parameters()}
        sizes[name] = [kept_bytes(alone(module), torch.randn(1, n, 16), owned) for n in (128, 256, 512)]
    assert sizes[ATTENTION][2] / sizes[ATTENTION][1] == pytest.approx(2, rel=0.1)
    assert sizes[KEPT][2] / sizes[KEPT][1] == pytest.approx(4, rel=0.2)


def test_what_is_kept_is_counted_once_and_without_the_weights() -> None:
    linear, x = torch.nn.Linear(4, 4), torch.randn(3, 4, requires_grad=True)
    owned = {one.untyped_storage().data_ptr() for one in linear.parameters()}
    assert kept_bytes(lambda x: linear(x) + linear(x), x, owned) == 3 * 4 * 4  # the input, of float32


def test_every_question_has_its_answer_in_the_row() -> None:
    task = Recall(length=20, keys=3, values=4, fillers=5)
    tokens, values, distances = task.draw(50, torch.Generator().manual_seed(1))
    assert tokens.shape == (50, 20)
    assert int(tokens.max()) < task.vocabulary
    for row in range(50):
        for number in range(3):
            place = 17 + number
            key = int(tokens[row, place]) - 5 - 3 * 4
            assert int(tokens[row, place - int(distances[row, number])]) == 5 + key * 4 + int(values[row, number])
        assert sorted(tokens[row, 17:].tolist()) == [17, 18, 19]  # each key once


def test_attention_learns_to_recall() -> None:
    lab = replace(SMALL, recall=Recall(length=16, keys=2, values=2, fillers=2), distances=(8, 16))
    model = lab.model(lab.mixers()[ATTENTION])
    learner = RecallLearner(lab.recall, model, Learning(rows=64, rate=0.01), steps=120, seed=1)
    learner.learn()
    for right, asked in learner.by_distance((8, 16)):
        assert right / asked > 0.9


def test_falling_and_holding_follow_from_the_answers() -> None:
    lab = ThreeWays(seeds=1, distances=(8, 128), lengths=(32, 64))
    layer = {"forward": [1.0, 2.0], "backward": [2.0, 4.0], "kept": [100, 400], "chain": [5, 10], "reach": 63}

    def learnt(near: int, far: int) -> dict:  # type: ignore[type-arg]
        return {"steps": 9, "seconds": 1.0, "parameters": 7, "recalled": [[near, 1000], [far, 1000]]}

    outcome = lab.outcome(
        {
            RECURRENCE: [layer, learnt(900, 200)],
            CONVOLUTION: [{**layer, "reach": 4}, learnt(126, 125)],
            ATTENTION: [layer, learnt(990, 985)],
            KEPT: [layer],
        }
    )
    verdicts = {name: one["verdict"] for name, one in outcome.values["recall"].items()}
    assert verdicts == {RECURRENCE: "falls", CONVOLUTION: "too low", ATTENTION: "holds"}
    recall = [sentence for sentence in outcome.conclusions if "recall" in sentence or "too little" in sentence]
    assert [CONVOLUTION in sentence.lower() for sentence in recall] == [False, False, False, True]
    assert "learnt too little" in recall[-1]
    assert outcome.values["layers"][KEPT]["time_power"] == pytest.approx(1.0)
    assert outcome.values["layers"][KEPT]["memory_power"] == pytest.approx(2.0)
    assert any("recall: recurrence falls with distance: -70.0" in sentence for sentence in outcome.conclusions)
    assert [row[-1] for row in outcome.tables[0].rows] == ["63", "16", "1", "1"]


def test_the_command_measures_learns_and_goes_on(regard: Say, tmp_path: Path) -> None:
    small = "--width 8 --heads 2 --rows 1 --lengths [4,8] --seeds 1 --recall.keys 2 --recall.length 12".split()
    words = ["lab", "three-ways", *small, "--distances", "[6,12]", "--budget", "0.003", "--run", tmp_path]
    code, out, _ = regard(*words)
    assert code == 0
    assert "recurrence" in out
    steps = json.loads((tmp_path / "plan.json").read_text())["steps"]
    assert json.loads((tmp_path / "results.json").read_text())["recall"][ATTENTION]["steps"] == [steps]
    code, again, err = regard(*words)
    assert (code, again) == (0, out)
    assert "trial" not in err


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ConfigError, match="distances end at 64: they take the 128"):
        ThreeWays(distances=(8, 64))
    with pytest.raises(ConfigError, match="lengths"):
        ThreeWays(lengths=(64, 32))
    with pytest.raises(ConfigError, match="no room for 8 keys"):
        Recall(length=10)
    with pytest.raises(ConfigError, match="width 60 is not divisible by 8 heads"):
        ThreeWays(width=60, heads=8)
