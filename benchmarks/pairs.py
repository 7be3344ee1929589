"""Very many pairs: `python -m benchmarks.pairs` trains from a file of ten million and prints what memory that takes.

The pairs are those of Tatoeba (below the folder REGARD_DATA names), repeated with other spellings, so that new words
keep coming; they are deleted at the end. What counts is the peak of all processes of `regard train` together, what
they share counted once: from the file through tokenizer, tokens and batches to a few steps and a validation.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus_tokens import spelling
from benchmarks.machine import Peak, memory
from benchmarks.options import parse
from regard.cli.options import positive
from regard.data.catalogue import open_data

LANGUAGES = "en-fr"
VALID = 200
MOST = 2048  # MiB that ten million pairs may take
SMOKE = {"pairs": 200_000}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pairs", description="What memory training from very many pairs takes."
    )
    parser.add_argument("--pairs", type=positive, default=10_000_000, help="how many")
    parser.add_argument("--steps", type=positive, default=20, help="of training, after all pairs are tokens")
    parser.add_argument("--folder", type=Path, help="where the pairs are made, and deleted")
    return parse(parser, SMOKE, "what was measured")


def lines(split: str) -> Iterator[str]:
    """Without end; each time over every third pair is spelt otherwise."""
    for copy in itertools.count():
        other = spelling(copy)
        for number, pair in enumerate(open_data("tatoeba", LANGUAGES, split)):
            line = f"{pair.source}\t{pair.target}\n"
            yield line.translate(other) if copy and number % 3 == 0 else line


def write_pairs(path: Path, split: str, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(itertools.islice(lines(split), count))


def main() -> None:
    given = arguments()
    with TemporaryDirectory(prefix="regard-benchmark-", dir=given.folder) as name:
        folder = Path(name)
        train, valid = folder / "train.tsv", folder / "valid.tsv"
        print(f"making {given.pairs:,} pairs", file=sys.stderr)
        write_pairs(train, "train", given.pairs)
        write_pairs(valid, "valid", VALID)
        files = ["--train", str(train), "--valid", str(valid), "--run", str(folder / "run")]
        steps = ["--max-steps", str(given.steps), "--validate-every", str(given.steps), "--warmup", "10"]
        own, started = memory("VmRSS"), time.perf_counter()
        with Peak() as peak:
            command = [sys.executable, "-m", "regard", "train", "translate", *files, *steps]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds, size = time.perf_counter() - started, train.stat().st_size / 1e6
    found = {"pairs": given.pairs, "megabytes": size, "seconds": seconds, "peak": peak.mebibytes - own}
    print(
        f"{given.pairs:,} pairs, {size:,.0f} MB, {seconds:,.0f} s: a peak of {found['peak']:,.0f} MiB, "
        f"wanted: at most {MOST:,}: {'met' if found['peak'] <= MOST else 'missed'}"
    )
    if given.out:
        given.out.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
