"""A folder that must stay where it is while it is written into."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from regard.errors import GUARDS
from regard.runfolder import RunError


class Place:
    """Writing a file makes the folders that are missing. So a run folder that is deleted or renamed while it is trained
    would be made anew, with a part of the run in it: whoever writes asks `check` first. In `with Place(path):` that is
    asked before each file below it.

    The folder is held open where the system allows it, so that no other one can get its number.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.open: int | None = None
        if hasattr(os, "O_DIRECTORY"):
            self.open = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            weakref.finalize(self, os.close, self.open)
        self.known = identity(path)

    def __enter__(self) -> Place:
        GUARDS.append(self.guard)
        return self

    def __exit__(self, *error: object) -> None:
        GUARDS.remove(self.guard)

    def guard(self, path: Path) -> None:
        if self.path in (path, *path.parents):
            self.check()

    def check(self) -> None:
        """Raise `RunError` where the path no longer leads to the folder."""
        if identity(self.path) != self.known:
            raise RunError(f"{self.path} was deleted, renamed or replaced while it was written into; {self.found()}")

    def found(self) -> str:
        """What is known of what was saved."""
        try:
            now = Path(os.readlink(f"/proc/self/fd/{self.open}"))  # on Linux
        except OSError:
            now = self.path
        if now.is_dir() and identity(now) == self.known:
            return f"what was saved is in {now}: go on with it there, by --resume"
        return "what was saved is gone with it, unless it was moved"


def identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from any other, also from a new one of the same name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
