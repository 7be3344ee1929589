"""Very much data: `python -m benchmarks.plenty pairs` and `… text` train from a large file and print what memory that
takes.

Pairs are those of Tatoeba, text is that of `benchmarks.corpus_tokens` (both below the folder REGARD_DATA names), each
repeated with other spellings, so that new words keep coming; the file is deleted at the end. What counts is the peak of
all processes of `regard train` together, what they share counted once: from the file through tokenizer, tokens and
batches to a few steps and a validation.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus_tokens import spelling, write_text
from benchmarks.machine import Peak, memory
from benchmarks.options import parse
from regard.cli.options import positive
from regard.data.catalogue import open_data

LANGUAGES = "en-fr"
MOST = 2048  # MiB
SMOKE = {"pairs": 200_000, "megabytes": 20}


@dataclass(frozen=True)
class Kind:
    """Data for a task: `write(path, split, size)` makes as many as the option says, and `valid` of them to validate."""

    task: str
    option: str
    unit: str
    valid: int
    write: Callable[[Path, str, int], None]


def write_pairs(path: Path, split: str, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(itertools.islice(lines(split), count))


def lines(split: str) -> Iterator[str]:
    """Without end; each time over every third pair is spelt otherwise."""
    for copy in itertools.count():
        other = spelling(copy)
        for number, pair in enumerate(open_data("tatoeba", LANGUAGES, split)):
            line = f"{pair.source}\t{pair.target}\n"
            yield line.translate(other) if copy and number % 3 == 0 else line


def write_megabytes(path: Path, _split: str, size: int) -> None:
    write_text(path, size * 1_000_000)


KINDS = {
    "pairs": Kind("translate", "pairs", "pairs", 200, write_pairs),
    "text": Kind("lm", "megabytes", "MB of text", 1, write_megabytes),
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plenty", description="What memory training from very much data takes."
    )
    parser.add_argument("kind", choices=KINDS, help="what to train from")
    parser.add_argument("--pairs", type=positive, default=10_000_000, help="how many of them")
    parser.add_argument("--megabytes", type=positive, default=10_000, help="how much text")
    parser.add_argument("--steps", type=positive, default=20, help="of training, after everything is tokens")
    parser.add_argument("--folder", type=Path, help="where the file is made, and deleted")
    return parse(parser, SMOKE, "what was measured")


def main() -> None:
    given = arguments()
    kind = KINDS[given.kind]
    size = getattr(given, kind.option)
    with TemporaryDirectory(prefix="regard-benchmark-", dir=given.folder) as name:
        folder = Path(name)
        train, valid = folder / "train.txt", folder / "valid.txt"
        print(f"making {size:,} {kind.unit}", file=sys.stderr)
        kind.write(train, "train", size)
        kind.write(valid, "valid", kind.valid)
        files = ["--train", str(train), "--valid", str(valid), "--run", str(folder / "run")]
        steps = ["--max-steps", str(given.steps), "--validate-every", str(given.steps), "--warmup", "10"]
        own, started = memory("VmRSS"), time.perf_counter()
        with Peak() as peak:
            command = [sys.executable, "-m", "regard", "train", kind.task, *files, *steps]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds, megabytes = time.perf_counter() - started, train.stat().st_size / 1e6
    found = {"kind": given.kind, "size": size, "megabytes": megabytes, "seconds": seconds, "peak": peak.mebibytes - own}
    print(
        f"{given.kind}, {megabytes:,.0f} MB, {seconds:,.0f} s: a peak of {found['peak']:,.0f} MiB, "
        f"wanted: at most {MOST:,}: {'met' if found['peak'] <= MOST else 'missed'}"
    )
    if given.out:
        given.out.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
