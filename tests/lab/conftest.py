"""Experiments small enough for a test."""

from __future__ import annotations

import pytest

from regard.lab import pace


@pytest.fixture(autouse=True)
def _timed_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a step takes need not be known exactly."""
    monkeypatch.setattr(pace, "STEPS_PER_ROUND", 1)
    monkeypatch.setattr(pace, "ROUNDS", 2)
