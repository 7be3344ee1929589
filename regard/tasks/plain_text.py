"""From plain text to what is trained on: how the tasks that read it prepare a run folder."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from regard.checkpoint import HELD, TOKENS
from regard.config import Config
from regard.data.corpus import Rowing, tokenized
from regard.data.documents import Document, bytes_in
from regard.data.files import DataError
from regard.data.store import Store
from regard.data.text import Sampled
from regard.data.tokenizers import Tokenizer
from regard.results import Figures, Scores
from regard.tasks.base import Evaluation, Say
from regard.tasks.pretraining.passages import sentences

Documents = Iterable[Document]


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


def hidden_words(task: Any, asked: Evaluation) -> Scores:
    """How well hidden words are found, of a task whose `scores` hide them as training does; they compare only between
    runs that share a tokenizer."""
    asked.asked(Config)
    found = task.scores(asked.precise(task.load(asked.run)), asked.examples(task.valid))
    if not found:
        raise DataError(f"{asked.data}: no text (all lines are empty)")
    counted = {name: int(found.pop(name)) for name in ("passages", "tokens")}
    return Figures(found, counted)
