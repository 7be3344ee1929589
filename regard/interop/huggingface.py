"""Folders of Hugging Face: `config.json`, safetensors (also in shards), tokenizer files; and sentence-transformers'."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import safetensors
import torch
from torch import Tensor

from regard.config import nearest
from regard.data.pictures.sizing import Fit
from regard.errors import DataError
from regard.interop.decoders import GPT, GPT2, LLAMA
from regard.interop.encoders import BERT, DISTILBERT, ROBERTA
from regard.interop.family import Family, Fields
from regard.interop.labellers import above, label_names, labeller_of
from regard.interop.pictures import DEIT, DINOV2, RESNET, VIT
from regard.interop.preprocessing import Seeing, read_preprocessor
from regard.interop.rules import gathered, shapes_of, used
from regard.interop.vocabularies import read_json, read_object
from regard.interop.xlnet import XLNET
from regard.models import Classifier, ModelConfig, PictureEncoder
from regard.nn.backbones import Patches

TEXTS = (GPT2, GPT, LLAMA, BERT, ROBERTA, DISTILBERT, XLNET)
FAMILIES = {family.kind: family for family in (*TEXTS, VIT, DEIT, DINOV2, RESNET)}

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
MODULES = "modules.json"  # of sentence-transformers
EMBEDDING = "embedding"  # the section of a run's config that says how texts become vectors
POOLS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}  # its names, old and new


@dataclass
class ForeignModel:
    """A model from elsewhere: our config and weights, how many tokens it reads, what else is worth keeping, which
    tensors were left out; of one that gives labels, their names and the tasks it may be for; and of one that reads
    pictures, by which fit."""

    family: str
    config: ModelConfig
    weights: dict[str, Tensor]
    longest: int
    sections: dict[str, Any] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    fit: Fit | None = None

    def seeing(self, how: Seeing, where: str) -> ForeignModel:
        """The same for pictures that reach it so."""
        reader = picture_reader_of(self.config)
        side, size = how.side or reader.side, getattr(reader.backbone, "size", 1)
        if isinstance(reader.backbone, Patches) and side % size:
            raise DataError(f"{where}: pictures of {side} pixels do not come apart into squares of {size}")
        own = replace(reader, side=side, pixels=how.pixels)
        config = replace(self.config, reader=own) if isinstance(self.config, Classifier) else own
        return replace(self, config=config, fit=how.fit)


class Shards(Mapping[str, Tensor]):
    """The tensors of safetensors files by name, read when they are asked for."""

    def __init__(self, paths: list[Path], rename: Callable[[str], str]) -> None:
        self.places: dict[str, tuple[Any, str]] = {}
        for path in paths:
            try:
                file = safetensors.safe_open(path, framework="pt")
            except FileNotFoundError:
                raise DataError(f"{path} is missing: it is one of the parts of the weights") from None
            except (OSError, safetensors.SafetensorError) as error:
                raise DataError(f"{path} is no whole safetensors file ({error}); copy it again") from None
            names = file.keys()  # type: ignore[no-untyped-call]
            self.places |= {rename(name): (file, name) for name in names}

    def __getitem__(self, name: str) -> Tensor:
        file, own = self.places[name]
        tensor: Tensor = file.get_tensor(own)
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def read_model(folder: Path) -> ForeignModel:
    """The model of a folder; what it lacks, has too much or has otherwise is said."""
    path = folder / "config.json"
    values = read_object(path)
    kind = str(values.get("model_type"))
    if kind not in FAMILIES:
        raise DataError(f"{path}: a model of type {kind!r} is not known here: {nearest(kind, FAMILIES)}")
    family, given = FAMILIES[kind], Fields(values, str(path))
    labeller = labeller_of(given, family)
    whole = family if labeller is None else above(labeller)
    found = converted(whole, given, open_weights(folder, family), str(folder))
    if labeller is not None:
        found = replace(found, labels=label_names(given), tasks=labeller.tasks)
    if family.model is PictureEncoder:
        return found.seeing(read_preprocessor(folder, kind), str(folder))
    return found if labeller is not None else replace(found, sections=sentence_sections(folder))


def picture_reader_of(config: ModelConfig) -> PictureEncoder:
    reader = config.reader if isinstance(config, Classifier) else config
    assert isinstance(reader, PictureEncoder)
    return reader


def open_weights(folder: Path, family: Family) -> Shards:
    if (folder / WEIGHTS).exists():
        return Shards([folder / WEIGHTS], family.bare)
    if (folder / INDEX).exists():
        files = read_object(folder / INDEX).get("weight_map", {})
        tensors = Shards([folder / name for name in sorted(set(files.values()))], family.bare)
        if lost := [name for name in files if family.bare(name) not in tensors]:
            raise DataError(f"{folder / INDEX} names {', '.join(lost)}, which no part has; copy the parts again")
        return tensors
    if pickles := sorted(folder.glob("*.bin")):
        raise DataError(
            f"{pickles[0]} is a pickle, which can run any program when it is opened, so it is not; where you trust it, "
            f"open the folder with transformers and save it again: that writes {WEIGHTS}"
        )
    raise DataError(f"{folder} has no weights: {WEIGHTS} is missing")


def converted(family: Family, given: Fields, tensors: Mapping[str, Tensor], where: str) -> ForeignModel:
    """Our config and weights of theirs."""
    given.check(family.fixed)
    config = family.config(given, tensors.keys())
    rules = used(family.rules(config, given), shapes_of(config))
    wanted = {name for rule in rules for name in rule.theirs}
    others = [name for name in tensors if name not in wanted]
    copies = [name for name in others if name in family.copies]
    for name in copies:
        if not same_tensor(tensors, name, family.copies[name]):
            raise DataError(f"{where}: {name} is to be the same as {family.copies[name]}, and is not")
    idle = [name for name in others if re.fullmatch(family.idle, name)]
    unread = [name for name in others if re.fullmatch(family.unread, name)]
    weights = gathered(config, rules, tensors, tensors.keys() - {*copies, *idle, *unread}, where)
    return ForeignModel(family.kind, config, weights, family.longest(given), unread=sorted(unread))


def same_tensor(tensors: Mapping[str, Tensor], name: str, other: str) -> bool:
    """Where the other is missing, that is said of it alone."""
    return other not in tensors or torch.equal(tensors[name], tensors[other])


# --- sentence-transformers --------------------------------------------------------------------------------------------


def sentence_sections(folder: Path) -> dict[str, Any]:
    """How a folder of sentence-transformers makes one vector of a text: how states are pooled, whether vectors are
    scaled to length one, and how many tokens of a text are read."""
    if not (folder / MODULES).exists():
        return {}
    modules = [
        (str(entry["type"]).rpartition(".")[2], folder / str(entry.get("path", "")))
        for entry in read_json(folder / MODULES, list)
    ]
    known = ("Transformer", "Pooling", "Normalize")
    for name, _ in modules:
        if name not in known:
            raise DataError(f"{folder / MODULES}: the module {name} has no counterpart here: {nearest(name, known)}")
    paths = dict(modules)
    about: dict[str, Any] = {"normalised": "Normalize" in paths}
    if "Pooling" in paths:
        about["pool"] = read_pooling(paths["Pooling"] / "config.json")
    reading = folder / "sentence_bert_config.json"
    if reading.exists() and (most := read_object(reading).get("max_seq_length")):
        about["longest"] = most
    return {EMBEDDING: about}


def read_pooling(path: Path) -> str:
    """Of one way to pool; several side by side have no counterpart."""
    values = read_object(path)
    named = values.get("pooling_mode")
    modes = (
        [named] if named else [name for name, on in values.items() if name.startswith("pooling_mode_") and on is True]
    )
    mode = " and ".join(POOLS.get(str(mode), str(mode)) for mode in modes)
    if mode not in POOLS.values():
        raise DataError(
            f"{path}: pooling by {mode or 'nothing'} has no counterpart here: {nearest(mode, POOLS.values())}"
        )
    return mode
