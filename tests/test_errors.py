"""A mistake of the user's is one sentence; a mistake of the program's shows where it happened."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

import regard
from regard import extensions
from regard.config import ConfigError
from regard.errors import DataError, FileError, reading, writing
from regard.runfolder import RunError
from regard.training.health import TrainingError
from tests.conftest import Say
from tests.test_bad_input import QUICK, sentence
from tests.toy import Toy

MISTAKES = ("ConfigError", "DataError", "DiskError", "FileError", "RunError", "TrainingError")


@pytest.mark.parametrize("kind", [ConfigError, DataError, FileError, RunError, TrainingError])
def test_every_mistake_of_the_users_is_an_error_of_regard(kind: type[Exception]) -> None:
    assert issubclass(kind, regard.Error)
    assert issubclass(regard.Error, ValueError)


@pytest.mark.parametrize(
    "bug", [ValueError("zip() argument 2 is shorter"), TypeError("no"), KeyError("x"), OSError("bad descriptor")]
)
def test_a_bug_shows_its_traceback_and_says_that_it_is_one(
    regard: Say, toy: Toy, monkeypatch: pytest.MonkeyPatch, bug: Exception
) -> None:
    from regard.tasks.writing.translator import Translator

    def broken(*_: object, **__: object) -> None:
        raise bug

    monkeypatch.setattr(Translator, "translate", broken)
    code, out, err = regard("translate", toy.good, "un deux")
    assert (code, out) == (1, "")
    assert err.startswith("Traceback (most recent call last):")
    assert "in broken" in err
    *_, what, last = err.splitlines()
    assert what.startswith(type(bug).__name__)
    assert last == "regard translate: this is a bug of regard; please report it with the lines above"


def test_a_bug_while_training_shows_its_traceback(regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.tasks.writing.translation import TranslationTask

    def broken(self: object, model: object) -> None:
        assert list(zip([1], [1, 2], strict=True))

    monkeypatch.setattr(TranslationTask, "validate", broken)
    (tmp_path / "pairs.tsv").write_text("un\tone\ndeux\ttwo\n" * 8)
    data = ["--train", tmp_path / "pairs.tsv", "--valid", tmp_path / "pairs.tsv", "--run", tmp_path / "run"]
    code, _, err = regard("train", "translate", *data, *QUICK)
    assert code == 1, err
    assert "in broken" in err
    assert err.splitlines()[-1].startswith("regard train: this is a bug of regard")


def test_a_file_of_ones_own_that_breaks_is_not_called_a_bug_of_regard(
    regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extensions, "_asked", {})
    path = tmp_path / "of_my_own_that_breaks.py"
    path.write_text("raise ValueError('not yet written')\n")
    code, _, err = regard("--import", path, "list", "presets")
    assert code == 1
    assert "not yet written" in err
    assert err.splitlines()[-1] == "regard: what --import names cannot be imported; the lines above say why"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "there is not enough memory (MemoryError)"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), "there is not enough memory"),
        (OSError(28, "No space left on device"), "standard output cannot be written (No space left on device)"),
        (OSError(28, "No space left on device", "f.txt"), "f.txt cannot be written (No space left on device)"),
    ],
)
def test_what_the_machine_lacks_is_no_bug(
    regard: Say, toy: Toy, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    from regard.tasks.writing.translator import Translator

    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Translator, "translate", broken)
    assert told in sentence(regard("translate", toy.good, "un deux"))


def test_what_the_system_refuses_is_said_with_the_path(tmp_path: Path) -> None:
    missing, file = tmp_path / "missing", tmp_path / "file"
    file.touch()
    with pytest.raises(FileError, match=f"{missing} does not exist"), reading(missing):
        missing.read_text()
    with pytest.raises(FileError, match=rf"{file}/in cannot be read \(Not a directory\)"), reading(file / "in"):
        (file / "in").read_text()
    with pytest.raises(FileError, match=rf"{tmp_path} cannot be written \(Is a directory\)"), writing(tmp_path):
        tmp_path.write_text("")


@pytest.mark.parametrize(
    "words",
    [
        ["train", "translate", "--train", "{file}", "--valid", "{file}", "--run", "{file}"],
        ["train", "translate", "--train", "{file}", "--valid", "{file}", "--run", "{file}/run"],
        ["train", "translate", "--train", "{folder}", "--valid", "{file}", "--run", "{run}"],
        ["train", "answer", "--train", "{folder}", "--valid", "{file}", "--run", "{run}"],
        ["train", "translate", "--config", "{folder}", "--run", "{run}"],
        ["train", "translate", "--config", "{run}/none.yaml", "--run", "{run}"],
        ["translate", "{file}", "un"],
        ["translate", "{folder}", "un"],
        ["generate", "{file}", "un"],
        ["classify", "{file}", "un"],
        ["pair", "{file}", "un", "deux"],
        ["tag", "{file}", "un"],
        ["answer", "{file}", "{file}", "un"],
        ["fill", "{file}", "un"],
        ["embed", "{file}", "un"],
        ["similar", "{file}", "{file}", "un"],
        ["augment", "--there", "{file}", "--data", "{file}", "--out", "{folder}"],
        ["evaluate", "{file}", "--data", "{file}"],
        ["evaluate", "{good}", "--data", "{folder}"],
        ["look", "{file}", "un"],
        ["look", "{good}", "un", "--out", "{folder}"],
        ["look", "{good}", "un", "--out", "{file}/page.html"],
        ["describe", "{file}"],
        ["lab", "order", "--run", "{file}"],
        ["studio", "--runs", "{file}"],
        ["studio", "--runs", "{good}"],
        ["import", "{file}", "--run", "{run}"],
        ["import", "{folder}", "--run", "{run}"],
        ["import", "{run}", "--run", "{run}"],
        ["export", "{good}", "--to", "huggingface", "{file}"],
        ["export", "{good}", "--to", "huggingface", "{file}/out"],
        ["export", "{file}", "--to", "huggingface", "{run}"],
        ["list", "nothing"],
    ],
    ids=" ".join,
)
def test_every_verb_says_in_one_sentence_what_is_wrong_with_a_path(
    regard: Say, toy: Toy, tmp_path: Path, words: list[str]
) -> None:
    file, folder = tmp_path / "pairs.tsv", tmp_path / "folder.tsv"
    file.write_text("un\tone\n" * 4)
    folder.mkdir()
    places = {"file": file, "folder": folder, "run": tmp_path / "run", "good": toy.good}
    code, _, err = regard(*[word.format(**places) for word in words])
    assert code == 2, err
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("regard")


def test_a_folder_that_is_closed_to_us_is_said_to_be(regard: Say, toy: Toy, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read and write everything")
    tmp_path.chmod(0o500)
    told = sentence(regard("look", toy.good, "un", "--out", tmp_path / "page.html"), progress=True)
    assert "Permission denied" in told


def test_a_user_is_never_told_of_a_mistake_by_a_bare_value_error() -> None:
    """The command line is all about what users give: there a mistake is an `Error`."""
    root = Path(regard.__file__).parent
    for path in (root / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                assert node.exc.func.id in ("Error", *MISTAKES), f"{path.name}:{node.lineno}"
