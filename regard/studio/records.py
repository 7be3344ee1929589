"""Records of answers that no other room has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regard.look.parts import Layer, View
from regard.studio.runs import Standing


@dataclass
class RunList:
    """All runs, the newest first."""

    runs: list[Standing]


@dataclass(kw_only=True)
class RunDetail(Standing):
    """A run, its config and its model's layers; `views` are the ways to see it, `playback` are the steps at which its
    probes were looked at."""

    config: dict[str, Any]
    parameters: int | None
    layers: list[Layer]
    family: str | None
    views: list[View]
    samples: list[dict[str, Any]]
    alignment: dict[str, Any] | None
    playback: list[int]


@dataclass
class Probe:
    """A sentence that was looked at during training."""

    source: str
    target: str | None


@dataclass
class Playback:
    """When which sentences were looked at."""

    steps: list[int]
    probes: list[Probe]


@dataclass
class Scheme:
    """A way to tell positions apart."""

    kind: str
    about: str
    learnt: bool


@dataclass
class Schemes:
    """All position schemes."""

    kinds: list[Scheme]
