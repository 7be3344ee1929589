"""Labelled texts: what classification data yields; their files, and splits of sets that come without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from regard.data.columns import SHOWN, Bare
from regard.data.files import DataError, Line, TableFile, column_of, text_of


@dataclass(frozen=True)
class Labelled:
    """A text and the name of its class."""

    text: str
    label: str


def _cola(cells: Sequence[str]) -> bool:
    return len(cells) == 4 and cells[1] in ("0", "1") and set(cells[2]) <= set("*?")


COLA = Bare(("text", "label"), (3, 1), _cola)  # source, label, the author's mark, sentence


class LabelledFile(TableFile[Labelled]):
    """The labelled texts of one file, in the columns "text" and "label", or as GLUE's files of single sentences have
    them: SST-2 with a header, CoLA without.

    A label is a name; JSON may have whole numbers and true or false instead. A label without a text is an empty line, a
    text without a label is an error: whoever trains on half of a file should know.
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
        if not self.named and where.endswith(", line 1") and label.lower() == self.usual[1]:
            names = f"{text[:SHOWN]},{label}"
            raise DataError(f"{where}: {label!r} names a column; say which ones hold what: --columns {names}")
        return Labelled(text, label)

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
