"""From plain text to what is trained on: how the tasks that read it prepare a run folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from regard.checkpoint import HELD, TOKENS, Run, load_tokenizer
from regard.data.corpus import Rowing, tokenized
from regard.data.documents import Document, bytes_in
from regard.data.files import DataError
from regard.data.store import Store
from regard.data.text import Sampled, Texts, sampled
from regard.data.tokenizers import Kind, Tokenizer
from regard.tasks.base import Say
from regard.tasks.pretraining.passages import sentences

Documents = Iterable[Document]


def text_tokenizer(
    folder: Path,
    train: Documents,
    kind: Kind,
    pieces: int | None,
    say: Say,
    learn: Callable[..., Tokenizer] = Tokenizer.train,
) -> Tokenizer:
    """That of the run folder, which learns it from the training text where it has none yet."""
    path = folder / "tokenizer.json"
    if not path.exists():
        say("training the tokenizer")
        learn(Texts(sampled(train, kind)), kind, pieces, say).save(path)
    return load_tokenizer(Run(folder))


def passage_stores(
    folder: Path, train: Documents, valid: Documents, tokenizer: Tokenizer, rowing: Rowing, say: Say
) -> tuple[Store, Store]:
    """The rows of the training text and of the validation text, of which a sample is enough; none may be empty."""
    read = partial(tokenized, tokenizer=tokenizer, rowing=rowing, say=say)
    held = read(folder / HELD, sentences(Sampled(valid)), what="tokenizing the validation text")
    if not len(held):
        raise DataError("there is no text to validate on: all of its lines are empty")
    store = read(folder / TOKENS, sentences(train), total=partial(bytes_in, train))
    if not len(store):
        raise DataError("there is no text to train on: all of its lines are empty")
    return store, held
