"""Configs: frozen, typed, strict dataclasses that come back from JSON equal.

A `Config` checks the type and range of every field when it is made. A `Part` is a config that fills a slot: it belongs
to a family ("norm", "kernel", …) and has a `kind` by which JSON, YAML and the command line name it. This room imports
no torch, so that asking for help stays quick.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from regard import extensions
from regard.errors import Error

C = TypeVar("C", bound="Config")
SMALLEST_POSITIVE = 1e-30  # what "above 0" means
OPTIONS_IN_A_MESSAGE = 10


class ConfigError(Error):
    """A wrong key, kind or value; the message says where, what was given and what is allowed."""


class UnknownOptionError(ConfigError):
    """A change of a field that does not exist. A caller that knows more about the config can use `name` to say more."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown option {name!r}: {nearest(name, known, OPTIONS_IN_A_MESSAGE)}")
        self.name = name


@dataclass(frozen=True)
class Within:
    """A range for a number: `low` and `high` are allowed, `below` is the first value that is not."""

    low: float | None = None
    high: float | None = None
    below: float | None = None

    def holds(self, value: float) -> bool:
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        low = ("above", 0.0) if self.low == SMALLEST_POSITIVE else ("of at least", self.low)
        ends = [low, ("of at most", self.high), ("below", self.below)]
        return " and ".join(f"{word} {end:g}" for word, end in ends if end is not None)


Size = Annotated[int, Within(low=1)]
Count = Annotated[int, Within(low=0)]
Rate = Annotated[float, Within(low=0, below=1)]
Positive = Annotated[float, Within(low=SMALLEST_POSITIVE)]
Weight = Annotated[float, Within(low=0)]


@dataclass(frozen=True)
class Config:
    """Base of every config. Fields are checked on construction; `check` adds rules that span several fields."""

    def __post_init__(self) -> None:
        for name, hint in fields_of(type(self)).items():
            value = _checked(getattr(self, name), hint, f"{type(self).__name__}.{name}")
            object.__setattr__(self, name, value)
        self.check()

    def check(self) -> None:
        """Raise `ConfigError` where the fields do not fit together."""


class Part(Config):
    """A config that fills a slot. `class Norm(Part, family="norm")` opens a family, `kind=` adds a member to it."""

    family: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    members: ClassVar[dict[str, type[Part]]] = {}
    keeps: ClassVar[bool] = False  # whether a part of a kind that is named alone keeps the fields of the one before

    def __init_subclass__(cls, family: str | None = None, kind: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if family is not None:
            cls.family, cls.members = family, {}
            FAMILIES[family] = cls
        if kind is not None:
            known = cls.members.get(kind)
            if known is not None and place_of(known) != place_of(cls):
                raise ConfigError(
                    f"{place_of(cls)}: {cls.family} {kind!r} is there already, {place_of(known)}; call it otherwise"
                )
            cls.kind = kind
            cls.members[kind] = cls

    @classmethod
    def taken_from(cls, other: Part) -> dict[str, Any]:
        """The fields of another part that one of this kind keeps where it takes its place."""
        return {key: getattr(other, key) for key in fields_of(cls) if key in fields_of(type(other))}


FAMILIES: dict[str, type[Part]] = {}


def place_of(cls: type) -> str:
    """Where a class is defined."""
    return f"{cls.__module__}.{cls.__qualname__}"


def kinds(family: type[Part]) -> dict[str, type[Part]]:
    """The registered members of a family, or of a branch of one, by kind, in the order in which they were defined."""
    for member in family.members.values():
        if "__dataclass_params__" not in vars(member):
            raise ConfigError(f"{place_of(member)} is no dataclass: write @dataclass(frozen=True) above it")
    return {kind: member for kind, member in family.members.items() if issubclass(member, family)}


def nearest(name: str, known: Iterable[str], most: int | None = None) -> str:
    """A clause that names the known word most like `name`, and all of them or the `most` alike: for error messages."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=most or 1, cutoff=0.0)
    guess = f"did you mean {close[0]!r}? " if close else ""
    if most is None or len(known) <= most:
        return f"{guess}(known: {', '.join(known)})"
    return f"{guess}(known: {', '.join(sorted(close))} and {len(known) - most} more)"


def fields_of(cls: type[Config]) -> dict[str, Any]:
    """Field names and their resolved type hints."""
    if cls not in _FIELDS:
        _FIELDS[cls] = _resolve(cls)
    return _FIELDS[cls]


_FIELDS: dict[type[Config], dict[str, Any]] = {}


def _resolve(cls: type[Config]) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


# --- JSON -------------------------------------------------------------------------------------------------------------


def to_dict(config: Config) -> dict[str, Any]:
    """Plain JSON values; a part says its `kind` first."""
    start = {"kind": config.kind} if isinstance(config, Part) else {}
    return start | {name: _plain(getattr(config, name)) for name in fields_of(type(config))}


def _plain(value: Any) -> Any:
    if isinstance(value, Config):
        return to_dict(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def leaves(fields: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Each value of a config's plain form by its dotted path, such as training.max_steps."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        path = _join(where, name)
        found |= leaves(value, path) if isinstance(value, Mapping) else {path: value}
    return found


def from_dict(cls: type[C], data: Mapping[str, Any], where: str = "") -> C:
    """Read a config strictly; errors name the dotted path of what is wrong."""
    if not isinstance(data, Mapping):
        raise ConfigError(f"{where or cls.__name__}: {data!r} is not a mapping of fields")
    data = dict(data)
    if issubclass(cls, Part):
        kind = data.pop("kind", cls.kind)
        cls = _member(cls, kind, where)  # type: ignore[assignment]
    hints = fields_of(cls)
    for key in data:
        if key not in hints:
            raise ConfigError(f"unknown key {_join(where, key)!r}: {nearest(key, hints)}")
    values = {key: _read(value, hints[key], _join(where, key)) for key, value in data.items()}
    if missing := [name for name in _required(cls) if name not in values]:
        raise ConfigError(f"{where or cls.__name__}: {', '.join(missing)} must be given")
    try:
        return cls(**values)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}" if where else str(error)) from None


def needs(config: Config) -> dict[str, str]:
    """The modules from outside that a config's parts are defined in, and how one asks for each."""
    found = {}
    if extensions.outside(type(config).__module__):
        found[type(config).__module__] = extensions.asked(type(config).__module__)
    for name in fields_of(type(config)):
        value = getattr(config, name)
        for inner in value if isinstance(value, tuple) else (value,):
            found |= needs(inner) if isinstance(inner, Config) else {}
    return found


def to_json(config: Config) -> str:
    return json.dumps(to_dict(config), indent=2) + "\n"


def from_json(cls: type[C], text: str) -> C:
    return from_dict(cls, json.loads(text))


def _member(cls: type[Part], kind: Any, where: str) -> type[Part]:
    if kind not in kinds(cls):
        extensions.installed()  # only now, since a package may take its time to import
    known = kinds(cls)
    if kind in known:
        return known[kind]
    place = f" at {where!r}" if where else ""
    raise ConfigError(f"unknown {cls.family} kind {kind!r}{place}: {nearest(str(kind), known)}")


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _read(value: Any, hint: Any, where: str, before: Any = None) -> Any:
    """Turn a JSON value into what the hint asks for. A part that takes the place of the one `before` is given what it
    must know from there, such as the size of the vocabulary."""
    if value == "none" and _may_be_empty(hint):
        return None
    for option in _options(hint):
        if isinstance(option, type) and issubclass(option, Config):
            if isinstance(value, str) and issubclass(option, Part):
                if option.keeps and isinstance(before, option):
                    return _change_one(before, ["kind"], value, where)
                value = {"kind": value}
            if isinstance(value, Mapping):
                return from_dict(option, {**_needed(option, value, before), **value}, where)
        if get_origin(option) is tuple and isinstance(value, list):
            item = get_args(option)[0]
            value = tuple(_read(entry, item, f"{where}[{i}]") for i, entry in enumerate(value))
    return _checked(value, hint, where)


def _needed(option: type[Config], data: Mapping[str, Any], before: Any) -> dict[str, Any]:
    """Of the fields that must be given to a part of a family, those that another one of it has."""
    if not (issubclass(option, Part) and isinstance(before, Part) and before.members is option.members):
        return {}
    member = kinds(option).get(data.get("kind", ""))
    known = to_dict(before)
    return {name: known[name] for name in (_required(member) if member else ()) if name in known}


def _required(cls: type[Config]) -> list[str]:
    """The fields that have no default."""
    return [
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]


def _may_be_empty(hint: Any) -> bool:
    """Whether "none" can only mean that a field has no value."""
    options = _options(hint)
    parts = (option for option in options if isinstance(option, type) and issubclass(option, Part))
    return types.NoneType in options and str not in options and not any("none" in kinds(part) for part in parts)


# --- values -----------------------------------------------------------------------------------------------------------


def _options(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) in (Union, types.UnionType):
        return get_args(hint)
    return (hint,)


def _checked(value: Any, hint: Any, where: str) -> Any:
    """The value, if the hint allows it; a whole number is taken where a float is asked for."""
    for option in _options(hint):
        fits, result = _fits(value, option)
        if fits:
            return result
    raise ConfigError(f"{where}: {value!r} is not allowed; it takes {takes(hint)}")


def takes(hint: Any) -> str:
    """What a field takes, in words."""
    return " or ".join(_say(option) for option in _options(hint))


def _fits(value: Any, hint: Any) -> tuple[bool, Any]:
    origin = get_origin(hint)
    if origin is Annotated:
        base, *rules = get_args(hint)
        fits, value = _fits(value, base)
        return fits and all(rule.holds(value) for rule in rules), value
    if origin is Literal:
        return any(value == choice and type(value) is type(choice) for choice in get_args(hint)), value
    if origin is tuple:
        items = [_fits(item, get_args(hint)[0]) for item in value] if isinstance(value, tuple) else []
        return isinstance(value, tuple) and all(fits for fits, _ in items), tuple(item for _, item in items)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return True, float(value)
    if hint in (int, float) and isinstance(value, bool):
        return False, value
    if hint is float and isinstance(value, float):
        return math.isfinite(value), value
    return isinstance(value, hint), value


def _say(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Annotated:
        base, *rules = get_args(hint)
        return f"{_say(base)} {' and '.join(map(str, rules))}"
    if origin is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    if origin is tuple:
        return f"a list of {_say(get_args(hint)[0])}"
    if isinstance(hint, type) and issubclass(hint, Part):
        return f"{'an' if hint.family[0] in 'aeiou' else 'a'} {hint.family} ({', '.join(kinds(hint))})"
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", types.NoneType: "none"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))


# --- changes ----------------------------------------------------------------------------------------------------------


def change(config: C, changes: Mapping[str, Any]) -> C:
    """A copy with changes: a dotted name changes one field, a bare name every field of that name at any depth (in each
    branch the first one: `width` is the model's, not that of a position inside it).

    A bare name leaves empty slots empty, unless there are no others: `norm="rms"` changes the norms there are, and adds
    none; `window="local-p"` fills the one slot of that name. The name of a family, where no field has it, changes the
    kind of all its parts, which keep what both kinds have: `stack="shared"`.

    `{"decoder.block.feedforward.hidden": 512}` changes one stack, `{"heads": 4, "norm": "rms"}` changes all of them.
    """
    later: dict[str, Any] = {}  # fields of parts that another change may put in
    for name, value in changes.items():
        steps = name.split(".")
        everywhere = len(steps) == 1 and name not in fields_of(type(config))
        changed = _change_all(config, name, value) if everywhere else _change_one(config, steps, value, "")
        changed = _change_all(config, name, value, fill=True) if changed is None else changed
        if changed is None and everywhere and name in FAMILIES:
            changed = _change_kind(config, name, value)
        if changed is None:
            later[name] = value
        else:
            config = changed
    if len(later) < len(changes):
        return change(config, later)
    for name in later:
        raise UnknownOptionError(name, _names(config))
    return config


def _change_one(config: C, steps: list[str], value: Any, where: str) -> C:
    head, *rest = steps
    hints = fields_of(type(config))
    if head == "kind" and isinstance(config, Part) and not rest:
        other = _member(FAMILIES[config.family], value, where)
        return other(**other.taken_from(config))  # type: ignore[return-value]
    path = _join(where, head)
    if head not in hints:
        raise ConfigError(f"unknown key {path!r}: {nearest(head, hints)}")
    if not rest:
        return dataclasses.replace(config, **{head: _read(value, hints[head], path, getattr(config, head))})
    inner = getattr(config, head)
    if isinstance(inner, tuple) and len(rest) > 1 and rest[0] in (places := [str(i) for i in range(len(inner))]):
        place, where = places.index(rest[0]), _join(path, rest[0])
        one = _change_one(inner[place], rest[1:], value, where)
        return dataclasses.replace(config, **{head: (*inner[:place], one, *inner[place + 1 :])})
    if not isinstance(inner, Config):
        raise ConfigError(f"{path!r} is {inner!r} and has no field {rest[0]!r}")
    return dataclasses.replace(config, **{head: _change_one(inner, rest, value, path)})


def _change_all(config: C, name: str, value: Any, fill: bool = False) -> C | None:
    """Change every field called `name` below `config`, in each branch the first one; None where there is none. Empty
    slots are none of them unless they are to be filled."""
    hints = fields_of(type(config))
    if name in hints:
        before = getattr(config, name)
        if not fill and before is None and _is_slot(hints[name]):
            return None
        return dataclasses.replace(config, **{name: _read(value, hints[name], name, before)})
    return _change_inside(config, lambda inner: _change_all(inner, name, value, fill))


def _change_kind(config: C, family: str, kind: Any) -> C | None:
    """Change the kind of every part of a family below `config`; None where there is none."""

    def change_part(inner: Config) -> Config | None:
        if isinstance(inner, Part) and inner.family == family:
            return _change_one(inner, ["kind"], kind, family)
        return _change_kind(inner, family, kind)

    return _change_inside(config, change_part)


def _change_inside(config: C, change_one: Callable[[Any], Config | None]) -> C | None:
    """Change the configs in the fields of one, and in the lists among those; None where none changes."""
    found: dict[str, Any] = {}
    for field in fields_of(type(config)):
        value = getattr(config, field)
        values = value if isinstance(value, tuple) else (value,)
        changed = [change_one(one) if isinstance(one, Config) else None for one in values]
        if any(one is not None for one in changed):
            kept = tuple(old if new is None else new for old, new in zip(values, changed, strict=True))
            found[field] = kept if isinstance(value, tuple) else kept[0]
    return dataclasses.replace(config, **found) if found else None


@dataclass(frozen=True)
class Field:
    """A field of a config, at any depth: its dotted name, its value (a part's is its kind) and what it takes."""

    name: str
    value: Any
    takes: str


def every_field(config: Config, where: str = "") -> Iterator[Field]:
    """All fields that `change` can reach, those of a part after the part."""
    for name, hint in fields_of(type(config)).items():
        value, path = getattr(config, name), _join(where, name)
        if not isinstance(value, Config) or isinstance(value, Part):
            yield Field(path, value.kind if isinstance(value, Part) else value, takes(hint))
        for inner, place in _configs_in(value, path):
            yield from every_field(inner, place)


def _configs_in(value: Any, path: str) -> list[tuple[Config, str]]:
    """The configs that a field holds, itself or in a list, and their paths."""
    if isinstance(value, tuple):
        return [(one, f"{path}.{i}") for i, one in enumerate(value) if isinstance(one, Config)]
    return [(value, path)] if isinstance(value, Config) else []


def _is_slot(hint: Any) -> bool:
    return any(isinstance(option, type) and issubclass(option, Part) for option in _options(hint))


def _names(config: Config) -> set[str]:
    """The names of all fields at any depth."""
    return {step for field in every_field(config) for step in field.name.split(".") if not step.isdecimal()}
