"""Shards of text to ids, on all cores.

A process for each core runs `python -m regard.data.encoding`, is given the tokenizer, then shards, and answers each
with its ids: lengths and bytes through a pipe, nothing pickled. It imports neither torch nor the program that started
it, so that a script needs no guard around its first line, and ends by itself when its pipe is closed, be it by `kill
-9`. The library's own threads are not used there: each process is one, and reading its ids needs no lock of another.
"""

from __future__ import annotations

import itertools
import os
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO

import numpy as np

import regard
from regard.data.shards import LENGTH, Ids, Shard, TokenShard, packed, unpacked
from regard.data.store_files import id_type
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError

MIN_SHARDS_FOR_PROCESSES = 2  # one shard is done here before a process has started
SHARDS_AHEAD_PER_PROCESS = 2  # read before the process asks for them
CHARACTERS_AT_ONCE = 1 << 20  # the library's own tokens take some 200 bytes for each character


def encoded(
    tokenizer: Tokenizer, shards: Iterable[Shard], workers: int | None = None
) -> Generator[TokenShard, None, None]:
    """The ids of each shard, in order. `workers` processes make them (default: one for each core); few shards are
    tokenized in this process."""
    rest = iter(shards)
    first = list(itertools.islice(rest, MIN_SHARDS_FOR_PROCESSES))
    workers = cores() if workers is None else workers
    if len(first) < MIN_SHARDS_FOR_PROCESSES or workers < 2 or not sys.executable:
        for shard in itertools.chain(first, rest):
            yield filled(shard, ids_of(tokenizer, [text for text in shard.texts if text is not None]))
        return
    yield from by_processes(tokenizer, itertools.chain(first, rest), workers)


def by_processes(tokenizer: Tokenizer, shards: Iterable[Shard], workers: int) -> Generator[TokenShard, None, None]:
    """One thread waits for each process. Only a few shards are under way, so only so much text is read ahead."""
    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    started = [Worker(tokenizer) for _ in range(workers)]
    for one in started:
        idle.put(one)

    def work(shard: Shard) -> TokenShard:
        worker = idle.get()
        try:
            return worker.encode(shard)
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(workers, thread_name_prefix="encoding")
    waiting: deque[Future[TokenShard]] = deque()
    try:
        for shard in shards:
            waiting.append(pool.submit(work, shard))
            if len(waiting) >= SHARDS_AHEAD_PER_PROCESS * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        for one in started:
            one.end()
        pool.shutdown(wait=True)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ids_of(tokenizer: Tokenizer, texts: list[str]) -> list[Ids]:
    kind, found = id_type(tokenizer.vocabulary), []
    for some in together(texts):
        found += [np.array(row, dtype=kind) for row in tokenizer.encode(some)]
    return found


def together(texts: list[str]) -> Iterator[list[str]]:
    """The texts in groups that are tokenized at once."""
    some: list[str] = []
    size = 0
    for text in texts:
        some.append(text)
        size += len(text)
        if size >= CHARACTERS_AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def filled(shard: Shard, rows: list[Ids]) -> TokenShard:
    """The shard with ids in the places of its texts."""
    rest = iter(rows)
    texts = [None if text is None else next(rest) for text in shard.texts]
    return TokenShard(shard.number, shard.fresh, shard.mark, shard.size, texts)


# --- a process --------------------------------------------------------------------------------------------------------


class Worker:
    """A process that tokenizes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.kind = id_type(tokenizer.vocabulary)
        home = str(Path(regard.__file__).parents[1])
        path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path, "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "regard.data.encoding"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.begun = False
        self.tokenizer = tokenizer

    def encode(self, shard: Shard) -> TokenShard:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            if not self.begun:
                send(self.process.stdin, self.tokenizer.to_json().encode("utf-8"))
                self.begun = True
            send(self.process.stdin, shard.message)
            answer = receive(self.process.stdout)
        except (OSError, ValueError):  # its pipe is closed
            answer = None
        if answer is None:
            code = self.process.wait()
            raise DataError(f"a process that tokenized ended by itself (exit code {code}); is there memory for it?")
        return filled(shard, [np.frombuffer(row, self.kind) for row in unpacked(answer)])

    def end(self) -> None:
        """End the process, also while it is at work."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                """Something was still to be sent."""


def send(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(np.array([len(message)], LENGTH).tobytes())
    pipe.write(message)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """The next message; None where the other side has closed the pipe."""
    head = pipe.read(LENGTH.itemsize)
    if len(head) < LENGTH.itemsize:
        return None
    length = int(np.frombuffer(head, LENGTH)[0])
    message = pipe.read(length)
    return message if len(message) == length else None


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """What a process does: the tokenizer comes first, then shards, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one handles Ctrl-C
    first = receive(asked)
    if first is None:
        return
    tokenizer = Tokenizer.from_json(first.decode("utf-8"))
    while (message := receive(asked)) is not None:
        texts = [text.decode("utf-8") for text in unpacked(message)]
        send(answers, packed([row.tobytes() for row in ids_of(tokenizer, texts)]))


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
