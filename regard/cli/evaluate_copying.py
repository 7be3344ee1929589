"""How `regard evaluate` scores a machine that copies: the share of wrong bits by length."""

from __future__ import annotations

import argparse
from typing import Any

from regard.errors import Error


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Wrong bits for sequences within the trained lengths and beyond them; `--count` sequences of each."""
    from regard.checkpoint import Run
    from regard.cli.options import read_changes
    from regard.config import change, from_dict
    from regard.tasks.base import TaskConfig
    from regard.tasks.made.copying import TEST, Copy, CopyTask, told_lengths

    for name in ("data", "columns"):
        if getattr(options, name) is not None:
            raise Error(f"--{name}: a machine that copies is scored on sequences that are made on the spot")
    run = Run(options.run)
    changes = read_changes(rest) | ({"validated": options.count} if options.count else {})
    config = from_dict(TaskConfig, run.section("task"), "task")
    assert isinstance(config, Copy)
    copier, task = config.load(run), CopyTask(change(config, changes))
    rows = [
        {
            "length": length,
            "times trained": length / config.longest,
            "bit error": copier.error(task.sequences(length, TEST)),
        }
        for length in told_lengths(copier)
    ]
    twice = next(row["bit error"] for row in rows if row["length"] == 2 * config.longest)
    return {"bit error": twice, "trained up to": config.longest, "sequences": task.config.validated, "by length": rows}


def table(result: dict[str, Any]) -> str:
    """For people to read."""
    lines = ["length    times the longest trained    wrong bits"]
    lines += [
        f"{row['length']:>6}{row['times trained']:>29.2f}{row['bit error']:>13.2%}" for row in result["by length"]
    ]
    return "\n".join([*lines, "", f"{result['sequences']} sequences of each length"])
