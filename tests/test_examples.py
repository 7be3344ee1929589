"""The examples of CONTRIBUTING keep the contracts of their families, and are trained and used by name like ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUICK = "--max-steps 2 --validate-every 2 --processes 1".split()
VERBS = """
import contextlib, io, json, sys
from regard.cli import main
found = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    found.append([code, out.getvalue(), err.getvalue()])
json.dump(found, sys.stdout)
"""


def python(*words: object, given: str = "") -> subprocess.CompletedProcess[str]:
    """A process of its own, so that what it registers is gone with it."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        input=given,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def verbs(name: str, *commands: list[object]) -> list[str]:
    """What each verb prints; the first brings the example of this name, so that all have it."""
    first, *others = ([str(word) for word in command] for command in commands)
    found = python("-c", VERBS, given=json.dumps([[*first, "--import", f"examples/{name}.py"], *others]))
    assert found.returncode == 0, found.stderr
    answers = json.loads(found.stdout)
    assert all(code == 0 for code, _, _ in answers), answers
    return [out for _, out, _ in answers]


def contracts(file: Path, tests: str, chosen: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "pytest", tests, "--import", file, "-k", chosen, "-p", "no:cacheprovider")


@pytest.mark.parametrize(("name", "tests"), [("linformer", "test_kernels.py"), ("rezero", "test_parts.py")])
def test_an_example_keeps_the_contracts(name: str, tests: str) -> None:
    found = contracts(ROOT / "examples" / f"{name}.py", f"tests/contracts/{tests}", name)
    assert found.returncode == 0, found.stdout
    assert " passed" in found.stdout


def test_a_part_that_breaks_a_contract_is_named(tmp_path: Path) -> None:
    forgetful = (ROOT / "examples" / "linformer.py").read_text().replace(" * keep.unsqueeze(-1)", "")
    (tmp_path / "forgetful.py").write_text(forgetful)
    found = contracts(tmp_path / "forgetful.py", "tests/contracts/test_kernels.py", "linformer and padding")
    assert found.returncode == 1
    assert "test_padding_never_changes_an_output" in found.stdout
    missing = contracts(tmp_path / "nowhere.py", "tests/contracts/test_kernels.py", "linformer")
    assert missing.returncode == 4
    assert "there is no such file" in missing.stderr


def test_attention_to_slots_is_trained_used_and_looked_at(tmp_path: Path) -> None:
    rows = [f"{'good' if i % 2 else 'bad'} film number {i % 7}\t{'yes' if i % 2 else 'no'}" for i in range(40)]
    (tmp_path / "texts.tsv").write_text("\n".join(rows))
    run, file = tmp_path / "run", tmp_path / "texts.tsv"
    small = "--preset bert-tiny --layers 2 --width 16 --heads 2 --hidden 16 --kernel linformer --rank 5".split()
    _, together, alone, bytes_, looked, described = verbs(
        "linformer",
        ["train", "classify", "--train", file, "--valid", file, "--run", run, *small, *QUICK],
        ["classify", run, "--scores", "good film", "a bad film with a longer text"],
        ["classify", run, "--scores", "good film"],
        ["classify", run, "--int8", "good film"],
        ["look", run, "good film number", "--json"],  # as many tokens as slots
        ["describe", run],
    )
    assert together.splitlines()[0] == alone.strip()
    assert bytes_.strip() in ("yes", "no")
    look = json.loads(looked)
    assert len(look["sides"]["text"]["tokens"]) == 5
    assert [(layer["rows"], layer["columns"]) for layer in look["layers"]] == [("text", "5 slots")] * 2
    assert look["sides"]["5 slots"]["tokens"] == [f"slot {number}" for number in range(1, 6)]
    assert look["rollout"] == []
    assert "multiply-adds" in described


def test_a_wiring_without_a_norm_is_trained_and_described(tmp_path: Path) -> None:
    changes = "--layers 1 --width 16 --heads 2 --hidden 16 --residual rezero --zero-outputs false".split()
    (tmp_path / "text.txt").write_text("the black cat sleeps\n" * 60)
    run, file = tmp_path / "run", tmp_path / "text.txt"
    pieces = ["--tokenizer", "char", "--context", "16"]
    described, _, written = verbs(
        "rezero",
        ["describe", "gpt-tiny", *changes],
        ["train", "lm", "--train", file, "--valid", file, "--run", run, *changes, *pieces, *QUICK],
        ["generate", run, "the", "--tokens", 3],
    )
    assert "multiply-adds" in described
    assert written.startswith("the")


def test_a_task_of_ones_own_is_trained_evaluated_used_and_looked_at(tmp_path: Path) -> None:
    run, small = tmp_path / "run", ["--preset", "counter", "--task.train.count", 60, "--task.valid.count", 20]
    _, scores, used, record, looked = verbs(
        "counts",
        ["train", "count", "--data", "french-words", "--run", run, *small, *QUICK],
        ["evaluate", run, "--data", "french-words", "--count", 20, "--json"],
        ["use", run, "The cat sleeps.", "", "A dog runs."],
        ["use", run, "--json", "A dog runs."],
        ["look", run, "The cat sleeps.", "--json"],
    )
    assert "The largest errors" in (run / "report.html").read_text()
    assert json.loads(scores)["mean_error"] >= 0
    first, blank, second = used.splitlines()
    assert (float(first) > 0, blank) == (True, "")
    assert json.loads(record)["count"] == pytest.approx(float(second), abs=0.06)
    look = json.loads(looked)
    assert look["sides"]["label"]["text"] == first
    assert (look["verdicts"], look["score"]) == ([], None)
    away = python("-m", "regard", "use", run, "The cat sleeps.")
    assert away.returncode == 2
    assert "needs examples/counts.py: add --import examples/counts.py" in away.stderr


def test_python_brings_what_import_brings() -> None:
    opened = "len(list(open_data('french-words', split='test', count=3, form='labelled')))"
    program = (
        "import regard; from regard.data.catalogue import open_data\n"
        f"regard.bring('examples/counts.py'); print({opened}, 'counter' in regard.presets())"
    )
    found = python("-c", program)
    assert found.stdout == "3 True\n", found.stderr
