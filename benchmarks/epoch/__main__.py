"""The command line: runs the sides in turn, prints a table to stdout and progress to stderr."""

from __future__ import annotations

import argparse

from benchmarks.corpus import corpus
from benchmarks.environments import JOEYNMT, OPENNMT
from benchmarks.epoch.record import Record
from benchmarks.epoch.report import table, verdicts
from benchmarks.epoch.work import BATCH_TOKENS, DROPOUT
from benchmarks.options import add_sides, chosen, parse
from benchmarks.rounds import run_rounds
from benchmarks.side import Side
from benchmarks.store import write
from regard.cli.options import positive

SIDES = (
    Side("regard", "regard", "epoch.sides.regard_side", "matched", ours=True),
    Side("regard-fp32", "regard (fp32)", "epoch.sides.regard_side", "fp32", ours=True),
    Side("regard-paper", "regard (the paper's dropout)", "epoch.sides.regard_side", "paper", ours=True),
    Side("opennmt", "OpenNMT-py", "epoch.sides.opennmt_side", environment=OPENNMT),
    Side("joeynmt", "JoeyNMT", "epoch.sides.joeynmt_side", environment=JOEYNMT),
)
VALID = 10  # sentences: some must be named, none are looked at
SMOKE = {"sentences": 500, "rounds": 1}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.epoch",
        description="transformer-tiny on Multi30k, from files to the end of an epoch.",
    )
    add_sides(parser, SIDES)
    parser.add_argument("--sentences", type=positive, help="train on the first so many; by default on all 29,000")
    parser.add_argument("--rounds", type=positive, default=3, help="how often every side has its turn")
    return parse(parser, SMOKE, "all that was measured")


def main() -> None:
    given = arguments()
    with corpus(given.sentences, VALID) as folder:
        results = run_rounds(
            chosen(SIDES, given.sides),
            given.rounds,
            take=lambda side: Record(**side.run(folder)),
            tell=lambda record: f"{record.tokens_per_second:,.0f} tokens/s, {record.seconds:.1f} s",
            label="epoch",
            attempts=0 if given.smoke else 1,  # a turn takes minutes: how disturbed it was stands in the table
        )
    print(f"\nOne epoch of {given.sentences or 'all'} sentences, batches of {BATCH_TOKENS} tokens, dropout {DROPOUT}\n")
    print("\n\n".join([table(results), *verdicts(results)]), flush=True)
    if given.out:
        write(given.out, "tables", {"epoch": results})


if __name__ == "__main__":
    main()
