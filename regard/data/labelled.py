"""Labelled texts: what classification data yields; their files, and splits of sets that come without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, TypeVar

from regard.data.columns import MESSAGE_CHARACTERS, Bare, is_number
from regard.data.files import TableFile, column_of, text_of
from regard.data.forms import Line
from regard.errors import DataError


class HasLabel(Protocol):
    @property
    def label(self) -> str: ...


L = TypeVar("L", bound=HasLabel)


class LabelFile(TableFile[L]):
    """Examples with a label, in the last of the columns.

    A header with names of its own would be read as an example with a class of its own, so a first line that looks like
    one is an error, unless columns were asked for.
    """

    def __iter__(self) -> Iterator[L]:
        seen: Counter[str] = Counter()
        for example in super().__iter__():
            seen[example.label] += 1
            yield example
        if not self.named and not self.asked and names_a_column(seen):
            places = range(1, len(self.usual) + 1)
            raise DataError(
                f"{self.path}, line 1: the label {next(iter(seen))[:MESSAGE_CHARACTERS]!r} stands nowhere else; "
                f"if this line names the columns, say which ones hold what: --columns {','.join(self.first_cells)}; "
                f"if it is an example: --columns {','.join(map(str, places))}"
            )

    def refuse_name(self, label: str, where: str) -> None:
        """Raise `DataError` where the first line has the usual name of the label's column."""
        if not self.named and not self.asked and where.endswith(", line 1") and label.lower() == self.usual[-1]:
            names = ",".join(self.first_cells)
            raise DataError(f"{where}: {label!r} names a column; say which ones hold what: --columns {names}")

    @property
    def first_cells(self) -> list[str]:
        return [cell[:MESSAGE_CHARACTERS] for cell in self.first.split("\t")[: len(self.usual)]]


def names_a_column(seen: Counter[str]) -> bool:
    """Whether the first of the labels, in the order in which they came, is unlike all others: it stands there once and
    each of the others again and again, or they are numbers and it is none."""
    (first, count), *others = seen.items()
    if count > 1 or not others:
        return False
    return all(more > 1 for _, more in others) or (not is_number(first) and all(is_number(name) for name, _ in others))


@dataclass(frozen=True)
class Labelled:
    """A text and the name of its class; `where` is its place in a file, for messages."""

    text: str
    label: str
    where: str = field(default="", compare=False, repr=False)


def _cola(cells: Sequence[str]) -> bool:
    return len(cells) == 4 and cells[1] in ("0", "1") and set(cells[2]) <= set("*?")


COLA = Bare(("text", "label"), (3, 1), _cola)  # source, label, the author's mark, sentence


class LabelledFile(LabelFile[Labelled]):
    """The labelled texts of one file, in the columns "text" and "label", or as GLUE's files of single sentences have
    them: SST-2 with a header, CoLA without.

    A label is a name; JSON may have whole numbers and true or false instead. A label without a text is an empty line, a
    text without a label is an error, so that nobody trains on half of a file unknowingly.
    """

    usual = ("text", "label")
    also = (("sentence", "label"),)
    bare = (COLA,)
    called = "labelled text"

    def example(self, line: Line, where: str) -> Labelled | None:
        text = text_of(line, self.columns[0], where).strip()
        label = self.label(line, where).strip()
        if not text:
            return None
        if not label:
            raise DataError(f"{where}: the text has no label; give it one or take the line out")
        self.refuse_name(label, where)
        return Labelled(text, label, where)

    def label(self, line: Line, where: str) -> str:
        value = column_of(line, self.columns[1], where)
        return str(value).lower() if isinstance(value, int) else text_of(line, self.columns[1], where)


@dataclass(frozen=True)
class HeldOut:
    """One split of a set that comes whole: shuffled with a seed, the last `held_out` are "valid", the others "train".

    `read` gives the whole; a text that stands in it twice is taken once if `once`, so that no text is in both splits.
    """

    read: Callable[[], Iterable[Labelled]]
    split: str
    held_out: int
    once: bool = True

    def __iter__(self) -> Iterator[Labelled]:
        examples = list(self.read())
        if self.once:
            first: dict[str, Labelled] = {}
            for example in examples:
                first.setdefault(example.text, example)
            examples = list(first.values())
        if len(examples) <= self.held_out:
            raise DataError(f"{len(examples):,} texts are too few to hold {self.held_out:,} of them out")
        Random(0).shuffle(examples)
        cut = len(examples) - self.held_out
        return iter(examples[:cut] if self.split == "train" else examples[cut:])
