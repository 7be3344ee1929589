"""JoeyNMT: its `train` with a configuration, as its command line calls it.

It shuffles but does not sort by length. The epoch is over when it saves the checkpoint at its end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.epoch.measure import EpochOver, main
from benchmarks.epoch.work import BATCH_TOKENS, DROPOUT, NEVER, RATE, SIZE, WARM_UP
from benchmarks.joey import configuration, patch, stack

patch()

from joeynmt.training import TrainManager  # noqa: E402
from joeynmt.training import train as joeynmt_train  # noqa: E402


def over(manager: Any, *rest: Any) -> None:
    raise EpochOver(manager.stats.total_tokens, manager.stats.steps)


def train(corpus: Path, home: Path) -> None:
    training = {
        "epochs": 1,
        "batch_size": BATCH_TOKENS,
        "scheduling": "warmupinversesquareroot",
        "learning_rate": RATE,
        "learning_rate_warmup": WARM_UP,
        "clip_grad_norm": 1.0,
        "validation_freq": NEVER,
        "logging_freq": 100,
    }
    TrainManager._save_checkpoint = over
    joeynmt_train(0, 1, configuration(corpus, home, stack(SIZE, DROPOUT, DROPOUT), training), skip_test=True)


if __name__ == "__main__":
    main(default=train)
