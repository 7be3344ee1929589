"""What verbs say on stderr: how far a longer job has come, and single lines."""

from __future__ import annotations

import sys

from regard.data.progress import counting

__all__ = ["counting", "say"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
