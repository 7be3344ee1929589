"""Looks at fixed sentences that were saved while a run trained, read without torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from regard.runfolder import PROBES, Run
from regard.studio.errors import RefusalError
from regard.studio.metrics import tidy
from regard.studio.runs import BrokenRunError, is_folder, read_header


def steps(folder: Path) -> list[int]:
    """The steps at which the probes of a run were looked at."""
    return Run(folder).probed() if is_folder(folder / PROBES) else []


def probes(folder: Path) -> list[dict[str, Any]]:
    """The sentences, as the newest looks have them."""
    known = steps(folder)
    return [] if not known else [sentences(path) for path in looks(folder, known[-1])]


def looks(folder: Path, step: int) -> list[Path]:
    """The files of one step, in the order of the sentences; what leads out of the folder is left out."""
    home = folder / PROBES / f"step-{step}"
    files = [path for path in home.glob("*.look") if path.stem.isascii() and path.stem.isdecimal()]
    inside = [path for path in files if path.resolve().is_relative_to(folder.resolve()) and path.is_file()]
    return sorted(inside, key=lambda path: int(path.stem))


def saved(folder: Path, step: int, probe: int) -> bytes:
    """The look at one sentence after so many steps."""
    if step not in steps(folder):
        raise RefusalError(404, f"{folder.name} has no looks of step {step}")
    found = looks(folder, step)
    if probe >= len(found):
        raise RefusalError(404, f"{folder.name} has {len(found)} looks of step {step}, which count from 0")
    plain_part(found[probe])  # so that what is sent can be read
    return found[probe].read_bytes()


def number_of(folder: Path, text: str, target: str | None) -> int:
    """Which probe this text is."""
    for number, probe in enumerate(probes(folder)):
        if probe["source"] == text and target in (None, probe["target"]):
            return number
    raise RefusalError(404, f"this text is not one of the probes of {folder.name}")


def sentences(path: Path) -> dict[str, Any]:
    """The source and the target of a look; an only side is the source."""
    sides = plain_part(path).get("sides")
    texts = {name: side.get("text") for name, side in sides.items()} if isinstance(sides, dict) else {}
    return {"source": texts.get("source", texts.get("text", "")), "target": texts.get("target")}


def plain_part(path: Path) -> dict[str, Any]:
    """A look without its arrays."""
    try:
        plain = tidy(json.loads(read_header(path)[0]["__metadata__"]["look"]))
    except (BrokenRunError, ValueError, KeyError, TypeError):
        plain = None
    if not isinstance(plain, dict):
        raise RefusalError(409, f"{path.parent.name}/{path.name} is no look")
    return plain
