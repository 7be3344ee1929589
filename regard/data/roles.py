"""What a run reads at once: one text or two, and what they are called.

Told by the names in its config alone, so that a list of runs needs no torch.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Roles:
    """The texts by what they are called, in their order; it takes at least so many of them."""

    names: tuple[str, ...] = ("text",)
    least: int = 1

    @property
    def two(self) -> bool:
        return len(self.names) > 1


ONE = Roles()
EITHER = Roles(("text", "second text"))  # an encoder by itself, which was trained on both
PAIRED = {"pair": Roles(("first text", "second text"), 2), "answer": Roles(("question", "text"), 2)}  # by the task


def roles(task: str | None, encodes: bool) -> Roles:
    """Of a run that was trained for a `task`; `encodes` says whether its model is an encoder by itself."""
    return PAIRED.get(task or "", EITHER if encodes else ONE)
