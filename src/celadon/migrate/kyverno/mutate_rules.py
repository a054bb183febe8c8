"""Rules of Kyverno that mutate, as JSON patches of mutating admission policies: strategic merge
patches, JSON patches, and patches of every element of lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from celadon.kube import Json, JsonObject
from celadon.kube.schemas import resolved
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Binding,
    Condition,
    alike,
    comparison,
    conjunction,
    literal,
    member,
    negation,
    quoted,
    some,
)
from celadon.migrate.kyverno import jmespath_queries
from celadon.migrate.kyverno.conditions import conditions, joined, substituted
from celadon.migrate.kyverno.contexts import with_context
from celadon.migrate.kyverno.jmespath_expressions import read
from celadon.migrate.kyverno.pattern_translation import element
from celadon.migrate.kyverno.patterns import AnchorKind, anchor_of, has_wildcards
from celadon.migrate.schema_fields import Form, PatchTarget, Place, Shape, is_selectable
from celadon.migrate.translations import (
    NotTranslated,
    apply_configuration,
    json_patches,
    pointer_to,
)

# --- Strategic merge patches -------------------------------------------------

# A patch is taken apart into edits, each a mutation of its own, one after the other: whatever a
# value stands in is there when its turn comes. A part of the object that is absent is added whole.
# Items of lists with keys are found by what the patch says of them: by conditions like
# `(name): "?*"`, or by their key; of an absent item with a key one is added. Other lists are
# replaced, as a strategic merge does. Conditions outside of lists are conditions of the whole rule.


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch does these mutations, in their order, under the condition for all of them."""

    mutations: tuple[JsonObject, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class _GuardedTarget(PatchTarget):
    """A part of the patch goes to this place, where the items and what is around them allow it."""

    items: str = ""
    """The list whose items are edited; empty outside of lists."""
    variable: str = ""
    """What an item is called."""
    only: Condition = ALWAYS
    """Which items are edited."""
    guards: tuple[Condition, ...] = ()
    """Whether what is around it is there."""


_INDEX_VARIABLE: Final = "index"


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes values that are added whole, without anchors."""

    names: jmespath_queries.Names
    needs: list[Condition] = field(default_factory=list)
    """Whether the variables that may be null are not: what is null is not written."""

    def value(self, place: Place, type_name: str, value: Json) -> str:
        """Return a value; `type_name` is that of CEL. Raises NotTranslated."""
        if isinstance(value, Mapping):
            return self.object(place, type_name, value)
        if isinstance(value, list):
            item = place.item("item")
            texts = [self.value(item, type_name, entry) for entry in value]
            # Objects are of their type, whatever is in them.
            plain = ["" if isinstance(entry, Mapping) else entry for entry in value]
            return f"[{', '.join(alike(plain, texts))}]"
        return self.text(value)

    def object(self, place: Place, type_name: str, value: Mapping[str, Json]) -> str:
        """Return an object, or a map where its keys are no fields. Raises NotTranslated."""
        texts = []
        names = {key: anchor.key if (anchor := anchor_of(key)) else key for key in value}
        # A typed object (`Object.spec{…}`) has fields with names of CEL only; what else there is
        # can be written as a map.
        is_map = place.shape.form is Form.MAP or not all(map(is_selectable, names.values()))
        for key, entry in value.items():
            anchor = anchor_of(key)
            if anchor is not None and anchor.kind is not AnchorKind.ADDITION:
                raise NotTranslated("conditions in what may have to be added")
            shape = place.shape.member(names[key])
            if shape is None or names[key] in _DIRECTIVES:
                raise _without_field(names[key])
            inside = place.member(names[key], shape)
            texts.append(self.value(inside, f"{type_name}.{names[key]}", entry))
        if is_map:
            texts = alike(value.values(), texts)
        members = [
            f"{quoted(name) if is_map else name}: {text}"
            for name, text in zip(names.values(), texts, strict=True)
        ]
        return f"{'' if is_map else type_name}{{{', '.join(members)}}}"

    def check(self, value: Json) -> None:
        """Check a value that is written. Raises NotTranslated if a part of what was written may be
        null, and another not."""
        if self.needs and (len(self.needs) < _leaves(value) or len(set(self.needs)) > 1):
            raise NotTranslated("a value that may be null, beside others")

    def text(self, value: Json) -> str:
        """Return a value that is no object: a literal, or a text with variables."""
        if not isinstance(value, str) or "{{" not in value:
            return literal(value)
        parts = [item for item in substituted(value, self.names) if item != ""]
        if len(parts) == 1 and isinstance(
            parts[0], jmespath_queries.Chosen | jmespath_queries.Otherwise
        ):
            computed = jmespath_queries.single(parts[0])
            if computed.presence != ALWAYS:
                self.needs.append(computed.presence)
                return computed.text
        # Without the value of a variable Kyverno's rule fails, and so does the policy.
        return joined(parts, fails=True)


@dataclass
class _Edits:
    names: jmespath_queries.Names
    element: Element | None = None
    mutations: list[str] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)

    # Walking.

    def fields(self, spot: _GuardedTarget, patch: Mapping[str, Json]) -> None:
        """Edit an object or map that is there."""
        for key, value in patch.items():
            anchor = anchor_of(key)
            name = anchor.key if anchor else key
            if "{{" in name or has_wildcards(name):
                # A JSON pointer names its keys.
                raise NotTranslated(
                    "a patch of keys that are not known",
                    "Name the keys, or make the patches from the object's keys in CEL.",
                )
            if anchor is None or anchor.kind is AnchorKind.ADDITION:
                self._member(spot, name, value, replaces=anchor is None)
            elif anchor.kind in (AnchorKind.CONDITION, AnchorKind.GLOBAL):
                if spot.items:
                    raise NotTranslated(
                        "conditions inside of items",
                        "Go through the list with `foreach`, with the condition as a precondition.",
                    )
                condition = _held(spot.place, {name: value})
                self.conditions.append(conjunction([*spot.guards, condition]))
            else:
                raise NotTranslated(f"the anchor `{key}` in a patch")

    def _member(self, spot: _GuardedTarget, name: str, value: Json, *, replaces: bool) -> None:
        shape = spot.place.shape.member(name)
        if shape is None or name in _DIRECTIVES:
            raise _without_field(name)
        below = spot.member(name, shape)
        condition = below.place.present()
        if not replaces:
            self._add(below, negation(condition), value)
        elif isinstance(value, Mapping):
            # What is absent is added whole; edits of its parts would have nothing to point at.
            if condition != ALWAYS and not _has_conditions(value):
                self._add(below, negation(condition), value)
            guards = (*spot.guards, condition)
            self.fields(replace(below, place=below.place.there(), guards=guards), value)
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            self._items(below, value)
        else:
            self._add(below, ALWAYS, value)

    def _items(self, spot: _GuardedTarget, items: Sequence[Json]) -> None:
        keys = _keys(spot.place)
        if not keys:
            if any(_has_anchor(item) for item in items):
                raise NotTranslated("conditions on items of a list without keys")
            self._add(spot, ALWAYS, list(items))
            return
        # Kyverno puts new items in front of those that are there (kyaml's `ListPrepend`), in the
        # order of the patch: so the last of them comes first.
        for item in reversed(items):
            if not isinstance(item, Mapping):
                raise NotTranslated("items that are no objects")
            self._item(spot, keys, item)

    def _item(self, spot: _GuardedTarget, keys: Sequence[str], item: Mapping[str, Json]) -> None:
        conditions, rest = _split(item)
        if _is_element(keys, item):
            self._of_element(spot, keys, conditions, rest)
            return
        if not conditions and _asks_only(item):
            conditions, rest = _stripped(item), {}
            self.conditions.append(_some_item(spot.place, conditions))
            return
        variable = spot.place.item_name
        place = spot.place.there().item(variable)
        if conditions:
            only = _held(place, conditions)
            if any(a.kind is AnchorKind.GLOBAL for key in item if (a := anchor_of(key))):
                self.conditions.append(spot.place.some(variable, only))
                only = ALWAYS if rest else NEVER
            if set(conditions) & set(rest):
                raise NotTranslated("a patch of what is a condition")
            if spot.items and rest:
                raise NotTranslated("conditions on lists in lists")
            if rest:
                self._each(spot, only, rest)
            return
        if not set(keys) <= set(rest):
            raise NotTranslated("an item without its key")
        same = conjunction(
            comparison(f"{variable}.{key}", "==", Writer(self.names).text(rest[key]))
            for key in keys
        )
        condition = spot.place.present()
        items = spot.place.there()
        exists = some(items.plain, variable, same)
        self._add(spot, negation(condition), [dict(rest)])
        if spot.items:
            remaining = f"{items.plain}.filter({variable}, {negation(same).text})"
            writer = Writer(self.names)
            item_text = writer.object(place, spot.type_name, rest)
            writer.check(rest)
            self._write(
                spot,
                conjunction([condition, exists, *writer.needs]),
                f"{remaining} + [{item_text}]",
            )
        front = replace(spot, pointer=pointer_to(spot.pointer, "0"), place=place)
        self._add(front, conjunction([condition, negation(exists)]), rest)
        if not spot.items:
            self._each(spot, same, {k: v for k, v in rest.items() if k not in keys})

    def _of_element(
        self,
        spot: _GuardedTarget,
        keys: Sequence[str],
        conditions: Mapping[str, Json],
        rest: Mapping[str, Json],
    ) -> None:
        """Edit the element of a `foreach`. One of another list than that of the patch has the key
        of no item there; without a condition on the key, it would be added."""
        if self.element is not None and spot.place.path == self.element.path:
            self._each(spot, self.element.only, {k: v for k, v in rest.items() if k not in keys})
        elif not set(keys) <= set(conditions):
            raise NotTranslated(
                "an element of another list than that of the patch",
                "Go through the list that is patched, and ask for the other in preconditions.",
            )

    def _each(self, spot: _GuardedTarget, only: Condition, rest: Mapping[str, Json]) -> None:
        """Edit the items of a list for which a condition holds."""
        variable = spot.place.item_name
        place = spot.place.there().item(variable)
        items = f"{spot.place.optional}.orValue([])" if spot.place.unsure else spot.place.plain
        pointer = f"{spot.pointer[:-1]}/' + string({_INDEX_VARIABLE})"
        self.fields(_GuardedTarget(place, pointer, spot.type_name, items, variable, only), rest)

    # Writing.

    def _add(self, spot: _GuardedTarget, condition: Condition, value: Json) -> None:
        if condition != NEVER:
            writer = Writer(self.names)
            text = writer.value(spot.place, spot.type_name, value)
            writer.check(value)
            self._write(spot, conjunction([condition, *writer.needs]), text)

    def _write(self, spot: _GuardedTarget, condition: Condition, value: str) -> None:
        patch = f"JSONPatch{{op: 'add', path: {spot.pointer}, value: {value}}}"
        if spot.items:
            only = conjunction([spot.only, condition])
            guard = "" if only == ALWAYS else f"{only.text}, "
            text = f"{spot.items}.transformList({_INDEX_VARIABLE}, {spot.variable}, {guard}{patch})"
        elif condition == ALWAYS:
            text = f"[{patch}]"
        else:
            text = f"{condition.inside(Binding.OR)} ? [{patch}] : []"
        self.mutations.append(text)


def _leaves(value: Json) -> int:
    """Return how many values stand in an object or list that are neither."""
    if isinstance(value, Mapping):
        return sum(map(_leaves, value.values()))
    return sum(map(_leaves, value)) if isinstance(value, list) else 1


def _has_conditions(value: Json) -> bool:
    """Return whether there are conditions in objects of a patch, outside of lists."""
    return isinstance(value, Mapping) and any(
        ((anchor := anchor_of(key)) and anchor.kind is not AnchorKind.ADDITION)
        or _has_conditions(value)
        or (isinstance(value, list) and _has_item_conditions(value))
        for key, value in value.items()
    )


def _has_item_conditions(items: Sequence[Json]) -> bool:
    return any(map(_has_conditions, items))


def _has_anchor(value: Json) -> bool:
    if isinstance(value, Mapping):
        return any(anchor_of(key) or _has_anchor(value) for key, value in value.items())
    return isinstance(value, list) and any(map(_has_anchor, value))


def _is_element(keys: Sequence[str], item: Mapping[str, Json]) -> bool:
    """Return whether an item of a patch is the element of a `foreach`: it has its key."""
    texts = {
        anchor.key if (anchor := anchor_of(key)) else key: str(value) for key, value in item.items()
    }
    named = [_ELEMENT.fullmatch(texts.get(key, "").strip()) for key in keys]
    return all(item and item[1] == key for item, key in zip(named, keys, strict=True))


def _asks_only(value: Json) -> bool:
    """Return whether all that an item of a patch says is a condition."""
    return isinstance(value, Mapping) and all(
        ((anchor := anchor_of(key)) and anchor.kind is AnchorKind.GLOBAL) or _asks_only(value)
        for key, value in value.items()
    )


def _stripped(value: Json) -> Any:  # noqa: ANN401 - a pattern without anchors
    if not isinstance(value, Mapping):
        return value
    return {
        anchor.key if (anchor := anchor_of(key)) else key: _stripped(value)
        for key, value in value.items()
    }


def _some_item(place: Place, pattern: Mapping[str, Json]) -> Condition:
    """Return whether an item of a list is like a pattern."""
    variable = place.item_name
    return place.some(variable, element(place.there().item(variable), pattern).passes())


def _split(item: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the conditions of an item, and what is patched."""
    conditions, rest = {}, {}
    for key, value in item.items():
        anchor = anchor_of(key)
        if anchor is not None and anchor.kind in (AnchorKind.CONDITION, AnchorKind.GLOBAL):
            conditions[anchor.key] = value
        else:
            rest[key] = value
    return conditions, rest


def _keys(place: Place) -> tuple[str, ...]:
    schema = place.shape.schema
    if schema is None:
        raise NotTranslated("lists of a kind that is not known")
    resolved_schema = resolved(schema)
    return tuple(resolved_schema.list_map_keys) if resolved_schema.list_type == "map" else ()


def _held(place: Place, pattern: Mapping[str, Json]) -> Condition:
    return element(place, pattern).passes()


@dataclass(frozen=True, slots=True)
class Element:
    """The element of a `foreach`: in which list, and which items are meant."""

    path: str
    only: Condition


_ELEMENT: Final = re.compile(r"\{\{\s*element\.(\w+)\s*\}\}")


def merge_patch(
    place: Place,
    patch: Mapping[str, Json],
    names: jmespath_queries.Names,
    item: Element | None = None,
) -> Patch:
    """Return what a patch does to an object. Raises NotTranslated."""
    edits = _Edits(names, item)
    edits.fields(_GuardedTarget(place, "''", "Object"), patch)
    condition = conjunction(edits.conditions)
    merged = _stripped_of_conditions(patch)
    if edits.mutations and merged and _is_merged(place.shape, merged):
        writer = Writer(names)
        text = writer.object(place, "Object", merged)
        writer.check(merged)
        condition = conjunction([condition, *writer.needs])
        return Patch((apply_configuration(text),), condition)
    return Patch(tuple(json_patches(edits.mutations)), condition)


def _stripped_of_conditions(patch: Mapping[str, Json]) -> dict[str, Json]:
    """Return a patch without what is only asked of the object."""
    result: dict[str, Json] = {}
    for key, value in patch.items():
        anchor = anchor_of(key)
        if anchor is None or anchor.kind is AnchorKind.ADDITION:
            inside = _stripped_of_conditions(value) if isinstance(value, Mapping) else value
            if inside != {} or value == {}:
                result[key] = inside
    return result


def _is_merged(shape: Shape, patch: Json) -> bool:
    """Return whether an ApplyConfiguration says the same as a patch: it sets fields, or entries of
    maps, of what is not changed as a whole only."""
    if not isinstance(patch, Mapping):
        return patch is not None and not isinstance(patch, list)
    if shape.schema is None or shape.form not in (Form.FIELDS, Form.MAP):
        return False
    if resolved(shape.schema).map_type == "atomic" or not patch:
        return False
    is_named = shape.form is Form.MAP or all(map(is_selectable, patch))
    return is_named and all(
        anchor_of(key) is None
        and (inside := shape.member(key)) is not None
        and _is_merged(inside, value)
        for key, value in patch.items()
    )


# --- JSON patches ------------------------------------------------------------

# JSON patches of Kyverno as JSON patches of mutating admission policies.
#
# Kyverno makes what is missing on the way to a value that is added, and passes over what is to be
# removed and is not there. A JSON patch of Kubernetes does neither: so it is written for what is
# there.

_INDEX: Final = re.compile("[0-9]{1,9}")
_ELEMENT_INDEX: Final = re.compile(r"\{\{\s*elementIndex0?\s*\}\}")


@dataclass(frozen=True, slots=True)
class PatchedElement:
    """The element of a `foreach`, in a list of which all elements are gone through."""

    items: Place
    variable: str
    only: Condition


@dataclass(frozen=True, slots=True)
class _Stop(PatchTarget):
    """A place on the way of a path."""

    following_steps: tuple[str, ...]
    """What of the path follows it."""


def json_patch(
    place: Place,
    operations: Sequence[JsonObject],
    names: jmespath_queries.Names,
    item: PatchedElement | None = None,
) -> tuple[JsonObject, ...]:
    """Return the mutations that patches are. Raises NotTranslated."""
    return tuple(
        json_patches(_mutation(place, operation, Writer(names), item) for operation in operations)
    )


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
        if last.following_steps or (is_in_item and not last.place.steps):
            raise NotTranslated(f"`{kind}` of items", _LIST_ANEW)
        written = "" if kind == "remove" else _value(last, operation.get("value"), writer)
        choices = [(last.place.present(), _patch(str(kind), last.pointer, written))]
    else:
        raise NotTranslated(f"`{kind}` of a JSON patch")
    writer.check(operation.get("value"))
    guards += writer.needs
    if kind == "add" and last.following_steps == ("-",):
        guards.append(negation(_is_in(last.place, operation.get("value"), writer)))
    if item is None:
        return _alternatives(guards, choices)
    only = conjunction([item.only, *guards, *([choices[0][0]] if len(choices) == 1 else ())])
    text = choices[-1][1]
    for condition, patch in reversed(choices[:-1]):
        text = f"{condition.inside(Binding.OR)} ? {patch} : {text}"
    guard = "" if only == ALWAYS else f"{only.text}, "
    items = item.items
    plain = f"{items.optional}.orValue([])" if items.unsure else items.plain
    return f"{plain}.transformList(index, {item.variable}, {guard}{text})"


def _is_in(items: Place, value: Json, writer: Writer) -> Condition:
    """Return whether a list has an item with all that a value says, which would be there twice
    after every update; never of values with lists in them."""
    if isinstance(value, Mapping):
        variable = items.item_name
        same = _says(items.there().item(variable), value, writer)
        return NEVER if same is None else items.some(variable, same)
    return NEVER if isinstance(value, list) else member(writer.text(value), items.items)


def _says(place: Place, value: Mapping[str, Json], writer: Writer) -> Condition | None:
    """Return whether an object has all members of a value; None of one with lists in it."""
    result: list[Condition | None] = []
    for name, entry in value.items():
        shape = place.shape.member(name)
        if shape is None or isinstance(entry, list):
            return None
        member = place.member(name, shape)
        present_member = member.there()
        result.append(member.present())
        if isinstance(entry, Mapping):
            result.append(_says(present_member, entry, writer))
        else:
            result.append(comparison(present_member.plain, "==", writer.text(entry)))
    return None if None in result else conjunction(filter(None, result))


def _alternatives(guards: Sequence[Condition], choices: Sequence[tuple[Condition, str]]) -> str:
    text = "[]"
    for condition, patch in reversed(choices):
        if condition == ALWAYS:
            text = f"[{patch}]"
        else:
            text = f"{condition.inside(Binding.OR)} ? [{patch}] : {text}"
    guard = conjunction(guards)
    return text if guard == ALWAYS else f"{guard.inside(Binding.OR)} ? ({text}) : []"


def _additions(stops: Sequence[_Stop], value: Json, writer: Writer) -> list[tuple[Condition, str]]:
    """Return patches, each for the case that so much of the path is missing, and none of the cases
    before; the last is for the case that nothing is."""
    choices, known_steps = [], 0
    for stop in stops[1:]:
        if stop.following_steps and stop.place.unsure:
            steps = tuple(
                replace(step, is_sure=True) if index < known_steps else step
                for index, step in enumerate(stop.place.steps)
            )
            known_steps = len(steps)
            absent = negation(replace(stop.place, steps=steps).present())
            whole = _value(stop, _nested(stop.following_steps, value), writer)
            choices.append((absent, _patch("add", stop.pointer, whole)))
    last = _there(stops[-1])
    if last.following_steps:
        end = pointer_to(last.pointer, "-")
        text = writer.value(last.place.item("item"), last.type_name, value)
        return [*choices, (ALWAYS, _patch("add", end, text))]
    return [*choices, (ALWAYS, _patch("add", last.pointer, _value(last, value, writer)))]


def _there(stop: _Stop) -> _Stop:
    return replace(stop, place=stop.place.there())


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
    names = [text.replace("~1", "/").replace("~0", "~") for text in path.split("/")[1:]]
    names[-1:] = ["-" if name == "-1" else name for name in names[-1:]]  # both are the end
    stops = [_Stop(place, "''", "Object", tuple(names))]
    guards: list[Condition] = []
    is_in_item = False
    for position, name in enumerate(names):
        now, rest = stops[-1], tuple(names[position + 1 :])
        if name == "-":
            break
        if _ELEMENT_INDEX.fullmatch(name):
            if item is None or now.place.path != item.items.path:
                raise NotTranslated("the index of an element of another list", _FOREACH_OF_THE_PATH)
            is_in_item = True
            pointer = f"{now.pointer[:-1]}/' + string(index)"
            stops = [_Stop(now.place.item(item.variable), pointer, now.type_name, rest)]
        elif now.place.shape.form is Form.LIST:
            if not _INDEX.fullmatch(name):
                raise NotTranslated(
                    f"`{name}` of a list",
                    "Name the item by its index, or go through the list with `foreach`.",
                )
            item_place = now.place.at(int(name))
            if not now.place.is_never_empty or name != "0" or now.place.unsure:
                guards.append(item_place.present())
            pointer = pointer_to(now.pointer, name)
            stops = [_Stop(item_place.there(), pointer, now.type_name, rest)]
        elif "{{" in name:
            raise NotTranslated("variables in paths of a patch")
        else:
            shape = now.place.shape.member(name)
            if shape is None:
                raise _without_field(name)
            stops.append(replace(now.member(name, shape), following_steps=rest))
    return stops, guards, is_in_item


def operations_of(value: object) -> list[JsonObject]:
    """Return the operations of a patch, which was read from a text. Raises NotTranslated."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise NotTranslated(
            "a JSON patch that is no list of operations",
            "Write the operations as a list in YAML, without variables around them.",
        )
    return value


# --- Rules -------------------------------------------------------------------

# What a rule of Kyverno changes: patches, and patches of every element of lists.

MUTATE_FIELDS: Final = frozenset({"patchStrategicMerge", "patchesJson6902", "foreach"})
_FOREACH: Final = frozenset(
    {"context", "list", "patchStrategicMerge", "patchesJson6902", "preconditions", "order"}
)


def mutation(place: Place, mutate: JsonObject, names: jmespath_queries.Names) -> Patch:
    """Return what a rule does to an object. Raises NotTranslated."""
    if "foreach" in mutate:
        every = [item for entry in mutate["foreach"] for item in _for_each(place, entry, names)]
        result: list[JsonObject] = []
        for mutation in (mutation for item in every for mutation in item.mutations):
            result += [] if mutation in result else [mutation]
        patch = Patch(tuple(result), conjunction(item.condition for item in every))
    elif "patchesJson6902" in mutate:
        operations = operations_of(mutate["patchesJson6902"])
        patch = Patch(json_patch(place, operations, names), ALWAYS)
    else:
        patch = merge_patch(place, mutate.get("patchStrategicMerge") or {}, names)
    if not patch.mutations:
        raise NotTranslated("a patch that changes nothing")
    return patch


_LIST_ANEW: Final = "Replace the whole list in CEL, by its items without, or with, what is meant."
_FOREACH_OF_THE_PATH: Final = "Let `list` of the `foreach` be the list that `path` leads to."


def _without_field(name: str) -> NotTranslated:
    """Return that a kind has no field of this name, or that it is a directive."""
    if name in _DIRECTIVES:
        return NotTranslated(f"the directive `{name}`", _DIRECTIVES[name])
    return NotTranslated(f"`{name}`, which the kind does not have")


_DIRECTIVES: Final = {
    "$patch": "Remove or replace with `patchesJson6902`; items that are found by keys, in CEL.",
    "$retainKeys": "Remove the other keys with `patchesJson6902`.",
}
"""What a strategic merge patch says beside fields, also in maps, where it would be a key."""


def _for_each(place: Place, entry: JsonObject, names: jmespath_queries.Names) -> list[Patch]:
    unknown = set(entry) - _FOREACH
    if unknown:
        raise NotTranslated(f"`{min(unknown)}` in foreach", _LIST_ANEW)
    branches = jmespath_queries.elements(read(str(entry["list"]), names))
    if "patchesJson6902" in entry:
        branches = [branch for branch in branches if _is_patched(entry["patchesJson6902"], branch)]
        if not branches:
            raise NotTranslated(
                "a JSON patch of no list that is gone through", _FOREACH_OF_THE_PATH
            )
    return [_of_element(place, entry, names, branch) for branch in branches]


def _is_patched(operations: object, branch: jmespath_queries.Branch) -> bool:
    """Return whether JSON patches are for elements of a list: all paths lead into it."""
    start = f"/{branch.sources[0].place.path.replace('.', '/')}/"
    return all(str(item.get("path")).startswith(start) for item in operations_of(operations))


def _of_element(
    place: Place, entry: JsonObject, names: jmespath_queries.Names, branch: jmespath_queries.Branch
) -> Patch:
    if len(branch.sources) != 1:
        raise NotTranslated("a patch of elements of lists in each other")
    (source,) = branch.sources
    assert isinstance(branch.value, jmespath_queries.Located)
    if branch.value.place.path != f"{source.place.path}[*]":
        raise NotTranslated("a patch of a part of an element")
    item = replace(branch.value.place.there(), reserved_names=frozenset({source.variable}))
    inside = with_context(
        entry.get("context") or (),
        jmespath_queries.Names({**names.members, "element": jmespath_queries.Located(item)}),
    )
    only = source.only
    if entry.get("preconditions"):
        only = conjunction([only, conditions(entry["preconditions"], inside)])
    if "patchesJson6902" in entry:
        element = PatchedElement(source.place, source.variable, only)
        operations = operations_of(entry["patchesJson6902"])
        return Patch(json_patch(place, operations, inside, element), ALWAYS)
    patch = entry.get("patchStrategicMerge") or {}
    if not source.place.is_never_empty and len(patch) > 1:
        raise NotTranslated("a patch for a list that may be empty, and of what is outside of it")
    return merge_patch(place, patch, inside, Element(source.place.path, only))
