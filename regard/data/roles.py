"""What a run reads at once: one text or two, and what they are called.

The names in its config decide, so that the list of runs needs no torch.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Roles:
    """The names of the texts that a run reads, in their order, of which at least `least` must be given."""

    names: tuple[str, ...] = ("text",)
    least: int = 1

    @property
    def two(self) -> bool:
        return len(self.names) > 1


ONE = Roles()
EITHER = Roles(("text", "second text"))  # an encoder by itself, which was trained on both
PAIRED = {"pair": Roles(("first text", "second text"), 2), "answer": Roles(("question", "text"), 2)}  # by the task


def roles(task: str | None, encodes: bool) -> Roles:
    """The roles of a run that was trained for `task`; `encodes` says whether its model is an encoder by itself."""
    return PAIRED.get(task or "", EITHER if encodes else ONE)
