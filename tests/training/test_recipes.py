"""Recipes: from files, presets and options to one config; every recipe of the repository is whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from regard.config import ConfigError, from_dict, to_dict
from regard.errors import DataError
from regard.runfolder import Run
from regard.training.initial import Initial
from regard.training.recipes import make_recipe, read_file, where
from regard.training.session import Recipe
from regard.zoo import get
from tests.toy import Toy

DATA = {"train": {"file": "a.tsv"}, "valid": {"file": "b.tsv"}}
RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.yaml"))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold() -> None:
    recipe = make_recipe("translate", DATA)
    assert recipe.model == get("translator")
    assert recipe.task.kind == "translate"


def test_an_option_wins_over_the_file_and_the_file_over_the_preset(tmp_path: Path) -> None:
    file = write(
        tmp_path / "r.yaml", "preset: transformer-tiny\nmodel: {layers: 2, width: 64}\ntraining: {max_steps: 7}\n"
    )
    recipe = make_recipe("translate", DATA, file=file, changes={"width": 32, "max_steps": 9})
    model = to_dict(recipe.model)
    assert (model["encoder"]["layers"], model["width"], recipe.training.max_steps) == (2, 32, 9)
    assert make_recipe("translate", DATA, file=file).training.max_steps == 7


def test_of_many_options_the_nearest_are_named_and_where_to_find_them_all() -> None:
    with pytest.raises(ConfigError) as error:
        make_recipe("translate", DATA, changes={"max_stps": 3})
    found = re.fullmatch(
        r"unknown option 'max_stps': did you mean 'max_steps'\? \(known: (.*) and \d+ more\); "
        r"`regard list options translate` lists them all",
        str(error.value),
    )
    assert found is not None
    assert len(found.group(1).split(", ")) == 10


def test_a_file_that_begins_from_a_run_can_be_frozen_by_an_option(tmp_path: Path, toy: Toy) -> None:
    file = write(tmp_path / "r.yaml", f"initial: {{run: {toy.good}}}\n")
    recipe = make_recipe("translate", DATA, file=file, changes={"frozen": True})
    assert recipe.initial == Initial(str(toy.good), frozen=True)


def test_a_named_preset_wins_over_the_files_own(tmp_path: Path) -> None:
    file = write(tmp_path / "r.yaml", "preset: transformer-tiny\nmodel: {layers: 2}\n")
    model = make_recipe("translate", DATA, preset="transformer-base", file=file).model
    assert (model.width, to_dict(model)["decoder"]["layers"]) == (512, 2)


def test_the_recipe_of_a_run_is_a_recipe(tmp_path: Path) -> None:
    """`recipe.yaml` of a run folder names no preset but the whole model."""
    import yaml

    whole = make_recipe("translate", DATA, changes={"layers": 3})
    file = write(tmp_path / "recipe.yaml", yaml.safe_dump(to_dict(whole)))
    assert make_recipe("translate", {}, file=file) == whole


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b\n", "r.yaml is no recipe: it holds list instead of fields"),
        ("", "r.yaml is no recipe: it holds NoneType instead of fields"),
        ("training: {max_steps: [", "r.yaml is no recipe: while parsing"),
        ("trainin: {max_steps: 3}\n", "unknown key 'trainin'"),
        ("training: {max_stps: 3}\n", "did you mean 'max_steps'?"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path / "r.yaml", text)
    with pytest.raises(ConfigError) as error:
        make_recipe("translate", DATA, file=file)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_data_is_named_by_file_files_or_set() -> None:
    assert where("a.tsv", "train") == {"file": "a.tsv"}
    assert where(Path("a.tsv"), "train") == {"file": "a.tsv"}
    assert where(("a.en", "a.de"), "valid") == {"source": "a.en", "target": "a.de"}
    assert where("phrasebook", "valid") == {"name": "phrasebook", "split": "valid"}
    assert where({"file": "a.tsv", "count": 3}, "train") == {"file": "a.tsv", "count": 3}


def test_a_named_set_is_validated_on_its_own_split_where_the_task_takes_one() -> None:
    def made(task: str, name: str) -> dict[str, Any]:
        return to_dict(make_recipe(task, {split: where(name, split) for split in ("train", "valid")}).task)

    assert made("lm", "tinyshakespeare")["valid"]["split"] == "valid"
    assert "valid" not in made("fewshot", "trec")  # its classes are divided instead
    with pytest.raises(DataError, match="unknown data set 'shakespeare'"):
        make_recipe("lm", {"train": {"file": "a"}, "valid": {"name": "shakespeare", "split": "valid"}})


def test_training_without_data_says_what_to_give() -> None:
    with pytest.raises(ConfigError, match="name --train and --valid files, or --data NAME"):
        make_recipe("translate", {})


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_whole_and_says_what_it_promises(path: Path, tmp_path: Path) -> None:
    header = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line.startswith("#"))
    command = re.search(r"regard (?:train|pretrain) (\S+) ", header)
    assert command is not None
    begins = read_file(path).get("initial")
    if begins:  # from a run that another recipe makes
        assert begins["run"] in header
        Run(tmp_path).write_config({"model": to_dict(get("bert-tiny"))})
        begins = {**begins, "run": str(tmp_path)}
    recipe = make_recipe(command.group(1), {}, file=path, initial=begins)
    assert from_dict(Recipe, to_dict(recipe)) == recipe
    for promised in ("minutes", next(iter(recipe.task.metrics)).replace("_", " ")):
        assert promised in header.lower(), promised
    assert begins or read_file(path)["preset"]


@pytest.mark.parametrize("task", ["classify", "pair", "tag", "answer"])
def test_a_preset_that_only_reads_is_what_the_tasks_own_model_is_built_around(task: str) -> None:
    recipe = make_recipe(task, {name: {"file": "a.tsv"} for name in ("train", "valid")}, "bert-tiny")
    reader = recipe.model.reader  # type: ignore[attr-defined]
    assert reader == get("bert-tiny").inside()  # type: ignore[attr-defined]
    assert recipe.task.max_length <= 512  # type: ignore[attr-defined]
    assert recipe.initial is None


def test_a_rate_may_be_written_without_a_full_stop(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text("training: {optimiser: {kind: adamw, rate: 2e-3, eps: 1E-8}}")
    optimiser = make_recipe("translate", DATA, file=file).training.optimiser
    assert (optimiser.rate, optimiser.eps) == (2e-3, 1e-8)
