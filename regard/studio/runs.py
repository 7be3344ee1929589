"""The run folders: which there are, how each stands. Reads JSON alone, so that the list needs no torch."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from regard.config import nearest
from regard.errors import Error
from regard.runfolder import FORMAT
from regard.studio.errors import RefusalError
from regard.studio.metrics import Newest, is_number, newest, tidy

SILENT_SECONDS = 120.0  # of training, beside three of its longest gaps, after which it counts as stopped
MAX_CONFIG_BYTES = 1 << 24  # bytes of a config
WRITTEN = ("", "config.json", "metrics.jsonl", "model.safetensors")  # the folder itself among them
FILES = ("config.json", "metrics.jsonl", "model.safetensors", "tokenizer.json", "tokens", "probes")


Version = tuple[tuple[int, int, int] | None, ...]


class BrokenRunError(Error):
    """A run folder that cannot be read; the message says why."""


@dataclass
class Standing:
    """How a run stands, as the list shows it; `model` is the kind of its model, `updated` are seconds since 1970,
    `error` says why it is broken."""

    name: str
    status: Literal["training", "finished", "stopped", "broken"]
    task: str | None = None
    model: str | None = None
    step: int = 0
    max_steps: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    updated: float = 0.0
    error: str | None = None


class Runs:
    """The folders inside one folder. Names are looked up in its listing, so that no name leads out of it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.known: dict[str, tuple[Version, Standing]] = {}  # by the files' versions

    def names(self) -> Iterator[str]:
        try:
            entries = sorted(self.root.iterdir())
        except OSError:  # removed, or not yet made
            return
        yield from (entry.name for entry in entries if not entry.name.startswith(".") and is_folder(entry))

    def folder(self, name: str) -> Path:
        """The folder of a run. Links that lead out of the runs folder are refused."""
        known = list(self.names())
        if name not in known:
            hint = f": {nearest(name, known)}" if 0 < len(known) <= 10 else ""
            raise RefusalError(404, f"there is no run {name!r}{hint}")
        try:
            self.check_inside(self.root / name)
        except BrokenRunError as error:
            raise RefusalError(409, f"{name}: {error}") from None
        return self.root / name

    def check_inside(self, folder: Path, deeply: bool = False) -> None:
        """Refuse links that lead out of the runs folder: at the files that are read here, or anywhere in the run."""
        links = (path for path in folder.rglob("*") if path.is_symlink()) if deeply else ()
        for path in (folder, *(folder / name for name in FILES), *links):
            try:
                inside = path.resolve().is_relative_to(self.root)
            except (OSError, RuntimeError):  # links in a circle
                inside = False
            if not inside:
                raise BrokenRunError(f"{path.relative_to(self.root)} leads out of the runs folder")

    def every(self) -> list[Standing]:
        """All of them, the newest first; a broken one is told as broken."""
        return sorted((self.standing(name) for name in self.names()), key=lambda run: (-run.updated, run.name))

    def standing(self, name: str) -> Standing:
        """How a run stands; it is read again only if it may have changed."""
        folder = self.root / name
        version = version_of(folder, WRITTEN)
        before, known = self.known.get(name, (None, None))
        if known is None or before != version or known.status == "training":
            known = self.read(folder)
            self.known[name] = version, known
        return known

    def read(self, folder: Path) -> Standing:
        shown = folder.name.encode("utf-8", "replace").decode()
        try:
            self.check_inside(folder)
            if shown != folder.name:
                raise BrokenRunError("its name is not UTF-8")
            return read_standing(folder)
        except (OSError, BrokenRunError) as error:
            reason = (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)
            return Standing(shown, "broken", updated=changed(folder), error=reason)

    def config(self, name: str) -> dict[str, Any]:
        """The config of a run; empty where there is none to read."""
        try:
            return read_config(self.folder(name))
        except (OSError, BrokenRunError):
            return {}

    def hide_root(self, text: str) -> str:
        """A message without the path of the runs folder, which a client need not know."""
        return text.replace(f"{self.root}/", "").replace(str(self.root), "the runs folder")


def read_standing(folder: Path) -> Standing:
    config = read_config(folder)
    end = newest(folder / "metrics.jsonl") if (folder / "metrics.jsonl").is_file() else Newest()
    updated = changed(folder)
    status = status_of(folder, config, end, time.time() - updated)
    if status != "training":
        check_weights(folder / "model.safetensors", needed=status == "finished")
    steps, model = section(config, "training").get("max_steps"), section(config, "model")
    task = text_of(section(config, "task").get("kind"))
    found = {} if end.validation is None else end.validation["metrics"]
    return Standing(
        folder.name,
        status,
        task=task,
        model=text_of(model.get("kind")),
        step=0 if end.last is None else end.last["step"],
        max_steps=steps if isinstance(steps, int) else None,
        metrics={key: value for key, value in found.items() if is_number(value)},
        updated=updated,
    )


def read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        seeds = next(folder.glob("seed-*/config.json"), None)
        hint = "; it holds runs of several seeds: open the studio with it as --runs" if seeds else ""
        raise BrokenRunError(f"it has no config.json{hint}")
    if path.stat().st_size > MAX_CONFIG_BYTES:
        raise BrokenRunError("its config.json is too large to be one")
    try:
        config = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise BrokenRunError(f"its config.json is not JSON: line {error.lineno}, {error.msg}") from None
    except (ValueError, RecursionError):
        raise BrokenRunError("its config.json is not JSON") from None
    if not isinstance(config, dict):
        raise BrokenRunError("its config.json holds no object")
    if config.get("format") != FORMAT:
        raise BrokenRunError(f"its config.json has format {config.get('format')!r}; this version reads format {FORMAT}")
    if not isinstance(config.get("model"), dict):
        raise BrokenRunError("its config.json has no section 'model'")
    tidied: dict[str, Any] = tidy(config)
    return tidied


def status_of(
    folder: Path, config: Mapping[str, Any], end: Newest, age: float
) -> Literal["training", "finished", "stopped"]:
    """A run that ended says so in its last record; one without news for long was stopped."""
    if end.last is not None and end.last.get("event") == "end":
        return "stopped" if end.last.get("reason") == "interrupted" else "finished"
    if end.last is None and "training" not in config:  # imported or built, not trained here
        return "finished"
    return "training" if age < SILENT_SECONDS + 3 * end.gap else "stopped"


def check_weights(path: Path, needed: bool) -> None:
    """Whether a safetensors file is whole, by its header."""
    if not path.is_file():
        if needed:
            raise BrokenRunError(f"it has no {path.name}")
        return
    header, start = read_header(path)
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    if path.stat().st_size != start + max(ends, default=0):
        raise BrokenRunError(f"its {path.name} is not whole")


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """The JSON header of a safetensors file, and where the data begin."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > min(path.stat().st_size, MAX_CONFIG_BYTES):
                raise ValueError
            header = json.loads(file.read(length))
        if not isinstance(header, dict):
            raise ValueError
        for name, entry in header.items():
            if name != "__metadata__" and not isinstance(entry["data_offsets"][1], int):
                raise ValueError
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise BrokenRunError(f"its {path.name} is no safetensors file") from None
    return header, 8 + length


def changed(folder: Path) -> float:
    """When anything of a run was last written."""
    return max((state[0] for state in version_of(folder, WRITTEN) if state is not None), default=0) / 1e9


def version_of(folder: Path, names: Iterable[str]) -> Version:
    """When these files of a run were written, and how large each is: to see whether they are still the same."""

    def state(path: Path) -> tuple[int, int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    return tuple(state(folder / name) for name in names)


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def section(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def text_of(value: Any) -> str | None:
    return value if isinstance(value, str) else None
