"""All that was measured, as JSON: for whoever wants more than the table says."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.environments import pinned
from benchmarks.rounds import Result


def write(path: Path, name: str, tables: Mapping[str, Sequence[Result[Any]]]) -> None:
    """`name` says what the tables are told apart by."""
    contents = {
        key: {
            result.side.name: {"records": [asdict(record) for record in result.records], "failure": result.failure}
            for result in results
        }
        for key, results in tables.items()
    }
    head = {"torch": pinned("torch"), "machine": platform.platform()}
    path.write_text(json.dumps({**head, name: contents}, indent=1) + "\n")
