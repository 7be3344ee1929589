"""Which sides there are, and how they run."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.environments import JOEYNMT, OPENNMT
from benchmarks.rounds import ATTEMPTS, Result, run_rounds
from benchmarks.side import Side
from benchmarks.step.record import Record

SIDES = (
    Side("regard", "regard", "step.sides.regard_side", "matched", ours=True),
    Side("regard-paper", "regard (the paper's dropout)", "step.sides.regard_side", "paper", ours=True),
    Side("torch", "torch.nn.Transformer (fused AdamW)", "step.sides.torch_side", "fused"),
    Side("torch-unfused", "torch.nn.Transformer", "step.sides.torch_side", "unfused"),
    Side("marian", "transformers, MarianMT", "step.sides.marian_side"),
    Side("opennmt", "OpenNMT-py", "step.sides.opennmt_side", environment=OPENNMT),
    Side("joeynmt", "JoeyNMT", "step.sides.joeynmt_side", environment=JOEYNMT),
)


def run(sides: Sequence[Side], size: str, rounds: int, steps: int, smoke: bool) -> list[Result[Record]]:
    return run_rounds(
        sides,
        rounds,
        take=lambda side: Record(**side.run(size, steps)),
        tell=lambda record: f"{record.tokens_per_second:,.0f} tokens/s",
        label=size,
        attempts=0 if smoke else ATTEMPTS,
    )
