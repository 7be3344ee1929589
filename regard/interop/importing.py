"""From foreign files to a run folder. The form of a source is known by its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import STATISTICS, write_tensors
from regard.config import to_dict
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError, writing
from regard.interop import huggingface, llama2c, statedicts, vocabularies
from regard.interop.huggingface import ForeignModel
from regard.models import Encoder, TextWriterConfig, TwoStream
from regard.runfolder import Run, RunError, Scale, keep_labels

Say = Callable[[str], None]

LONGEST_TEXT = 384  # tokens of a text, or of a window of one, that is labelled, unless trained on fewer
LONGEST_CONTEXT = 2048  # tokens in sight of a language model whose positions could go on, unless trained on fewer

PICKLES = (".pth", ".pt", ".ckpt", ".pkl")
CLOSED = 3  # segments of a pair in XLNet's way: the first text, the second, the start behind them


@dataclass(frozen=True)
class Imported:
    """What came of it: `family` is None where there was a tokenizer alone, which there is none of where a model reads
    pictures."""

    run: Run
    family: str | None
    parameters: int
    tokenizer: Tokenizer | None


def import_source(source: str | Path, run: str | Path, say: Say | None = None, task: str | None = None) -> Imported:
    """Make a run folder of a model and its tokenizer, or one with a tokenizer alone. `say` hears what is not read.
    `task` is what a model that gives labels is for, where its class does not tell: texts or pairs of them."""
    path, folder = Path(source), Run(run)
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    if folder.exists():
        raise RunError(f"{folder.path} already holds something; name another --run, or remove it")
    found, tokenizer, form = read_source(path)
    purpose = purpose_of(found, task)
    with writing(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
    if tokenizer is not None:
        tokenizer.save(folder.tokenizer_path)
    if found is None:
        return Imported(folder, None, 0, tokenizer)
    if found.unread and say is not None:
        say(f"left out, for they are the head of another task, which is not read: {', '.join(found.unread)}")
    write_tensors(folder.weights_path, found.weights)
    if found.labels and purpose != "answer":
        keep_labels(folder.path, found.labels if len(found.labels) > 1 else ("score",))
    if purpose == "pair" and len(found.labels) == 1:
        Scale(0.0, 1.0).write(folder.path)
    origin = {"format": form, "family": found.family, "source": path.name}
    folder.write_config(sections(found, tokenizer, purpose, origin))
    learnt = [weight for name, weight in found.weights.items() if name.rpartition(".")[2] not in STATISTICS]
    return Imported(folder, found.family, sum(weight.numel() for weight in learnt), tokenizer)


def read_source(path: Path) -> tuple[ForeignModel | None, Tokenizer | None, str]:
    """The model, its tokenizer, and in which form they came."""
    if path.suffix in PICKLES:
        raise DataError(
            f"{path} is a pickle, which can run any program when it is opened, so it is not; write its tensors as "
            "safetensors, as docs/interop.md says"
        )
    if statedicts.is_source(path):
        return statedicts.read_model(path), None, "state dict"
    if path.is_dir() and (path / "config.json").exists():
        found = huggingface.read_model(path)
        if found.config.text() is None:
            return found, None, "huggingface"
        tokenizer = vocabularies.read_tokenizer(path, vocabulary(found))
        check_segments(found, tokenizer, path)
        return found, tokenizer, "huggingface"
    if (pair := llama2c.files_of(path)) is not None:
        found = llama2c.read_model(pair[0])
        return found, llama2c.read_tokenizer(pair[1], vocabulary(found)), "llama2.c"
    if path.is_dir():
        return None, vocabularies.read_tokenizer(path), "tokenizer"
    return None, vocabularies.made(vocabularies.read_file(path), str(path)), "tokenizer"


def purpose_of(found: ForeignModel | None, task: str | None) -> str | None:
    """The task of a model that gives labels. One that gives a single score tells how two texts relate."""
    tasks = () if found is None else found.tasks
    if found is not None and len(found.labels) == 1 and found.fit is None:
        tasks = tasks[1:]
    if task is not None and task not in tasks:
        raise DataError(f"task {task}: the model is for {' or '.join(tasks) or 'no task of labels'}")
    return task or next(iter(tasks), None)


def vocabulary(found: ForeignModel) -> int:
    text = found.config.text()
    assert text is not None
    return text.vocabulary


def check_segments(found: ForeignModel, tokenizer: Tokenizer, where: Path) -> None:
    """Refuse a tokenizer that closes texts for a model whose table has no row for the segment of their start."""
    there = getattr(getattr(found.config.text(), "embedding", None), "segments", 0)
    if tokenizer.closes and 0 < there < CLOSED:
        raise DataError(
            f"{where}: its tokenizer marks {CLOSED} segments where its model has {there}: they do not belong together; "
            "copy the tokenizer that the model was trained with"
        )


def sections(
    found: ForeignModel, tokenizer: Tokenizer | None, purpose: str | None, origin: dict[str, str]
) -> dict[str, Any]:
    """Of the run's config. What writes on from a text is a language model; what reads one finds masked words if it has
    a head, or predicts them in any order if it has two streams, and has no task without a head."""
    about: dict[str, Any] = {"model": to_dict(found.config), "origin": origin}
    if tokenizer is None:
        reader = huggingface.picture_reader_of(found.config)
        seen = {"task": {"kind": purpose, "side": reader.side, "fit": found.fit}} if purpose is not None else {}
        return about | seen
    about["tokenizer"] = tokenizer.fingerprint
    if purpose is not None:
        framed = {"framed": True} if purpose == "classify" else {}
        about["task"] = {"kind": purpose, "max_length": min(found.longest, LONGEST_TEXT), **framed}
    elif isinstance(found.config, TextWriterConfig):
        about["task"] = {"kind": "lm", "context": min(found.longest, LONGEST_CONTEXT)}
    elif isinstance(found.config, TwoStream) and found.config.head is not None and tokenizer.mask is not None:
        about["task"] = {"kind": "plm", "context": found.longest}
    elif isinstance(found.config, Encoder) and found.config.head is not None and tokenizer.mask is not None:
        about["task"] = {"kind": "mlm", "context": found.longest, "next_sentence": found.config.relation}
    return about | found.sections
