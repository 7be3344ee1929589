"""Questions on paragraphs, whose answers are spans of them: SQuAD's JSON. arXiv:1606.05250, arXiv:1806.03822"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.files import DataError, existing


@dataclass(frozen=True)
class Question:
    """A question, the text it is asked of, and its answers: their words and where they begin, none where the text does
    not say."""

    name: str
    question: str
    context: str
    answers: tuple[tuple[str, int], ...] = ()


class QuestionFile:
    """The questions of a SQuAD file, of either version, gzipped or not; every answer must stand where it says."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = existing(path)

    def __iter__(self) -> Iterator[Question]:
        found = False
        for article in read_articles(self.path):
            for one in questions_of(article, str(self.path)):
                found = True
                yield one
        if not found:
            raise DataError(f"{self.path}: no question in it")


def read_articles(path: Path) -> list[Any]:
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        data = json.loads(raw.decode("utf-8"))["data"]
    except (ValueError, TypeError, KeyError, RecursionError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f'{path}: not the JSON of SQuAD, an object with a list "data" ({error!r})') from None
    if not isinstance(data, list):
        raise DataError(f'{path}: "data" is no list of articles, as SQuAD has it')
    return data


def questions_of(article: Any, where: str) -> Iterator[Question]:
    """Of one article."""
    try:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                spans = () if asked.get("is_impossible") else asked["answers"]
                answers = tuple((str(span["text"]), int(span["answer_start"])) for span in spans)
                yield checked(Question(str(asked["id"]), asked["question"], paragraph["context"], answers), where)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{where}: an article is not as SQuAD has it ({error!r})") from None


def checked(one: Question, where: str) -> Question:
    if not (one.question.strip() and one.context.strip()):
        raise DataError(f"{where}, question {one.name}: its question or its text is empty")
    for text, start in one.answers:
        if start < 0 or not text or one.context[start : start + len(text)] != text:
            raise DataError(
                f"{where}, question {one.name}: the answer {text[:40]!r} does not stand at {start} of its text"
            )
    return one
