"""Parts, presets, tasks, data sets and experiments from outside are used by name like ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toy import write_pairs

PARTS = '''
"""Somebody's own parts."""
from dataclasses import dataclass

from torch import nn

from regard.data.catalogue import DataSet
from regard.data.pairs import Pair
from regard.lab.experiment import Experiment, ExperimentResult
from regard.nn.norms import NormConfig
from regard.tasks.writing.translation import Translation
from regard.zoo import Preset, get


@dataclass(frozen=True)
class Plain(NormConfig, kind="plain"):
    """Leaves everything as it is."""

    def build(self, width: int) -> nn.Module:
        return nn.Identity()


@dataclass(frozen=True)
class Whisper(Translation, kind="whisper"):
    """Translate, quietly."""


@dataclass(frozen=True)
class Nothing(Experiment, kind="nothing"):
    """Concludes at once."""

    def trials(self, folder, say):
        return []

    def outcome(self, results):
        return ExperimentResult([], [], ["Nothing was tried."])


PRESETS = (Preset("my-translator", get("transformer-tiny", norm="plain"), "nobody"),)
DATA_SETS = (
    DataSet("my-pairs", "two pairs", (), ("train", "valid"), {"pairs": lambda *_: [Pair("a b", "c d")] * 20}),
)
'''
SMALL = "--layers 1 --width 16 --heads 2 --hidden 16 --pieces 60 --max-steps 2 --validate-every 2 --processes 1".split()


def regard(*words: object, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A process of its own, so that what it registers is gone with it."""
    folders = [str(Path(__file__).parents[1]), *([str(path)] if path else [])]
    return subprocess.run(
        [sys.executable, "-m", "regard", *map(str, words)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "my_parts.py").write_text(PARTS)
    write_pairs(tmp_path / "train.tsv", 40, seed=1)
    write_pairs(tmp_path / "valid.tsv", 5, seed=2)
    return tmp_path


def test_a_run_with_parts_of_ones_own_says_what_it_needs(home: Path) -> None:
    files = ["--train", "train.tsv", "--valid", "valid.tsv", "--run", "run"]
    trained = regard(
        *("train", "whisper", *files, "--preset", "my-translator", *SMALL, "--import", "my_parts.py"), cwd=home
    )
    assert trained.returncode == 0, trained.stderr
    assert json.loads((home / "run" / "config.json").read_text())["needs"] == {"my_parts": "my_parts.py"}
    used = regard("--import=my_parts.py", "translate", "run", "un chat", cwd=home)
    assert used.returncode == 0, used.stderr
    assert used.stdout.count("\n") == 1
    for words in (["translate", "run", "un chat"], ["train", "whisper", "--run", "run", "--resume"]):
        away = regard(*words, cwd=home)
        assert away.returncode == 2
        assert "run needs my_parts.py: add --import my_parts.py, or import it in Python" in away.stderr
        assert away.stderr.count("\n") == 1


def test_presets_parts_data_and_experiments_from_outside_are_listed_and_used_by_name(home: Path) -> None:
    found = regard("list", "parts", "--import", "my_parts.py", cwd=home)
    assert "norm plain" in found.stdout
    assert "my-pairs" in regard("list", "data", "--import", "my_parts.py", cwd=home).stdout
    described = regard("describe", "my-translator", "--import", "my_parts.py", cwd=home)
    assert described.returncode == 0, described.stderr
    lab = regard("lab", "nothing", "--import", "my_parts.py", cwd=home)
    assert (lab.returncode, "Nothing was tried." in lab.stdout) == (0, True), lab.stderr


def test_a_package_offers_parts_by_an_entry_point(home: Path) -> None:
    site = home / "site"
    (site / "theirs-1.0.dist-info").mkdir(parents=True)
    (site / "theirs-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (site / "theirs-1.0.dist-info" / "entry_points.txt").write_text("[regard.parts]\ntheirs = theirs\n")
    (site / "theirs.py").write_text(PARTS)
    assert regard("describe", "gpt2", "--norm", "plain", cwd=home).returncode == 2
    for words in (["describe", "gpt2", "--norm", "plain"], ["describe", "my-translator"]):
        found = regard(*words, cwd=home, path=site)
        assert found.returncode == 0, found.stderr
    (site / "theirs.py").write_text("from regard import nothing_of_this_name")
    broken = regard("describe", "gpt2", cwd=home, path=site)
    assert broken.returncode == 2
    assert broken.stderr.startswith("regard describe: the package that offers theirs = theirs cannot be imported")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            '@dataclass(frozen=True)\nclass Mine(NormConfig, kind="rms"):\n    pass',
            "my_norms.Mine: norm 'rms' is there already, regard.nn.norms.RMSNorm; call it otherwise",
        ),
        (
            'class Mine(NormConfig, kind="mine"):\n    scale: float = 1.0',
            "my_norms.Mine is no dataclass: write @dataclass(frozen=True) above it",
        ),
    ],
)
def test_a_mistake_in_a_part_is_one_sentence(tmp_path: Path, part: str, message: str) -> None:
    lines = ["from dataclasses import dataclass", "from regard.nn.norms import NormConfig", part]
    (tmp_path / "my_norms.py").write_text("\n".join(lines))
    found = regard("describe", "gpt2", "--norm", "rms", "--import", "my_norms.py", cwd=tmp_path)
    assert found.returncode == 2, found.stderr
    assert message in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.py", "--import nowhere.py: there is no such file"),
        ("no.such.module", "--import no.such.module: there is no such module"),
        ("my_parts", "--import my_parts: there is no such module; a file is written my_parts.py"),
        ("json.py", "a module called json is there already; give the file another name"),
    ],
)
def test_a_mistake_in_what_to_import_is_one_sentence(home: Path, name: str, message: str) -> None:
    (home / "json.py").write_text("")
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; from regard.cli import main; sys.exit(main(['list', '--import', {name!r}]))",
        ],
        cwd=home,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2, found.stderr
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
