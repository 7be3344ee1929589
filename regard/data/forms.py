"""The three forms of tables, line by line: TSV, JSONL, and CSV with a header.

Each gives the number of every line and what is there by column, or None where the line is empty.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.config import nearest
from regard.data.columns import ColumnLayout
from regard.errors import DataError

LONGEST_CELL_CHARACTERS = 1 << 28
Line = Mapping[str, Any]  # of a table: its cells by column
Rows = Iterator[tuple[int, Line | None]]


def tsv(lines: Iterable[str], path: Path, where: ColumnLayout, needed: int | None) -> Rows:
    header, columns, places = where.header, where.columns, where.places
    for number, line in enumerate(lines, 1):
        if not line.strip():
            yield number, None
            continue
        if header:
            header = False
            continue
        cells = line.split("\t")
        if max(places[:needed]) >= len(cells):
            if places == tuple(range(len(places))):
                missing = f"no tab between {columns[len(cells) - 1]} and {columns[len(cells)]}"
            else:
                missing = f"{len(cells)} cells between tabs, where {' and '.join(columns)} need {max(places) + 1}"
            raise DataError(f"{path}, line {number}: {missing}")
        yield number, {name: cells[place] for name, place in zip(columns, places, strict=True) if place < len(cells)}


def jsonl(lines: Iterable[str], path: Path, columns: Sequence[str]) -> Rows:
    for number, line in enumerate(lines, 1):
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


def comma_separated(lines: Iterable[str], path: Path, columns: Sequence[str]) -> Rows:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL_CHARACTERS))  # Python's own is 131,072
    rows = csv.reader((line + "\n" for line in lines), strict=True)
    header: list[str] | None = None
    try:
        for row in rows:
            if header is None:
                header = row
                for column in columns:
                    check_column(column, header, f"{path}, line {rows.line_num}")
            elif not any(cell.strip() for cell in row):
                yield rows.line_num, None
            elif len(row) != len(header):
                where = f"{path}, line {rows.line_num}"
                raise DataError(f"{where}: {len(row)} cells, but the header has {len(header)}; quote cells with commas")
            else:
                yield rows.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise DataError(f"{path}, line {rows.line_num}: not CSV ({error})") from None


def json_names(line: str) -> Iterable[str]:
    """The keys of the object on a line; none where it is no object, which the reader reports later."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ()
    return record if isinstance(record, dict) else ()


def csv_names(line: str) -> Iterable[str]:
    """The cells of a header."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return ()


def check_column(column: str, present: Sequence[str] | Mapping[str, Any], where: str) -> None:
    if column not in present:
        raise DataError(f"{where}: no column {column!r}: {nearest(column, present)}")
