"""What a biLM's layers are worth to a tagger with few labels: `python -m benchmarks.elmo` prints a table.

A biLM reads phrasebook's English sentences without their tags. Then taggers learn from 200 tagged sentences, of which
40 choose the weights: one from scratch, one on the biLM's frozen layers (ELMo), one that tunes them. Every seed has
sentences of its own, the same for all three. Scored on the 1,000 sentences of the test split.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import regard
from benchmarks.table import markdown
from regard.cli.options import positive
from regard.data.catalogue import open_data
from regard.data.tagged import Tagged

LABELLED, CHOOSING = 200, 40  # sentences
TAGGING: dict[str, Any] = {
    "batch_tokens": 320,
    "max_steps": 400,
    "validate_every": 50,
    "average": {"kind": "exponential", "decay": 0.98},
}
WAYS: dict[str, dict[str, Any]] = {  # with the best of a few rates for each
    "from scratch (biLSTM)": {"preset": "tagger", "rate": 8e-3},
    "frozen biLM, mixed (ELMo)": {"frozen": True, "rate": 1e-2},
    "tuned biLM, mixed (ELMo)": {"frozen": False, "rate": 3e-3},
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elmo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=positive, default=5)
    parser.add_argument("--steps", type=positive, default=2000, help="of pre-training (default 2000)")
    parser.add_argument(
        "--runs", type=Path, help="a folder to keep the runs in; a biLM that is there is not made again"
    )
    return parser.parse_args()


def write(path: Path, sentences: list[Tagged]) -> Path:
    blocks = ("".join(f"{word}\t{tag}\n" for word, tag in zip(one.words, one.tags, strict=True)) for one in sentences)
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


def labelled(folder: Path, seed: int) -> dict[str, Path]:
    """The files of a seed: sentences that no other seed has."""
    several = list(open_data("phrasebook", "en-fr", "train", LABELLED * seed, "tagged"))[-LABELLED:]
    parts = {"train": several[CHOOSING:], "valid": several[:CHOOSING]}
    return {name: write(folder / f"{name}-{seed}.tsv", part) for name, part in parts.items()}


def score(run: Path) -> float:
    test = list(open_data("phrasebook", "en-fr", "test", form="tagged"))
    return regard.evaluate(run, test).metrics()["accuracy"]


def measure(folder: Path, seeds: int, steps: int) -> None:
    bilm = folder / "bilm"
    if not bilm.exists():
        start = time.process_time()
        metrics = regard.train("bilm", bilm, train="phrasebook", valid="phrasebook", max_steps=steps)
        seconds = time.process_time() - start
        say(f"biLM: {steps:,} steps, {seconds:.0f} s of one processor, perplexity {metrics['perplexity']:.1f}")
    rows = []
    for way, options in WAYS.items():
        begin = {} if "preset" in options else {"initial": bilm}
        scores, seconds = [], []
        for seed in range(1, seeds + 1):
            run, start = folder / f"{way.split()[0]}-{seed}", time.process_time()
            regard.train("tag", run, **labelled(folder, seed), **options, **begin, **TAGGING, seed=seed)
            seconds.append(time.process_time() - start)
            scores.append(100 * score(run))
            say(f"{way}, seed {seed}: {scores[-1]:.2f}")
        deviation = statistics.stdev(scores) if seeds > 1 else 0.0
        mean, spread = f"{statistics.mean(scores):.2f}", f"{min(scores):.2f}–{max(scores):.2f}"
        rows.append([way, mean, f"{deviation:.2f}", spread, f"{statistics.mean(seconds):.0f}"])
    columns = ["tagger", "accuracy, mean", "deviation", "min–max", "seconds a run"]
    print(markdown(columns, rows))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    given = arguments()
    if given.runs is not None:
        given.runs.mkdir(parents=True, exist_ok=True)
        measure(given.runs, given.seeds, given.steps)
        return
    with TemporaryDirectory() as folder:
        measure(Path(folder), given.seeds, given.steps)


if __name__ == "__main__":
    main()
