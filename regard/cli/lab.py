"""`regard lab`: fair comparisons, each with one command."""

from __future__ import annotations

import argparse
from typing import Any

from regard.cli.options import add_verb, positive, read_changes
from regard.cli.progress import say
from regard.errors import Error
from regard.lab import EXPERIMENTS, listing


def add(verbs: Any) -> None:
    listed = "\n".join(f"  {line}" for line in listing().splitlines())
    verb = add_verb(
        verbs,
        "lab",
        run,
        help="compare models fairly: table, figure, conclusion",
        description="Run an experiment: contestants of equal size, trained for an equal time, with seeds. It prints a "
        "table and a conclusion with its uncertainty, and writes results.json, figure.svg and report.html. The same "
        "command goes on where it was stopped. Without a name the experiments are listed.\n\n"
        f"experiments:\n{listed}",
        epilog="Any field of the experiment is an option: --pairs 20000, --steps 500 (equal steps instead of equal "
        "time).\n\n"
        "examples:\n"
        "  regard lab\n"
        "  regard lab bottleneck\n"
        "  regard lab order --seeds 2 --budget 40\n"
        "  regard lab bottleneck --budget 60 --seeds 3 --data multi30k --languages en-de --run runs/lab/multi30k\n",
    )
    verb.add_argument("name", nargs="?", metavar="NAME", help="the experiment")
    verb.add_argument("--budget", type=float, metavar="MINUTES", help="of training, all trials together")
    verb.add_argument("--seeds", type=positive, metavar="N", help="how often each contestant is tried")
    verb.add_argument("--run", metavar="DIR", help="its folder (default runs/lab/NAME)")
    verb.add_argument("--fresh", action="store_true", help="begin anew: what the folder holds is replaced")
    verb.add_argument("--json", action="store_true", help="print results.json instead of the table")


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if options.name is None:
        if rest:
            raise Error(f"unexpected argument {rest[0]!r}; name an experiment first: {', '.join(EXPERIMENTS)}")
        print(listing())
        return

    from pathlib import Path

    from regard.config import change
    from regard.lab import bench, find
    from regard.lab.report import text

    given = {name: getattr(options, name) for name in ("budget", "seeds") if getattr(options, name) is not None}
    chosen = change(find(options.name)(), {**given, **read_changes(rest)})
    folder = Path(options.run or f"runs/lab/{options.name}")
    minutes = chosen.minutes()
    long = f"about {minutes:.0f} minutes on a quiet machine, " if minutes is not None else ""
    say(f"{options.name}: {long}into {folder}; stopped, it goes on by the same command")
    outcome = bench.run(chosen, folder, say, options.fresh)
    if options.json:
        print((folder / bench.RESULTS).read_text(encoding="utf-8"), end="")
    else:
        print(text(outcome))
        print(f"\nThe report: open {folder}/report.html in a browser")
