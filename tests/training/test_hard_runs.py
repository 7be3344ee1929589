"""A run with hard attention: it learns, its draws and its baseline are resumed, and it is used without drawing."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch

from regard.checkpoint import read_tensors
from regard.config import change
from regard.models import Recurrent
from regard.models.recurrent import Bahdanau
from regard.nn.attention.hard import Hard
from regard.runfolder import Run
from regard.tasks.writing.translation import load_translator
from regard.training.session import Recipe, resume, start
from tests.toy import losses, meaning, sentences

MODEL = Recurrent(vocabulary=9, width=32, hidden=32, reader=Bahdanau(choice=Hard()))


def recipe_of(recipe: Recipe, steps: int) -> Recipe:
    hard = Recipe(recipe.task, MODEL, recipe.training)
    return change(hard, {"max_steps": steps, "validate_every": steps // 2, "batch_tokens": 600, "average": "none"})


def test_a_resumed_run_draws_the_same_and_goes_on_from_its_baseline(tmp_path: Path, recipe: Recipe) -> None:
    whole, cut = Run(tmp_path / "whole"), Run(tmp_path / "cut")
    start(whole, recipe_of(recipe, 20))
    start(cut, recipe_of(recipe, 20))
    shutil.rmtree(cut.checkpoint(20))
    resume(cut)
    assert losses(cut) == losses(whole)
    one, other = (read_tensors(run.checkpoint(20) / "running.safetensors") for run in (cut, whole))
    assert list(one) == ["reader.attention.choice.baseline"]
    assert torch.equal(one["reader.attention.choice.baseline"], other["reader.attention.choice.baseline"])
    assert one["reader.attention.choice.baseline"][0] < 0
    assert "reader.attention.choice.baseline" not in read_tensors(whole.weights_path)


def test_it_learns_to_translate_by_looking_at_one_word_at_a_time(tmp_path: Path, recipe: Recipe) -> None:
    run = Run(tmp_path / "run")
    start(run, recipe_of(recipe, 300))
    translator = load_translator(run.path)
    texts = sentences(50, seed=11)
    found = translator(texts)
    assert translator(texts) == found
    right = sum(one == meaning(text) for one, text in zip(found, texts, strict=True))
    assert right >= 40
