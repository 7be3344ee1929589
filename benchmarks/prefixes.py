"""What it saves the server that prompts begin alike: `python -m benchmarks.prefixes` prints a table.

GPT-2 (124M, random weights, two threads) reads a prompt of which all but the last eight tokens stood in one before, as
when a conversation goes on; how long until its next token is there, read whole and gone on with from what
`Prefixes` kept. The token must be the same.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from typing import cast

import torch

from benchmarks.options import parse
from benchmarks.rounds import wait_for_quiet
from benchmarks.table import markdown, ratios, spread
from regard.cli.options import positive
from regard.decoding import Decoding
from regard.decoding.prefixes import Prefixes
from regard.decoding.stream import Begun, Writing
from regard.fast import for_use
from regard.models import TextWriter
from regard.zoo import get

THREADS, NEW, END = 2, 8, 50_256
LENGTHS = (64, 256, 1000)
SMOKE = {"rounds": 1}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prefixes", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=positive, default=5)
    return parse(parser, SMOKE, "all times")


def seconds(model: TextWriter, prompt: list[int], begun: Begun | None) -> tuple[float, int]:
    """Until the next token, and which it is."""
    start = time.perf_counter()
    ((_, written),) = Writing(model, [prompt], Decoding(max_length=1), END, begun=begun).step()
    return time.perf_counter() - start, written.token


def measured(model: TextWriter, length: int, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of each round, read whole and gone on with."""
    whole, rest = [], []
    for _ in range(rounds):
        prompt, prefixes = torch.randint(END, (length,)).tolist(), Prefixes(model)
        before = prompt[:-NEW]
        Writing(model, [before], Decoding(max_length=1), END, read=partial(prefixes.keep, before)).step()
        (one, token), (other, again) = (seconds(model, prompt, begun) for begun in (None, prefixes.find(prompt)))
        assert token == again, "the kept prefix changes what is written"
        whole.append(one)
        rest.append(other)
    return whole, rest


def main() -> None:
    given = arguments()
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    model = cast(TextWriter, for_use(get("gpt2").build(), "cpu"))
    if not given.smoke:
        wait_for_quiet()
    found = {length: measured(model, length, given.rounds + 1) for length in LENGTHS}  # the first warms up
    rows = [
        [
            f"{length:,}",
            *(spread([1000 * one for one in times[1:]], ".0f") for times in both),
            spread(ratios(*both)[1:]),
        ]
        for length, both in found.items()
    ]
    print(markdown(["tokens of the prompt", "read whole, ms", "all but eight known, ms", "times as fast"], rows))
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
