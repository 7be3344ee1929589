"""Which tensors of a foreign checkpoint each of ours is made of, read in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.checkpoint import STATISTICS, weights_of
from regard.errors import DataError
from regard.models import ModelConfig
from regard.nn.positions.base import HeadDims

Join = Callable[[Sequence[Tensor]], Tensor]
Part = Callable[[Tensor], Sequence[Tensor]]


@dataclass(frozen=True)
class Rule:
    """`join` makes our tensor of theirs, `part` gives them back."""

    ours: str
    theirs: tuple[str, ...]
    join: Join
    part: Part


def same(ours: str, theirs: str) -> Rule:
    return Rule(ours, (theirs,), lambda given: given[0], lambda own: [own])


def turned(ours: str, theirs: str) -> Rule:
    """A matrix that is kept input by input there."""
    return Rule(ours, (theirs,), lambda given: given[0].t(), lambda own: [own.t()])


def behind(ours: str, theirs: str, unused: int, every: str | None) -> Rule:
    """A table that has rows there before the first that is used, and, by the name of `every`, one more row that is
    added to each of them; it is written as zeros."""

    def part(own: Tensor) -> list[Tensor]:
        table = torch.cat([own.new_zeros(unused, own.shape[1]), own])
        return [table] if every is None else [table, own.new_zeros(1, own.shape[1])]

    names = (theirs,) if every is None else (theirs, every)
    return Rule(ours, names, lambda given: given[0][unused:] + (0 if every is None else given[1]), part)


def joined(ours: str, theirs: Sequence[str], join: Join, part: Part) -> list[Rule]:
    """A layer of ours that is made of several there: its weight and its bias."""
    ends = ("weight", "bias")
    return [Rule(f"{ours}.{end}", tuple(f"{name}.{end}" for name in theirs), join, part) for end in ends]


def stacked(ours: str, *theirs: str) -> list[Rule]:
    """Layers one above the other."""
    return joined(ours, theirs, lambda given: torch.cat(list(given)), lambda own: own.chunk(len(theirs)))


def projections(ours: str, theirs: Sequence[str], dims: HeadDims, paired: bool = False) -> list[Rule]:
    """Queries, keys and values apart; `paired` where ours turn neighbours by rotary positions, and theirs halves."""
    return joined(ours, theirs, lambda given: fused(given, dims, paired), lambda own: unfused(own, dims, paired))


def turned_projections(ours: str, theirs: str, dims: HeadDims) -> list[Rule]:
    """Queries, keys and values side by side in one layer, whose matrix is kept input by input."""

    def part(own: Tensor) -> list[Tensor]:
        return [torch.cat(unfused(own, dims, False)).t()]

    return joined(ours, [theirs], lambda given: fused(given[0].t().chunk(3), dims, False), part)


def fused_projections(ours: str, theirs: str, dims: HeadDims) -> list[Rule]:
    """Queries, keys and values one above the other in one layer."""

    def part(own: Tensor) -> list[Tensor]:
        return [torch.cat(unfused(own, dims, False))]

    return joined(ours, [theirs], lambda given: fused(given[0].chunk(3), dims, False), part)


def layer(ours: str, theirs: str, how: Callable[[str, str], Rule] = same) -> list[Rule]:
    """The weight and the bias of a layer; a rule for what a model does not have is not used."""
    return [how(f"{ours}.weight", f"{theirs}.weight"), same(f"{ours}.bias", f"{theirs}.bias")]


def normed(ours: str, convolution: str, norm: str) -> list[Rule]:
    """A convolution and its batch norm, with what that has seen."""
    parts = ("weight", "bias", *STATISTICS)
    return [
        same(f"{ours}.weight", f"{convolution}.weight"),
        *(same(f"{ours}.norm.{part}", f"{norm}.{part}") for part in parts),
    ]


# --- queries, keys and values -----------------------------------------------------------------------------------------


def fused(pieces: Sequence[Tensor], dims: HeadDims, paired: bool) -> Tensor:
    """Of (H·K, …), (G·K, …), (G·K, …) our one: for each key-value head its queries, its key, its value."""
    q, k, v = pieces
    if paired:
        q, k = neighbours(q, dims.heads), neighbours(k, dims.groups)
    rows = [piece.reshape(dims.groups, -1, *piece.shape[1:]) for piece in (q, k, v)]
    return torch.cat(rows, dim=1).flatten(0, 1)


def unfused(own: Tensor, dims: HeadDims, paired: bool) -> list[Tensor]:
    """The opposite of `fused`."""
    widths = [dims.heads // dims.groups * dims.key_width, dims.key_width, dims.value_width]
    rows = own.reshape(dims.groups, sum(widths), *own.shape[1:])
    q, k, v = (piece.flatten(0, 1) for piece in torch.split(rows, widths, dim=1))
    return [halves(q, dims.heads), halves(k, dims.groups), v] if paired else [q, k, v]


def neighbours(x: Tensor, heads: int) -> Tensor:
    """Rows whose pairs are value i and i + K/2 of a head, as pairs of neighbours."""
    return x.reshape(heads, 2, -1, *x.shape[1:]).transpose(1, 2).flatten(0, 2)


def halves(x: Tensor, heads: int) -> Tensor:
    """The opposite of `neighbours`."""
    return x.reshape(heads, -1, 2, *x.shape[1:]).transpose(1, 2).flatten(0, 2)


# --- whole checkpoints ------------------------------------------------------------------------------------------------


def shapes_of(config: ModelConfig) -> dict[str, Tensor]:
    """The weights of a model by name, without storage."""
    with torch.device("meta"):
        return weights_of(config.build())


def used(rules: Iterable[Rule], own: Mapping[str, Tensor]) -> list[Rule]:
    """Those that speak of a tensor which the model has; every tensor must have one."""
    found = [rule for rule in rules if rule.ours in own]
    assert {rule.ours for rule in found} == own.keys(), own.keys() - {rule.ours for rule in found}
    return found


def gathered(
    config: ModelConfig, rules: Iterable[Rule], tensors: Mapping[str, Tensor], names: Iterable[str], where: str
) -> dict[str, Tensor]:
    """Our weights of theirs with these `names`, in single precision. What is missing, extra, of another shape or no
    finite number is named."""
    own = shapes_of(config)
    found = used(rules, own)
    parts = ((rule, rule.part(own[rule.ours])) for rule in found)
    shapes = {name: tuple(part.shape) for rule, some in parts for name, part in zip(rule.theirs, some, strict=True)}
    check_names(shapes.keys(), names, where)
    wrong = [
        f"{name} has shape {tuple(tensors[name].shape)} instead of {shape}"
        for name, shape in shapes.items()
        if tuple(tensors[name].shape) != shape
    ]
    if wrong:
        raise DataError(f"{where}: {'; '.join(wrong)}: the weights and config.json do not belong together")
    broken = [name for name in shapes if not torch.isfinite(tensors[name]).all()]
    if broken:
        raise DataError(f"{where}: {', '.join(broken)}: there are values that are no finite numbers (NaN or infinite)")
    return {rule.ours: rule.join([tensors[name].float() for name in rule.theirs]).contiguous() for rule in found}


def check_names(wanted: Iterable[str], there: Iterable[str], where: str) -> None:
    missing, extra = sorted(set(wanted) - set(there)), sorted(set(there) - set(wanted))
    if missing or extra:
        parts = [f"{word} {', '.join(names)}" for word, names in (("lacks", missing), ("has extra", extra)) if names]
        raise DataError(f"{where} {' and '.join(parts)}: the weights and config.json do not belong together")


def scattered(config: ModelConfig, rules: Iterable[Rule], weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their weights of ours."""
    tensors: dict[str, Tensor] = {}
    for rule in used(rules, shapes_of(config)):
        parts = zip(rule.theirs, rule.part(weights[rule.ours]), strict=True)
        tensors |= {name: part.contiguous() for name, part in parts}
    return tensors
