"""A row in a batch gives what it gives alone, in use and in training: every part of every family, and every model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.config import FAMILIES, Part, change, every_field, kinds
from regard.models import (
    Asker,
    Detector,
    ModelConfig,
    PictureReaderConfig,
    PictureWriterConfig,
    Recurrent,
    SourceWriter,
    Turing,
)
from regard.models.fewshot import FewShot, LearnerConfig
from regard.models.recurrent import ReaderConfig
from regard.nn.attention.hard import ChoiceConfig
from regard.nn.attention.local import WindowConfig
from regard.nn.backbones import BackboneConfig
from regard.nn.call.masks import real_tokens
from regard.nn.call.memory import Memory
from regard.nn.glances import GlanceConfig
from regard.nn.matching import MatchingConfig
from regard.nn.pooling import PoolConfig
from regard.nn.queries import QueryConfig
from regard.nn.stacks import StackConfig
from tests.helpers import (
    BLOCKS,
    DETECTORS,
    EMBEDDINGS,
    FEEDFORWARDS,
    HEADS,
    KERNELS,
    MIXERS,
    MODELS,
    NORMS,
    POOLS,
    POSITIONS,
    PRESETS,
    VOCABULARY,
    WIDTH,
    WIRINGS,
    built,
    can_be_causal,
    feature_inputs,
    label,
    placed,
    randomise,
    registered,
    small,
    still,
    tokens,
    whole,
)

BATCH, LENGTH, WAYS = 3, 6, 4
KEEP = real_tokens(torch.tensor([6, 2, 4]), LENGTH)
Probe = tuple[Callable[..., Tensor], tuple[Tensor, ...]]  # what a part computes, and of which rows


def in_a_writer(part: Part, training: bool) -> Probe:
    model = still(built(placed(part))).train(training)
    return model, (tokens(BATCH, LENGTH),)


def in_a_reader(part: Part, training: bool) -> Probe:
    model = still(built(placed(part, causal=False))).train(training)
    return model, (tokens(BATCH, LENGTH), KEEP)


def of_a_kernel(part: Any, training: bool) -> Probe:
    return (in_a_writer if can_be_causal(part) else in_a_reader)(part, training)


def of_a_reader(part: ReaderConfig, training: bool) -> Probe:
    model = still(built(small(Recurrent(vocabulary=VOCABULARY, reader=part)))).train(training)
    return model, (tokens(BATCH, LENGTH), tokens(BATCH, 5), KEEP)


def of_a_pool(part: PoolConfig, training: bool) -> Probe:
    pool = part.build(WIDTH).train(training)
    randomise(pool)
    return pool, (torch.randn(BATCH, LENGTH, WIDTH), KEEP)


def of_a_learner(part: LearnerConfig, training: bool) -> Probe:
    learner = still(part.build(WIDTH, WAYS)).train(training)
    randomise(learner)
    labels = torch.stack([torch.randperm(WAYS) for _ in range(BATCH)])
    given = (torch.randn(BATCH, WAYS, WIDTH), labels, torch.randn(BATCH, 2, WIDTH))
    return lambda examples, labels, queries: learner(examples, labels, queries, whole(len(examples), WAYS)), given


def of_a_choice(part: ChoiceConfig, training: bool) -> Probe:
    choice = part.build().train(training)
    choice.train(training and not choice.draws)  # what is drawn follows from the batch it is drawn in
    chances = torch.randn(BATCH, 1, 5, LENGTH).softmax(-1)
    return lambda chances: choice(chances, whole(len(chances), 5)), (chances,)


def of_a_backbone(part: BackboneConfig, training: bool) -> Probe:
    """In use alone: the statistics of a batch that is trained are of all its pictures."""
    backbone = part.build(WIDTH).double().eval()
    randomise(backbone)
    return backbone, (torch.rand(BATCH, 3, 32, 48, dtype=torch.float64),)


def of_a_glance(part: GlanceConfig, training: bool) -> Probe:
    glance = still(part.build(WIDTH, WIDTH)).train(training)
    randomise(glance)

    def look(cells: Tensor, words: Tensor, keep: Tensor, summary: Tensor) -> Tensor:
        return glance(cells, Memory(words, keep, summary), whole(len(cells), LENGTH))

    cells, words, summary = torch.randn(BATCH, 7, WIDTH), torch.randn(BATCH, LENGTH, WIDTH), torch.randn(BATCH, WIDTH)
    return look, (cells, words, KEEP, summary)


def of_a_detector(part: QueryConfig | MatchingConfig, training: bool) -> Probe:
    config = DETECTORS["detr-small"]
    assert isinstance(config, Detector)
    name = "queries" if isinstance(part, QueryConfig) else "matching"
    model = still(built(replace(config, **{name: part}))).train(training)
    return model, feature_inputs(model, BATCH)


def of_a_window(part: WindowConfig, training: bool) -> Probe:
    window = replace(part, reach=2).build(WIDTH).train(training)
    randomise(window)

    def shaped(queries: Tensor, lengths: Tensor, weights: Tensor) -> Tensor:
        centres = window.centres(queries, torch.arange(5), lengths)
        return window.shape(weights.masked_fill(window.outside(centres, LENGTH), 0), centres)

    return shaped, (torch.randn(BATCH, 5, WIDTH), KEEP.sum(1), torch.rand(BATCH, 1, 5, LENGTH))


PROBES: dict[str, tuple[list[Any], list[Callable[[Any, bool], Probe]]]] = {
    "position": (POSITIONS, [in_a_writer, in_a_reader]),
    "kernel": (KERNELS, [of_a_kernel, in_a_reader]),
    "norm": (NORMS, [in_a_writer]),
    "feedforward": (FEEDFORWARDS, [in_a_writer]),
    "residual": (WIRINGS, [in_a_writer]),
    "mixer": (MIXERS, [in_a_writer, in_a_reader]),
    "block": (BLOCKS, [in_a_writer, in_a_reader]),
    "stack": (registered(StackConfig), [in_a_writer, in_a_reader]),
    "embedding": (EMBEDDINGS, [in_a_writer, in_a_reader]),
    "head": (HEADS, [in_a_writer]),
    "pool": (POOLS, [of_a_pool]),
    "reader": (registered(ReaderConfig), [of_a_reader]),
    "choice": (registered(ChoiceConfig), [of_a_choice]),
    "window": (registered(WindowConfig), [of_a_window]),
    "learner": (registered(LearnerConfig), [of_a_learner]),
    "backbone": (registered(BackboneConfig), [of_a_backbone]),
    "glance": (registered(GlanceConfig), [of_a_glance]),
    "queries": (registered(QueryConfig), [of_a_detector]),
    "matching": (registered(MatchingConfig), [of_a_detector]),
}
NO_ROWS = {"init", "task", "average", "optimiser", "schedule", "experiment"}
both_modes = pytest.mark.parametrize("training", [False, True], ids=["use", "training"])


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def check_rows(probe: Probe) -> None:
    compute, given = probe
    together = compute(*given)
    for row in range(BATCH):
        close(compute(*(x[row : row + 1] for x in given)), together[row : row + 1])


def test_every_family_that_computes_with_rows_is_tried() -> None:
    assert FAMILIES.keys() - NO_ROWS == {*PROBES, "model"}


@pytest.mark.parametrize("family", PROBES)
def test_every_kind_of_a_family_is_tried(family: str) -> None:
    assert {part.kind for part in PROBES[family][0]} == kinds(FAMILIES[family]).keys()


@pytest.mark.parametrize(
    ("part", "probe"),
    [(part, probe) for parts, probes in PROBES.values() for part in parts for probe in probes],
    ids=lambda x: x.__name__ if callable(x) else label(x),
)
@both_modes
def test_a_row_of_a_part_gives_what_it_gives_alone(
    part: Part, probe: Callable[[Any, bool], Probe], training: bool
) -> None:
    check_rows(probe(part, training))


def without_chance(config: ModelConfig) -> ModelConfig:
    """Without layers that draw in training."""
    fields = {field.name.rpartition(".")[2] for field in every_field(config)}
    return change(
        config, {name: value for name, value in {"sampling": 0.0, "choice": "soft"}.items() if name in fields}
    )


EVERY_MODEL = {**PRESETS, **{f"{kind} (kind)": config for kind, config in MODELS.items()}}
every_model = pytest.mark.parametrize("config", EVERY_MODEL.values(), ids=EVERY_MODEL)
# A Turing machine takes rows of one length, few-shot learning always takes a mask, and pictures have no padding, though
# what is asked about them has (`test_askers.py`).
UNPADDED = (Turing, FewShot, PictureReaderConfig, PictureWriterConfig, Asker, Detector)
PADDED = {name: config for name, config in EVERY_MODEL.items() if not isinstance(config, UNPADDED)}


@every_model
@both_modes
def test_a_row_of_a_model_gives_what_it_gives_alone(config: ModelConfig, training: bool) -> None:
    model = still(built(without_chance(config))).train(training)
    check_rows((model, feature_inputs(model, BATCH)))


@pytest.mark.parametrize("config", PADDED.values(), ids=PADDED)
def test_a_padded_row_of_a_model_gives_what_it_gives_alone(config: ModelConfig) -> None:
    model = built(config)
    given = feature_inputs(model, BATCH, LENGTH)
    found = model(*given, KEEP)
    for row in range(BATCH):
        alone = model(given[0][row : row + 1, KEEP[row]], *(x[row : row + 1] for x in given[1:]))
        whole_row = isinstance(model, SourceWriter) or found.dim() == 2
        close(found[row] if whole_row else found[row, KEEP[row]], alone[0])
