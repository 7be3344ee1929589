"""The command line: results on stdout, one sentence and exit code 2 for a mistake, quick help."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from regard.cli import main
from regard.cli.options import read_changes


def run(capsys, *words: str) -> tuple[int, str, str]:  # type: ignore[no-untyped-def]
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_describe_prints_json_with_the_total_under_parameters(capsys) -> None:  # type: ignore[no-untyped-def]
    code, out, err = run(capsys, "describe", "gpt2", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["parameters"] == 124_439_808


def test_describe_prints_a_table_for_people(capsys) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run(capsys, "describe", "transformer-base", "--batch", "64", "--length", "20")
    assert code == 0
    assert "63,082,496" in out
    assert "65M (-3.0% here)" in out
    assert "64 × 20 tokens" in out


def test_fields_of_the_config_are_options(capsys) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run(
        capsys, "describe", "gpt2", "--layers", "2", "--decoder.block.norm=rms", "--kv-heads", "4", "--json"
    )
    config = json.loads(out)["config"]["decoder"]
    assert code == 0
    assert config["layers"] == 2
    assert config["block"]["norm"]["kind"] == "rms"
    assert config["block"]["attention"]["kv_heads"] == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gtp2"], "unknown preset 'gtp2': did you mean 'gpt2'?"),
        (["gpt2", "--heads", "7"], "width 768 is not divisible by 7 heads"),
        (["gpt2", "--layrs", "7"], "unknown option 'layrs': did you mean 'layers'?"),
        (["gpt2", "--norm", "rns"], "unknown norm kind 'rns' at 'norm': did you mean 'rms'?"),
        (["gpt2", "--dropout", "2"], "dropout: 2 is not allowed; it takes a number of at least 0 and below 1"),
        (["gpt2", "--layers"], "layers: True is not allowed; it takes a whole number of at least 1"),
        (["gpt2", "extra"], "unexpected argument 'extra'"),
        (["gpt2", "--length", "4096"], "length 4096 is more than the 1024 places"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(capsys, words: list[str], message: str) -> None:  # type: ignore[no-untyped-def]
    code, out, err = run(capsys, "describe", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("regard describe: ")
    assert err.count("\n") == 1


def test_list_names_presets_and_parts(capsys) -> None:  # type: ignore[no-untyped-def]
    _, presets, _ = run(capsys, "list", "presets", "--json")
    assert "megatron-8.3b" in json.loads(presets)
    _, parts, _ = run(capsys, "list", "parts")
    assert "kernel additive" in parts
    assert "position rotary" in parts


def test_values_are_read_as_json_where_they_can_be() -> None:
    words = ["--a.b", "2", "--c=0.5", "--d", "true", "--e", "relu", "--f-g", '{"kind": "rms"}', "--h", "-1"]
    expected = {"a.b": 2, "c": 0.5, "d": True, "e": "relu", "f_g": {"kind": "rms"}, "h": -1}
    assert read_changes(words) == expected


@pytest.mark.parametrize(
    "command",
    [
        "import regard",
        "from regard.cli import parser; parser().format_help()",
        "import regard.runfolder, regard.training.records",
    ],
)
def test_neither_importing_nor_help_nor_reading_a_run_folder_imports_torch(command: str) -> None:
    script = f"import sys; {command}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_list_names_every_option_of_a_task_and_each_is_taken(capsys) -> None:  # type: ignore[no-untyped-def]
    from regard.cli.options import read_changes
    from regard.training.recipes import make_recipe

    _, listed, _ = run(capsys, "list", "options", "translate", "--preset", "transformer-tiny", "--json")
    options = json.loads(listed)
    assert options["--batch-tokens"].split() == ["2560", *"a whole number of at least 1".split()]
    assert options["--optimiser"].startswith("muon ")
    assert "--model.decoder.layers" in options  # the encoder has some too
    data = {part: {"file": "FILE"} for part in ("train", "valid")}
    recipe = make_recipe("translate", data, "transformer-tiny")
    for option, text in options.items():
        change = read_changes([option, text.split()[0]])
        if "(" not in text:  # a part of some kind has fields of its own
            assert make_recipe("translate", data, "transformer-tiny", changes=change) == recipe, option


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["options"], "name the task whose options to list: answer"),
        (["options", "clasify"], "did you mean 'classify'"),
        (["data", "imdb"], "only `regard list options` takes a task"),
    ],
)
def test_options_are_those_of_a_known_task(capsys, words: list[str], message: str) -> None:  # type: ignore[no-untyped-def]
    code, _, err = run(capsys, "list", *words)
    assert code == 2
    assert message in err


@pytest.mark.parametrize("words", [["--help"], ["describe", "--help"], ["list", "--help"], ["--version"]])
def test_help_has_examples_and_exits_with_0(capsys, words: list[str]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SystemExit) as ending:
        main(words)
    assert ending.value.code == 0
    out = capsys.readouterr().out
    assert "examples:" in out or words == ["--version"]


def test_an_unknown_verb_exits_with_2(capsys) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SystemExit) as ending:
        main(["decribe"])
    assert ending.value.code == 2
    assert "invalid choice: 'decribe'" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m regard list parts | head -n 1"
    result = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert result.stderr == ""


def test_a_run_folder_is_described_by_its_config(capsys, tmp_path) -> None:  # type: ignore[no-untyped-def]
    from regard.config import to_dict
    from regard.runfolder import Run
    from regard.zoo import get

    Run(tmp_path).write_config({"model": to_dict(get("gpt2"))})
    code, out, _ = run(capsys, "describe", str(tmp_path), "--json")
    assert code == 0
    assert json.loads(out)["parameters"] == 124_439_808
    code, _, err = run(capsys, "describe", str(tmp_path.parent))
    assert code == 2
    assert "it has no config.json" in err


def test_several_texts_are_named_one_after_the_other() -> None:
    from argparse import Namespace

    from regard.cli.train import named_data

    given = Namespace(train=["a.txt", "more"], valid=None, data=None, columns=None)
    assert named_data(given, "train") == {"file": "a.txt,more"}
    assert named_data(given, "valid") == {}


def test_the_demo_names_the_command_as_it_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.cli.demo import called

    monkeypatch.setattr("sys.argv", [".venv/bin/regard", "demo"])
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert called() == ".venv/bin/regard"
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert called() == "regard"
    monkeypatch.setattr("sys.argv", ["regard/__main__.py", "demo"])
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert called() == "regard"
