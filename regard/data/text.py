"""Plain text: documents that are read line by line, as often as one asks, so that none need fit into memory.

A document gives its lines with their ends; joined they are the text, letter by letter, so that what a model pays for it
can be counted in bytes.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from regard.data.files import DataError, Line, TableFile, existing, lines, text_of

COLUMN = "text"
SUFFIXES = (".txt", ".txt.gz", ".jsonl", ".jsonl.gz")  # of the files of a folder
SEVERAL = ","  # between paths
WHOLE = 100  # percent
PIECE, LONGEST_PIECE = 1 << 14, 1 << 18  # characters that are tokenized at a time


@dataclass(frozen=True)
class Document:
    """One text. Iterating gives its lines, each with its end; `name` is what a complaint calls it."""

    name: str
    start: Callable[[], Iterable[str]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.start())

    def text(self) -> str:
        return "".join(self)


class TextFiles:
    """The documents of a path: a text file is one; a `.jsonl` has one a line, in its column "text" unless `column`
    names another; a folder has those of its .txt and .jsonl files, in the order of their names. Each may be gzipped. A
    path may be a pattern ("texts/*.txt"), and several may be given with commas between them."""

    def __init__(self, path: str | os.PathLike[str], column: str | None = None) -> None:
        self.paths = found(path)
        self.column = column or COLUMN
        if column and not all(is_jsonl(one) for one in self.paths):
            raise DataError(f"{path}: the column {column!r} is named, but plain text has none; use .jsonl")

    def __iter__(self) -> Iterator[Document]:
        for path in self.paths:
            if is_jsonl(path):
                yield from (in_memory(str(path), text) for text in TextColumn(path, (self.column,)))
            else:
                yield file_document(path)


def found(path: str | os.PathLike[str]) -> list[Path]:
    """The files that a path means: its own, those of a folder or a pattern, or of several with commas between."""
    whole = Path(path)
    if whole.is_dir():
        inside = sorted(one for one in whole.rglob("*") if one.name.endswith(SUFFIXES) and one.is_file())
        if not inside:
            raise DataError(f"{whole} holds no .txt files and no .jsonl; name a text file, or a folder of them")
        return inside
    text = os.fspath(path)
    if whole.exists() or not any(sign in text for sign in (SEVERAL, *"*?[")):
        return [existing(path)]
    if SEVERAL in text:
        return [one for part in text.split(SEVERAL) if part for one in found(part)]
    matching = sorted(Path(one) for one in glob.glob(text, recursive=True) if Path(one).is_file())
    if not matching:
        raise DataError(f"{text} matches no file; quote the pattern, and look at what it is relative to")
    return matching


def is_jsonl(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".jsonl")


def file_document(path: Path) -> Document:
    return Document(str(path), lambda: lines(path, ends=True))


class TextColumn(TableFile[str]):
    """The texts of a `.jsonl`, one a line."""

    usual = (COLUMN,)
    called = "text"

    def example(self, line: Line, where: str) -> str | None:
        return text_of(line, self.columns[0], where) or None


def in_memory(name: str, text: str) -> Document:
    return Document(name, lambda: text.splitlines(keepends=True))


# --- parts of texts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstLines:
    """At most so many lines of some documents, taken one after the other."""

    documents: Iterable[Document]
    count: int

    def __iter__(self) -> Iterator[Document]:
        left = self.count
        for document in self.documents:
            kept = []
            for line in document:
                kept.append(line)
                left -= 1
                if not left:
                    break
            yield in_memory(document.name, "".join(kept))
            if not left:
                return


@dataclass(frozen=True)
class Share:
    """What stands from one percentage of the bytes to another, documents taken one after the other; cuts fall between
    characters. The first 90 and the last 10 percent are all of the text, with nothing in both."""

    documents: Iterable[Document]
    first: int
    last: int

    @cached_property
    def size(self) -> int:
        return bytes_in(self.documents)

    def __iter__(self) -> Iterator[Document]:
        low, high = self.size * self.first // WHOLE, self.size * self.last // WHOLE
        begin = 0
        for document in self.documents:
            size = bytes_in([document]) if begin < high else 0
            inside = Document(document.name, cut(document, low - begin, high - begin))
            if size and begin + size > low and next(iter(inside), None) is not None:
                yield inside
            begin += size


def cut(document: Document, low: int, high: int) -> Callable[[], Iterator[str]]:
    """The lines of a document between two places, counted in bytes of UTF-8."""

    def inside() -> Iterator[str]:
        begin = 0
        for line in document:
            data = line.encode("utf-8")
            if begin + len(data) > low and begin < high:
                kept = data[between(data, low - begin) : between(data, high - begin)].decode("utf-8")
                if kept:
                    yield kept
            begin += len(data)
            if begin >= high:
                return

    return inside


def between(data: bytes, place: int) -> int:
    """The first place from this one on that is not inside of a character."""
    place = max(place, 0)
    while place < len(data) and data[place] & 0xC0 == 0x80:
        place += 1
    return place


def bytes_in(documents: Iterable[Document]) -> int:
    """The size of the texts in UTF-8."""
    return sum(len(line.encode("utf-8")) for document in documents for line in document)


@dataclass(frozen=True)
class Sentences:
    """Texts that hold a sentence a line, as sentences: without line ends, empty lines left out."""

    documents: Iterable[Document]

    def __iter__(self) -> Iterator[str]:
        for document in self.documents:
            for line in document:
                if line.strip():
                    yield line.strip()


@dataclass(frozen=True)
class Pieces:
    """Texts in pieces that can be tokenized one by one as if each text were whole: they end where one line end is all
    the white space between two words. Between two documents stands None."""

    documents: Iterable[Document]

    def __iter__(self) -> Iterator[str | None]:
        first = True
        for document in self.documents:
            if not first:
                yield None
            first = False
            yield from pieces(document)


def pieces(lines: Iterable[str]) -> Iterator[str]:
    waiting: list[str] = []
    size = 0
    for line in lines:
        if size >= LONGEST_PIECE or (size >= PIECE and apart(waiting[-1], line)):
            yield "".join(waiting)
            waiting, size = [], 0
        waiting.append(line)
        size += len(line)
    if waiting:
        yield "".join(waiting)


def apart(line: str, following: str) -> bool:
    """Whether a line end is all the white space between two lines; tokenizers join longer stretches of it."""
    return bool(line[-2:-1].strip() and following[:1].strip())


@dataclass(frozen=True)
class Texts:
    """The texts of documents as the trainer of a tokenizer reads them, several times."""

    documents: Iterable[Document]

    def __iter__(self) -> Iterator[str]:
        return (piece for piece in Pieces(self.documents) if piece is not None)
