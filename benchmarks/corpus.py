"""Multi30k as every side reads it: one tokenizer of ours; raw text for us, its pieces as words for the others.

The tokenizer is learnt before any clock starts and from all training sentences, so that a shorter run has the same
vocabulary. Peers are given text that is already cut into pieces; we cut it ourselves while the clock runs.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus_files import SOURCE, TARGET, raw
from benchmarks.sizes import VOCABULARY
from regard.data.catalogue import open_data
from regard.data.examples import PairData
from regard.data.pairs import Pair
from regard.data.tokenizers import SPECIALS, Kind, Tokenizer

LANGUAGES = f"{SOURCE}-{TARGET}"


@contextmanager
def corpus(
    sentences: int | None, valid: int | None = None, kind: Kind = "bpe", size: int | None = VOCABULARY
) -> Iterator[Path]:
    """A folder with raw/, pieces/, tokenizer.json and vocabulary.txt, until it is no longer needed.

    Of the training and validation sentences only the first so many; None: all. `kind` and `size` are the tokenizer's.
    """
    with TemporaryDirectory(prefix="regard-benchmark-") as name:
        folder = Path(name)
        print("making the vocabulary and the files", file=sys.stderr)
        every = list(open_data("multi30k", LANGUAGES, "train"))
        tokenizer = Tokenizer.train([text for pair in every for text in (pair.source, pair.target)], kind, size)
        tokenizer.save(folder / "tokenizer.json")
        pieces = [piece(tokenizer, i) for i in range(len(SPECIALS), tokenizer.vocabulary)]
        write_lines(folder / "vocabulary.txt", pieces)
        held_out = itertools.islice(open_data("multi30k", LANGUAGES, "valid"), valid)
        write_split(folder, "train", every[:sentences], tokenizer)
        write_split(folder, "valid", list(held_out), tokenizer)
        yield folder


def write_split(folder: Path, split: str, pairs: Sequence[Pair], tokenizer: Tokenizer) -> None:
    for language, texts in ((SOURCE, [pair.source for pair in pairs]), (TARGET, [pair.target for pair in pairs])):
        write_lines(folder / "raw" / f"{split}.{language}", texts)
        rows = tokenizer.encode(texts)
        cut = (" ".join(piece(tokenizer, i) for i in row) for row in rows)
        write_lines(folder / "pieces" / f"{split}.{language}", cut)


def piece(tokenizer: Tokenizer, i: int) -> str:
    """As it stands in the vocabulary: bytes are written as letters, so that no piece has a space in it."""
    found = tokenizer.backend.id_to_token(i)
    assert found is not None
    return found


def pair_data(corpus: Path, split: str) -> PairData:
    """The raw text as our recipes name it."""
    files = raw(corpus, split)
    return PairData(source=files["source"], target=files["target"])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
