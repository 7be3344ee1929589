"""Hugging Face's classes for a task above a body: what labels texts or pictures, tags words or finds answers.

Each is one row of `LABELLERS`: its name there, the family of its body, the task it is for here, and how the tensors
above the body are called. `above` makes of a row a family like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from regard.errors import DataError
from regard.interop.encoders import BERT, DISTILBERT, ROBERTA
from regard.interop.family import Family, Fields
from regard.interop.pictures import DEIT, DINOV2, RESNET, VIT
from regard.interop.rules import Rule, layer
from regard.interop.xlnet import XLNET, with_two_streams
from regard.models import Classifier, Encoder, InputReaderConfig, LabellerConfig, Tagger
from regard.nn.pooling import FirstToken, LastToken, Mean, PoolConfig, SideBySide

SUFFIXES = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
HEADS = (
    *("classifier.", "pre_classifier.", "qa_outputs.", "sequence_summary.", "logits_proj."),
    *("cls_classifier.", "distillation_classifier."),
)
PICTURES = ("classify-pictures",)


@dataclass(frozen=True)
class Labeller:
    """`pool` is that of a classifier, none of a tagger; `reader` makes the body one that reads for another model."""

    architecture: str
    body: Family
    tasks: tuple[str, ...]
    rules: Sequence[Rule]
    pool: PoolConfig | None = None
    reader: Callable[[Any], Any] = lambda config: config.inside()


def tagging(name: str, body: Family, **more: Any) -> list[Labeller]:
    """The two classes that judge every token, alike in all families."""
    return [
        Labeller(f"{name}ForTokenClassification", body, ("tag",), layer("out", "classifier"), **more),
        Labeller(
            f"{name}ForQuestionAnswering{'Simple' if body is XLNET else ''}",
            body,
            ("answer",),
            layer("out", "qa_outputs"),
            **more,
        ),
    ]


def labelling(name: str, body: Family, pool: PoolConfig, dense: str, output: str, **more: Any) -> Labeller:
    rules = [*layer("pool.dense", dense), *layer("output", output)]
    return Labeller(f"{name}ForSequenceClassification", body, ("classify", "pair"), rules, pool, **more)


def seeing(name: str, body: Family, pool: PoolConfig, rules: Sequence[Rule]) -> Labeller:
    return Labeller(f"{name}ForImageClassification", body, PICTURES, rules, pool)


def averaged(*theirs: str) -> list[Rule]:
    """Layers there, each of which reads one of the vectors that stand side by side here; the mean counts."""
    count = len(theirs)
    return [
        Rule(
            "output.weight",
            tuple(f"{name}.weight" for name in theirs),
            lambda given: torch.cat(list(given), 1) / count,
            lambda own: [count * part for part in own.chunk(count, 1)],
        ),
        Rule(
            "output.bias",
            tuple(f"{name}.bias" for name in theirs),
            lambda given: torch.stack(list(given)).mean(0),
            lambda own: [own.clone() for _ in theirs],
        ),
    ]


TEACHER = averaged("cls_classifier", "distillation_classifier")
STREAMS = {"reader": with_two_streams}
LABELLERS: Mapping[str, Labeller] = {
    one.architecture: one
    for one in (
        labelling("Bert", BERT, FirstToken(), "pooler.dense", "classifier"),
        *tagging("Bert", BERT),
        labelling("Roberta", ROBERTA, FirstToken(), "classifier.dense", "classifier.out_proj"),
        *tagging("Roberta", ROBERTA),
        labelling("DistilBert", DISTILBERT, FirstToken(activation="relu"), "pre_classifier", "classifier"),
        *tagging("DistilBert", DISTILBERT),
        labelling("XLNet", XLNET, LastToken(dense=True), "sequence_summary.summary", "logits_proj", **STREAMS),
        *tagging("XLNet", XLNET, **STREAMS),
        seeing("ViT", VIT, FirstToken(dense=False), layer("output", "classifier")),
        seeing("DeiT", DEIT, FirstToken(dense=False), layer("output", "classifier")),
        Labeller("DeiTForImageClassificationWithTeacher", DEIT, PICTURES, TEACHER, SideBySide(count=2, mean=False)),
        seeing("Dinov2", DINOV2, SideBySide(), layer("output", "classifier")),
        seeing("ResNet", RESNET, Mean(), layer("output", "classifier.1")),
    )
}


def above(labeller: Labeller) -> Family:
    """The family of such models."""
    body, kind = labeller.body, Tagger if labeller.pool is None else Classifier

    def config(given: Fields, names: Collection[str]) -> LabellerConfig:
        read = body.config(given, names)
        assert isinstance(read, InputReaderConfig)
        pooled: dict[str, Any] = {} if labeller.pool is None else {"pool": labeller.pool}
        return kind(labels=len(label_names(given)), reader=labeller.reader(read), init=read.init, **pooled)

    def rules(config: Any, given: Fields) -> list[Rule]:
        inner = [replace(rule, ours=f"reader.{rule.ours}") for rule in body.rules(config.reader, given)]
        return [*inner, *labeller.rules]

    return replace(
        body,
        model=kind,
        heads=HEADS,
        config=config,
        fields=lambda config, pad: (
            body.fields(config.reader, pad) | label_fields([f"{i}" for i in range(config.labels)])
        ),
        rules=rules,
        architecture=lambda config: labeller.architecture,
        adapt=lambda config: replace(config, reader=labeller.reader(config.reader)),
        copies={},
        unread=r"pooler\..+",
        beside=lambda config: {},
    )


def labeller_of(given: Fields, family: Family) -> Labeller | None:
    """The row of a config.json's class, if it has one; a class of decoders for such a task is refused."""
    named = given.values.get("architectures")
    name = str(named[0]) if isinstance(named, list) and named else ""
    if name not in LABELLERS and name.endswith(SUFFIXES) and family.model is not Encoder:
        raise DataError(f"{given.where}: {name} has no counterpart here: labels are given by encoders alone")
    found = LABELLERS.get(name)
    return found if found is not None and found.body is family else None


# --- names of labels --------------------------------------------------------------------------------------------------


def label_names(given: Fields) -> tuple[str, ...]:
    """In the order of their numbers; two that have no names where nothing is said of them."""
    names = given.values.get("id2label")
    if names is None:
        return tuple(f"LABEL_{i}" for i in range(given.number("num_labels", 2)))
    try:
        numbered = {int(number): str(name) for number, name in names.items()}
    except (AttributeError, TypeError, ValueError):
        raise DataError(f"{given.where}: id2label is no table of numbers and names") from None
    found = tuple(numbered[i] for i in sorted(numbered))
    if sorted(numbered) != list(range(len(found))) or len(set(found)) < len(found) or not found:
        raise DataError(f"{given.where}: id2label does not give each of the numbers from 0 on a name of its own")
    return found


def label_fields(names: Sequence[str]) -> dict[str, Any]:
    """As a config.json has them; a single one is a score."""
    about = {
        "id2label": {str(i): name for i, name in enumerate(names)},
        "label2id": {n: i for i, n in enumerate(names)},
    }
    return about if len(names) > 1 else {**about, "problem_type": "regression"}
