"""An old commit of this project beside the present one: `python -m benchmarks.before_after COMMIT`.

Both run the sides that this project has in the other benchmarks, in turn, in one run: the old code from a worktree of
its own, the new from here. What both read is made by the old code, which may not know what is new in a config.
A ratio of new to old below 0.97 is a loss.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.corpus import corpus
from benchmarks.environments import ROOT, UnavailableError, call
from benchmarks.minilm import minilm
from benchmarks.options import parse, several
from benchmarks.rounds import ATTEMPTS, Result, run_rounds
from benchmarks.side import Side
from benchmarks.table import markdown, ratios, verdict
from regard.cli.options import positive

LEAST = 0.97  # of new to old
STEPS = {"tiny": 20, "base": 5}
SMOKE = {"rounds": 1, "only": ["step-tiny", "decoding-tiny-greedy", "recurrent-train"]}
TEXTS, PAIRS, NANOGPT_RECIPES = 2000, 100, ("QUICK", "LONG")


@dataclass(frozen=True)
class Measured:
    """What one turn of one side did: work a second, and what it wrote, if that can be compared."""

    rate: float
    foreign_cores: float
    outputs: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Measured:
        """Of whatever a side prints: a rate, or the seconds of its work or of each step."""
        rate = record.get("tokens_per_second", record.get("texts_per_second"))
        if rate is None:
            seconds = record["seconds"]
            rate = 1 / (statistics.median(seconds) if isinstance(seconds, list) else seconds)
        return cls(rate, record.get("foreign_cores", 0.0), record.get("outputs"))


FOLDER = object()
Files = Callable[[Path], AbstractContextManager[Path | None]]  # the root of the old code → a folder that both read


@dataclass(frozen=True)
class Work:
    """A side's module and variant, and what it is given behind the folder of its files: last how often or how long,
    of which a smoke test takes 1."""

    name: str
    module: str
    variant: str = "default"
    files: Files | None = None
    given: tuple[object, ...] = ()


def prepared(module: str, *given: object) -> Files:
    """A folder that `module` fills, called with `given`, in which `FOLDER` stands for the folder."""

    @contextmanager
    def made(old: Path) -> Iterator[Path]:
        with TemporaryDirectory(prefix="regard-benchmark-") as folder:
            words = [folder if one is FOLDER else one() if callable(one) else one for one in given]
            call(sys.executable, "-m", f"benchmarks.{module}", *map(str, words), root=old)
            yield Path(folder)

    return made


@contextmanager
def multi30k(old: Path) -> Iterator[Path]:
    with corpus(None, valid=10) as folder:
        yield folder


def works() -> list[Work]:
    found = [Work(f"step-{size}", "step.sides.regard_side", "matched", None, (size, n)) for size, n in STEPS.items()]
    found.append(Work("epoch", "epoch.sides.regard_side", "matched", multi30k))
    for size, modes in {"tiny": ("beam", "greedy"), "base": ("beam", "greedy", "single")}.items():
        files = prepared("decoding.prepare", size, FOLDER)
        for mode in modes:
            count = 20 if mode == "single" else 200
            name = f"decoding-{size}-{mode}"
            found.append(Work(name, "decoding.sides.regard_side", "default", files, (mode, count, 30)))
    files = prepared("generation.prepare", FOLDER)
    for variant in ("fp32", "int8"):
        for batch in (1, 8):
            name = f"generation-{variant}-{batch}"
            found.append(Work(name, "generation.sides.regard_side", variant, files, (batch, 128, 1)))
    files = prepared("embedding.prepare", FOLDER, minilm, TEXTS, PAIRS)
    for variant in ("fp32", "int8"):
        given = ("before-after", 1)
        found.append(Work(f"embedding-{variant}", "embedding.sides.regard_side", variant, files, given))
    for mode in ("train", "greedy"):
        found.append(Work(f"recurrent-{mode}", "recurrent.sides.regard_side", "default", None, ("small", mode, 8)))
    return found


def arguments() -> argparse.Namespace:
    names = [work.name for work in works()] + [f"nanogpt-{recipe.lower()}" for recipe in NANOGPT_RECIPES]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.before_after", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("commit", help="the old one, by any name that git knows")
    parser.add_argument("--rounds", type=positive, default=3, help="how often old and new have their turn")
    parser.add_argument("--only", type=several(names), default=names, help=f"of {','.join(names)}")
    return parse(parser, SMOKE, "all rates")


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A worktree of the old commit, until it is no longer needed."""
    with TemporaryDirectory(prefix="regard-before-") as folder:
        tree = Path(folder) / "tree"
        call("git", "worktree", "add", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            call("git", "worktree", "remove", "--force", str(tree))


class NanoGPTStep(Side):
    """A training step of one of the recipes beside nanoGPT; its benchmark has no script for our side alone."""

    def run(self, *arguments: object) -> dict[str, Any]:
        code = (
            "import json, tempfile, torch; from pathlib import Path; from benchmarks import nanogpt as one;"
            "torch.set_num_threads(one.THREADS); home = tempfile.TemporaryDirectory();"
            f"print(json.dumps(one.seconds_a_step(one.{self.variant}, Path(home.name) / 'timing')))"
        )
        return {"seconds": float(call(str(self.python()), "-c", code, root=self.root).splitlines()[-1])}


def compared(work: Work, old: Path, folder: Path | None, rounds: int, smoke: bool) -> list[Result[Measured]]:
    given = [*work.given[:-1], 1] if smoke and isinstance(work.given[-1:][0], int) else work.given
    words = [*([] if folder is None else [folder]), *given]
    kind = NanoGPTStep if work.module == "nanogpt" else Side
    return run_rounds(
        [kind(name, name, work.module, work.variant, root=root) for name, root in (("old", old), ("new", ROOT))],
        rounds,
        take=lambda side: Measured.of(side.run(*words)),
        tell=lambda measured: f"{measured.rate:,.3f} a second",
        label=work.name,
        attempts=0 if smoke else ATTEMPTS,
    )


def row(name: str, old: Result[Measured], new: Result[Measured]) -> list[str]:
    if old.failure or new.failure:
        return [name, f"not available: {old.failure or new.failure}"]
    before, after = ([one.rate for one in result.records] for result in (old, new))
    outputs = [result.records[0].outputs for result in (old, new)]
    same = "–" if None in outputs else "yes" if outputs[0] == outputs[1] else "no"
    rates = [f"{statistics.median(one):,.3f} ({min(one):,.3f}–{max(one):,.3f})" for one in (before, after)]
    return [name, *rates, verdict(ratios(after, before), LEAST), same]


def measured(chosen: Sequence[Work], old: Path, rounds: int, smoke: bool) -> Iterator[list[str]]:
    """A row for each; works that read the same files come one after the other, and the files are made once."""
    for files in dict.fromkeys(work.files for work in chosen):
        group = [work for work in chosen if work.files is files]
        try:
            with nothing() if files is None else files(old) as folder:
                for work in group:
                    yield row(work.name, *compared(work, old, folder, rounds, smoke))
        except UnavailableError as reason:
            yield from ([work.name, f"not available: {reason}"] for work in group)


@contextmanager
def nothing() -> Iterator[None]:
    yield None


def main() -> None:
    given = arguments()
    every = [*works(), *(Work(f"nanogpt-{recipe.lower()}", "nanogpt", recipe) for recipe in NANOGPT_RECIPES)]
    with checked_out(given.commit) as old:
        rows = list(measured([one for one in every if one.name in given.only], old, given.rounds, given.smoke))
    table = markdown(["", "old, a second", "new, a second", "new to old", "same outputs"], rows)
    print(f"\n{given.commit} beside the present code, {given.rounds} rounds\n\n{table}")
    if given.out:
        given.out.write_text(f"{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
