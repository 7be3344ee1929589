"""A row of a table: whose script runs, in which environment, with which interpreter."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, Environment, call


@dataclass(frozen=True)
class Side:
    """`module` lies under `benchmarks`. `environment` none: the one this program runs in. `root`: the copy of the
    repository whose code runs."""

    name: str
    title: str
    module: str
    variant: str = "default"
    environment: Environment | None = None
    ours: bool = False
    root: Path = ROOT

    def python(self) -> Path:
        return Path(sys.executable) if self.environment is None else self.environment.python()

    def run(self, *arguments: object) -> dict[str, Any]:
        """What the script prints as its last line, in JSON; a toolkit may print before it."""
        command = (str(self.python()), "-m", f"benchmarks.{self.module}", self.variant, *map(str, arguments))
        record: dict[str, Any] = json.loads(call(*command, root=self.root).splitlines()[-1])
        return record
