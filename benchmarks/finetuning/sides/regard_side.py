"""This project: `regard train classify --config recipes/SET-minilm.yaml`, judged at its end."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.finetuning.measure import main
from benchmarks.finetuning.work import THREADS, Job, Record
from benchmarks.machine import foreign_work
from regard.runfolder import Run
from regard.training.recipes import make_recipe
from regard.training.records import read_records
from regard.training.session import start


def tune(job: Job) -> Record:
    torch.set_num_threads(THREADS)
    data = {split: {"file": str(job.file(split))} for split in ("train", "valid")}
    changes = {"seed": job.seed, "max_minutes": job.seconds / 60}
    initial = {"run": str(job.home / "regard")}
    recipe = make_recipe("classify", data, file=job.recipe, changes=changes, initial=initial)
    with TemporaryDirectory() as temporary:
        run = Run(Path(temporary) / "run")
        foreign, begun = foreign_work(), time.monotonic()
        start(run, recipe)
        foreign_cores = (foreign_work() - foreign) / (time.monotonic() - begun)
        records = read_records(run.metrics_path)
    last = records[-1]
    scored = next(record for record in reversed(records) if record["event"] == "validation")
    epochs = [record["epoch"] for record in records if record["event"] == "step"][-1]
    return Record(scored["metrics"]["accuracy"], last["seconds"], last["step"], epochs, foreign_cores)


if __name__ == "__main__":
    main(default=tune)
