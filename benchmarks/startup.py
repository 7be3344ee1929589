"""How long a person waits before anything happens: `python -m benchmarks.startup` prints a table.

Each command runs in a fresh process, in turn over several rounds; the first round warms the disk cache and is dropped.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 7
COMMANDS = {
    "import torch": ["-c", "import torch"],
    "import regard, with all that builds models": ["-c", "import regard; regard.build"],
    "import regard": ["-c", "import regard"],
    "regard --help": ["-m", "regard", "--help"],
    "regard describe megatron-8.3b": ["-m", "regard", "describe", "megatron-8.3b"],
}


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    rounds = [{name: seconds(arguments) for name, arguments in COMMANDS.items()} for _ in range(ROUNDS + 1)][1:]
    print("| command | seconds | min–max | ratio to importing torch |\n|---|---:|---:|---:|")
    for name in COMMANDS:
        times = [taken[name] for taken in rounds]
        ratio = statistics.median(taken[name] / taken["import torch"] for taken in rounds)
        print(f"| {name} | {statistics.median(times):.2f} | {min(times):.2f}–{max(times):.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
