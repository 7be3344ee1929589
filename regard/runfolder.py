"""The run folder, apart from weights: written atomically, read strictly, never unpickled. It imports no torch.

Every file is written beside its place, flushed to the disk and renamed, and a checkpoint is a folder that is renamed as
a whole. So whatever a crash, a full disk or `kill -9` leaves behind, the last whole checkpoint stays readable, and a
half-written one is never mistaken for it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.config import nearest
from regard.data.store import HEADER, Store
from regard.data.tokenizers import Tokenizer
from regard.errors import Error, check_guards, reading, reason
from regard.extensions import is_file, missing

FORMAT = 1  # of the run folder; raised when older readers could misread it


class RunError(Error):
    """A run folder that cannot be used as asked; the message says which file and what to do."""


# --- files ------------------------------------------------------------------------------------------------------------


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends well."""
    if "\0" in str(path):
        raise RunError(f"{str(path)!r} names no file: a name has no NUL character")
    check_guards(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise RunError(f"{path} could not be written ({reason(error)}); what was there is untouched") from error
    finally:
        with suppress(OSError):  # its folder may be a file, or closed to us
            beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RunError(f"{path} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error


def read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise RunError(f"{path}, line {error.lineno}: this is not JSON ({error.msg})") from error
    if not isinstance(data, dict):
        raise RunError(f"{path} holds {type(data).__name__} instead of an object")
    return data


# --- the run ----------------------------------------------------------------------------------------------------------


TOKENS, HELD = "tokens", "tokens-valid"  # folders in the run folder: the training and the held-out tokens
PICTURES, HELD_PICTURES = "pictures", "pictures-valid"  # the same of pixels
FEATURES = "features"  # in the run folder: what a frozen reader makes of pictures
ASKED = "asked.json"  # in the run folder: the recipe as it was asked for, before the data decided the rest
PROBES = "probes"  # the folder of looks at fixed sentences, taken while training
FILES = (  # and folders that a training leaves in its run folder
    *("config.json", "recipe.yaml", ASKED, "model.safetensors", "tokenizer.json", "labels.json", "scale.json"),
    *(
        "metrics.jsonl",
        "report.html",
        "look.html",
        "checkpoints",
        "tensorboard",
        TOKENS,
        HELD,
        PICTURES,
        HELD_PICTURES,
        FEATURES,
        PROBES,
    ),
)
NEEDS = "needs"  # a section of the config: modules from outside → how one asks for them


class Run:
    """A folder with `config.json`, `model.safetensors` (the best weights), `tokenizer.json`, `metrics.jsonl`, …"""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config_path = self.path / "config.json"
        self.weights_path = self.path / "model.safetensors"
        self.tokenizer_path = self.path / "tokenizer.json"
        self.metrics_path = self.path / "metrics.jsonl"
        self.checkpoints_path = self.path / "checkpoints"

    def exists(self) -> bool:
        with reading(self.path):
            return self.path.exists() and any(self.path.iterdir())

    def seeds(self) -> list[Run]:
        """The runs inside a folder of several seeds, in their order; none where this folder is a run itself."""
        if self.config_path.exists() or not self.path.is_dir():
            return []
        return [Run(self.path / f"seed-{number}") for number in _numbers(self.path, "seed-")]

    def write_config(self, sections: Mapping[str, Any]) -> None:
        write_text(self.config_path, json.dumps({"format": FORMAT, **sections}, indent=2) + "\n")

    def read_config(self) -> dict[str, Any]:
        if not self.path.is_dir():
            raise RunError(f"there is no run folder {self.path}")
        if not self.config_path.exists():
            inside = self.seeds()
            hint = f"; it holds runs of several seeds: name one of them, such as {inside[0].path}" if inside else ""
            raise RunError(f"{self.path} is no run folder: it has no config.json{hint}")
        data = read_json(self.config_path)
        if "model_type" in data and "format" not in data:
            raise RunError(
                f"{self.path} is a folder of the transformers library; make a run of it first: "
                f"regard import {self.path} --run DIR"
            )
        if data.get("format") != FORMAT:
            raise RunError(f"{self.config_path} has format {data.get('format')!r}; this version reads format {FORMAT}")
        return data

    def section(self, name: str) -> dict[str, Any]:
        data = self.read_config()
        if name not in data:
            raise RunError(f"{self.config_path} has no section {name!r}: {nearest(name, data)}")
        self.check_needs(data)
        section: dict[str, Any] = data[name]
        return section

    def check_needs(self, sections: Mapping[str, Any]) -> None:
        """Raise `RunError` where parts from outside are needed that nobody imported: a run never imports by itself."""
        if away := missing(sections.get(NEEDS, {})):
            raise RunError(
                f"{self.path} needs {' and '.join(away)}: add {' '.join(f'--import {one}' for one in away)}, "
                f"or import it in Python{'' if all(map(is_file, away)) else '; it may be in a package to install'}"
            )

    # Probes: looks at fixed sentences, `probes/step-N/0.look`, for the playback of a training.

    def probed(self) -> list[int]:
        """The steps at which probes were taken, from first to last."""
        return _numbers(self.path / PROBES, "step-")

    def probes(self, step: int) -> list[Path]:
        """The looks of one step, in the order of the sentences."""
        return sorted((self.path / PROBES / f"step-{step}").glob("*.look"), key=lambda path: int(path.stem))

    def write_probes(self, step: int, looks: Iterable[bytes]) -> None:
        for number, look in enumerate(looks):
            with replacing(self.path / PROBES / f"step-{step}" / f"{number}.look") as beside:
                beside.write_bytes(look)

    # Checkpoints: whole folders `checkpoints/step-N`.

    def checkpoints(self) -> list[int]:
        """The steps of the whole checkpoints, from first to last."""
        return _numbers(self.checkpoints_path, "step-")

    def checkpoint(self, step: int) -> Path:
        return self.checkpoints_path / f"step-{step}"

    @contextmanager
    def writing_checkpoint(self, step: int) -> Iterator[Path]:
        """A folder to fill; it becomes the checkpoint of this step when the block ends well."""
        check_guards(self.checkpoints_path)
        beside = self.checkpoints_path / f".step-{step}.part"
        shutil.rmtree(beside, ignore_errors=True)
        try:
            beside.mkdir(parents=True)
            yield beside
            whole = self.checkpoint(step)
            shutil.rmtree(whole, ignore_errors=True)
            os.replace(beside, whole)
        except OSError as error:
            raise RunError(f"checkpoint {step} of {self.path} could not be written ({reason(error)})") from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def forget_checkpoints(self, keep: int) -> None:
        """Remove all but the newest `keep`."""
        for step in self.checkpoints()[:-keep]:
            shutil.rmtree(self.checkpoint(step), ignore_errors=True)


def _numbers(folder: Path, name: str) -> list[int]:
    """The numbers N of the folders NAME-N inside `folder`, sorted."""
    paths = folder.glob(f"{name}*") if folder.is_dir() else ()
    ends = [path.name.removeprefix(name) for path in paths if path.is_dir()]
    return sorted(int(end) for end in ends if end.isascii() and end.isdecimal())


# --- the names of labels ----------------------------------------------------------------------------------------------


LABELS = "labels.json"  # in the run folder: the names, in the order of their numbers


def write_labels(folder: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Write these names, each once and sorted, so that the order of the data has no influence."""
    return keep_labels(folder, sorted(set(names)))


def keep_labels(folder: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Write these names in their order."""
    write_text(folder / LABELS, json.dumps(list(names), ensure_ascii=False) + "\n")
    return tuple(names)


def read_labels(folder: Path) -> tuple[str, ...]:
    path = folder / LABELS
    try:
        names = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise RunError(f"{path} is damaged ({error}); copy it again or train anew") from None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RunError(f"{path} holds no list of names; copy it again or train anew")
    return tuple(names)


# --- the scale of scores ----------------------------------------------------------------------------------------------


SCALE = "scale.json"  # in the run folder: the lowest and the highest score of training


@dataclass(frozen=True)
class Scale:
    """Scores as a model learns them: from 0 to 1."""

    low: float
    high: float

    def inside(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return (scores - self.low) / (self.high - self.low)

    def outside(self, shares: NDArray[np.float32]) -> NDArray[np.float32]:
        return (self.low + shares * (self.high - self.low)).astype(np.float32)

    def write(self, folder: Path) -> None:
        write_text(folder / SCALE, json.dumps({"low": self.low, "high": self.high}) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Scale | None:
        """The scale of a run; None where the run learnt labels."""
        path = folder / SCALE
        if not path.exists():
            return None
        found = read_json(path)
        if not all(isinstance(found.get(name), int | float) for name in ("low", "high")):
            raise RunError(f"{path} holds no lowest and highest score; copy it again or train anew")
        return cls(float(found["low"]), float(found["high"]))


# --- the tokenizer ----------------------------------------------------------------------------------------------------


def load_tokenizer(run: Run) -> Tokenizer:
    """The tokenizer of a run; that of another run is refused where config or token store show that it is one."""
    tokens = run.path / TOKENS
    tokenizer = Tokenizer.load(run.tokenizer_path)
    if (tokens / HEADER).exists() and Store.open(tokens).fingerprint != tokenizer.fingerprint:
        raise RunError(
            f"{run.tokenizer_path} is not the tokenizer that {tokens} was made with: it belongs to another run"
        )
    recorded = run.read_config().get("tokenizer") if run.config_path.exists() else None
    if recorded is not None and recorded != tokenizer.fingerprint:
        raise RunError(
            f"{run.tokenizer_path} is not the tokenizer that {run.config_path} names: it belongs to another run"
        )
    return tokenizer
