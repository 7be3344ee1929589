"""What training tells is written down whole, and read back as it was."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from regard.runfolder import RunError
from regard.training.records import JsonLines, PlainLines, read_records


def write(path: Path, steps: range) -> None:
    lines = JsonLines(path)
    for step in steps:
        lines({"event": "step", "step": step, "loss": 1 / (step + 1)})
    lines.close()


def test_a_resumed_run_drops_what_came_after_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write(path, range(6))
    with path.open("a") as file:
        file.write('{"event": "step", "st')  # cut off by a crash
    JsonLines(path, after=3).close()
    assert [record["step"] for record in read_records(path)] == [0, 1, 2, 3]


def test_a_full_disk_does_not_cost_the_records_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write(path, range(50))
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(RunError, match=r"metrics\.jsonl could not be written .*; what was there is untouched"):
            JsonLines(path, after=40)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before


def test_plain_lines_go_to_the_standard_error_of_the_moment(capsys: pytest.CaptureFixture[str]) -> None:
    lines = PlainLines(100)
    lines({"event": "note", "step": 1, "text": "resumed"})
    assert capsys.readouterr().err == "resumed\n"


def test_time_left_is_that_of_the_steps_that_will_fit(capsys: pytest.CaptureFixture[str]) -> None:
    record = {"event": "step", "step": 20, "loss": 1.0, "tokens_per_second": 100.0, "seconds_per_step": 0.5}
    PlainLines(1000)({**record, "planned": 80})
    assert capsys.readouterr().err == "step 20/80  loss 1.000  100 tokens/s  0:30 left\n"
