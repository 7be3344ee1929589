"""Models that are in memory: each is loaded once and shared by all workers, the latest few are kept."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from regard.errors import Error
from regard.look.parts import Layer, View
from regard.studio.runs import Runs, Version, section, version_of

if TYPE_CHECKING:
    from regard.decoding.prefixes import Prefixes
    from regard.look import Subject
    from regard.tasks.language.generator import Generator
    from regard.tasks.writing.translator import Translator

DEFAULT_CONTEXT_TOKENS = 1024  # for a model without a longest length
FILES = ("config.json", "model.safetensors", "tokenizer.json")  # a change of one of them reloads the model


@dataclass(frozen=True)
class Loaded:
    """A loaded run; `translator` where it was trained to translate, `writer` where it writes on from a text,
    and what that has read before."""

    subject: Subject
    translator: Translator | None
    writer: Generator | None = None
    prefixes: Prefixes | None = None


class Shelf:
    """Keeps models in memory; loads a model from its run folder where it is missing or has changed."""

    def __init__(self, runs: Runs, most: int) -> None:
        self.runs, self.most = runs, most
        self.lock = threading.Lock()
        self.loading: dict[str, threading.Lock] = {}
        self.loaded: OrderedDict[str, tuple[Version, Loaded]] = OrderedDict()
        self.outlines: dict[str, tuple[Version, Outline]] = {}

    def take(self, name: str) -> Loaded:
        """Called by workers, of which one loads while others that want the same wait."""
        folder = self.runs.folder(name)
        with self.lock:
            loading = self.loading.setdefault(name, threading.Lock())
        with loading:
            version = version_of(folder, FILES)
            with self.lock:
                known = self.loaded.pop(name, None)
                if known is not None and known[0] == version:
                    self.loaded[name] = known  # moved to the end: the newest
                    return known[1]
            found = self.load(folder)
            with self.lock:
                self.loaded[name] = version, found
                while len(self.loaded) > self.most:
                    self.loaded.popitem(last=False)
        return found

    def load(self, folder: Path) -> Loaded:
        """Any failure to load is told as the run folder's: it can be broken in many ways."""
        from regard.runfolder import RunError

        try:
            self.runs.check_inside(folder, deeply=True)
            return load(folder)
        except Exception as error:
            if not isinstance(error, Error):
                logging.getLogger(__name__).exception("the run %s cannot be loaded", folder.name)
            raise RunError(f"{folder.name} cannot be used: {self.runs.hide_root(str(error))}") from error

    def known_outline(self, name: str) -> Outline | None:
        """The outline of a run's model from memory; None where it is not there. A page asks every few seconds."""
        version, found = self.outlines.get(name, (None, None))
        return found if version == version_of(self.runs.folder(name), FILES[:1]) else None

    def outline(self, name: str, config: dict[str, Any]) -> Outline:
        """The outline of a run's model, from its config alone."""
        version = version_of(self.runs.folder(name), FILES[:1])
        found = outline(config)
        self.outlines[name] = version, found
        return found


def load(folder: Path) -> Loaded:
    from regard import tasks
    from regard.decoding.prefixes import Prefixes
    from regard.models import SourceWriter, TextWriter
    from regard.runfolder import Run, RunError
    from regard.tasks.base import task_in
    from regard.tasks.language.generator import Generator
    from regard.tasks.language.task import LanguageModelling
    from regard.tasks.writing.task import TextToText

    run = Run(folder)
    if not run.weights_path.is_file():
        raise RunError("it has no weights yet: they are written at the first validation")
    subject = tasks.subject(folder)
    task = task_in(run) if "task" in run.read_config() else None
    if isinstance(subject.model, TextWriter):
        context = (
            task.context if isinstance(task, LanguageModelling) else subject.model.longest or DEFAULT_CONTEXT_TOKENS
        )
        writer = Generator(subject.model, subject.tokenizer, context)
        return Loaded(subject, None, writer, Prefixes(subject.model))
    if not isinstance(task, TextToText):
        return Loaded(subject, None)
    tool = task.tool(cast(SourceWriter, subject.model), subject.tokenizer)
    tool.reading = subject.reading
    return Loaded(subject, tool)


@dataclass(frozen=True)
class Outline:
    """What a config says about its model: its `family` tells which sides it has, as in a look."""

    parameters: int | None = None
    layers: list[Layer] = field(default_factory=list)
    family: str | None = None
    views: list[View] = field(default_factory=list)


def outline(config: dict[str, Any]) -> Outline:
    """Built on no device: it has no weights and takes no memory. Empty for a config that this version cannot read."""
    import torch

    from regard.config import from_dict
    from regard.look import Subject
    from regard.look.views import views
    from regard.models import ModelConfig

    task = section(config, "task").get("kind")
    try:
        with torch.device("meta"):
            model = from_dict(ModelConfig, config.get("model", {}), "model").build()
        parameters = sum(parameter.numel() for parameter in model.parameters())
        subject = Subject(model, cast(Any, None), task=task if isinstance(task, str) else None)
        layers = layers_of(subject)
        return Outline(parameters, layers, subject.family, views(subject, layers))
    except Exception:  # as for `Shelf.load`
        return Outline()


def writes_on(config: dict[str, Any]) -> bool:
    """Whether the model of a config writes on from a prompt."""
    from regard.config import from_dict
    from regard.models import ModelConfig
    from regard.models.base import TextWriterConfig

    try:
        return isinstance(from_dict(ModelConfig, config.get("model", {}), "model"), TextWriterConfig)
    except Error:  # a config that this version cannot read
        return False


def layers_of(subject: Subject) -> list[Layer]:
    """The attention layers of a model, as a look names them."""
    from regard.look.capture import described

    return [described(subject, name, subject.model.heads(name)) for name in subject.model.attention_names()]
