"""The command line: both sides in turn, set by set and seed by seed; a table to stdout, progress to stderr."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.environments import ENCODERS
from benchmarks.finetuning.work import Record
from benchmarks.minilm import minilm
from benchmarks.options import add_sides, chosen, parse, several
from benchmarks.rounds import wait_for_quiet
from benchmarks.side import Side
from benchmarks.table import markdown
from regard.cli.options import positive
from regard.data.catalogue import open_data
from regard.interop import import_source

PEER = "finetuning.sides.transformers_side"
SIDES = (
    Side("regard", "regard", "finetuning.sides.regard_side", ours=True),
    Side("trainer", "transformers, Trainer", PEER, "usual", ENCODERS),
    Side("trainer-quick", "transformers, Trainer, our batches and rate, grouped by length", PEER, "quick", ENCODERS),
)
SETS = {"sst2": 3.0, "trec": 2.0}  # minutes of each side
SMOKE = {"minutes": 0.1, "seeds": 1}
Found = dict[str, Record]  # by set, side and seed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.finetuning",
        description="MiniLM tuned on SST-2 and on TREC's coarse classes: ours beside transformers' Trainer, the same "
        "time for each, two threads, the weights at the end. Data: sst2 and trec in REGARD_DATA.",
    )
    usual = ", ".join(f"{name} {minutes:g}" for name, minutes in SETS.items())
    parser.add_argument("--sets", type=several(list(SETS)), default=list(SETS), help=f"of {','.join(SETS)}")
    parser.add_argument("--minutes", type=float, help=f"of each training (otherwise {usual})")
    parser.add_argument("--seeds", type=positive, default=3, help="how often each side trains on a set")
    add_sides(parser, SIDES)
    return parse(parser, SMOKE, "all that was measured; what stands in it already is not measured again")


@contextmanager
def prepared(sets: Sequence[str]) -> Iterator[Path]:
    """A folder with texts and weights as both sides read them, until it is no longer needed."""
    with TemporaryDirectory(prefix="regard-benchmark-") as folder:
        home = Path(folder)
        (home / "minilm").symlink_to(minilm())
        import_source(home / "minilm", home / "regard")
        for name in sets:
            (home / name).mkdir()
            for split in ("train", "valid"):
                lines = [json.dumps(asdict(one)) for one in open_data(name, split=split, form="labelled")]
                (home / name / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield home


def cells(records: Sequence[Record]) -> list[str]:
    scores = [100 * record.accuracy for record in records]
    deviation = statistics.stdev(scores) if len(scores) > 1 else 0.0
    return [
        f"{statistics.mean(scores):.2f}",
        f"{deviation:.2f}",
        ", ".join(f"{score:.2f}" for score in scores),
        f"{statistics.mean(record.seconds for record in records):.0f}",
        f"{statistics.mean(record.steps for record in records):,.0f}",
        f"{statistics.mean(record.epochs for record in records):.1f}",
    ]


def verdict(name: str, of: dict[str, list[Record]]) -> str:
    """Whether ours is at or above the better of the others."""
    means = {side: statistics.mean(record.accuracy for record in records) for side, records in of.items() if records}
    others = {side: mean for side, mean in means.items() if side != "regard"}
    if "regard" not in means or not others:
        return f"{name}: nothing to compare"
    best = max(others, key=lambda side: others[side])
    more = 100 * (means["regard"] - others[best])
    return f"{name}: {more:+.2f} points to {best}, wanted: at least 0: {'met' if more >= 0 else 'missed'}"


def main() -> None:
    given = arguments()
    sides = chosen(SIDES, given.sides)
    found: Found = {}
    if given.out and given.out.exists():
        found = {key: Record(**one) for key, one in json.loads(given.out.read_text()).items()}
    with prepared(given.sets) as home:
        for name in given.sets:
            minutes = given.minutes or SETS[name]
            for seed in range(1, given.seeds + 1):
                for side in sides:
                    key = f"{name}, {minutes:g} minutes, {side.name}, seed {seed}"
                    if key not in found:
                        if not given.smoke:
                            wait_for_quiet()
                        found[key] = Record(**side.run(home, name, 60 * minutes, seed))
                        if given.out:
                            given.out.write_text(json.dumps({k: asdict(one) for k, one in found.items()}, indent=1))
                    print(f"{key}: {found[key]}", file=sys.stderr, flush=True)
    columns = ("side", "accuracy, mean", "deviation", "by seed", "seconds", "steps", "epochs")
    for name in given.sets:
        minutes = given.minutes or SETS[name]
        of = {
            side.name: [found[f"{name}, {minutes:g} minutes, {side.name}, seed {i}"] for i in range(1, given.seeds + 1)]
            for side in sides
        }
        print(f"\n{name}, {minutes:g} minutes of training each\n")
        print(markdown(columns, [[side.title, *cells(of[side.name])] for side in sides]))
        print(f"\n{verdict(name, of)}", flush=True)


if __name__ == "__main__":
    main()
