"""What a preset is."""

from __future__ import annotations

from dataclasses import dataclass

from regard.models import ModelConfig


@dataclass(frozen=True)
class Preset:
    """`published` is the number of parameters that the paper states; `note` says why ours differs, or other facts."""

    name: str
    config: ModelConfig
    paper: str
    published: int | None = None
    note: str = ""
