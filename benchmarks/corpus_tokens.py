"""Text to tokens on disk: `python -m benchmarks.corpus_tokens --megabytes 100` prints a table, progress goes to stderr.

The text is made of enwik8, IMDB and tiny Shakespeare (below the folder REGARD_DATA names), repeated with other
spellings, so that new words keep coming; it is deleted at the end. Peak memory is that of all processes of a side
together, so that two sizes tell how it grows.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import foreign_work
from benchmarks.options import add_sides, chosen, parse
from benchmarks.rounds import ATTEMPTS, Result, run_rounds
from benchmarks.side import Side
from benchmarks.store import write
from benchmarks.table import markdown, ratios, spread
from regard.cli.options import positive
from regard.data.catalogue import open_data
from regard.data.documents import file_document
from regard.data.text import Sampled, Texts
from regard.data.tokenizers import Tokenizer

SETS = ("enwik8", "imdb", "tinyshakespeare")
LETTERS = "bcdfghklmnprstvw"
PIECES = 16_000
SMOKE = {"megabytes": 20, "rounds": 1}
SIDES = (
    Side("regard-1", "regard, one process", "corpus_tokens_side", "regard-1", ours=True),
    Side("regard-2", "regard, two processes", "corpus_tokens_side", "regard-2", ours=True),
    Side("library-1", "tokenizers, encode_batch, one thread", "corpus_tokens_side", "library-1"),
    Side("library-2", "tokenizers, encode_batch, two threads", "corpus_tokens_side", "library-2"),
)


@dataclass(frozen=True)
class Record:
    """A turn; what the processors worked for it, in seconds; the peak and what was there before it in MiB."""

    megabytes: float
    seconds: float
    worked: float
    tokens: int
    peak: float
    before: float
    foreign_cores: float

    @property
    def speed(self) -> float:
        return self.megabytes / self.seconds


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.corpus_tokens", description="Text to tokens on disk, beside the library alone."
    )
    parser.add_argument("--megabytes", type=positive, default=100, help="how much text")
    parser.add_argument("--rounds", type=positive, default=2, help="how often every side has its turn")
    parser.add_argument("--folder", type=Path, help="where the text is made, and deleted")
    add_sides(parser, SIDES)
    return parse(parser, SMOKE, "all that was measured")


def lines() -> Iterator[str]:
    """Without end; each time over, a third of the lines are spelt with two letters exchanged, others each time."""
    for copy in itertools.count():
        swapped = spelling(copy)
        number = 0
        for name in SETS:
            for document in open_data(name, form="text"):
                for line in document:
                    number += 1
                    yield line.translate(swapped) if copy and number % 3 == 0 else line


def spelling(copy: int) -> dict[int, int]:
    """Two letters exchanged, for `str.translate`; others for each copy of a text."""
    one, other = random.Random(copy).sample(LETTERS, 2)
    return str.maketrans(one + other, other + one)


def write_text(path: Path, size: int) -> None:
    with path.open("wb") as file:
        for line in lines():
            file.write(line.encode("utf-8"))
            if file.tell() >= size:
                return


def take(side: Side, folder: Path) -> Record:
    before = foreign_work()
    found = side.run(folder)
    return Record(**found, foreign_cores=(foreign_work() - before) / found["seconds"])


def table(results: list[Result[Record]]) -> str:
    peer = next((result for result in results if result.side.name == "library-1" and result.records), None)
    rows = []
    for result in results:
        speeds = [record.speed for record in result.records]
        beside = "–" if peer is None else spread(ratios(speeds, [record.speed for record in peer.records]))
        peak = statistics.median(record.peak for record in result.records)
        core = [record.megabytes / record.worked for record in result.records]
        rows.append([result.side.title, spread(speeds), beside, spread(core), f"{peak:,.0f}"])
    columns = ("side", "MB/s", "to the library with one thread", "MB by a core's second", "peak MiB of all processes")
    return markdown(columns, rows)


def main() -> None:
    given = arguments()
    with TemporaryDirectory(prefix="regard-benchmark-", dir=given.folder) as name:
        folder = Path(name)
        print(f"making {given.megabytes} MB of text and a tokenizer", file=sys.stderr)
        write_text(folder / "text.txt", given.megabytes * 1_000_000)
        sample = Sampled([file_document(folder / "text.txt")], 1 << 24)
        Tokenizer.train(Texts(sample), "bpe", PIECES).save(folder / "tokenizer.json")
        results: list[Result[Record]] = run_rounds(
            chosen(SIDES, given.sides),
            given.rounds,
            take=lambda side: take(side, folder),
            tell=lambda record: f"{record.speed:.1f} MB/s, {record.peak:,.0f} MiB",
            label=f"{given.megabytes} MB",
            attempts=0 if given.smoke else ATTEMPTS,
        )
    print(f"\n{given.megabytes} MB, {results[0].records[0].tokens:,} tokens\n\n{table(results)}", flush=True)
    if given.out:
        write(given.out, "tables", {f"{given.megabytes} MB": results})


if __name__ == "__main__":
    main()
