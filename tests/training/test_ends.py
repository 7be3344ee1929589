"""How a run ends: when it gets no better, when it goes wrong, when it was over already; and where it cannot begin."""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import torch

import regard as library
from regard.checkpoint import read_tensors
from regard.config import change
from regard.models import Model
from regard.nn.stacks import StackLayers
from regard.runfolder import Run
from regard.tasks.base import Validation
from regard.tasks.writing.translation import TranslationTask
from regard.training import loop
from regard.training.health import TrainingError, check_losses
from regard.training.records import read_records
from regard.training.report import summary
from regard.training.seeds import best_of
from regard.training.session import Recipe, begin, read_recipe, resume, start
from tests.conftest import Say
from tests.toy import MODEL, Toy, losses, write_pairs

COMPILER = "ignore:The .grad attribute of a Tensor"  # torch.compile itself looks at it


def assert_finite(run: Run) -> None:
    """Every weight that the run has kept is a number."""
    paths = list(run.path.rglob("*.safetensors"))
    assert paths
    for path in paths:
        assert all(tensor.isfinite().all() for tensor in read_tensors(path).values()), path


# --- no better --------------------------------------------------------------------------------------------------------


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validations whose metrics are best at different times: bleu at the fifth, chrf the second, loss the third."""
    table = {"bleu": [1, 2, 3, 4, 5, 4, 3, 2], "chrf": [5, 9, 8, 7, 6, 5, 4, 3], "loss": [4, 3, 2, 3, 4, 5, 6, 7]}
    rows = iter([dict(zip(table, map(float, row), strict=True)) for row in zip(*table.values(), strict=True)])
    monkeypatch.setattr(TranslationTask, "validate", lambda self, model: Validation(next(rows)))


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("metric", "best", "value"), [("chrf", 2, 9), ("bleu", 5, 5), ("loss", 3, 2), (None, 5, 5)], ids=str
)
def test_a_run_ends_when_the_named_metric_gets_no_better(
    tmp_path: Path,
    recipe: Recipe,
    metric: str | None,
    best: int,
    value: float,
) -> None:
    run = Run(tmp_path / "run")
    progress = start(run, change(recipe, {"metric": metric, "patience": 2, "validate_every": 5, "max_steps": 99}))
    assert (progress.best_step, progress.best) == (5 * best, value)
    assert progress.step == 5 * (best + 2)
    assert read_records(run.metrics_path)[-1]["reason"] == "no better for 2 validations"


def ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validations whose BLEU stays at 0 for long, while the loss falls, rises and falls."""
    rows = iter(zip([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [6.0, 4.0, 5.0, 3.0, 9.0, 9.0, 8.0], strict=True))

    def validate(self: TranslationTask, model: Model) -> Validation:
        bleu, loss = next(rows)
        return Validation({"bleu": bleu, "chrf": 0.0, "loss": loss})

    monkeypatch.setattr(TranslationTask, "validate", validate)


@pytest.mark.parametrize("older", [False, True], ids=["today's", "an earlier version's"])
@pytest.mark.parametrize("cut", [10, 15, 35])
def test_a_tie_goes_to_the_lower_loss_also_when_resumed(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, cut: int, older: bool
) -> None:
    recipe, run = change(recipe, {"validate_every": 5, "max_steps": cut}), Run(tmp_path / "run")
    ties(monkeypatch)
    best = {10: 10, 15: 10, 35: 35}
    done = start(run, recipe)
    assert done.best_step == best[cut]
    path = run.checkpoint(cut) / "progress.json"
    if older:
        known = json.loads(path.read_text())
        del known["best_loss"]
        path.write_text(json.dumps(known))
    assert resume(run, {"max_steps": 35}).best_step == 35
    with safetensors.safe_open(run.weights_path, framework="pt") as weights:
        assert weights.metadata() == {"step": "35"}
    validated = [one for one in read_records(run.metrics_path) if one["event"] == "validation"]
    assert [one["best_step"] for one in validated] == [5, 10, 10, 20, 25, 25, 35]
    assert best_of(run) == {"bleu": 1.0, "chrf": 0.0, "loss": 8.0}
    assert "35" in summary([], validated)[0].values["steps"]


def test_a_tie_with_a_lower_loss_is_better_to_who_waits_for_it(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    ties(monkeypatch)
    done = start(Run(tmp_path / "run"), change(recipe, {"validate_every": 5, "max_steps": 35, "patience": 2}))
    assert (done.step, done.no_better) == (35, 0)


@pytest.mark.usefixtures("scripted")
def test_the_last_line_tells_the_metrics_of_the_weights_that_are_kept(tmp_path: Path, regard: Say) -> None:
    files = ["--train", write_pairs(tmp_path / "a.tsv", 300, 0), "--valid", write_pairs(tmp_path / "b.tsv", 20, 1)]
    short = "--metric chrf --patience 2 --validate-every 5 --max-steps 99 --batch-tokens 200".split()
    code, out, _ = regard("train", "translate", *files, "--run", tmp_path / "run", *MODEL, *short)
    assert (code, out) == (0, f"{tmp_path / 'run'}: best at step 10 of 20  bleu 2  chrf 9  loss 3\n")
    assert regard("train", "translate", "--run", tmp_path / "run", "--resume")[1] == out


@pytest.mark.usefixtures("scripted")
def test_training_returns_the_metrics_of_the_weights_that_are_kept(tmp_path: Path) -> None:
    train, valid = write_pairs(tmp_path / "a.tsv", 300, 0), write_pairs(tmp_path / "b.tsv", 20, 1)
    limits = {"metric": "loss", "patience": 1, "validate_every": 5, "max_steps": 99, "batch_tokens": 200}
    small = {"tokenizer": "word", "layers": 1, "width": 32, "heads": 2, "hidden": 48}
    found = library.train("translate", tmp_path / "run", train=train, valid=valid, **limits, **small)
    assert found == {"bleu": 3, "chrf": 8, "loss": 2}


def test_an_unknown_metric_names_the_nearest(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    with pytest.raises(ValueError, match="metric: the task has no 'chrff': did you mean 'chrf'"):
        start(run, change(recipe, {"metric": "chrff"}))
    assert not run.path.exists()


def test_where_time_ends_a_run_the_rate_falls_by_the_clock(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(loop.time, "monotonic", lambda: 0.1 * next(ticks))
    schedule = {"kind": "stable-decay", "warmup": 2, "decay": 0.5}
    run = Run(tmp_path / "run")
    start(run, change(recipe, {"max_minutes": 0.25, "max_steps": 9999, "validate_every": 9999, "schedule": schedule}))
    records = read_records(run.metrics_path)
    assert records[-1]["reason"] == "time is up"
    rates = {one["step"]: one["rate"] for one in records if one["event"] == "step"}
    last = records[-1]["step"]
    assert rates[last // 30 * 10] == pytest.approx(5e-3)  # a third of the way
    assert rates[last] < 5e-4


@pytest.mark.parametrize("kind", ["stable-decay", "cosine"])
def test_where_time_ends_a_run_no_step_is_taken_with_a_rate_of_0(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Also the last one, which is not over when the time is up."""
    ticks, rates = itertools.count(), []
    plain = loop.scale_rates

    def scale_rates(optimisers: list[torch.optim.Optimizer], factor: float) -> None:
        rates.append(factor)
        plain(optimisers, factor)

    monkeypatch.setattr(loop.time, "monotonic", lambda: 0.1 * next(ticks))
    monkeypatch.setattr(loop, "scale_rates", scale_rates)
    limits = {"max_minutes": 0.17, "max_steps": 9999, "validate_every": 9999}
    start(Run(tmp_path / "run"), change(recipe, {**limits, "schedule": {"kind": kind, "warmup": 2}}))
    assert len(rates) > 30
    assert min(rates) > 0
    assert min(rates) == rates[-1] < 0.2


def test_a_run_that_is_over_is_not_trained_on(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    done = start(run, change(recipe, {"max_steps": 20}))
    before = losses(run), read_tensors(run.weights_path)
    assert resume(run) == done
    assert run.checkpoints() == [10, 20]
    assert losses(run) == before[0]
    assert all(tensor.equal(before[1][name]) for name, tensor in read_tensors(run.weights_path).items())


def test_the_end_of_a_run_can_be_moved_and_it_goes_on_as_if_it_had_always_stood_there(
    tmp_path: Path, recipe: Recipe, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, moved = Run(tmp_path / "whole"), Run(tmp_path / "moved")
    start(whole, change(recipe, {"max_steps": 40}))
    start(moved, change(recipe, {"max_steps": 20, "max_minutes": 60.0}))
    resume(moved)
    assert "it is over: all steps done; move its end with one of --max-steps" in capsys.readouterr().err
    assert resume(moved, {"max_steps": 40}).step == 40
    assert losses(moved) == losses(whole)
    assert moved.section("training")["max_steps"] == 40


# --- wrong ------------------------------------------------------------------------------------------------------------


def spoil(monkeypatch: pytest.MonkeyPatch, at: int, how: Callable[[torch.Tensor, Model], torch.Tensor]) -> None:
    """Change the loss of one step."""
    loss, step = TranslationTask.loss, 0

    def spoilt(self: TranslationTask, model: Model, indices: Any) -> tuple[torch.Tensor, int]:
        nonlocal step
        step += 1
        total, count = loss(self, model, indices)
        return (how(total, model) if step == at else total), count

    monkeypatch.setattr(TranslationTask, "loss", spoilt)


def no_number(loss: torch.Tensor, model: Model) -> torch.Tensor:
    return loss * float("nan")


def no_gradient(loss: torch.Tensor, model: Model) -> torch.Tensor:
    """The loss itself is left as it is, but the gradient of the root of zero is no number."""
    return loss + sum((parameter * 0).sum().sqrt() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("how", "at", "found"),
    [
        (no_number, 8, "the loss became nan at step 8, with the examples {rows}, …"),
        (no_number, 13, "the loss became nan at step 13, with the examples {rows}, …"),
        (no_number, 14, "the loss became nan at step 14, with the examples {rows}, …"),
        (no_gradient, 13, "the loss became nan at step 14, with the examples .*, …"),
        (no_gradient, 14, "the weights became infinite or no numbers by step 14"),
    ],
)
def test_what_is_no_number_never_reaches_a_checkpoint(
    tmp_path: Path,
    recipe: Recipe,
    monkeypatch: pytest.MonkeyPatch,
    how: Callable[[torch.Tensor, Model], torch.Tensor],
    at: int,
    found: str,
) -> None:
    run = Run(tmp_path / "run")
    spoil(monkeypatch, at, how)
    with pytest.raises(TrainingError, match=r"the last good checkpoint is .*step-7;") as error:
        start(run, change(recipe, {"validate_every": 7}))
    task, _, _ = begin(run, read_recipe(run), lambda text: None, resume=7)
    batches = task.batches(recipe.training.batch_tokens, recipe.training.seed).iterate()
    rows = ", ".join(map(str, [indices for _, _, indices in itertools.islice(batches, at)][-1][:5]))
    assert re.match(found.format(rows=rows), str(error.value))
    assert run.checkpoints() == [7]
    assert_finite(run)
    monkeypatch.undo()
    assert resume(run).step == 40  # the mistake mended, the run goes on


def test_a_loss_that_explodes_stops_the_run(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    changes = {"rate": 100.0, "warmup": 20, "clip": None, "max_steps": 200, "validate_every": 5}
    with pytest.raises(TrainingError, match=r"the loss became \d.* at step .*try a lower rate or a longer warm-up"):
        start(run, change(recipe, changes))
    assert_finite(run)


@pytest.mark.parametrize(("first", "most"), [(0.01, 3.0), (1.0, 3.0), (5.0, 15.0), (float("nan"), 1e30)])
def test_a_loss_may_grow_to_three_times_the_first_and_to_three_where_a_tuned_model_began_near_nothing(
    first: float, most: float, tmp_path: Path
) -> None:
    def check(loss: float) -> None:
        check_losses(Run(tmp_path), [(2 * loss, 2)], [[np.arange(3)]], last=7, first=first)

    check(0.99 * most)
    with pytest.raises(TrainingError, match=r"at step 7, with the examples 0, 1, 2, …"):
        check(1.01 * most if math.isfinite(first) else math.inf)


# --- where and how ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_one_sentence(regard: Say, tmp_path: Path) -> None:
    data = ["--train", write_pairs(tmp_path / "a.tsv", 9, 0), "--valid", write_pairs(tmp_path / "b.tsv", 9, 1)]
    code, out, err = regard("train", "translate", "--run", tmp_path / "run", *data, *MODEL, "--device", "cuda")
    assert (code, out) == (2, "")
    assert err == "regard train: device cuda: this machine or this build of torch has none; take auto or cpu\n"
    assert not (tmp_path / "run").exists()


def test_half_precision_trains_on_a_cpu(tmp_path: Path, recipe: Recipe) -> None:
    """Some virtual machines trap on it; `tests/conftest.py` keeps oneDNN from the instructions in question."""
    runs = [Run(tmp_path / precision) for precision in ("bf16", "fp32")]
    for run in runs:
        start(run, change(recipe, {"precision": run.path.name, "max_steps": 2, "validate_every": 2}))
        assert_finite(run)
    (_, half), (_, single) = losses(runs[0])[-1], losses(runs[1])[-1]
    assert half != single
    assert half == pytest.approx(single, rel=0.02)


def test_tensorboard_is_written_the_losses_that_the_run_records(tmp_path: Path, recipe: Recipe) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = Run(tmp_path / "run")
    start(run, change(recipe, {"tensorboard": True}))
    events = EventAccumulator(str(run.path / "tensorboard"))
    events.Reload()
    found = [(event.step, event.value) for event in events.Scalars("training/loss")]
    assert [step for step, _ in found] == [10, 20, 30, 40]
    assert [value for _, value in found] == pytest.approx([value for _, value in losses(run)])
    assert {"validation/bleu", "validation/chrf", "validation/loss"} <= set(events.Tags()["scalars"])


def test_without_tensorboard_it_says_how_to_get_it_and_leaves_no_run(
    tmp_path: Path,
    recipe: Recipe,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    run = Run(tmp_path / "run")
    with pytest.raises(ValueError, match="tensorboard is not installed: pip install"):
        start(run, change(recipe, {"tensorboard": True}))
    assert not run.path.exists()


@pytest.mark.slow
@pytest.mark.filterwarnings(COMPILER)
def test_a_compiled_run_trains_and_resumes_under_the_same_names(tmp_path: Path, recipe: Recipe) -> None:
    runs = {name: Run(tmp_path / name) for name in ("plain", "compiled", "cut")}
    for name, run in runs.items():
        start(run, change(recipe, {"compile": name != "plain", "max_steps": 20, "dropout": 0.0}))
    plain, compiled, cut = (read_tensors(run.checkpoint(20) / "model.safetensors") for run in runs.values())
    assert plain.keys() == compiled.keys() == cut.keys()
    assert dict(losses(runs["compiled"])) == pytest.approx(dict(losses(runs["plain"])), rel=1e-3)
    (runs["cut"].checkpoint(20)).rename(tmp_path / "away")
    resume(runs["cut"])
    assert dict(losses(runs["cut"])) == pytest.approx(dict(losses(runs["compiled"])), rel=1e-4)


@pytest.mark.filterwarnings(COMPILER)
def test_a_compiled_stack_is_not_compiled_anew_for_every_batch(tmp_path: Path, recipe: Recipe) -> None:
    task = recipe.task.open(tmp_path / "data", lambda text: None)
    model: Any = task.fit(change(recipe.model, {"dropout": 0.0})).build()
    graphs = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    for module in model.modules():
        if isinstance(module, StackLayers):
            module.compile(dynamic=True, backend=backend)
    tokens = torch.randint(4, 15, (3, 5))
    for number in range(6):
        keep = torch.ones(3, 5, dtype=torch.bool)
        keep[number % 3, 4] = False
        model.features(tokens, tokens, keep)
    assert len(graphs) == 2  # the encoder's and the decoder's


def test_what_is_frozen_cannot_be_changed_when_resuming(toy: Toy, regard: Say) -> None:
    code, _, err = regard("train", "translate", "--run", toy.good, "--resume", "--frozen")
    assert (code, "option --frozen cannot be changed when resuming" in err) == (2, True)
