"""The studio under load: `python -m benchmarks.studio` prints which answers came, how soon, and the server's memory.

So many clients ask at once, each again as soon as it is answered. What is too much must be turned away with 429 and
nothing else, and the server's memory must not grow.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import memory
from benchmarks.options import parse
from benchmarks.table import markdown
from regard.cli.options import positive

SMOKE = {"clients": 20, "seconds": 3}
TEXT = "The old woman sees a black cat in the garden because it is hungry."
WARM = 0.1  # of the time, before memory is first read: until then threads are started
PAUSE = 0.05  # seconds that a client waits after a 429; Retry-After would have it wait longer


@dataclass(frozen=True)
class Ask:
    """One kind of request."""

    title: str
    method: str
    path: str
    body: Any = None
    accept: str = "*/*"

    def written(self, host: str) -> bytes:
        body = b"" if self.body is None else json.dumps(self.body).encode()
        head = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}", f"Accept: {self.accept}"]
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join([*head, "", ""]).encode() + body


@dataclass
class Measured:
    """Answers by request and status, how long each took, and the server's memory in MiB by second."""

    statuses: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    memory: dict[float, float] = field(default_factory=dict)

    def others(self) -> int:
        """Answers that should not have come."""
        return sum(
            n for counts in self.statuses.values() for status, n in counts.items() if status not in ("200", "429")
        )


def asks(run: str) -> list[Ask]:
    binary = "application/vnd.regard.look"
    return [
        Ask("translate, beam of 4", "POST", "/api/translate", {"run": run, "text": TEXT}),
        Ask("translate with tree", "POST", "/api/translate", {"run": run, "text": TEXT, "tree": True}),
        Ask("look, binary", "POST", "/api/look", {"run": run, "text": TEXT}, binary),
        Ask("look, JSON", "POST", "/api/look", {"run": run, "text": TEXT, "layers": ["decoder.*.cross"]}),
        Ask("way, binary", "POST", "/api/way", {"run": run, "text": TEXT}, binary),
        Ask("positions, binary", "GET", "/api/positions/rotary?length=128", accept=binary),
        Ask("runs", "GET", "/api/runs"),
        Ask("records", "GET", f"/api/runs/{run}/records"),
        Ask("page", "GET", "/"),
    ]


# --- the server and its clients ---------------------------------------------------------------------------------------


@contextmanager
def studio(runs: Path) -> Iterator[tuple[int, str, int]]:
    """A server in a process of its own: its process, host and port."""
    command = [sys.executable, "-m", "regard", "studio", "--runs", str(runs), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip().removeprefix("http://").removesuffix("/")
        host, _, port = address.rpartition(":")
        yield process.pid, host, int(port)
    finally:
        process.terminate()
        process.wait()


async def client(host: str, port: int, turn: Iterator[Ask], until: float, found: Measured) -> None:
    """Asks one request after the other on one connection, which it makes anew when it was closed."""
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    while (start := time.monotonic()) < until:
        ask = next(turn)
        try:
            connection = connection or await asyncio.open_connection(host, port)
            connection[1].write(ask.written(f"{host}:{port}"))
            status, keep = await answer(connection[0])
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            status, keep = type(error).__name__, False
        found.statuses[ask.title][status] += 1
        if status == "200":
            found.times[ask.title].append(time.monotonic() - start)
        if not keep and connection is not None:
            connection[1].close()
            connection = None
        await asyncio.sleep(PAUSE if status == "429" else 0)
    if connection is not None:
        connection[1].close()


async def answer(reader: asyncio.StreamReader) -> tuple[str, bool]:
    """The status of an answer that is read to its end, and whether the connection can be used again."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    await reader.readexactly(int(headers["content-length"]))
    return lines[0].split()[1], headers.get("connection") != "close"


async def load(pid: int, host: str, port: int, run: str, clients: int, seconds: float) -> Measured:
    for ask in asks(run):  # until then torch is imported and the model is loaded
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(ask.written(f"{host}:{port}"))
        await answer(reader)
        writer.close()
    found, start = Measured(), time.monotonic()
    turn = itertools.cycle(asks(run))
    working = asyncio.gather(*(client(host, port, turn, start + seconds, found) for _ in range(clients)))
    await asyncio.sleep(WARM * seconds)
    while not working.done():
        found.memory[time.monotonic() - start] = memory("VmRSS", pid)
        await asyncio.wait([working], timeout=seconds / 10)
    await working
    found.memory[time.monotonic() - start] = memory("VmRSS", pid)
    return found


# --- report -----------------------------------------------------------------------------------------------------------


def table(found: Measured) -> str:
    columns = ("request", "200", "429", "anything else", "median ms", "99th percentile ms")
    rows = []
    for title, counts in found.statuses.items():
        others = ", ".join(f"{status}: {n:,}" for status, n in counts.items() if status not in ("200", "429"))
        times = sorted(1000 * seconds for seconds in found.times[title])
        late = [f"{statistics.median(times):,.0f}", f"{times[int(0.99 * (len(times) - 1))]:,.0f}"] if times else []
        rows.append([title, f"{counts['200']:,}", f"{counts['429']:,}", others or "–", *late])
    return markdown(columns, rows)


def verdict(found: Measured) -> str:
    first, *_, last = found.memory.values()
    others = found.others()
    return (
        f"Answers other than 200 and 429: {others}, wanted: none: {'missed' if others else 'met'}\n"
        f"Memory of the server: {first:,.0f} MiB when warm, {last:,.0f} MiB at the end ({last / first - 1:+.1%})"
    )


def usable(host: str, port: int) -> str:
    """A run that translates."""
    with urllib.request.urlopen(f"http://{host}:{port}/api/runs") as response:
        runs = json.load(response)["runs"]
    names = [run["name"] for run in runs if run["task"] == "translate" and run["status"] == "finished"]
    if not names:
        raise SystemExit("there is no finished run that translates; `regard demo` trains one")
    return str(names[0])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studio", description="The studio under load.")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="a folder of runs, of which one translates")
    parser.add_argument("--clients", type=positive, default=200, help="how many ask at once")
    parser.add_argument("--seconds", type=positive, default=60)
    given = parse(parser, SMOKE, "all that was measured")
    with studio(given.runs) as (pid, host, port):
        run = usable(host, port)
        found = asyncio.run(load(pid, host, port, run, given.clients, given.seconds))
    print(f"\n{given.clients} clients for {given.seconds} seconds, {run}\n")
    print(f"{table(found)}\n\n{verdict(found)}", flush=True)
    if given.out:
        measured = {"statuses": found.statuses, "seconds": found.times, "memory": found.memory}
        given.out.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
