"""From plain text to what is trained on: how the tasks that read it prepare a run folder."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from regard.data.corpus import Rowing, tokenized
from regard.data.documents import Document, bytes_in
from regard.data.store import Store
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError
from regard.runfolder import HELD, TOKENS
from regard.tasks.base import Say

Stream = Iterable[str | None]  # of texts, None where a document ends


def text_stores(
    folder: Path,
    train: Iterable[Document],
    streams: tuple[Stream, Stream],
    tokenizer: Tokenizer,
    rowing: Rowing,
    say: Say,
) -> tuple[Store, Store]:
    """The rows of the training text and of the validation text, of which these are the streams; none may be empty."""
    read = partial(tokenized, tokenizer=tokenizer, rowing=rowing, say=say)
    held = read(folder / HELD, streams[1], what="tokenizing the validation text")
    if not len(held):
        raise DataError("there is no text to validate on: all of its lines are empty")
    store = read(folder / TOKENS, streams[0], total=partial(bytes_in, train))
    if not len(store):
        raise DataError("there is no text to train on: all of its lines are empty")
    return store, held
