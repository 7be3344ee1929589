"""Texts to tokens on disk: the same bytes by however many processes, and however often someone stopped."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from regard.data import encoding, growing, shards
from regard.data.corpus import Rowing, document_rows, tokenized
from regard.data.documents import in_memory
from regard.data.encoding import Worker, encoded
from regard.data.growing import begun
from regard.data.shards import Shard, packed, unpacked
from regard.data.store import Store
from regard.data.text import Pieces
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError

WORDS = "the quick brown fox jumps over a lazy dog – où ça ? 🌙 ".split(" ")


def text(number: int, words: int) -> str:
    random = np.random.default_rng(number)
    return " ".join(WORDS[i] for i in random.choice(len(WORDS), words)) + "\n"


TEXTS = [text(number, 40 * (1 + number % 7)) for number in range(60)] + [text(99, 9_000)]
TOKENIZER = Tokenizer.train(TEXTS, "bpe", 300)
ROWING = Rowing(partial(document_rows, end=TOKENIZER.end), joined=True)
FILES = ("side-0.ids", "side-0.offsets", "store.json")


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_CHARACTERS", 5_000)


def made(
    folder: Path, texts: list[str] = TEXTS, workers: int = 1, most: int | None = None, said: list[str] | None = None
) -> Store:
    stream = Pieces([in_memory("a", one) for one in texts])
    say = (said if said is not None else []).append
    return tokenized(folder, stream, TOKENIZER, ROWING, say, most=most, workers=workers)


def content(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


def test_every_document_is_a_row_with_the_end_between_two(tmp_path: Path) -> None:
    store = made(tmp_path)
    rows = store.rows(0, np.arange(len(store)))
    assert len(store) == len(TEXTS)
    ends = [[TOKENIZER.end]] * (len(TEXTS) - 1) + [[]]
    expected = [[*ids, *end] for ids, end in zip(TOKENIZER.encode(TEXTS), ends, strict=True)]
    assert [row.tolist() for row in rows] == expected
    assert store.size == len("".join(TEXTS).encode())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    assert store.stream(0).tolist() == [i for row in expected for i in row]


def test_several_processes_write_the_bytes_of_one(tmp_path: Path) -> None:
    made(tmp_path / "1")
    for workers in (2, 3):
        made(tmp_path / f"{workers}", workers=workers)
        assert content(tmp_path / f"{workers}") == content(tmp_path / "1")


def test_little_text_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding.subprocess, "Popen", None)
    assert len(made(tmp_path, TEXTS[:3], workers=2)) == 3
    with pytest.raises(TypeError):
        made(tmp_path / "more", workers=2)


def test_no_shard_is_read_behind_what_is_wanted(tmp_path: Path) -> None:
    few = made(tmp_path / "few", most=700)
    assert 700 <= few.tokens(0) < made(tmp_path / "all").tokens(0) / 4
    assert few.stream(0).tolist() == Store.open(tmp_path / "all").stream(0)[: few.tokens(0)].tolist()


# --- stopping ---------------------------------------------------------------------------------------------------------


STOPPED = """
import os, signal, sys
from tests.data import test_corpus as here
from regard.data import growing, shards
shards.SHARD_CHARACTERS = 5_000
whole, count = growing.GrowingStore.add, 0
def add(self, *given, **more):
    global count
    whole(self, *given, **more)
    count += 1
    if count == 4:
        {what}
growing.GrowingStore.add = add
here.made(here.Path(sys.argv[1]), workers=2)
"""


def stopped(folder: Path, what: str) -> int:
    """A process that stops while the fifth shard is under way; its code."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", STOPPED.replace("{what}", what), str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


@pytest.mark.parametrize("what", ["os.kill(os.getpid(), signal.SIGKILL)", "os.kill(os.getpid(), signal.SIGINT)"])
def test_a_start_after_a_kill_does_no_shard_again_and_ends_at_the_same_bytes(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "stopped"
    assert stopped(folder, what) < 0
    with pytest.raises(DataError, match="no whole token store"):
        Store.open(folder)
    assert begun(folder)
    again: list[int] = []
    rowing = Rowing(lambda shard: again.append(shard.number) or document_rows(shard, TOKENIZER.end), joined=True)  # type: ignore[func-returns-value]
    said: list[str] = []
    tokenized(folder, Pieces([in_memory("a", one) for one in TEXTS]), TOKENIZER, rowing, said.append, workers=1)
    assert again[0] == 4
    assert "were done before" in said[0]
    made(tmp_path / "whole")
    assert content(folder) == content(tmp_path / "whole")


def failing_at(number: int) -> Rowing:
    def rows(shard: shards.TokenShard) -> growing.Rows:
        if shard.number == number:
            raise DataError("a.txt, line 9: not valid UTF-8")
        return document_rows(shard, TOKENIZER.end)

    return Rowing(rows, joined=True)


def half_way(folder: Path, texts: list[str] = TEXTS) -> None:
    stream = Pieces([in_memory("a", one) for one in texts])
    with pytest.raises(DataError, match="line 9"):
        tokenized(folder, stream, TOKENIZER, failing_at(5), lambda _: None, workers=1)


def test_texts_that_changed_are_done_again_from_there_on(tmp_path: Path) -> None:
    half_way(tmp_path / "a")
    others = [*TEXTS[:9], "something else\n", *TEXTS[10:]]
    said: list[str] = []
    made(tmp_path / "a", others, said=said)
    made(tmp_path / "b", others)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    half_way(tmp_path / "c")
    made(tmp_path / "c", TEXTS[:2])
    made(tmp_path / "d", TEXTS[:2])
    assert content(tmp_path / "c") == content(tmp_path / "d")


def test_what_another_tokenizer_made_is_not_taken_over(tmp_path: Path) -> None:
    half_way(tmp_path)
    other = Tokenizer.train(TEXTS, "bpe", 280)
    rowing = Rowing(partial(document_rows, end=other.end), joined=True)
    store = tokenized(
        tmp_path, Pieces([in_memory("a", one) for one in TEXTS]), other, rowing, lambda _: None, workers=1
    )
    assert store.fingerprint == other.fingerprint
    assert other.decode(store.stream(0).tolist()) == "".join(TEXTS)


@pytest.mark.parametrize("harm", ["journal", "ids", "renamed"])
def test_a_journal_that_was_cut_off_is_believed_as_far_as_the_files_hold(tmp_path: Path, harm: str) -> None:
    half_way(tmp_path / "a")
    journal, ids = tmp_path / "a" / "journal.jsonl", tmp_path / "a" / "side-0.ids.part"
    if harm == "journal":
        journal.write_bytes(journal.read_bytes()[:-9])
    elif harm == "ids":
        ids.write_bytes(ids.read_bytes()[:-9])
    else:  # as between the two steps of becoming whole
        ids.rename(tmp_path / "a" / "side-0.ids")
    said: list[str] = []
    made(tmp_path / "a", said=said)
    assert "were done before" in said[0]
    made(tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_a_disk_without_room_says_so_and_keeps_what_is_done(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: the system refuses in the middle of a write."""
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, hard))
    try:
        with pytest.raises(DataError, match=r"cannot be written \(File too large\): make room .* tokenized stay"):
            made(tmp_path / "a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    assert begun(tmp_path / "a")
    made(tmp_path / "a")
    made(tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


# --- processes --------------------------------------------------------------------------------------------------------


def test_a_process_that_is_gone_is_an_error_and_not_a_wait() -> None:
    worker = Worker(TOKENIZER)
    shard = Shard(0, True, ["some text", None, "more"])
    assert [None if ids is None else ids.tolist() for ids in worker.encode(shard).texts] == [
        TOKENIZER.encode(["some text"])[0],
        None,
        TOKENIZER.encode(["more"])[0],
    ]
    os.kill(worker.process.pid, signal.SIGKILL)
    with pytest.raises(DataError, match="ended by itself"):
        worker.encode(shard)
    worker.end()


def test_processes_end_with_who_asks_them_and_when_nobody_does(tmp_path: Path) -> None:
    some = [Shard(number, True, [text(number, 50)]) for number in range(6)]
    found = encoded(TOKENIZER, some, workers=2)
    next(found)
    found.close()
    worker = Worker(TOKENIZER)
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    deadline = time.monotonic() + 20
    while worker.process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert worker.process.poll() == 0
    worker.end()


def test_a_process_imports_no_torch() -> None:
    script = "import sys; import regard.data.encoding; print('torch' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_texts_travel_as_bytes() -> None:
    for texts in ([], [b""], [b"abc", b"", b"\n", "é".encode()]):
        assert unpacked(packed(texts)) == texts


# --- memory -----------------------------------------------------------------------------------------------------------


MEMORY = """
import sys
from pathlib import Path
from regard.data import shards
from regard.data.documents import file_document
from regard.data.text import Pieces, Share

def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024

def read(name):
    held = Share([file_document(Path(sys.argv[1]) / name)], 0, 90)
    return sum(shard.size for shard in shards.shards(Pieces(held), least=1 << 20))

read("small.txt")
before = peak()
assert read("large.txt") == 33_000_000 * 9 // 10
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux counts it")
def test_a_long_file_without_a_line_end_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    """Of 3 and of 33 MB in one line, in shards of a million letters. A copy of the text would be 30 MiB more."""
    (tmp_path / "small.txt").write_text("some words " * 300_000)
    (tmp_path / "large.txt").write_text("some words " * 3_000_000)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", MEMORY, str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(run.stdout) < 5
