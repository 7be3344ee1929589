"""Plain text from files, folders and records, and its parts: shares of it, sentences, pieces to tokenize."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from regard.data.documents import Document, Documents, Range, bytes_in, file_document, in_memory
from regard.data.files import TableFile, existing, text_of
from regard.data.forms import Line
from regard.errors import DataError

COLUMN = "text"
SUFFIXES = (".txt", ".txt.gz", ".jsonl", ".jsonl.gz")  # of the files of a folder
BETWEEN_PATHS = ","
PERCENT = 100
PIECE_CHARACTERS, LONGEST_PIECE_CHARACTERS = 1 << 14, 1 << 18  # that are tokenized at a time
SAMPLE_BYTES, STRETCH_BYTES = 1 << 26, 1 << 18  # of a large text that a tokenizer learns from; of each stretch


class TextFiles(Documents):
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
    if whole.exists() or not any(sign in text for sign in (BETWEEN_PATHS, *"*?[")):
        return [existing(path)]
    if BETWEEN_PATHS in text:
        return [one for part in text.split(BETWEEN_PATHS) if part for one in found(part)]
    matching = sorted(Path(one) for one in glob.glob(text, recursive=True) if Path(one).is_file())
    if not matching:
        raise DataError(f"{text} matches no file; quote the pattern, and look at what it is relative to")
    return matching


def is_jsonl(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".jsonl")


class TextColumn(TableFile[str]):
    """The texts of a `.jsonl`, one a line."""

    usual = (COLUMN,)
    called = "text"

    def example(self, line: Line, where: str) -> str | None:
        return text_of(line, self.columns[0], where) or None


# --- parts of texts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstLines(Documents):
    """The first `count` lines of some documents, taken one after the other."""

    documents: Iterable[Document]
    count: int

    def __iter__(self) -> Iterator[Document]:
        left = self.count
        for document in self.documents:
            inside = sum(1 for _ in itertools.islice(document, left))
            yield Document(document.name, partial(itertools.islice, document, inside))
            left -= inside
            if not left:
                return


@dataclass(frozen=True)
class Share(Documents):
    """What stands from one percentage of the bytes to another, documents taken one after the other; cuts fall between
    characters. The first 90 and the last 10 percent are all of the text, with nothing in both."""

    documents: Iterable[Document]
    first: int
    last: int

    @cached_property
    def bounds(self) -> Range:
        whole = bytes_in(self.documents)
        return whole * self.first // PERCENT, whole * self.last // PERCENT

    def __iter__(self) -> Iterator[Document]:
        low, high = self.bounds
        begin = 0
        for document in self.documents:
            if begin >= high:
                return
            size = document.size
            inside = document.parted([(low - begin, high - begin)])
            if size and begin + size > low and next(iter(inside), None) is not None:
                yield inside
            begin += size


@dataclass(frozen=True)
class Sampled(Documents):
    """All of some documents, or, of more than `most` bytes, stretches of one length that lie evenly apart: what a
    tokenizer is learnt from, so that neither time nor memory grow with the text."""

    documents: Iterable[Document]
    most: int = SAMPLE_BYTES

    def __iter__(self) -> Iterator[Document]:
        whole = bytes_in(self.documents)
        if whole <= self.most:
            yield from self.documents
            return
        length = min(STRETCH_BYTES, self.most)
        step = whole // (self.most // length)
        begin = 0
        for document in self.documents:
            end = begin + document.size
            starts = range(-(-max(begin - length, 0) // step) * step, end, step)
            ranges = [(start - begin, start - begin + length) for start in starts if start + length > begin]
            if ranges:
                yield document.parted(ranges)
            begin = end


def evenly(examples: Iterable[Sequence[str]], most: int = SAMPLE_BYTES) -> list[str]:
    """The texts of all examples, or, of more than `most` characters, of some that lie evenly apart; in one pass."""
    kept: list[Sequence[str]] = []
    size, apart = 0, 1
    for place, texts in enumerate(examples):
        if place % apart == 0:
            kept.append(texts)
            size += sum(map(len, texts))
            if size > most:
                kept, apart = kept[::2], 2 * apart
                size = sum(len(text) for texts in kept for text in texts)
    return [text for texts in kept for text in texts]


def sampled(documents: Iterable[Document], kind: str) -> Iterable[Document]:
    """What a tokenizer of a kind is learnt from, in memory, for it is read several times; one of characters has to see
    them all."""
    return documents if kind == "char" else [kept(document) for document in Sampled(documents)]


def kept(document: Document) -> Document:
    """The same documents, kept in memory."""
    lines = list(document)
    return Document(document.name, lambda: lines)


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
        if size >= LONGEST_PIECE_CHARACTERS or (size >= PIECE_CHARACTERS and apart(waiting[-1], line)):
            yield "".join(waiting)
            waiting, size = [], 0
        waiting.append(line)
        size += len(line)
    if waiting:
        yield "".join(waiting)


def apart(line: str, following: str) -> bool:
    """Whether only a line end stands between two lines. Tokenizers merge longer white space: it must not be cut."""
    return bool(line[-2:-1].strip() and following[:1].strip())


@dataclass(frozen=True)
class Texts:
    """The texts of documents as the trainer of a tokenizer reads them, several times."""

    documents: Iterable[Document]

    def __iter__(self) -> Iterator[str]:
        return (piece for piece in Pieces(self.documents) if piece is not None)
