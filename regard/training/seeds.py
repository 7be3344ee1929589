"""The same recipe with several seeds: how much of a score is luck."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

from regard.config import change, leaves, to_dict
from regard.runfolder import Run, RunError, read_json, write_text
from regard.training.place import Place
from regard.training.progress import INTERRUPTED
from regard.training.records import kept, read_records
from regard.training.report import REPORT
from regard.training.session import Recipe, resume, start

SUMMARY, RECIPE = "seeds.json", "recipe.json"
SEED = "training.seed"


@dataclass(frozen=True)
class Spread:
    """What several runs reached in one metric, in the order of their seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.mean(self.values)

    @property
    def deviation(self) -> float:
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0


def several(folder: Path, recipe: Recipe, count: int) -> dict[str, Spread]:
    """Train a run for each of `count` seeds, from the recipe's on, into FOLDER/seed-1 and so on; what they reached, by
    metric. A run that is there is gone on with, or kept where it is done."""
    check_folder(folder, recipe)
    first = recipe.training.seed
    runs = [Run(folder / f"seed-{seed}") for seed in range(first, first + count)]
    with Place(folder) as place:
        for seed, run in enumerate(runs, first):
            if not run.exists():
                start(run, change(recipe, {SEED: seed}))
            elif not is_done(run):
                resume(run)
        place.check()
        reached = [best_of(run) for run in runs]
        found = {
            name: Spread(tuple(one[name] for one in reached)) for name in recipe.task.metrics if name in reached[0]
        }  # of a task with several kinds of data, those of this one
        record = {name: {"mean": s.mean, "deviation": s.deviation, "values": s.values} for name, s in found.items()}
        write_text(folder / SUMMARY, json.dumps({"seeds": [first, first + count - 1], **record}, indent=2) + "\n")
    return found


def check_folder(folder: Path, recipe: Recipe) -> None:
    """Figures of one recipe stand side by side, so runs of another one are refused; what the folder is for is written
    into it."""
    if Run(folder).config_path.exists():
        raise RunError(f"{folder} is a run itself; several seeds take a folder of their own")
    path, ours = folder / RECIPE, to_dict(recipe)
    if not path.exists():
        write_text(path, json.dumps(ours, indent=2) + "\n")
        return
    there, wanted = leaves(read_json(path)), leaves(ours)
    for name in {**there, **wanted}:
        if name != SEED and there.get(name) != wanted.get(name):
            raise RunError(
                f"{folder} has seeds of another recipe: {name} is {there.get(name)} there and {wanted.get(name)} here; "
                "choose another folder"
            )


def ending(run: Run) -> str | None:
    """Why a run ended, None where it did not."""
    records = read_records(run.metrics_path)
    last = records[-1] if records else {}
    return str(last["reason"]) if last.get("event") == "end" else None


def is_done(run: Run) -> bool:
    """Whether a run came to its end, and its report with it: it may have been interrupted between them."""
    return ending(run) not in (None, INTERRUPTED) and (run.path / REPORT).exists()


def best_of(run: Run) -> dict[str, float]:
    """The metrics of the validation that chose the run's weights."""
    seen = [record for record in read_records(run.metrics_path) if record["event"] == "validation"]
    if not seen:
        raise RunError(f"{run.path} was never validated: give it more steps, or validate more often")
    return dict(kept(seen)["metrics"])
