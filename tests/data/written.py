"""Files for tests of readers, and what is said of wrong ones."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from regard.errors import DataError


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def complaint(read: Callable[..., Iterable[Any]], *given: Any) -> str:
    """What is said where the examples that `read` gives cannot be read."""
    with pytest.raises(DataError) as error:
        list(read(*given))
    return str(error.value)
