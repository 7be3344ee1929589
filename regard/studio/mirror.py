"""Schemas of answers, made from the dataclasses that they mirror."""

from __future__ import annotations

import dataclasses
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import create_model

from regard.look.records import Record

ARRAYS = dict[str, list[Any]]  # lists of lists of numbers by name; spelt out, their depth would be lost


@cache
def mirrored(record: type) -> Any:
    """The model of a dataclass: its name, its docstring and all of its fields, which every answer has. What its fields
    hold is mirrored in turn; a record of looking has its version and its arrays beside them."""
    hints = get_type_hints(record)
    fields = {field.name: answered(hints[field.name]) for field in dataclasses.fields(record)}
    if issubclass(record, Record):
        fields |= {"version": int, "arrays": ARRAYS}
    required: dict[str, Any] = {name: (hint, ...) for name, hint in fields.items()}
    return create_model(record.__name__, __doc__=record.__doc__, **required)


def answered(hint: Any) -> Any:
    """A type with the models of all dataclasses in it."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return mirrored(hint)
    if (origin := get_origin(hint)) in (None, Literal):
        return hint
    inside = tuple(answered(one) for one in get_args(hint))
    return Union[inside] if origin in (Union, UnionType) else origin[inside]  # noqa: UP007
