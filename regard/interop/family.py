"""What a family of foreign models is: one table a family says how its fields and tensors are called."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from regard.config import Config, Part, fields_of, from_dict, nearest, to_dict
from regard.errors import DataError
from regard.interop.rules import Rule, shapes_of
from regard.models import ModelConfig
from regard.nn.attention import MultiHead
from regard.nn.positions import NoPosition, PositionConfig
from regard.nn.stacks import Block, Stack, StackConfig

C = TypeVar("C", bound=Config)

ACTIVATIONS = {  # theirs → ours; of several names for one, the first is written
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu": "gelu",
    "relu": "relu",
    "silu": "swish",
    "swish": "swish",
    "relu2": "relu2",
}
GATES = {"silu": "swiglu", "swish": "swiglu", "gelu": "geglu", "relu": "reglu", "sigmoid": "glu"}
NO_MATTER = {  # for what a trained model gives
    *("init", "layout", "dropout", "weight_dropout", "hidden_dropout", "pooled_dropout", "states_dropout", "start"),
    *("side", "pixels"),  # which stand in a file of their own
}


@dataclass(frozen=True)
class Fields:
    """The fields of a foreign config.json."""

    values: Mapping[str, Any]
    where: str

    def number(self, name: str, usual: int | None = None) -> int:
        value = self.values.get(name)
        value = usual if value is None else value
        if value is None:
            raise DataError(f"{self.where} has no {name!r}: {nearest(name, self.values)}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise DataError(f"{self.where}: {name} is {value!r}; it takes a whole number")
        return value

    def real(self, name: str, usual: float) -> float:
        value = self.values.get(name, usual)
        value = usual if value is None else value
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
            raise DataError(f"{self.where}: {name} is {value!r}; it takes a number")
        return float(value)

    def flag(self, name: str, usual: bool) -> bool:
        value = self.values.get(name, usual)
        return usual if value is None else bool(value)

    def one_of(self, name: str, usual: str, known: Mapping[str, str]) -> str:
        """Our name for theirs."""
        value = str(self.values.get(name) or usual)
        if value not in known:
            raise DataError(f"{self.where}: {name} {value!r} has no counterpart: {nearest(value, known)}")
        return known[value]

    def check(self, fixed: Mapping[str, Any]) -> None:
        """Refuse what has one value alone in our models."""
        for name, only in fixed.items():
            if (given := self.values.get(name)) not in (None, only):
                raise DataError(f"{self.where}: {name} {given!r} has no counterpart here, {only!r} alone has")


@dataclass(frozen=True)
class Family:
    """`kind` is the "model_type" of its config.json. `config` reads it, and sees which tensors there are; `fields`
    writes it, and need not care for what it cannot say: what comes back from it otherwise is refused.

    The names of `rules` have no `prefix`, which the names of the body bear in a model with a head (the tensors of a
    head begin with one of `heads`). `copies` are second names of a tensor. `idle` matches what is no weight, `unread`
    the heads of other tasks, which are left out. `architecture` is the class that opens what is exported, and `adapt`
    makes of our model one that it can be: with weights of zero more, or without some that its outputs do not depend on.
    A family that is not `limited` reads texts of any length, and has no field for how long they may be. `beside` are
    tensors that the class without a head has beside ours, and that what is exported has so as well.
    """

    kind: str
    model: type[ModelConfig]
    prefix: str
    heads: tuple[str, ...]
    config: Callable[[Fields, Collection[str]], ModelConfig]
    fields: Callable[[Any, int], dict[str, Any]]  # of our config and the id of the pad token
    rules: Callable[[Any, Fields], list[Rule]]
    architecture: Callable[[Any], str]
    longest: Callable[[Fields], int]
    adapt: Callable[[Any], Any] = lambda config: config
    copies: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    idle: str = r"(?!)"
    unread: str = r"(?!)"
    limited: bool = True
    beside: Callable[[Any], dict[str, Tensor]] = lambda config: {}

    def bare(self, name: str) -> str:
        return name.removeprefix(self.prefix)

    def full(self, name: str) -> str:
        return name if name.startswith(self.heads) else self.prefix + name

    def differences(self, config: ModelConfig, pad: int) -> list[str]:
        """The fields of a config of ours that a model of this family cannot have."""
        given, own = Fields(self.fields(config, pad), self.kind), shapes_of(config)
        names = {name for rule in self.rules(config, given) if rule.ours in own for name in rule.theirs}
        return list(differing(plain(config), plain(self.config(given, names)), ""))


@dataclass(frozen=True)
class FieldRule:
    """A field of a config.json, and by its dotted name the field of our config that says the same; `also` are others
    that get the same value, unless their slot is empty.

    Where a file lacks the field, `usual` counts, or what `usual` makes of the other fields; without one it must be
    there. A field of ours that may be None is so where theirs is as usual. `names` are our words for theirs.
    """

    theirs: str
    ours: str
    usual: Any = None
    names: Mapping[Any, Any] | None = None
    also: tuple[str, ...] = ()

    def usual_in(self, given: Fields) -> Any:
        return self.usual(given) if callable(self.usual) else self.usual

    def read(self, given: Fields) -> Any:
        usual = self.usual_in(given)
        if isinstance(usual, bool):
            value = given.flag(self.theirs, usual)
            return value if self.names is None else self.names[value]
        if self.names is not None:
            return given.one_of(self.theirs, usual, self.names)
        return given.real(self.theirs, usual) if isinstance(usual, float) else given.number(self.theirs, usual)

    def write(self, config: ModelConfig, written: Fields) -> Any:
        """What stands for a field that the config does not have is of no matter: it reads as something else again."""
        value: Any = config
        for step in self.ours.split("."):
            value = getattr(plainly(value) if isinstance(value, StackConfig) else value, step, None)
        if self.names is not None:
            return next((theirs for theirs, own in self.names.items() if own == value), next(iter(self.names)))
        if value is None:
            value = self.usual_in(written)
        return 1 if value is None else value


def read_fields(base: C, rules: Sequence[FieldRule], given: Fields) -> C:
    """A config like `base`, with what the fields of a config.json say."""
    plain = to_dict(base)
    for rule in rules:
        value, usual = rule.read(given), rule.usual_in(given)
        for ours in (rule.ours, *rule.also):
            *steps, last = ours.split(".")
            inner: Any = plain
            for step in steps:
                inner = inner[step] if inner is not None else None
            if inner is not None and not (inner[last] is None and value == usual):
                inner[last] = value
    return from_dict(type(base), plain)


def written_fields(config: ModelConfig, rules: Sequence[FieldRule]) -> dict[str, Any]:
    """The fields of a config.json that say what a config of ours does."""
    found: dict[str, Any] = {}
    for rule in rules:
        found[rule.theirs] = rule.write(config, Fields(found, config.kind))
    return found


class PlainStack(NamedTuple):
    layers: int
    block: Block
    position: PositionConfig


def plainly(stack: StackConfig | None) -> PlainStack:
    """What a foreign format could say of a stack: so many plain blocks, none where there is no stack. That it is of
    another kind, is then among what differs."""
    if stack is None:
        return PlainStack(0, Block(), NoPosition())
    first = stack.distinct()[0]
    block = first if isinstance(first, Block) else Block()
    return PlainStack(getattr(stack, "layers", 1), block, getattr(stack, "position", NoPosition()))


def plain(config: C) -> C:
    """Without what only says again what would be taken anyway."""
    found: dict[str, Any] = {
        name: plain(part) for name in fields_of(type(config)) if isinstance(part := getattr(config, name), Config)
    }
    if isinstance(config, MultiHead):
        found["kv_heads"] = None if config.kv_heads == config.heads else config.kv_heads
    if isinstance(config, Stack):
        found["final_norm"] = config.block.wants_last_norm if config.final_norm is None else config.final_norm
    return replace(config, **found)


def differing(one: Config, other: Config, where: str) -> Iterator[str]:
    """What the first has otherwise than the second, as "position alibi", outermost first."""
    if isinstance(one, Part) and one.kind != other.kind:  # type: ignore[attr-defined]
        yield f"{where or one.family} {one.kind}"
        return
    for name in fields_of(type(one)):
        if name in NO_MATTER:
            continue
        ours, theirs = getattr(one, name), getattr(other, name)
        path = f"{where}.{name}" if where else name
        if isinstance(ours, Config) and isinstance(theirs, Config):
            yield from differing(ours, theirs, path)
        elif ours != theirs:
            said = getattr(ours, "kind", ours) if isinstance(ours, Part) else ours
            yield f"{path} {said}"
