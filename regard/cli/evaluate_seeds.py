"""`regard evaluate FOLDER --each`: the runs of several seeds one by one, their mean, and how far they scatter."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from regard.cli.precision import precise
from regard.cli.progress import counting
from regard.errors import Error

if TYPE_CHECKING:
    from regard.checkpoint import Run
    from regard.data.pairs import Pair
    from regard.decoding import Decoding


def evaluate_each(options: argparse.Namespace, search: Decoding, pairs: Sequence[Pair]) -> dict[str, Any]:
    """The scores of each run of a folder; beside those of another folder or run, the difference of the means."""
    from regard.checkpoint import Run
    from regard.lab.seeds import bleu_of_seeds, difference

    if getattr(options, "with"):
        raise Error("--each scores every run by itself: leave out --with, which makes them translate together")
    runs = Run(options.run).seeds()
    if not runs:
        raise Error(f"--each is for a folder of several seeds; {options.run} is no such folder")
    references = [pair.target for pair in pairs]
    own = translated(runs, options, search, pairs)
    result: dict[str, Any] = {"seeds": scored(runs, own, references), "sentences": len(pairs)}
    if options.against:
        others = Run(options.against).seeds() or [Run(options.against)]
        theirs = translated(others, options, search, pairs)
        scores = {"own": bleu_of_seeds(own, references), "other": bleu_of_seeds(theirs, references)}
        gap = difference(scores)
        result["against"] = {
            "run": options.against,
            "seeds": scored(others, theirs, references),
            "BLEU": gap.plain(),
            "decided": not gap.low <= 0 <= gap.high,
        }
    return result


def translated(
    runs: Sequence[Run], options: argparse.Namespace, search: Decoding, pairs: Sequence[Pair]
) -> list[list[str]]:
    """What each run makes of all sources."""
    from regard.tasks.writing.translation import load_translator

    sources, found = [pair.source for pair in pairs], []
    for run in runs:
        translator = precise(load_translator(run.path), options)
        with counting(f"sentences translated by {run.path}", len(pairs)) as done:
            found.append(translator.texts(sources, search, options.batch, done))
    return found


def scored(runs: Sequence[Run], translations: Sequence[Sequence[str]], references: Sequence[str]) -> dict[str, Any]:
    """Each score of each run, their mean and standard deviation."""
    from regard.metrics.translations import score

    each = [score(found, references) for found in translations]
    result: dict[str, Any] = {"runs": [str(run.path) for run in runs]}
    for name, first in each[0].items():
        values = [one[name].value for one in each]
        result[name] = {
            "values": values,
            "mean": statistics.mean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else None,
            "signature": first.signature,
        }
    return result


def table_of_seeds(result: dict[str, Any]) -> str:
    """For people to read."""
    lines = summary(result["seeds"])
    if "against" in result:
        other = result["against"]
        gap = "{value:+.2f} [{low:+.2f}, {high:+.2f}] BLEU".format(**other["BLEU"])
        sure = "the models differ" if other["decided"] else "may be chance"
        if len(result["seeds"]["runs"]) == len(other["seeds"]["runs"]) == 1:
            sure = "these two runs differ" if other["decided"] else "may be chance"
        lines += ["", f"against {other['run']}, each run by itself", *summary(other["seeds"])]
        lines += ["", f"the means differ by {gap} (95%, over sentences and seeds): {sure}"]
    return "\n".join([*lines, "", f"{result['sentences']:,} sentences"])


def summary(seeds: dict[str, Any]) -> list[str]:
    """A line a score: the mean, the deviation, each value."""
    lines = []
    for name, one in seeds.items():
        if name != "runs":
            spread = f" ± {one['deviation']:.2f}" if one["deviation"] is not None else ""
            each = ", ".join(f"{value:.2f}" for value in one["values"])
            lines.append(f"{name:<6}{one['mean']:6.2f}{spread}   of {len(one['values'])} seeds: {each}")
    return lines
