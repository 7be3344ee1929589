"""Sentences whose words have tags, their files, and how a text is split into words."""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import TableFile, check_found, column_of, existing, lines
from regard.data.forms import Line
from regard.errors import DataError

COLUMNS = 2  # of a line at least: a word and its tag
UNIVERSAL = (2, 4)  # of CoNLL-U: the word and its part of speech
DOCUMENT = "-DOCSTART-"  # as CoNLL 2003 begins a document
UNWRITTEN = re.compile(r"\d+[-.]\d")  # of CoNLL-U: the number of words that are written as one, or not at all


@dataclass(frozen=True)
class Tagged:
    """A sentence as words, each with its tag."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


class TaggedRecords(TableFile[Tagged]):
    """The tagged sentences of a JSONL file, in the columns "words" and "tags", two lists."""

    usual = ("words", "tags")
    also = (("tokens", "tags"), ("tokens", "ner_tags"))
    called = "tagged sentence"

    def example(self, line: Line, where: str) -> Tagged:
        words, tags = (_texts(line, column, where) for column in self.columns)
        if len(words) != len(tags):
            counts = f"{len(words)} {self.columns[0]} and {len(tags)} {self.columns[1]}"
            raise DataError(f"{where}: {counts}; every word takes one tag")
        if not words:
            raise DataError(f"{where}: a sentence without words; take the line out")
        return Tagged(words, tags)


class TaggedLines:
    """The tagged sentences of a file with a word and its tag on each line, and an empty line between sentences: CoNLL's
    form. Cells stand between tabs, or between spaces where a file has no tab.

    The word is the first cell and the tag the last one, unless `columns` say which, counted from 1; of CoNLL-U (a name
    that ends in .conllu) they are 2 and 4, the universal part of speech. Lines that begin documents (-DOCSTART-) are no
    words, nor are the comments of CoNLL-U.
    """

    def __init__(self, path: str | os.PathLike[str], columns: tuple[int, int] | None = None) -> None:
        self.path, self.universal = existing(path), _plain(path).endswith(".conllu")
        self.columns = columns or (UNIVERSAL if self.universal else None)

    def __iter__(self) -> Iterator[Tagged]:
        found = 0
        for sentence in self.sentences():
            found += 1
            yield sentence
        check_found(found, 0, str(self.path), TaggedRecords.called)

    def sentences(self) -> Iterator[Tagged]:
        pairs: list[tuple[str, str]] = []
        first: list[str] = []  # the cells of the first line: it tells what stands between them and how many there are
        separator = None
        for number, line in enumerate(itertools.chain(lines(self.path), [""]), 1):
            if not line.strip() or line.startswith(DOCUMENT):
                if pairs:
                    words, tags = zip(*pairs, strict=True)
                    yield Tagged(words, tags)
                pairs = []
                continue
            if self.universal and line.startswith("#"):  # elsewhere it may be a word
                continue
            if not first:
                separator = "\t" if "\t" in line else None
                first = line.split(separator)
            cells = line.split(separator)
            if not COLUMNS <= len(cells) == len(first):
                expected = (
                    f"the first line has {len(first)}" if len(cells) != len(first) else "it takes a word and its tag"
                )
                between = "tabs" if separator else "spaces"
                raise DataError(f"{self.path}, line {number}: {len(cells)} cells between {between}; {expected}")
            if not (self.universal and UNWRITTEN.match(cells[0])):
                pairs.append(self.pair(cells, number))

    def pair(self, cells: list[str], number: int) -> tuple[str, str]:
        places = self.columns or (1, len(cells))
        if max(places) > len(cells):
            raise DataError(f"{self.path}, line {number}: {len(cells)} cells; there is no column {max(places)}")
        word, tag = (cells[place - 1].strip() for place in places)
        if not (word and tag):
            raise DataError(f"{self.path}, line {number}: the {'tag' if word else 'word'} is empty")
        return word, tag


def open_tagged(path: str | os.PathLike[str], columns: tuple[str, ...] | None = None) -> Iterable[Tagged]:
    """The tagged sentences of one file, to be iterated again and again; its name tells the form: `.jsonl`, or lines.
    Either may be gzipped. `columns` name the lists of a JSONL file, or are the numbers of two cells of a line."""
    if _plain(path).endswith(".jsonl"):
        return TaggedRecords(path, columns)
    if columns is None:
        return TaggedLines(path)
    if not all(name.isdecimal() and int(name) for name in columns):
        raise DataError(
            f"{path}: columns {','.join(columns)}: lines of words and tags have no names; give two numbers, such as 1,4"
        )
    return TaggedLines(path, (int(columns[0]), int(columns[1])))


def _plain(path: str | os.PathLike[str]) -> str:
    return Path(path).name.removesuffix(".gz")


def _texts(record: Line, column: str, where: str) -> tuple[str, ...]:
    texts = column_of(record, column, where)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: column {column!r} is no list of texts")
    stripped = tuple(text.strip() for text in texts)
    for place, text in enumerate(stripped, 1):
        if not text:
            raise DataError(f"{where}: entry {place} of {column!r} is empty")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise DataError(f"{where}: entry {place} of {column!r} holds half of a surrogate pair, no character")
    return stripped


# --- words of a running text ------------------------------------------------------------------------------------------


def words_in(text: str) -> list[str]:
    """The words of a text, in any script: together they are all of it but white space.

    Punctuation marks are words, repeated ones together ("..."). Words keep hyphens and apostrophes inside them, but
    French elisions ("l'", "qu'") and English endings ("'s", "'ll") come off. Numbers keep their points and commas.
    Chinese characters are words one by one, since nothing shows where words end.
    """
    found: list[str] = []
    mark, end = "", -1  # the last word, where it was a mark, and where it ended
    for match in _WORD.finditer(text.translate(_SHAPES)):
        word = text[slice(*match.span())]
        if match.lastgroup == "mark" and word == mark and match.start() == end:
            found[-1] += word
        elif match.lastgroup == "word":
            found += _clitics(word)
        else:
            found.append(word)
        mark, end = word if match.lastgroup == "mark" else "", match.end()
    return found


def _clitics(word: str) -> Iterator[str]:
    while match := _ELISION.match(word):
        yield match.group()
        word = word[match.end() :]
    match = _ENDING.search(word)
    yield word[: match.start()] if match else word
    if match:
        yield match.group()


class _Shapes(dict[int, str]):
    """What each character is to the splitter, as one letter in its place; found once for each, as `str.translate`
    meets it. Marks and joiners belong to the letter before them."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        category = unicodedata.category(letter)
        if letter.isspace() or category == "Cc":
            shape = " "
        elif category[0] == "M" or category == "Cf":
            shape = "m"
        elif letter in "'’-‐.,:":
            shape = {"’": "'", "‐": "-"}.get(letter, letter)
        elif category[0] == "N":
            shape = "0"
        elif unicodedata.name(letter, "").startswith("CJK UNIFIED"):
            shape = "x"
        else:
            shape = "!" if category[0] in "PS" else "a"
        self[code] = shape
        return shape


_SHAPES = _Shapes()
_WORD = re.compile(r"(?P<word>[a0m]+(?:['-][a0m]+|(?<=0)[.,:](?=0)[a0m]+)*)|(?P<sign>xm*)|(?P<mark>[^ ]m*)")
_ELISION = re.compile(r"(?:[cdjlmnst]|(?:lors|puis|quoi|jus)?qu)['’](?=\w)", re.IGNORECASE)
_ENDING = re.compile(r"(?<=\w)['’](?:s|m|d|re|ve|ll)$", re.IGNORECASE)
