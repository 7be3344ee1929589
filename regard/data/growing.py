"""A token store that grows part by part and survives being stopped.

Beside the files, which stay `.part` until the store is whole, lies a journal: a line for each part that is on the disk,
with a mark of what it was made of and the sizes of the files after it. When the folder is opened again, after Ctrl-C, a
full disk or `kill -9`, these parts are done; what a crash left behind them is cut off. The files are flushed to the
disk once, when the store is whole: on a busy disk each flush takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from regard.data.store import HEADER, Store
from regard.data.store_files import OFFSET, SideWriter, header, id_type, side_files, write_header
from regard.errors import DataError, check_guards

JOURNAL = "journal.jsonl"  # a line about the store, then one for each part

Rows = Sequence[Sequence[Sequence[int] | NDArray[Any]]]  # each a sequence of ids per side


class DiskError(DataError):
    """The disk is full or closed to us; the parts that are done stay."""


@dataclass(frozen=True)
class DonePart:
    """A part that is on the disk: the mark of its text, and the rows, tokens and bytes of text up to its end."""

    mark: str
    rows: int
    tokens: tuple[int, ...]
    size: int


def begun(folder: Path) -> bool:
    """Whether a folder holds parts of a store that is not whole yet."""
    try:
        return (folder / JOURNAL).read_bytes().count(b"\n") > 1
    except OSError:
        return False


class GrowingStore:
    """`with GrowingStore(…) as growing:` then `add` parts, and `finish`. `done` are the parts that are there already,
    of which `keep` leaves the first ones. `made` says how rows were made, `fingerprint` by which tokenizer: parts that
    were made otherwise are dropped."""

    def __init__(self, folder: Path, vocabulary: int, sides: int, fingerprint: str, made: str = "") -> None:
        self.folder, self.vocabulary, self.sides, self.fingerprint = folder, vocabulary, sides, fingerprint
        self.done: list[DonePart] = []
        self._names = [name for side in range(sides) for name in side_files(side)]
        self._about = {"vocabulary": vocabulary, "sides": sides, "fingerprint": fingerprint, "made": made}
        self._stack = ExitStack()

    def __enter__(self) -> GrowingStore:
        check_guards(self.folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.done = self._recorded()
            self._files = [self._stack.enter_context(self._open(name)) for name in self._names]
            self.keep(len(self.done))
        except OSError as error:
            self._stack.close()
            raise self._full(error) from None
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._stack.close()
        except OSError as failure:  # what could not be written before is tried again when a file is closed
            if not any(error):
                raise self._full(failure) from None

    def keep(self, count: int) -> None:
        """Keep the first `count` parts and cut off the rest."""
        self.done = self.done[:count]
        last = self.done[-1] if self.done else DonePart("", 0, (0,) * self.sides, 0)
        self.rows, self.size = last.rows, last.size
        width = id_type(self.vocabulary).itemsize
        for number, file in enumerate(self._files):
            offsets = (last.rows + 1) * OFFSET.itemsize if last.rows else 0
            place = offsets if number % 2 else last.tokens[number // 2] * width
            file.truncate(place)
            file.seek(place)
        beside = self.folder / f"{JOURNAL}.part"
        beside.write_text("".join(json.dumps(line) + "\n" for line in (self._about, *map(asdict, self.done))))
        beside.replace(self.folder / JOURNAL)
        self._journal = self._stack.enter_context((self.folder / JOURNAL).open("a", encoding="utf-8"))
        self._writers = [
            SideWriter(ids, offsets, self.vocabulary, side, last.tokens[side], last.rows)
            for side, (ids, offsets) in enumerate(zip(self._files[::2], self._files[1::2], strict=True))
        ]

    @property
    def tokens(self) -> int:
        """How many tokens the first side has."""
        return self._writers[0].tokens

    def add(self, mark: str, rows: Rows, size: int, continued: bool = False) -> None:
        """Write the rows of one more part, made of `size` bytes of text. With `continued`, its first row continues the
        last row of the part before."""
        try:
            for side, writer in enumerate(self._writers):
                writer.write([row[side] for row in rows], continued)
                writer.flush()
            tokens = tuple(writer.tokens for writer in self._writers)
            self.rows, self.size = self._writers[0].rows, self.size + size
            self.done.append(DonePart(mark, self.rows, tokens, self.size))
            self._journal.write(json.dumps(asdict(self.done[-1])) + "\n")
            self._journal.flush()
        except OSError as error:
            raise self._full(error) from None

    def finish(self) -> Store:
        """Make the store whole, remove the journal, and open the store."""
        try:
            tokens = [writer.to_disk() for writer in self._writers]
            self._stack.close()
            (self.folder / HEADER).unlink(missing_ok=True)
            for name in self._names:
                (self.folder / f"{name}.part").replace(self.folder / name)
            whole = header(self.rows, tokens, self.vocabulary, self.fingerprint, self.size)
            write_header(self.folder / HEADER, whole)
            (self.folder / JOURNAL).unlink()
        except OSError as error:
            raise self._full(error) from None
        return Store.open(self.folder)

    def _recorded(self) -> list[DonePart]:
        """The parts of the journal that the files hold; none where the journal is about other rows."""
        try:
            lines = (self.folder / JOURNAL).read_text(encoding="utf-8").splitlines()
            if not lines or json.loads(lines[0]) != self._about:
                return []
        except (OSError, ValueError):
            return []
        done: list[DonePart] = []
        for line in lines[1:]:
            try:
                fields = json.loads(line)
                done.append(DonePart(fields["mark"], fields["rows"], tuple(fields["tokens"]), fields["size"]))
            except (ValueError, KeyError, TypeError):  # a crash cut it off
                break
        while done and not self._holds(done[-1]):
            done.pop()
        return done

    def _holds(self, last: DonePart) -> bool:
        width = id_type(self.vocabulary).itemsize
        needed = [
            wanted
            for side in range(self.sides)
            for wanted in (last.tokens[side] * width, (last.rows + 1) * OFFSET.itemsize)
        ]
        paths = [self._part(name) for name in self._names]
        return all(path.exists() and path.stat().st_size >= size for path, size in zip(paths, needed, strict=True))

    def _part(self, name: str) -> Path:
        """The file that is written. One that was renamed before a crash prevented the header gets its old name back."""
        part, whole = self.folder / f"{name}.part", self.folder / name
        if not part.exists() and whole.exists() and not (self.folder / HEADER).exists():
            whole.replace(part)
        return part

    def _open(self, name: str) -> IO[bytes]:
        path = self._part(name)
        return open(path, "r+b" if path.exists() else "w+b")

    def _full(self, error: OSError) -> DiskError:
        kept = f"; the {self.size / 1e6:,.1f} MB that are tokenized stay" if self.done else ""
        return DiskError(
            f"{self.folder} cannot be written ({error.strerror or error}): make room on its disk, "
            f"or choose another{kept}"
        )
