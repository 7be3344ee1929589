"""Running an experiment trial by trial. Finished trials are kept: the same command continues where it stopped."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard import __version__
from regard.config import to_dict
from regard.errors import reading
from regard.lab.experiment import Experiment, ExperimentResult, Result, Say, Trial
from regard.lab.report import write_report
from regard.runfolder import Run, RunError, read_json, write_text
from regard.training.place import Place

CONFIG, RESULT, RESULTS = "config.json", "result.json", "results.json"


def run(experiment: Experiment, folder: Path, say: Say, fresh: bool = False) -> ExperimentResult:
    """Run what is missing of an experiment, and write `results.json`, `figure.svg` and `report.html` into its folder.

    A folder that was begun with other options is refused, unless `fresh` says that it may be replaced.
    """
    begin(experiment, folder, fresh)
    with Place(folder):
        return run_trials(experiment, folder, say)


def run_trials(experiment: Experiment, folder: Path, say: Say) -> ExperimentResult:
    """The missing trials, and what follows from all of them."""
    trials = interleaved(experiment.trials(folder, say))
    missing = [trial for trial in trials if not (folder / "trials" / trial.name / RESULT).exists()]
    results: dict[str, list[Result]] = {}
    took: dict[str, float] = {}  # seconds of each contestant's last trial
    for number, trial in enumerate(trials, 1):
        place = folder / "trials" / trial.name
        if trial in missing:
            left = remaining([one.contestant for one in missing[missing.index(trial) :]], took)
            say(f"trial {number} of {len(trials)}: {trial.contestant}, seed {trial.seed}{left}")
            begun = time.monotonic()
            result = trial.run(place)
            write_text(place / RESULT, json.dumps(result) + "\n")
            took[trial.contestant] = time.monotonic() - begun
            shutil.rmtree(Run(place).checkpoints_path, ignore_errors=True)  # what is finished is never resumed
        results.setdefault(trial.contestant, []).append(read_json(place / RESULT))
    outcome = experiment.outcome(results)
    whole = {"experiment": to_dict(experiment), "conclusions": list(outcome.conclusions), **outcome.values}
    write_text(folder / RESULTS, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    write_report(experiment, outcome, folder)
    return outcome


def remaining(contestants: Sequence[str], took: Mapping[str, float]) -> str:
    """An estimate of how long these contestants' trials take, from finished trials, of the same contestant if any."""
    if not took:
        return ""
    usual = sum(took.values()) / len(took)
    return f"; about {sum(took.get(name, usual) for name in contestants) / 60:.0f} minutes left"


def begin(experiment: Experiment, folder: Path, fresh: bool) -> None:
    """Make the folder, or see that what it holds was begun with the same options."""
    now = to_dict(experiment)
    then = begun(folder)
    if then is None or fresh:
        shutil.rmtree(folder, ignore_errors=True)
        write_text(folder / CONFIG, json.dumps({"regard": __version__, "lab": now}, indent=2) + "\n")
        return
    for name in {**then, **now}:
        if then.get(name) != now.get(name):
            raise RunError(
                f"{folder} was begun with {name} {then.get(name)}, not {now.get(name)}: ask for the same to go on, "
                "choose another folder with --run, or begin anew with --fresh"
            )


def begun(folder: Path) -> dict[str, Any] | None:
    """The options with which the experiment in a folder was begun, None where there is nothing yet."""
    with reading(folder):
        if not folder.exists() or not any(folder.iterdir()):
            return None
    known = read_json(folder / CONFIG) if (folder / CONFIG).exists() else {}
    if "lab" not in known:
        raise RunError(f"{folder} holds no experiment: choose another folder with --run")
    options: dict[str, Any] = known["lab"]
    return options


def interleaved(trials: Sequence[Trial]) -> list[Trial]:
    """Seed by seed, so that whatever slows the machine for a while slows every contestant."""
    return sorted(trials, key=lambda trial: trial.seed)
