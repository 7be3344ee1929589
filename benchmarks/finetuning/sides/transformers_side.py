"""transformers' Trainer with its AutoModelForSequenceClassification: batches of 32 padded to their longest text, a
linear schedule with a warm-up of a tenth, weight decay 0.01. `usual` is at its own rate and draws texts at random;
`quick` has twice that rate, as suits a narrow model, and puts texts of similar length together, by its own option.

It plans in steps, so some are timed first; the clock ends it if they take longer than those did.
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
from benchmarks.finetuning.work import THREADS, TIMED, WARM, Job, Record
from benchmarks.machine import foreign_work

ROWS, LONGEST = 32, 256


class Clock(transformers.TrainerCallback):  # type: ignore[misc]
    """Ends the training when time is up, and tells how long steps took."""

    def __init__(self, seconds: float = float("inf")) -> None:
        self.seconds = seconds
        self.ends: list[float] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.begun = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.ends.append(time.monotonic())
        if self.ends[-1] - self.begun >= self.seconds:
            control.should_training_stop = True


def tune(job: Job, rate: float, grouped: bool) -> Record:
    torch.set_num_threads(THREADS)
    transformers.utils.logging.set_verbosity_error()
    tokenizer = AutoTokenizer.from_pretrained(job.home / "minilm")
    names = sorted(set(job.examples("train")[1]))
    train, valid = (rows(tokenizer, *job.examples(split), names) for split in ("train", "valid"))

    def trainer(steps: int, clock: Clock, folder: str) -> Any:
        options = transformers.TrainingArguments(
            output_dir=folder,
            max_steps=steps,
            per_device_train_batch_size=ROWS,
            per_device_eval_batch_size=64,
            learning_rate=rate,
            warmup_steps=max(steps // 10, 1),
            lr_scheduler_type="linear",
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
        transformers.set_seed(job.seed)
        model = AutoModelForSequenceClassification.from_pretrained(job.home / "minilm", num_labels=len(names))
        return transformers.Trainer(
            model,
            options,
            DataCollatorWithPadding(tokenizer),
            train,
            valid,
            compute_metrics=accuracy,
            callbacks=[clock],
        )

    with TemporaryDirectory() as folder:
        trial = Clock()
        trainer(TIMED, trial, folder).train()
        planned = job.planned((trial.ends[-1] - trial.ends[WARM - 1]) / (TIMED - WARM))
        clock = Clock(job.seconds)
        made = trainer(planned, clock, folder)
        foreign, begun = foreign_work(), time.monotonic()
        made.train()
        foreign_cores = (foreign_work() - foreign) / (time.monotonic() - begun)
        found = made.evaluate()["eval_accuracy"]
    steps = len(clock.ends)
    return Record(found, clock.ends[-1] - clock.begun, steps, steps * ROWS / len(train), foreign_cores)


def rows(tokenizer: Any, texts: list[str], labels: list[str], names: list[str]) -> list[dict[str, Any]]:
    found = tokenizer(texts, truncation=True, max_length=LONGEST)["input_ids"]
    return [{"input_ids": row, "labels": names.index(label)} for row, label in zip(found, labels, strict=True)]


def accuracy(judged: Any) -> dict[str, float]:
    logits, right = judged
    return {"accuracy": float((logits.argmax(-1) == right).mean())}


if __name__ == "__main__":
    main(usual=partial(tune, rate=5e-5, grouped=False), quick=partial(tune, rate=1e-4, grouped=True))
