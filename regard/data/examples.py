"""Where the examples of a task come from, as a config: sentence pairs, labelled texts, plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from regard.config import Config, ConfigError, Size
from regard.data.catalogue import data_set, data_sets, open_data
from regard.data.documents import Document, Listed
from regard.data.files import PairFile, ParallelFiles, SummaryFile, existing
from regard.data.judged import JudgedFile, JudgedPair
from regard.data.labelled import Labelled, LabelledFile
from regard.data.pairs import First, Pair
from regard.data.pictures.annotations import CocoFile, VocFolder
from regard.data.pictures.examples import AskedPicture, BoxedPicture, CaptionedPicture, LabelledPicture
from regard.data.pictures.tables import (
    AskedPictureTable,
    BoxTable,
    CaptionTable,
    LabelledPictureTable,
    PictureFolders,
    holds_picture_folders,
    names_pictures,
)
from regard.data.questions import Question, open_questions
from regard.data.related import Related, RelatedFile, from_judged, from_pairs
from regard.data.tagged import Tagged, open_tagged
from regard.data.text import FirstLines, Share, TextFiles
from regard.errors import DataError

E = TypeVar("E", bound="Examples")

HELD_OUT = 10  # percent of a training text, where no other is given for validation


@dataclass(frozen=True)
class Examples(Config):
    """Where examples come from: a file, or a split of a named set; at most `count` of them.

    A kind says its `form`, by which named sets know it, what its examples are `called`, how a file is read, and which
    columns it takes: how many, and what is said where there are others.
    """

    form: ClassVar[str] = ""
    called: ClassVar[str] = "examples"
    instead: ClassVar[str] = ""  # options that name examples as well as --data does
    takes: ClassVar[tuple[int, ...]] = ()
    said: ClassVar[str] = ""

    file: str | None = None
    name: str | None = None
    languages: str | None = None
    split: str = "train"
    columns: tuple[str, ...] | None = None
    count: Size | None = None

    def check(self) -> None:
        if self.file is not None and self.name is not None:
            raise ConfigError(f"{self.called} come from one file or from a named set: choose one")
        if self.columns is not None and len(self.columns) not in self.takes:
            raise ConfigError(f"columns {','.join(self.columns)}: {self.said}")

    @property
    def given(self) -> bool:
        return any((self.file, self.name))

    def open(self) -> Iterable[Any]:
        """The examples; they can be iterated again and again."""
        if self.name is not None:
            return open_data(self.name, self.languages, self.split, self.count, self.form)
        examples = self.read()
        return examples if self.count is None else First(examples, self.count)

    def read(self) -> Iterable[Any]:
        """The examples of the file."""
        raise TypeError(f"{type(self).__name__} does not say how a file is read")

    @property
    def path(self) -> str:
        """The file, which must be given."""
        if self.file is None:
            raise DataError(f"no {self.called} were given: name a file or a data set")
        return self.file

    def like(
        self: E,
        data: str | None,
        columns: tuple[str, ...] | None = None,
        languages: str | None = None,
        split: str = "test",
        count: int | None = None,
        **others: Any,
    ) -> E:
        """Other examples of this kind: of a file, or of a named set, in the languages of this one where it is the same
        set and no others are asked for. `others` are fields that a kind has of its own."""
        kind = type(self)
        if not (data or others):
            raise DataError(f"there is nothing to score: give --data{self.instead}, a file or the name of a data set")
        if data and (data in data_sets() or not (Path(data).suffix or Path(data).exists())):
            own = self.languages if self.name == data else None
            return kind(name=data, languages=languages or own, split=split, count=count, **others)
        if languages:
            raise DataError(f"--languages {languages} are those of a named data set: leave it out beside a file")
        return kind(file=data, columns=columns, count=count, **others)


def holds_pictures(where: Mapping[str, Any]) -> bool:
    """Whether the labelled examples that these fields name are pictures: of a named set that has no texts, in folders
    by their labels, or in a table with a column of files."""
    if name := where.get("name"):
        forms = data_set(name).forms
        return "pictures" in forms and "labelled" not in forms
    path = Path(where.get("file") or "")
    if path.is_dir():
        return holds_picture_folders(path)
    return path.is_file() and names_pictures(path)


@dataclass(frozen=True)
class PairData(Examples):
    """Where sentence pairs come from: one file, two parallel files, or a named set."""

    form: ClassVar[str] = "pairs"
    called: ClassVar[str] = "sentence pairs"
    instead: ClassVar[str] = ", or --source and --target"
    takes: ClassVar = (2,)
    said: ClassVar[str] = "name two, the source's and the target's"

    source: str | None = None
    target: str | None = None

    def check(self) -> None:
        parallel = self.source is not None or self.target is not None
        if parallel and (self.file is not None or self.name is not None):
            raise ConfigError(
                f"{self.called} come from one file, from two parallel files or from a named set: choose one"
            )
        if (self.source is None) != (self.target is None):
            raise ConfigError(f"source {self.source!r} and target {self.target!r}: parallel files come in two")
        super().check()

    @property
    def given(self) -> bool:
        return any((self.file, self.source, self.name))

    def pairs(self) -> Iterable[Pair]:
        return self.open()

    def read(self) -> Iterable[Pair]:
        if self.source is not None and self.target is not None:
            return ParallelFiles(self.source, self.target)
        return PairFile(self.path, self.columns)


@dataclass(frozen=True)
class SummaryData(PairData):
    """Where texts with their summaries come from: one file, two parallel files, or a named set."""

    form: ClassVar[str] = "summaries"
    called: ClassVar[str] = "texts with summaries"

    def read(self) -> Iterable[Pair]:
        return super().read() if self.file is None else SummaryFile(self.file, self.columns)


@dataclass(frozen=True)
class LabelledData(Examples):
    """Where labelled texts come from: a file, or a named set, whose `languages` say which of its labels to take."""

    form: ClassVar[str] = "labelled"
    called: ClassVar[str] = "labelled texts"
    takes: ClassVar = (2,)
    said: ClassVar[str] = "name two, the text's and the label's"

    def texts(self) -> Iterable[Labelled]:
        return self.open()

    def read(self) -> Iterable[Labelled]:
        return LabelledFile(self.path, self.columns)


@dataclass(frozen=True)
class LabelledPictureData(Examples):
    """Where labelled pictures come from: a folder that has a folder for each label, a table with a column of files, or
    a named set, whose `languages` say which of its kinds to take."""

    form: ClassVar[str] = "pictures"
    called: ClassVar[str] = "labelled pictures"
    takes: ClassVar = (2,)
    said: ClassVar[str] = "name two, the picture's and the label's"

    def read(self) -> Iterable[LabelledPicture]:
        path = Path(self.path)
        return PictureFolders(path) if path.is_dir() else LabelledPictureTable(self.path, self.columns)


@dataclass(frozen=True)
class BoxData(Examples):
    """Where pictures with boxes come from: a table with a line for each box, COCO's JSON, a folder of Pascal VOC's XML
    files, or a named set, whose `languages` say which of its kinds to take."""

    form: ClassVar[str] = "boxes"
    called: ClassVar[str] = "pictures with boxes"
    takes: ClassVar = (6,)
    said: ClassVar[str] = "name six, the picture's, the class's, and those of left, top, right and bottom"

    def read(self) -> Iterable[BoxedPicture]:
        path = Path(self.path)
        if path.is_dir():
            return VocFolder(path)
        return CocoFile(existing(path)) if path.suffix == ".json" else BoxTable(path, self.columns)


@dataclass(frozen=True)
class AskedData(Examples):
    """Where questions about pictures come from: a table with a column of files, or a named set, whose `languages` say
    which of its kinds to take."""

    form: ClassVar[str] = "asked"
    called: ClassVar[str] = "questions about pictures"
    takes: ClassVar = (3,)
    said: ClassVar[str] = "name three, the picture's, the question's and the answer's"

    def read(self) -> Iterable[AskedPicture]:
        return AskedPictureTable(self.path, self.columns)


@dataclass(frozen=True)
class JudgedData(Examples):
    """Where judged pairs of texts come from: a file, or a named set; `languages` say which of its judgements."""

    form: ClassVar[str] = "judged"
    called: ClassVar[str] = "judged pairs"
    takes: ClassVar = (3,)
    said: ClassVar[str] = "name three, the two texts' and the label's"

    def read(self) -> Iterable[JudgedPair]:
        return JudgedFile(self.path, self.columns)


@dataclass(frozen=True)
class RelatedData(Examples):
    """Where pairs of near texts come from: a file, or a named set of pairs with scores or of translations."""

    form: ClassVar[str] = "judged"
    called: ClassVar[str] = "pairs of texts"
    takes: ClassVar = (2, 3)
    said: ClassVar[str] = "name the two texts', and that of scores or negatives"

    def open(self) -> Iterable[Related]:
        if self.name is not None and "pairs" in data_set(self.name).forms:
            return from_pairs(open_data(self.name, self.languages, self.split, self.count))
        pairs: Iterable[Any] = super().open()
        return pairs if self.name is None else from_judged(self.name, pairs)

    def read(self) -> Iterable[Related]:
        return RelatedFile(self.path, self.columns)


@dataclass(frozen=True)
class QuestionData(Examples):
    """Where questions on texts come from: a file of SQuAD's form, JSONL, or a named set."""

    form: ClassVar[str] = "questions"
    called: ClassVar[str] = "questions"
    said: ClassVar[str] = "files of questions have their own; leave them out"

    def read(self) -> Iterable[Question]:
        return open_questions(self.path)


@dataclass(frozen=True)
class TaggedData(Examples):
    """Where tagged sentences come from: one file, or a named set."""

    form: ClassVar[str] = "tagged"
    called: ClassVar[str] = "tagged sentences"
    takes: ClassVar = (2,)
    said: ClassVar[str] = "name two, the words' and the tags'"

    def read(self) -> Iterable[Tagged]:
        return open_tagged(self.path, self.columns)


@dataclass(frozen=True)
class CaptionData(Examples):
    """Where pictures with captions come from: a table beside its pictures, or a named set, whose `languages` may be the
    sizes that it draws."""

    form: ClassVar[str] = "captions"
    called: ClassVar[str] = "pictures with captions"
    takes: ClassVar = (2,)
    said: ClassVar[str] = "name two, the picture's and the caption's"

    def read(self) -> CaptionTable:
        return CaptionTable(self.path, self.columns)

    def without_missing(self, hear: Callable[[str], None]) -> Iterable[CaptionedPicture]:
        """As `open`; pictures that a table names and nobody finds are left out, and `hear` is told their names."""
        if self.name is not None:
            return self.open()
        table = self.read()
        table.missing = hear
        return table if self.count is None else First(table, self.count)


@dataclass(frozen=True)
class TextData(Examples):
    """Where plain text comes from: a text file, a folder of them, JSONL with a column of texts, or a named set; at most
    `count` lines."""

    form: ClassVar[str] = "text"
    called: ClassVar[str] = "texts"
    takes: ClassVar = (1,)
    said: ClassVar[str] = "name one, that of the texts"

    def open(self) -> Iterable[Document]:
        """Documents, each of which gives its lines."""
        if self.name is not None:
            return Listed(super().open())
        return self.read() if self.count is None else FirstLines(self.read(), self.count)

    def read(self) -> Iterable[Document]:
        return TextFiles(self.path, self.columns[0] if self.columns else None)


def some_text(data: TextData) -> Iterable[Document]:
    """The documents of `data`; `DataError` where there is no text in them."""
    documents = data.open()
    if not any(line.strip() for document in documents for line in document):
        raise DataError(f"{data.file or data.name}: there is no text in it")
    return documents


def held_apart(
    train: TextData, valid: TextData, say: Callable[[str], None]
) -> tuple[Iterable[Document], Iterable[Document]]:
    """Text to train on and to validate on: the end of the one, where no other is given. Both are looked for at once, so
    that a missing or empty file is named before the tokenizer takes its time."""
    documents = some_text(train)
    if valid.given:
        return documents, some_text(valid)
    say(f"no validation text was given: the last {HELD_OUT}% of the training text are held out for it")
    return Share(documents, 0, 100 - HELD_OUT), Share(documents, 100 - HELD_OUT, 100)
