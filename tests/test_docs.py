"""What the README shows, runs; what the docs state, is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import regard
import regard.data.catalogue
from regard.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of the README in this language, "" for those without one."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def test_the_snippets_of_the_readme_run_in_order(capsys, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """As printed, only that training is cut short; `train.tsv` and `valid.tsv` are the reader's own files."""
    monkeypatch.chdir(tmp_path)
    for name, count in (("train", 200), ("valid", 10)):
        pairs = regard.data.catalogue.open_data("phrasebook", "en-fr", name, count)
        (tmp_path / f"{name}.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    scope: dict[str, object] = {}
    snippets = blocks("python")
    assert len(snippets) >= 6
    for snippet in snippets:
        exec(compile(snippet.replace("max_steps=3000", "max_steps=10"), "README.md", "exec"), scope)
    assert "8,317,040,640" in capsys.readouterr().out


def commands() -> list[str]:
    return [line for block in blocks("") for line in block.splitlines() if line.startswith("regard ")]


def test_the_readme_shows_commands() -> None:
    assert len(commands()) >= 4


@pytest.mark.parametrize("command", commands())
def test_the_commands_of_the_readme_work_as_printed(command: str, capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


def test_the_readme_maps_every_folder() -> None:
    rooms = {path.name for path in (ROOT / "regard").iterdir() if not path.name.startswith(("_", "py.typed"))}
    for room in rooms:
        assert f"regard/{room}" in README, room


def test_the_table_of_sizes_is_what_the_presets_have() -> None:
    table = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    for name in regard.presets():
        description = regard.describe(name)
        published = "–" if description.published is None else f"{description.published:,}"
        difference = "–" if description.difference is None else f"{description.difference:+.2%}"
        assert f"| {name} | {description.parameters:,} | {published} | {difference} |" in table
