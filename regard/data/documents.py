"""Documents: texts that are read line by line, any number of times, so that none has to fit into memory.

A document gives its lines with their ends; joined they are exactly the text, so that a score can be stated per byte. A
text file is one document, and so is a record of JSONL; a named set says what its documents are. A line of more than
256 KiB comes in parts, so that a file of gigabytes without a line end can be read. A record of JSONL must fit into
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import IO

from regard.data.files import BOM, LONGEST_LINE_BYTES, bounded, lines, open_file
from regard.errors import DataError

Range = tuple[int, int]  # from one place of a text to another, in bytes of UTF-8


@dataclass(frozen=True)
class Document:
    """One text. Iterating gives its lines, each with its end; `name` is what a complaint calls it."""

    name: str
    start: Callable[[], Iterable[str]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.start())

    def text(self) -> str:
        return "".join(self)

    @property
    def size(self) -> int:
        """In bytes of UTF-8."""
        return sum(len(line.encode("utf-8")) for line in self)

    def between(self, ranges: Sequence[Range]) -> Iterator[str]:
        """The text in these ranges, which are sorted. A border inside a character moves behind that character."""
        begin, waiting = 0, list(ranges)
        for line in self:
            data = line.encode("utf-8")
            end = begin + len(data)
            while waiting and waiting[0][0] < end:
                low, high = waiting[0]
                if kept := data[behind(data, low - begin) : behind(data, high - begin)]:
                    yield kept.decode("utf-8")
                if high > end:
                    break
                waiting.pop(0)
            if not waiting:
                return
            begin = end

    def parted(self, ranges: Sequence[Range]) -> Document:
        return DocumentPart(self.name, partial(self.between, ranges), self, tuple(ranges))


@dataclass(frozen=True)
class FileDocument(Document):
    """The text of a file; of one that is not gzipped, size and parts are found without reading the rest."""

    path: Path

    @property
    def packed(self) -> bool:
        return self.path.suffix == ".gz"

    @property
    def size(self) -> int:
        if self.packed:
            return super().size
        try:
            with open_file(self.path) as file:
                return self.path.stat().st_size - marked(file)
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror or error})") from None

    def between(self, ranges: Sequence[Range]) -> Iterator[str]:
        if self.packed:
            yield from super().between(ranges)
            return
        try:
            with open_file(self.path) as file:
                head = marked(file)
                for low, high in ranges:
                    file.seek(head + max(low, 0))
                    yield from within(file, high - max(low, 0))
        except UnicodeDecodeError:
            for _ in self:  # from its beginning: the line is named
                pass
            raise
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror or error})") from None


@dataclass(frozen=True)
class DocumentPart(Document):
    """Some ranges of a document."""

    whole: Document
    ranges: tuple[Range, ...]

    @cached_property
    def size(self) -> int:
        whole = self.whole.size
        return sum(max(min(high, whole) - max(low, 0), 0) for low, high in self.ranges)

    def between(self, ranges: Sequence[Range]) -> Iterator[str]:
        if len(self.ranges) > 1:
            return super().between(ranges)
        ((first, last),) = self.ranges
        first = max(first, 0)
        return self.whole.between([(first + max(low, 0), min(first + high, last)) for low, high in ranges])


def marked(file: IO[bytes]) -> int:
    """How many bytes the byte order mark at the beginning of a file takes."""
    return len(BOM) if file.read(len(BOM)) == BOM else 0


def within(file: IO[bytes], size: int) -> Iterator[str]:
    """The next `size` bytes of a file, in lines. Both borders move behind a character that they would cut."""
    place = 0
    for line in bounded(file, LONGEST_LINE_BYTES) if size > 0 else ():
        first = behind(line, 0) if place == 0 else 0
        if kept := line[first : behind(line, size - place)]:
            yield kept.decode("utf-8")
        place += len(line)
        if place >= size:
            return


def behind(data: bytes, place: int) -> int:
    """The first offset at or after this one that is not inside a character."""
    place = max(place, 0)
    while place < len(data) and data[place] & 0xC0 == 0x80:
        place += 1
    return place


class Documents:
    """Several texts that can be iterated again and again."""

    def __iter__(self) -> Iterator[Document]:
        raise TypeError(f"{type(self).__name__} does not say what its documents are")

    @cached_property
    def size(self) -> int:
        """The size of all texts together, in bytes of UTF-8; it is counted once."""
        return sum(document.size for document in self)


@dataclass(frozen=True)
class Listed(Documents):
    """Documents from any iterable."""

    documents: Iterable[Document]

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)


def bytes_in(documents: Iterable[Document]) -> int:
    """The size of the texts in UTF-8."""
    return documents.size if isinstance(documents, Documents) else sum(document.size for document in documents)


def file_document(path: Path) -> Document:
    return FileDocument(str(path), partial(lines, path, ends=True, longest=LONGEST_LINE_BYTES), path)


def in_memory(name: str, text: str) -> Document:
    return Document(name, lambda: text.splitlines(keepends=True))
