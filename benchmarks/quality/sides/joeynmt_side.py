"""JoeyNMT with two recipes of its own for small data, at the size of transformer-tiny.

`iwslt14` is its configuration for IWSLT14: Adam at 0.0003 until the loss stays. `noam` is that of its
transformer_small: the schedule of Vaswani et al. 2017 at half its height, warmed up in 1,000 steps. Both have dropout
0.3 but for the embeddings, label smoothing 0.1, and batches of 4,096 tokens.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.joey import configuration, patch, stack
from benchmarks.quality.clock import Clock, main
from benchmarks.sizes import SIZES

patch()

import joeynmt.builders  # noqa: E402
import joeynmt.training  # noqa: E402

IWSLT14 = {
    "scheduling": "plateau",
    "patience": 5,
    "decrease_factor": 0.7,
    "learning_rate": 0.0003,
    "adam_betas": [0.9, 0.999],
}
NOAM = {
    "scheduling": "noam",
    "learning_rate": 0.001,
    "learning_rate_factor": 0.5,
    "learning_rate_warmup": 1000,
    "adam_betas": [0.9, 0.98],
}


def plateau(optimizer: Any, verbose: bool, **options: Any) -> Any:
    """torch no longer has the option `verbose`, which JoeyNMT still gives."""
    from torch.optim.lr_scheduler import ReduceLROnPlateau

    return ReduceLROnPlateau(optimizer, **options)


def train(clock: Clock, corpus: Path, home: Path, path: Path, validate_every: int, recipe: dict[str, Any]) -> None:
    training = {
        **recipe,
        "epochs": 1000,
        "batch_size": 4096,
        "validation_freq": validate_every,
        "logging_freq": validate_every,
        "early_stopping_metric": "ppl",
        "keep_best_ckpts": 1,
    }
    validate, write = joeynmt.training.TrainManager._validate, joeynmt.training.write_list_to_file
    written: list[str] = []

    def keep(path: Path, lines: list[str]) -> None:
        written[:] = lines
        write(path, lines)

    def timed(manager: Any, data: Any) -> None:
        with clock.validation():
            validate(manager, data)
        clock.tell(manager.stats.steps, written, pieces=True)

    joeynmt.builders.ReduceLROnPlateau = plateau
    joeynmt.training.write_list_to_file = keep
    joeynmt.training.TrainManager._validate = timed
    settings = configuration(corpus, home, stack(SIZES["tiny"], dropout=0.3, embedding_dropout=0.0), training)
    joeynmt.training.train(0, 1, settings, skip_test=True)


if __name__ == "__main__":
    main(iwslt14=partial(train, recipe=IWSLT14), noam=partial(train, recipe=NOAM))
