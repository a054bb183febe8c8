"""JSON patches of Kyverno as JSON patches of mutating admission policies.

Kyverno makes what is missing on the way to a value that is added, and passes over what is to be
removed and is not there. A JSON patch of Kubernetes does neither: so it is written for what is
there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.kube import Json, JsonObject
from celadon.migrate.cel_text import ALWAYS, Binding, Condition, conjunction, negation
from celadon.migrate.kyverno.merge_patches import Writer, pointer_to
from celadon.migrate.kyverno.queries import Names
from celadon.migrate.losses import NotTranslated
from celadon.migrate.shapes import Form, Place

_INDEX: Final = re.compile(r"\{\{\s*elementIndex0?\s*\}\}")


@dataclass(frozen=True, slots=True)
class PatchedElement:
    """The element of a `foreach`, in a list of which all elements are gone through."""

    items: Place
    variable: str
    only: Condition


@dataclass(frozen=True, slots=True)
class _Stop:
    """A place on the way of a path."""

    place: Place
    pointer: str
    type_name: str
    rest: tuple[str, ...]
    """What of the path follows it."""


def json_patch(
    place: Place,
    operations: Sequence[JsonObject],
    names: Names,
    item: PatchedElement | None = None,
) -> tuple[str, ...]:
    """Return the mutations that patches are. Raises NotTranslated."""
    return tuple(_mutation(place, one, Writer(names), item) for one in operations)


def _mutation(
    place: Place, operation: JsonObject, writer: Writer, item: PatchedElement | None
) -> str:
    kind = operation.get("op")
    stops, guards, is_in_item = _stops(place, str(operation.get("path")), item)
    if item is not None and not is_in_item:
        raise NotTranslated("a patch outside of the element")
    last = stops[-1]
    if kind == "add":
        choices = _additions(stops, operation.get("value"), writer)
    elif kind in ("remove", "replace"):
        if last.rest or (is_in_item and not last.place.steps):
            raise NotTranslated(f"`{kind}` of items")
        written = "" if kind == "remove" else _value(last, operation.get("value"), writer)
        choices = [(last.place.present(), _patch(str(kind), last.pointer, written))]
    else:
        raise NotTranslated(f"`{kind}` of a JSON patch")
    if item is None:
        return _alternatives(guards, choices)
    only = conjunction([item.only, *guards, *([choices[0][0]] if len(choices) == 1 else ())])
    text = choices[-1][1]
    for condition, patch in reversed(choices[:-1]):
        text = f"{condition.inside(Binding.OR)} ? {patch} : {text}"
    which = "" if only == ALWAYS else f"{only.text}, "
    items = item.items
    plain = f"{items.optional}.orValue([])" if items.unsure else items.plain
    return f"{plain}.transformList(index, {item.variable}, {which}{text})"


def _alternatives(guards: Sequence[Condition], choices: Sequence[tuple[Condition, str]]) -> str:
    text = "[]"
    for condition, patch in reversed(choices):
        if condition == ALWAYS:
            text = f"[{patch}]"
        else:
            text = f"{condition.inside(Binding.OR)} ? [{patch}] : {text}"
    met = conjunction(guards)
    return text if met == ALWAYS else f"{met.inside(Binding.OR)} ? ({text}) : []"


def _additions(stops: Sequence[_Stop], value: Json, writer: Writer) -> list[tuple[Condition, str]]:
    """Return patches, each for the case that so much of the path is missing, and none of the cases
    before; the last is for the case that nothing is."""
    choices, known = [], 0
    for one in stops[1:]:
        if one.rest and one.place.unsure:
            steps = tuple(
                replace(step, is_sure=True) if index < known else step
                for index, step in enumerate(one.place.steps)
            )
            known = len(steps)
            absent = negation(replace(one.place, steps=steps).present())
            whole = _value(one, _nested(one.rest, value), writer)
            choices.append((absent, _patch("add", one.pointer, whole)))
    last = _there(stops[-1])
    if last.rest:
        end = pointer_to(last.pointer, "-")
        given = writer.value(last.place.item("item"), last.type_name, value)
        return [*choices, (ALWAYS, _patch("add", end, given))]
    return [*choices, (ALWAYS, _patch("add", last.pointer, _value(last, value, writer)))]


def _there(stop: _Stop) -> _Stop:
    return _Stop(stop.place.there(), stop.pointer, stop.type_name, stop.rest)


def _nested(rest: Sequence[str], value: Json) -> Json:
    for name in reversed(rest):
        value = [value] if name == "-" else {name: value}
    return value


def _value(stop: _Stop, value: Json, writer: Writer) -> str:
    return writer.value(stop.place, stop.type_name, value)


def _patch(kind: str, pointer: str, value: str) -> str:
    return f"JSONPatch{{op: '{kind}', path: {pointer}{f', value: {value}' if value else ''}}}"


def _stops(
    place: Place, path: str, item: PatchedElement | None
) -> tuple[list[_Stop], list[Condition], bool]:
    """Return the places on the way, what must be there of lists, and whether the way leads through
    the element of a `foreach`."""
    names = [one.replace("~1", "/").replace("~0", "~") for one in path.split("/")[1:]]
    names[-1:] = ["-" if one == "-1" else one for one in names[-1:]]  # both are the end
    stops = [_Stop(place, "''", "Object", tuple(names))]
    guards: list[Condition] = []
    is_in_item = False
    for position, name in enumerate(names):
        now, rest = stops[-1], tuple(names[position + 1 :])
        if name == "-":
            break
        if _INDEX.fullmatch(name):
            if item is None or now.place.path != item.items.path:
                raise NotTranslated("the index of an element of another list")
            is_in_item = True
            pointer = f"{now.pointer[:-1]}/' + string(index)"
            stops = [_Stop(now.place.item(item.variable), pointer, now.type_name, rest)]
        elif now.place.shape.form is Form.LIST:
            if not name.isdigit():
                raise NotTranslated(f"`{name}` of a list")
            at = now.place.at(int(name))
            if not now.place.is_never_empty or name != "0" or now.place.unsure:
                guards.append(at.present())
            pointer = pointer_to(now.pointer, name)
            stops = [_Stop(at.there(), pointer, now.type_name, rest)]
        elif "{{" in name:
            raise NotTranslated("variables in paths of a patch")
        else:
            shape = now.place.shape.member(name)
            if shape is None:
                raise NotTranslated(f"`{name}`, which the kind does not have")
            member = now.place.member(name, shape)
            pointer = pointer_to(now.pointer, name)
            stops.append(_Stop(member, pointer, f"{now.type_name}.{name}", rest))
    return stops, guards, is_in_item


def operations_of(value: object) -> list[JsonObject]:
    """Return the operations of a patch, which was read from a text. Raises NotTranslated."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise NotTranslated("a JSON patch that is no list of operations")
    return value
