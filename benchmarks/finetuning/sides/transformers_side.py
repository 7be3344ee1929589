"""transformers' Trainer with its AutoModelForSequenceClassification: batches padded to their longest text, a linear
schedule with a warm-up of a tenth, weight decay 0.01. `usual` has batches of 32 at its own rate and draws texts at
random; `quick` has the batches and the rate of our recipe, and by its own option puts texts of similar length together.

It plans in steps; here its rate follows the clock instead, as ours does, so that both use all of their time.
"""

from __future__ import annotations

import time
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding

from benchmarks.finetuning.measure import main
from benchmarks.finetuning.work import ENDLESS, THREADS, Job, Record
from benchmarks.machine import foreign_work

LONGEST = 256
WARM = 0.1  # of the time
QUICK = {"trec": (32, 1e-4), "sst2": (64, 1.5e-4)}  # texts of a batch, and the rate, as in our recipes


class Clock(transformers.TrainerCallback):  # type: ignore[misc]
    """Ends the training when time is up, and tells how far it is."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.begun: float | None = None
        self.steps = 0

    @property
    def passed(self) -> float:
        return 0.0 if self.begun is None else time.monotonic() - self.begun

    def share(self, step: int) -> float:
        """Of the highest rate, now: up in a tenth of the time, then down to nothing."""
        part = self.passed / self.seconds
        return min(part / WARM, max((1 - part) / (1 - WARM), 0.0))

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.begun = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.steps += 1
        if self.passed >= self.seconds:
            control.should_training_stop = True


class ByTheClock(transformers.Trainer):  # type: ignore[misc]
    """A Trainer whose rate follows a clock."""

    def __init__(self, clock: Clock, *options: Any, **named: Any) -> None:
        self.clock = clock
        super().__init__(*options, callbacks=[clock], **named)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer or self.optimizer, self.clock.share)
        return self.lr_scheduler


def quick(job: Job) -> Record:
    return tune(job, *QUICK[job.data], grouped=True)


def tune(job: Job, rows_at_once: int, rate: float, grouped: bool) -> Record:
    torch.set_num_threads(THREADS)
    transformers.utils.logging.set_verbosity_error()
    tokenizer = AutoTokenizer.from_pretrained(job.home / "minilm")
    names = sorted(set(job.examples("train")[1]))
    train, valid = (rows(tokenizer, *job.examples(split), names) for split in ("train", "valid"))

    transformers.set_seed(job.seed)
    model = AutoModelForSequenceClassification.from_pretrained(job.home / "minilm", num_labels=len(names))
    clock = Clock(job.seconds)
    with TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(
            output_dir=folder,
            max_steps=ENDLESS,
            per_device_train_batch_size=rows_at_once,
            per_device_eval_batch_size=64,
            learning_rate=rate,
            weight_decay=0.01,
            seed=job.seed,
            train_sampling_strategy="group_by_length" if grouped else "random",
            save_strategy="no",
            eval_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            dataloader_pin_memory=False,
        )
        collate = DataCollatorWithPadding(tokenizer)
        made = ByTheClock(clock, model, options, collate, train, valid, compute_metrics=accuracy)
        foreign, begun = foreign_work(), time.monotonic()
        made.train()
        seconds = time.monotonic() - begun
        foreign_cores = (foreign_work() - foreign) / seconds
        found = made.evaluate()["eval_accuracy"]
    return Record(found, seconds, clock.steps, clock.steps * rows_at_once / len(train), foreign_cores)


def rows(tokenizer: Any, texts: list[str], labels: list[str], names: list[str]) -> list[dict[str, Any]]:
    found = tokenizer(texts, truncation=True, max_length=LONGEST)["input_ids"]
    return [{"input_ids": row, "labels": names.index(label)} for row, label in zip(found, labels, strict=True)]


def accuracy(judged: Any) -> dict[str, float]:
    logits, right = judged
    return {"accuracy": float((logits.argmax(-1) == right).mean())}


if __name__ == "__main__":
    main(usual=partial(tune, rows_at_once=32, rate=5e-5, grouped=False), quick=quick)
