"""How `regard evaluate` scores a few-shot learner: on classes it never saw, beside nearest centroids."""

from __future__ import annotations

import argparse
from typing import Any

from regard.errors import Error

USUAL = 1000  # episodes


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Accuracies with their 95% intervals over `--count` episodes of the classes of `--split`."""
    from regard.checkpoint import Run
    from regard.cli.options import read_changes
    from regard.cli.progress import say
    from regard.config import from_dict
    from regard.tasks.base import TaskConfig
    from regard.tasks.made.episodes import TermWeights
    from regard.tasks.made.fewshot import SPLITS, FewShots

    if options.data is not None or options.columns is not None:
        raise Error("--data: a few-shot learner is scored on the classes that its training data held out")
    if options.split not in SPLITS:
        raise Error(f"--split {options.split}: classes are divided into {', '.join(SPLITS)}")
    if read_changes(rest):
        raise Error(f"unexpected argument {rest[0]!r}")
    run = Run(options.run)
    config = from_dict(TaskConfig, run.section("task"), "task")
    assert isinstance(config, FewShots)
    task = config.open(run.path, say)
    model = config.load(run).model
    episodes = task.episodes(options.split, options.count or USUAL)
    right, _ = task.verdicts(model, episodes)
    words = TermWeights(task.train_texts())
    bags = [words.nearest(one, task.texts) == range(config.ways) for one in episodes]
    rows = {
        f"the model ({model.config.learner.kind})": right["accuracy"],
        "nearest centroid of its vectors": right["centroid_accuracy"],
        "nearest centroid of TF-IDF, untrained": bags,
    }
    return {
        "ways": config.ways,
        "shots": config.shots,
        "episodes": len(episodes),
        "split": options.split,
        "classes": task.shelves[options.split].names,
        "accuracy": {name: interval(one) for name, one in rows.items()},
    }


def interval(right: Any) -> dict[str, float]:
    """The mean over episodes, and how far from it the true one is with 95% certainty."""
    import numpy as np

    each = np.asarray(right, dtype=float).mean(1)
    return {"mean": float(each.mean()), "within": float(1.96 * each.std(ddof=1) / len(each) ** 0.5)}


def table(result: dict[str, Any]) -> str:
    """For people to read."""
    lines = [
        f"{name:<40}{100 * one['mean']:6.1f}% ± {100 * one['within']:.1f}" for name, one in result["accuracy"].items()
    ]
    lines.append(f"{'chance':<40}{100 / result['ways']:6.1f}%")
    asked = f"{result['ways']} ways, {result['shots']} shots, {result['episodes']:,} episodes"
    return "\n".join([*lines, "", f"{asked} of {len(result['classes'])} {result['split']} classes"])
