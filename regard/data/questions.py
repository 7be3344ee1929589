"""Questions on paragraphs, whose answers are spans of them: SQuAD's JSON. arXiv:1606.05250, arXiv:1806.03822"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.files import TableFile, column_of, existing, text_of
from regard.data.forms import Line
from regard.data.pairs import again
from regard.errors import DataError, FileError, reading


@dataclass(frozen=True)
class Question:
    """A question, the text it is asked of, and its answers: their words and where they begin, none where the text does
    not say."""

    name: str
    question: str
    context: str
    answers: tuple[tuple[str, int], ...] = ()


@again
def squad_file(path: Path) -> Iterator[Question]:
    """The questions of a SQuAD file, of either version, gzipped or not; every answer must stand where it says."""
    found = False
    for article in read_articles(path):
        for one in questions_of(article, str(path)):
            found = True
            yield one
    if not found:
        raise DataError(f"{path}: no question in it")


class QuestionRecords(TableFile[Question]):
    """The questions of a JSONL file, one a line: "question", "context" and "answers", a list of {"text",
    "answer_start"} or one of these with lists, empty where there is none."""

    usual = ("question", "context", "answers")
    called = "question"

    def example(self, line: Line, where: str) -> Question:
        question, context = (text_of(line, column, where) for column in self.columns[:2])
        found = column_of(line, self.columns[2], where)
        try:
            if isinstance(found, dict):
                spans = tuple(zip(found["text"], found["answer_start"], strict=True))
            else:
                spans = tuple((span["text"], span["answer_start"]) for span in found)
            answers = tuple((str(text), int(start)) for text, start in spans)
        except (KeyError, TypeError, ValueError):
            raise DataError(f"{where}: {str(found)[:60]!r} are no answers with a text and an answer_start") from None
        name = str(line.get("id", where.rpartition(" ")[2]))
        return checked(Question(name, question, context, answers), where)


def open_questions(path: str | os.PathLike[str]) -> Iterable[Question]:
    """The questions of one file, to be iterated again and again; its name tells the form: `.jsonl`, or SQuAD's."""
    if Path(path).name.removesuffix(".gz").endswith(".jsonl"):
        return QuestionRecords(path)
    return squad_file(existing(path))


def read_articles(path: Path) -> list[Any]:
    try:
        with reading(path):
            raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
        data = json.loads(raw.decode("utf-8"))["data"]
    except FileError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f'{path}: not the JSON of SQuAD, an object with a list "data" ({in_words(error)})') from None
    if not isinstance(data, list):
        raise DataError(f'{path}: "data" is no list of articles, as SQuAD has it')
    return data


def questions_of(article: Any, where: str) -> Iterator[Question]:
    """The questions of one article."""
    try:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                spans = () if asked.get("is_impossible") else asked["answers"]
                answers = tuple((str(span["text"]), int(span["answer_start"])) for span in spans)
                yield checked(Question(str(asked["id"]), asked["question"], paragraph["context"], answers), where)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{where}: an article is not as SQuAD has it ({in_words(error)})") from None


def in_words(error: Exception) -> str:
    """What is wrong with some JSON, in the words of the error that reading it raised."""
    if isinstance(error, KeyError):
        return f'it has no "{error.args[0]}"'
    if isinstance(error, TypeError | AttributeError):
        return "a list, an object or a number stands where something else should"
    return str(error)


def checked(one: Question, where: str) -> Question:
    if not (one.question.strip() and one.context.strip()):
        raise DataError(f"{where}, question {one.name}: its question or its text is empty")
    for text, start in one.answers:
        if start < 0 or not text or one.context[start : start + len(text)] != text:
            raise DataError(
                f"{where}, question {one.name}: the answer {text[:40]!r} does not stand at {start} of its text"
            )
    return one
