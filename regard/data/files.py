"""Examples from files, read strictly and as a stream; and sentence pairs.

Three forms of tables: TSV, JSONL, and CSV with a header; pairs may stand in two parallel text files too. Each may be
gzipped. Lines are read as bytes and decoded one by one, so that every complaint names the file and the line. Nothing is
guessed or repaired: a line is an example, or empty (skipped and counted), or an error.
"""

from __future__ import annotations

import gzip
import itertools
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, ClassVar, Generic, TypeVar

from regard.data.columns import Bare, Known, Names, layout
from regard.data.forms import Line, Rows, check_column, comma_separated, csv_names, json_names, jsonl, tsv
from regard.data.pairs import Pair, again
from regard.errors import DataError

E = TypeVar("E")

ALIGNMENT = "alignment"
BOM = b"\xef\xbb\xbf"
LONGEST_LINE_BYTES = 1 << 18  # a longer line of plain text is read in parts


class TableFile(Generic[E]):
    """The examples of one file, which can be iterated again and again; the form follows from its name.

    `.jsonl` holds an object a line and `.csv` a header; anything else is TSV, with a header or without, and so is a
    `.csv` with tabs in its first line. `columns` are what was asked for, by name or, in TSV, by number; else they are
    known by the names that a kind has for them (`usual`, and `also` in other people's files), or stand in the usual
    order; further ones are ignored. `needed` is how many must be there, all unless a kind says otherwise. `named` says
    whether columns have names, `asked` whether they were asked for, `first` is the first line, and `skipped` counts the
    empty lines of the last pass.
    """

    usual: ClassVar[Names] = ()
    also: ClassVar[tuple[Names, ...]] = ()
    bare: ClassVar[tuple[Bare, ...]] = ()
    needed: ClassVar[int | None] = None
    called: ClassVar[str] = "example"

    def __init__(self, path: str | os.PathLike[str], columns: Names | None = None) -> None:
        self.path = existing(path)
        self.skipped, self.named, self.asked = 0, True, columns is not None
        known, first = Known((*self.also, self.usual), self.bare), _first_line(self.path)
        self.first = first
        form = _form(self.path)
        self._rows: Callable[[Iterable[str]], Rows]
        if form == ".jsonl":
            self.columns = columns or known.among(json_names(first)) or self.usual
            self._rows = partial(jsonl, path=self.path, columns=self.columns)
        elif form == ".csv" and "\t" not in first:
            self.columns = columns or known.among(csv_names(first)) or self.usual
            self._rows = partial(comma_separated, path=self.path, columns=self.columns)
        else:
            where = layout(first.split("\t"), columns, known, str(self.path))
            self.columns, self.named = where.columns, where.header
            self._rows = partial(tsv, path=self.path, where=where, needed=self.needed)

    def __iter__(self) -> Iterator[E]:
        self.skipped, found = 0, 0
        for number, line in self._rows(lines(self.path)):
            example = None if line is None else self.example(line, f"{self.path}, line {number}")
            if example is None:
                self.skipped += 1
            else:
                found += 1
                yield example
        check_found(found, self.skipped, str(self.path), self.called)

    def example(self, line: Line, where: str) -> E | None:
        """The example of one line; None where the line is empty. `where` names file and line, for messages."""
        raise TypeError(f"{type(self).__name__} does not say what an example is")


class PairFile(TableFile[Pair]):
    """The sentence pairs of one file, in the columns "source" and "target"; JSONL and CSV may have a third,
    "alignment", in Pharaoh form ("0-0 1-2", counting words between white space)."""

    usual = ("source", "target")
    called = "sentence pair"

    def example(self, line: Line, where: str) -> Pair | None:
        pair = _pair(*(text_of(line, column, where) for column in self.columns))
        if pair is None or line.get(ALIGNMENT) is None:
            return pair
        sources, targets = tuple(pair.source.split()), tuple(pair.target.split())
        links = _pharaoh(text_of(line, ALIGNMENT, where), len(sources), len(targets), where)
        return Pair(pair.source, pair.target, sources, targets, links)


class SummaryFile(TableFile[Pair]):
    """Texts and their summaries, in the columns "text" and "summary", or as mails have them, a body and its subject."""

    usual = ("text", "summary")
    also = (("body", "subject"), ("document", "summary"), ("article", "highlights"), ("source", "target"))
    called = "text with a summary"

    def example(self, line: Line, where: str) -> Pair | None:
        return _pair(*(text_of(line, column, where) for column in self.columns))


class ParallelFiles:
    """The pairs of two text files, line by line: the first line of one is the translation of the other's first."""

    def __init__(self, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
        self.source, self.target = existing(source), existing(target)
        self.skipped = 0

    def __iter__(self) -> Iterator[Pair]:
        self.skipped, found = 0, 0
        sources, targets = lines(self.source), lines(self.target)
        for number in itertools.count(1):
            source, target = next(sources, None), next(targets, None)
            if source is None and target is None:
                break
            if source is None or target is None:
                counts = number - 1 + _left(source, sources), number - 1 + _left(target, targets)
                raise DataError(
                    f"{self.source} has {counts[0]:,} lines and {self.target} has {counts[1]:,}: "
                    "parallel files need the same number of lines"
                )
            pair = _pair(source, target)
            if pair is None:
                self.skipped += 1
            else:
                found += 1
                yield pair
        check_found(found, self.skipped, f"{self.source} and {self.target}", "sentence pair")


@again
def cells(path: Path, wanted: Sequence[int], header: int, make: Callable[..., E | None], about: str) -> Iterator[E]:
    """The examples of a named set between tabs: `make` is given the `wanted` cells of each line behind `header` lines;
    where it gives None, the line is not `about`."""
    for number, line in enumerate(lines(path), 1):
        if number <= header or not line.strip():
            continue
        found = line.split("\t")
        example = make(*(found[i].strip() for i in wanted)) if len(found) > max(wanted) else None
        if example is None:
            raise DataError(f"{path}, line {number}: it is not {about}, between tabs")
        yield example


def lines(path: Path, encoding: str = "utf-8", ends: bool = False, longest: int | None = None) -> Iterator[str]:
    r"""The lines of a text file, decoded one by one; a byte order mark is dropped, and so are their ends (\n or \r\n)
    unless asked for. With `longest`, a line of more bytes comes in parts, so that a file without line ends can be
    read."""
    number = 0
    try:
        with open_file(path) as file:
            found = decoded(file if longest is None else bounded(file, longest), str(path), encoding, ends)
            for number, line in enumerate(found, 1):  # noqa: B007 (named when it breaks off)
                yield line
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DataError(
            f"{path}: the gzip file is cut off or damaged after line {number:,}; copy or download it again"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None


def decoded(file: Iterable[bytes], name: str, encoding: str = "utf-8", ends: bool = False) -> Iterator[str]:
    """Lines of bytes as text; a line that is not valid UTF-8 is named."""
    number, first = 1, True
    for line in file:
        whole = line.removeprefix(BOM) if first else line
        yield _decode(whole if ends else whole.removesuffix(b"\n").removesuffix(b"\r"), name, number, encoding)
        number, first = number + line.endswith(b"\n"), False  # a part of a line is in the same line


def bounded(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """Lines of bytes with their ends; one of more than `longest` in parts, which end before a space where there is one,
    as words are tokenized with the space before them, and never inside of a character."""
    rest = b""
    while line := rest + file.readline(longest - len(rest)):
        end = len(line)
        if end >= longest and not line.endswith(b"\n"):
            space = line.rfind(b" ")
            end = space if space > 0 else whole_characters(line)
        rest = line[end:]
        yield line[:end]


def whole_characters(data: bytes) -> int:
    """How many of these bytes are whole characters: all but the beginning of a character at their end."""
    for back in range(1, min(len(data), 4)):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:  # begins a character, of as many bytes as it has leading ones
            return len(data) - back if back < 8 - (byte ^ 0xFF).bit_length() else len(data)
        if byte & 0x80 == 0:
            break
    return len(data)


def locate(folder: str, *names: str) -> Path:
    """The first of these files of a named data set that is there, in `folder` below the folder REGARD_DATA names."""
    home = os.environ.get("REGARD_DATA")
    wanted = " or ".join(names)
    if not home:
        raise DataError(
            f"{folder}: {wanted} is needed; set the environment variable REGARD_DATA to the folder that holds {folder}/"
        )
    for name in names:
        path = Path(home) / folder / name
        if path.is_file():
            return path
    raise DataError(
        f"{folder}: {wanted} is not in {Path(home) / folder}; put it there, "
        f"or set REGARD_DATA (now {home}) to the folder that holds {folder}/"
    )


# --- which form -------------------------------------------------------------------------------------------------------


def _form(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _first_line(path: Path) -> str:
    """The first line that is not empty; "" where the file cannot be read, which the reader reports later."""
    try:
        return next((line for line in lines(path) if line.strip()), "")
    except DataError:
        return ""


# --- one line ---------------------------------------------------------------------------------------------------------


def _decode(line: bytes, name: str, number: int, encoding: str) -> str:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(
            f"{name}, line {number}: not valid UTF-8 (byte 0x{byte:02x} at place {error.start + 1}); save it as UTF-8"
        ) from None


def _pair(source: str, target: str) -> Pair | None:
    source, target = source.strip(), target.strip()
    return Pair(source, target) if source and target else None


def column_of(record: Line, column: str, where: str) -> Any:
    """The value of a column, which must be there."""
    check_column(column, record, where)
    return record[column]


def text_of(record: Line, column: str, where: str) -> str:
    """The value of a column, which must be a text."""
    text = column_of(record, column, where)
    if not isinstance(text, str):
        raise DataError(f"{where}: column {column!r} is {text!r}, not a text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"{where}: column {column!r} holds half of a surrogate pair, which is no character") from None
    return text


def _pharaoh(text: str, sources: int, targets: int, where: str) -> tuple[tuple[int, int], ...]:
    """The links of "0-0 1-2", sorted."""
    links = set()
    for link in text.split():
        left, _, right = link.partition("-")
        if not (left.isdecimal() and right.isdecimal()):
            raise DataError(f"{where}: alignment {link!r} is not of the form 0-0")
        if int(left) >= sources or int(right) >= targets:
            raise DataError(f"{where}: alignment {link!r} points beyond {sources} source and {targets} target words")
        links.add((int(left), int(right)))
    return tuple(sorted(links))


# --- whole files ------------------------------------------------------------------------------------------------------


def existing(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; a file is needed")
    if not path.exists():
        if "," in str(path) and all(Path(one).exists() for one in str(path).split(",")):
            raise DataError(f"{path} are several files, where one is read; put them into one")
        raise DataError(f"{path} does not exist; check the name and the folder ({Path.cwd()})")
    return path


def open_file(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _left(line: str | None, rest: Iterator[str]) -> int:
    return (line is not None) + sum(1 for _ in rest)


def check_found(found: int, skipped: int, where: str, called: str) -> None:
    if not found:
        seen = f"all {skipped:,} lines are empty" if skipped else "nothing in it"
        raise DataError(f"{where}: no {called} ({seen})")
