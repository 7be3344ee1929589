"""The Python standard library that runs the program: source and docstrings, a document for each module.

Built in, some ten million characters. What it holds follows from the version of Python; its tests are left out. One
module in twenty each is kept for validation and test, by a hash of its name, so that a module stays where it is in
every version.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from regard.data.documents import Document, file_document
from regard.data.pairs import again
from regard.errors import DataError

ABOUT = "built in: the source and docstrings of the Python standard library that runs the program"
SPLITS = ("train", "valid", "test")
_PARTS = {0: "valid", 1: "test"}
_SHARES = 20
_LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"}


def texts(languages: str, split: str) -> Iterable[Document]:
    home = Path(os.__file__).parent
    if not any(home.glob("*.py")):
        raise DataError(f"stdlib: there are no modules in {home}; this Python has no sources")
    return _modules(home, split)


@again
def _modules(home: Path, split: str) -> Iterator[Document]:
    """Those of one split, in the order of their names."""
    for name in sorted(path.relative_to(home).as_posix() for path in home.rglob("*.py")):
        path = home / name
        if _LEFT_OUT.isdisjoint(name.split("/")) and split_of(name) == split and readable(path):
            yield file_document(path)


def readable(path: Path) -> bool:
    """Whether it holds anything, in UTF-8: a few modules are older than that."""
    try:
        return bool(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError:
        return False


def split_of(name: str) -> str:
    """The split to which a module belongs, on every machine."""
    number = int.from_bytes(blake2b(name.encode("utf-8"), digest_size=8).digest(), "big")
    return _PARTS.get(number % _SHARES, "train")
