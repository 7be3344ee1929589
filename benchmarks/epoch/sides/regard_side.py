"""This project: a recipe, its task opened on raw text, and the training loop.

Dropout falls where the others have it, or only where the paper has it. Matrix products are as `regard train` takes them
(bf16 on a processor that gains from it), or in fp32 as the others' are.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import torch

from benchmarks.corpus import pair_data
from benchmarks.epoch.measure import EpochOver, main
from benchmarks.epoch.work import BATCH_TOKENS, DROPOUT, NEVER, RATE, WARM_UP
from benchmarks.sizes import SMOOTHING
from regard.config import change
from regard.fast.device import Precision
from regard.runfolder import Run
from regard.tasks.writing.translation import Translation
from regard.training.averaging import NoAverage
from regard.training.optimisers import AdamW
from regard.training.records import Record
from regard.training.schedules import InverseRoot
from regard.training.session import make_trainer
from regard.training.settings import Training
from regard.zoo import get

SEED = 1


def train(corpus: Path, home: Path, inner_dropout: float = DROPOUT, precision: Precision = "auto") -> None:
    """`inner_dropout` falls on attention weights and hidden values; embeddings and sublayers always have theirs."""
    torch.manual_seed(SEED)
    shutil.copy(corpus / "tokenizer.json", home)
    config = Translation(train=pair_data(corpus, "train"), valid=pair_data(corpus, "valid"))
    task = change(config, {"smoothing": SMOOTHING}).open(home, lambda text: None)
    dropout = {"dropout": DROPOUT, "weight_dropout": inner_dropout, "hidden_dropout": inner_dropout}
    model = task.fit(change(get("transformer-tiny"), dropout)).build()
    steps = task.batches(BATCH_TOKENS, SEED).steps(0)
    training = Training(
        seed=SEED,
        batch_tokens=BATCH_TOKENS,
        max_steps=steps,
        validate_every=NEVER,
        optimiser=AdamW(rate=RATE),
        schedule=InverseRoot(warmup=WARM_UP),
        average=NoAverage(),
        device="cpu",
        precision=precision,
    )

    def listen(record: Record) -> None:
        """The last step is told before the validation that follows it."""
        if record["event"] == "step" and record["step"] == steps:
            raise EpochOver(int((task.store.lengths(1) + 1).sum()), steps)

    make_trainer(Run(home), task, model, training, listen).train()


if __name__ == "__main__":
    main(matched=train, fp32=partial(train, precision="fp32"), paper=partial(train, inner_dropout=0.0))
