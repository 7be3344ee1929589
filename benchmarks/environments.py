"""A virtual environment for each peer, made on demand under `.peers/`, so that no toolkit decides another's versions.

torch is installed first and by the version this project is tested with, so that all sides run on the same one.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".peers"

_VERSIONS = """
import importlib.metadata, sys
for package in sys.argv[1:]:
    print(importlib.metadata.version(package).partition("+")[0])
"""


class UnavailableError(Exception):
    """A side that cannot run here; the message says why."""


@dataclass(frozen=True)
class Environment:
    """A folder of its own for one package at one version, beside torch."""

    name: str
    package: str
    version: str

    def python(self, peers: Path = PEERS) -> Path:
        """The interpreter, once it has the package and torch at the right versions; installs what is missing."""
        interpreter = peers / self.name / "bin" / "python"
        torch = pinned("torch")
        if not self.holds(interpreter, torch):
            print(f"setting up {interpreter.parents[1]}", file=sys.stderr)
            call(sys.executable, "-m", "venv", str(interpreter.parents[1]))
            install = (str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            call(*install, f"torch=={torch}", f"numpy=={pinned('numpy')}")
            # torch is named again, so that the package cannot replace it.
            call(*install, f"torch=={torch}", f"{self.package}=={self.version}")
        return interpreter

    def holds(self, interpreter: Path, torch: str) -> bool:
        """Asks the environment itself, so that one made by hand will do and one left half-made will not."""
        if not interpreter.exists():
            return False
        command = [str(interpreter), "-c", _VERSIONS, "torch", self.package]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.stdout.split() == [torch, self.version]


def pinned(package: str) -> str:
    """The version in constraints.txt."""
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name, _, version = line.partition("==")
        if name == package:
            return version
    raise UnavailableError(f"constraints.txt does not pin {package}")


def call(*command: str) -> str:
    """The standard output of a command run from the root of the repository."""
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise UnavailableError(next((line for line in lines if line.startswith("ERROR")), lines[-1]))
    return result.stdout
