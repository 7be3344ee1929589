"""The command that began a run goes on with it, of whatever task and with whatever options; what differs is named."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from regard.runfolder import Run
from tests.conftest import Say
from tests.old_runs.make import BLOCK, PIECES, RUNS, SEEDS, SMALL, TEXT, files, write_data

TOY = f"train translate {files('pairs')} --tokenizer word {BLOCK}"
COMMANDS = {
    **RUNS,
    "seeds": SEEDS,
    "a kind and then its fields": f"{TOY} --optimiser adamw --rate 0.005 --schedule cosine --warmup 3",
    "a part and its field": f"{TOY} --norm rms --eps 0.01",
    "fields and then the kind": f"{TOY} --rate 0.005 --optimiser adamw --floor 0.1 --schedule cosine --dropout 0.2",
    "all and then one": f"{TOY} --model.decoder.layers 2 --hidden 12 --kernel additive",
    "an average": f"{TOY} --average last --count 3",
    "more than the model reads": f"{TOY} --position learned --length 16 --max-length 99",
    "processes": f"{TOY} --processes 1 --device cpu",
    "a preset and changes": f"{TOY} --preset transformer-tiny --optimiser adamw --rate 0.003 --position rotary",
    "a file and changes": f"train translate --config mine.yaml {BLOCK} --optimiser adamw --rate 0.004",
    "a file that begins from a run": "train classify --config around.yaml --dropout 0.2",
    "what pools nothing": f"train similar {files('scored')} --preset bert-mini --tokenizer word {BLOCK}",
    "what is judged beside": f"pretrain mlm {TEXT} {PIECES} --preset bert-mini --context 24 {BLOCK}",
    "a model that goes on": f"train translate {files('pairs')} --from runs/transformer --dropout 0.2",
    "what stays as it is": f"train classify {files('labelled')} --from runs/mlm --max-length 24 --frozen",
    "adapters": f"train classify {files('labelled')} --from runs/mlm --max-length 24 --rank 2 --scale 4",
    "layers that learn slowly": f"train classify {files('labelled')} --from runs/mlm --pool mean --layer-decay 0.5 "
    "--max-length 24",
    "a vector from a run": f"train similar {files('scored')} --from runs/mlm --max-length 24",
    "columns": f"{TOY} --columns 2,1",
    "many labels": f"train classify {files('labelled')} --many {SMALL}",
    "summaries": f"train summarise {files('pairs')} --tokenizer word {BLOCK}",
}
ENDS = "--validate-every 2 --precision fp32 --max-steps"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, and the runs that others begin from."""
    from regard.cli import main

    folder = tmp_path_factory.mktemp("repeated")
    write_data(folder / "data")
    recipe = {
        "preset": "transformer-tiny",
        "task": {
            "train": {"file": "data/pairs.train.tsv"},
            "valid": {"file": "data/pairs.valid.tsv"},
            "tokenizer": "word",
        },
        "training": {"max_steps": 5, "schedule": {"kind": "cosine", "warmup": 2}},
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(recipe))
    data = {part: {"file": f"data/labelled.{part}.tsv"} for part in ("train", "valid")}
    around = {"task": {"kind": "classify", **data, "max_length": 24}, "initial": {"run": "runs/mlm", "frozen": True}}
    (folder / "around.yaml").write_text(yaml.safe_dump(around))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("transformer", "mlm", "bilm"):
            assert main([*RUNS[name].split(), "--run", f"runs/{name}", *f"{ENDS} 2".split()]) == 0
    return folder


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_is_given_again_with_resume(
    home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(home)
    shutil.rmtree("runs/again", ignore_errors=True)
    words = [*shlex.split(command), "--run", "runs/again", *ENDS.split()]
    assert regard(*words, 2)[0] == 0
    code, _, err = regard(*words, 2, "--resume")
    assert code == 0, err
    if "--seeds" not in words:
        code, _, err = regard(*words, 3, "--resume")
        assert (code, "resumed at step 2" in err) == (0, True), err
        assert Run("runs/again").checkpoints()[-1] == 3


@pytest.fixture
def begun(home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A command that began a run."""
    monkeypatch.chdir(home)
    options = "--optimiser adamw --rate 0.005 --position learned --length 16 --max-length 99"
    words = [*TOY.split(), *options.split(), "--run", str(tmp_path / "run"), *f"{ENDS} 2".split()]
    assert regard(*words)[0] == 0
    return words


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("--rate 0.005", "--rate 0.006", "--rate cannot be changed when resuming: training.optimiser.rate is 0.005 in"),
        ("--optimiser adamw", "--optimiser muon", "--optimiser cannot be changed when resuming: training.optimiser."),
        ("--length 16", "--length 32", "--length cannot be changed when resuming: model.encoder.position.length is 16"),
        ("--max-length 99", "--max-length 12", "--max-length cannot be changed when resuming: task.max_length is 16"),
    ],
)
def test_one_option_of_many_that_differs_is_named_with_both_values(
    begun: list[str], regard: Say, before: str, after: str, told: str
) -> None:
    code, _, err = regard(*" ".join(begun).replace(before, after).split(), "--resume")
    assert (code, err.count("\n")) == (2, 1)
    assert f"option {told}" in err
    assert f"and {after.split()[1]} here" in err


@pytest.mark.parametrize(
    "said",
    [
        "--max-length 16",
        "--max-length 99",
        "--processes 1",
        "--training.optimiser.rate 0.005",
        "--config RUN/recipe.yaml",
    ],
)
def test_an_option_that_says_what_was_asked_for_or_what_became_of_it_is_taken(
    begun: list[str], regard: Say, said: str
) -> None:
    run = begun[begun.index("--run") + 1]
    code, _, err = regard("train", "translate", "--run", run, "--resume", *said.replace("RUN", run).split())
    assert (code, "it is over" in err) == (0, True), err


def test_a_run_goes_on_by_its_command_where_the_one_it_began_from_is_gone(
    home: Path, regard: Say, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(home)
    shutil.copytree("runs/transformer", tmp_path / "first")
    begin = ["--from", str(tmp_path / "first"), "--dropout", "0.2", "--run", str(tmp_path / "run"), *ENDS.split()]
    words = [*f"train translate {files('pairs')}".split(), *begin]
    assert regard(*words, 2)[0] == 0
    shutil.rmtree(tmp_path / "first")
    code, _, err = regard(*words, 3, "--resume")
    assert (code, "resumed at step 2" in err) == (0, True), err


def test_what_was_asked_for_is_not_known_of_a_run_of_earlier_versions(begun: list[str], regard: Say) -> None:
    run = Path(begun[begun.index("--run") + 1])
    (run / "asked.json").unlink()
    code, _, err = regard(*begun, "--resume")
    assert (code, "it is over" in err) == (0, True), err
