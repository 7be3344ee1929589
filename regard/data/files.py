"""Examples from files, read strictly and as a stream; and sentence pairs.

Three forms of tables: TSV, JSONL, and CSV with a header; pairs may stand in two parallel text files too. Each may be
gzipped. Lines are read as bytes and decoded one by one, so that every complaint names the file and the line. Nothing is
guessed or repaired: a line is an example, or empty (skipped and counted), or an error.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar, Generic, TypeVar

from regard.config import nearest
from regard.data.pairs import Pair

E = TypeVar("E")
Line = Mapping[str, Any]  # of a table: its cells by column

ALIGNMENT = "alignment"
BOM = b"\xef\xbb\xbf"


class DataError(ValueError):
    """A file that is missing, damaged or not as promised; the message says where and what to do."""


class TableFile(Generic[E]):
    """The examples of one file, as often as one iterates over it; the form follows from its name.

    `.jsonl` holds an object a line and `.csv` a header, both with `columns` (by default those of the kind); anything
    else is TSV, whose columns stand in this order, and further ones are ignored. `skipped` counts the empty lines of
    the last pass, `named` says whether columns have names. A kind says what its columns are, and which example a line
    is.
    """

    usual: ClassVar[tuple[str, ...]] = ()
    called: ClassVar[str] = "example"

    def __init__(self, path: str | os.PathLike[str], columns: tuple[str, ...] | None = None) -> None:
        self.path = existing(path)
        self.columns = columns or self.usual
        self.skipped = 0
        self._read = _FORMS.get(_form(self.path), _tsv)
        self.named = self._read is not _tsv
        if columns and not self.named:
            raise DataError(f"{self.path}: columns {columns} are named, but TSV has no names; use .jsonl or .csv")

    def __iter__(self) -> Iterator[E]:
        self.skipped, found = 0, 0
        for number, line in self._read(self.path, self.columns):
            example = None if line is None else self.example(line, f"{self.path}, line {number}")
            if example is None:
                self.skipped += 1
            else:
                found += 1
                yield example
        check_found(found, self.skipped, str(self.path), self.called)

    def example(self, line: Line, where: str) -> E | None:
        """Of one line, by its columns; None where it is empty. `where` names file and line, for complaints."""
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


def lines(path: Path, encoding: str = "utf-8", ends: bool = False) -> Iterator[str]:
    r"""The lines of a text file, decoded one by one; a byte order mark is dropped, and so are their ends (\n or \r\n)
    unless asked for."""
    number = 0
    try:
        with _open(path) as file:
            found = decoded(file, str(path), encoding, ends)
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
    for number, line in enumerate(file, 1):
        whole = line.removeprefix(BOM) if number == 1 else line
        yield _decode(whole if ends else whole.removesuffix(b"\n").removesuffix(b"\r"), name, number, encoding)


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


# --- the forms --------------------------------------------------------------------------------------------------------


def _tsv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Line | None]]:
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            yield number, None
            continue
        cells = line.split("\t", len(columns))
        if len(cells) < len(columns):
            between = f"{columns[len(cells) - 1]} and {columns[len(cells)]}"
            raise DataError(f"{path}, line {number}: no tab between {between}")
        yield number, dict(zip(columns, cells, strict=False))


def _jsonl(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Line | None]]:
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            yield number, None
            continue
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: not JSON ({error}); .jsonl takes one object a line") from None
        if not isinstance(record, dict):
            raise DataError(f"{where}: not a JSON object; it takes one with the columns {' and '.join(columns)}")
        yield number, record


def _csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Line | None]]:
    rows = csv.reader((line + "\n" for line in lines(path)), strict=True)
    header: list[str] | None = None
    try:
        for row in rows:
            if header is None:
                header = row
                for column in columns:
                    _check_column(column, header, f"{path}, line {rows.line_num}")
            elif not any(cell.strip() for cell in row):
                yield rows.line_num, None
            elif len(row) != len(header):
                where = f"{path}, line {rows.line_num}"
                raise DataError(f"{where}: {len(row)} cells, but the header has {len(header)}; quote cells with commas")
            else:
                yield rows.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise DataError(f"{path}, line {rows.line_num}: not CSV ({error})") from None


_Reader = Callable[[Path, Sequence[str]], Iterator[tuple[int, Line | None]]]  # the numbers of lines, and what is there
_FORMS: dict[str, _Reader] = {".jsonl": _jsonl, ".csv": _csv}


def _form(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


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
    """What a line has in a column, which must be there."""
    _check_column(column, record, where)
    return record[column]


def text_of(record: Line, column: str, where: str) -> str:
    """What a line has in a column, which must be a text."""
    text = column_of(record, column, where)
    if not isinstance(text, str):
        raise DataError(f"{where}: column {column!r} is {text!r}, not a text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"{where}: column {column!r} holds half of a surrogate pair, which is no character") from None
    return text


def _check_column(column: str, present: Sequence[str] | Mapping[str, Any], where: str) -> None:
    if column not in present:
        raise DataError(f"{where}: no column {column!r}: {nearest(column, present)}")


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
        raise DataError(f"{path} does not exist; check the name and the folder ({Path.cwd()})")
    return path


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _left(line: str | None, rest: Iterator[str]) -> int:
    return (line is not None) + sum(1 for _ in rest)


def check_found(found: int, skipped: int, where: str, called: str) -> None:
    if not found:
        seen = f"all {skipped:,} lines are empty" if skipped else "nothing in it"
        raise DataError(f"{where}: no {called} ({seen})")
