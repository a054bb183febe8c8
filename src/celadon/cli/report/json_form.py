"""Reports for programs: JSON and YAML, made of the records of a report themselves.

A record becomes an object with its fields, names in camel case, what is empty left out (false and 0
are not empty). Where the document has other names, another order or fewer members, a shape says
so: the names of its members in their order, as

    "place"             the field of this name
    "reason=silence"    the member `reason`, from the field `silence`; it may be `place.line`
    "line?"             left out also where it is 0 or false
    "message!"          kept although it is empty
    "*place"            the members of that record, in its stead
    ("code", function)  the member `code`, which a function makes of the record

A shape may also be a function that makes plain data of a record.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, TypeAlias

from celadon.cli.check.check_report import Notice, Place, PolicyError, UnaskedPlugin
from celadon.cli.reading.problems import Problem
from celadon.cli.report.plain_text import yaml_text
from celadon.cli.report.report_model import ReportView
from celadon.kube import Json, JsonObject

API_VERSION: Final = "celadon/v1"

Member: TypeAlias = str | tuple[str, Callable[[Any], Any]]
Shape: TypeAlias = tuple[Member, ...] | Callable[[Any], Any]
Shapes: TypeAlias = Mapping[type, Shape]

SHAPES: Final[Shapes] = {
    Place: ("file", "line?"),
    Problem: ("file", "line?", "column?", "message", "help"),
    PolicyError: ("*place", "kind", "name", "message"),
    Notice: ("*place", "reason=silence", "message", "help"),
    UnaskedPlugin: ("plugin", "reason=why", "objects?"),
}
"""The shapes of what all reports have."""


def as_json(view: ReportView[Any]) -> str:
    """The document with two spaces of indentation, text as it is."""
    return f"{json.dumps(view.data(), indent=2, ensure_ascii=False)}\n"


def as_yaml(view: ReportView[Any]) -> str:
    """The same document as YAML, keys in the same order."""
    return yaml_text(view.data())


def json_line(value: JsonObject) -> str:
    """A line of JSON lines."""
    return f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n"


def document(kind: str, shapes: Shapes = SHAPES, /, **members: object) -> dict[str, Any]:
    """A document of ours; at its top, empty members are kept."""
    about = {"apiVersion": API_VERSION, "kind": kind}
    return about | {name: data(value, shapes) for name, value in members.items()}


def data(value: Any, shapes: Shapes = SHAPES) -> Any:  # noqa: ANN401 - JSON of anything in a report
    """Plain data of a value."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind: type = type(value)
    shape = _shape_of(kind, shapes)
    if callable(shape):
        return shape(value)
    if shape is not None:
        return _members(value, shape, shapes)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): data(item, shapes) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [data(item, shapes) for item in value]
    fields = _fields(kind)
    return _members(value, fields, shapes) if fields else str(value)


def filled(**members: object) -> dict[str, Any]:
    """The members that are not empty."""
    return {name: value for name, value in members.items() if not _is_empty(value)}


def sparse(*members: Member) -> tuple[Member, ...]:
    """A shape in which 0 and false are left out, too."""
    return tuple(
        f"{one}?" if isinstance(one, str) and one[-1] not in "?!" else one for one in members
    )


def plugins(asked: Sequence[str], unasked: Sequence[UnaskedPlugin]) -> dict[str, Json]:
    """Return which of the server's own plugins were asked, and which could not be."""
    return {"asked": list(asked), "unasked": data(unasked)}


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict) and not value)


def _shape_of(kind: type, shapes: Shapes) -> Shape | None:
    shape = shapes.get(kind)
    if shape is None:
        shape = next((shapes[base] for base in kind.__mro__[1:] if base in shapes), None)
    return shape


@functools.cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a record in their order; none of what is no record."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple(field.name for field in dataclasses.fields(kind))


def _members(record: object, shape: tuple[Member, ...], shapes: Shapes) -> JsonObject:
    found: dict[str, object] = {}
    for member in shape:
        name, make, mark = _read(member)
        value = data(make(record), shapes)
        if name == "*":
            found |= value if value is not None else {}
        elif mark == "!" or not (_is_empty(value) or (mark == "?" and not value)):
            found[name] = value
    return found


@functools.cache
def _read(member: Member) -> tuple[str, Callable[[Any], Any], str]:
    """The name of a member, how it is made of a record, and its mark."""
    if not isinstance(member, str):
        return *member, ""
    mark = member[-1] if member[-1] in "?!" else ""
    text = member.removesuffix(mark) if mark else member
    if text.startswith("*"):
        return "*", attrgetter(text[1:]), mark
    name, _, attribute = text.partition("=")
    return (name if attribute else camel(name)), attrgetter(attribute or name), mark


def camel(name: str) -> str:
    """A name of ours as JSON has it: `policyErrors`."""
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)
