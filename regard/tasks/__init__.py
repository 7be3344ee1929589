"""Tasks: examples → batch, loss, metrics, and how a person uses the result. One file a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.tasks.registry import register

if TYPE_CHECKING:
    from regard.look.subject import Subject

TASKS = {  # what `regard train` takes, for its help, which imports no torch
    "translate": "sentences into another language",
    "summarise": "texts in short",
    "classify": "texts or pictures by their labels",
    "pair": "pairs of texts by a label or a score",
    "tag": "a tag for every word",
    "detect": "things in pictures by their boxes",
    "ask": "answers to questions about pictures",
    "answer": "spans of a text that answer questions",
    "caption": "pictures by what they show",
    "similar": "vectors of texts, near where texts are alike",
    "copy": "sequences of bits, out of a memory",
    "fewshot": "classes of texts or pictures, from a few examples of each",
    "lm": "write on from a text",
}
__all__ = ["OBJECTIVES", "TASKS", "load", "register", "subject"]

OBJECTIVES = {  # what `regard pretrain` takes
    "mlm": "find masked words, for BERT and RoBERTa",
    "plm": "predict tokens in any order, for XLNet",
    "bilm": "predict tokens from both sides, for ELMo",
}


def subject(run: str | Path) -> Subject:
    """What of a run is looked at. What a task says of a text it words itself."""
    from regard.look import open_run
    from regard.runfolder import Run
    from regard.tasks.base import task_in

    folder = Run(run)
    task = task_in(folder) if "task" in folder.read_config() else None
    found: Subject = task.load(folder).subject() if task is not None and task.shows_itself else open_run(run)
    return found


def load(run: str | Path, int8: bool = False) -> Any:
    """What a trained run is used by, whatever it was trained for: a `Translator` for translation. An encoder that was
    trained for no task, as it may come from elsewhere, makes vectors of texts. Translators of a folder of several seeds
    write together.

    `int8` turns its matrices into bytes: faster on a CPU, less exact.
    """
    from regard.runfolder import Run
    from regard.tasks.base import rounded, task_in
    from regard.tasks.vectors.embedding import load_embedder
    from regard.tasks.writing.translation import Translation, load_translator

    register()
    folder = Run(run)
    used: Any
    if any(seed.section("task")["kind"] == Translation.kind for seed in folder.seeds()):
        used = load_translator(run)
    elif "task" in folder.read_config():
        used = task_in(folder).load(folder)
    else:
        used = load_embedder(run)
    return rounded(used, int8)
