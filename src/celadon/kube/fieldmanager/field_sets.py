"""Sets of fields of an object, as tries, and their FieldsV1 form.

A `FieldSet` has the elements that are `members` themselves, and below elements further sets. An
element may be one, the other, or both. As structured-merge-diff `fieldpath/{set,serialize}.go`.

INVARIANT (no empty children): a set below an element is never empty.
"""

from __future__ import annotations

import functools
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import json_text, quote
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.memoization import LONGEST, remembering

# --- Field elements ----------------------------------------------------------
#
# Elements of the paths in field sets, in the form in which FieldsV1 writes them.
#
#     f:name                     a field, or a key of a map
#     k:{"name":"c"}             an item of a list with keys
#     v:"x"                      an item of a set
#     i:0                        an item by its index (nobody writes these)
#
# An element is its canonical text, so that two elements are equal when their texts are. As
# structured-merge-diff `fieldpath/{element,serialize-pe}.go`.

FIELD: Final = "f:"
KEY: Final = "k:"
VALUE: Final = "v:"
INDEX: Final = "i:"

_KINDS: Final = (FIELD, KEY, VALUE, INDEX)

UNDEFINED: Final = VALUE + "{{undefined}}"
"""Of the item of a set that is no JSON value."""


class FieldSetError(MalformedText):
    """A FieldsV1 value that cannot be read."""


def key_element(members: JsonObject) -> str:
    """Return the path element of the item of a list with keys; `members` are the values of its
    keys."""
    ordered_members = dict(sorted(members.items()))
    values = tuple(ordered_members.values())
    return plain_key_element(tuple(ordered_members), values) or KEY + json_text(ordered_members)


def plain_key_element(keys: tuple[str, ...], values: tuple[Json, ...]) -> str:
    """Return the same for keys in their order, if all values are short texts and integers; else
    empty."""
    for value in values:
        if value.__class__ is str:
            if len(value) > LONGEST:
                return ""
        elif value.__class__ is not int:
            return ""
    return _plain_key_element(keys, values)


def _key_element(keys: tuple[str, ...], values: tuple[str | int, ...]) -> str:
    return KEY + json_text(dict(zip(keys, values, strict=True)))


_plain_key_element: Final = functools.lru_cache(maxsize=4096)(_key_element)


def text_key_element(key: str, value: str) -> str:
    """Return the same for one key with a text, which is what most lists have."""
    return (_plain_key_element if len(value) <= LONGEST else _key_element)((key,), (value,))


def value_element(value: object) -> str:
    """Return the path element of the item of a set."""
    return VALUE + json_text(value)


@remembering(4096)
def canonical(text: str) -> str:
    """Return an element as others have written it; empty for one of a kind that nobody knows, which
    is passed over. FieldSetError when it cannot be read."""
    if text[1:2] != ":":
        raise FieldSetError(f"missing colon: {text}" if len(text) > 1 else "key too short")
    kind, rest = text[:2], text[2:]
    if kind == FIELD:
        return text
    if kind not in _KINDS:
        return ""
    try:
        value = json.loads(rest)
    except ValueError as error:
        raise FieldSetError(str(error)) from None
    if kind == VALUE:
        return value_element(value)
    if kind == INDEX and value.__class__ is int:
        return INDEX + str(value)
    if kind == KEY and isinstance(value, dict):
        return key_element(value)
    raise FieldSetError(f"not an element: {text}")


def ordered(elements: Iterable[str]) -> list[str]:
    """Fields by name, then items by their keys, by value, by index."""
    result = sorted(elements)
    if len(result) < 2 or result[-1] < INDEX:  # fields only: texts and names have the same order
        return result
    return sorted(result, key=_order)


@remembering(4096)
def _order(element: str) -> tuple[object, ...]:
    kind, rest = element[:2], element[2:]
    if kind == FIELD:
        return (0, rest)
    value = json.loads(rest)
    if kind == KEY:
        return (1, [(name, _value_order(member)) for name, member in value.items()])
    return (2, _value_order(value)) if kind == VALUE else (3, value)


def _value_order(value: object) -> tuple[int, Json]:
    """Numbers, texts, booleans, lists, maps, null."""
    match value:
        case bool():
            return (2, value)
        case int() | float():
            return (0, value)
        case str():
            return (1, value)
        case list():
            return (3, [_value_order(item) for item in value])
        case dict():
            return (4, [(key, _value_order(value[key])) for key in sorted(value)])
    return (5, 0)


def step_text(element: str) -> str:
    """Return the element in the path that a message shows: `.name`, `[name="c"]`, `[="x"]`."""
    kind, rest = element[:2], element[2:]
    if kind == FIELD:
        return f".{rest}"
    if element == UNDEFINED:
        return f"[={rest}]"
    value = json.loads(rest)
    if kind == KEY:
        pairs = (f"{name}={value_text(member)}" for name, member in value.items())
        return f"[{','.join(pairs)}]"
    return f"[={value_text(value)}]" if kind == VALUE else f"[{value}]"


def value_text(value: object) -> str:
    """Return the text of a value within such a step."""
    match value:
        case str():
            return quote(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case list():
            return f"[{','.join(map(value_text, value))}]"
        case dict():
            return "".join(f"{key}={value_text(member)}" for key, member in value.items())
    return str(value)


SELF: Final = "."
"""Says in FieldsV1 that the element is a member, where it has others below it."""


class FieldSet:
    """Holds a set of fields. Only who makes one changes it; everybody else takes it as it is.
    `written` is its FieldsV1, if that is known, and `fits` the type with which it was reconciled
    last."""

    __slots__ = ("children", "fits", "members", "written")

    def __init__(
        self, members: set[str] | None = None, children: dict[str, FieldSet] | None = None
    ) -> None:
        self.members: set[str] = set() if members is None else members
        self.children: dict[str, FieldSet] = {} if children is None else children
        self.written: FieldsV1 | None = None
        self.fits: object = None

    def __bool__(self) -> bool:
        """Return whether there is anything in it."""
        return bool(self.members) or bool(self.children)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FieldSet):
            return NotImplemented
        return self.members == other.members and self.children == other.children

    __hash__ = None  # type: ignore[assignment]  # a set that may still grow

    def __repr__(self) -> str:
        return f"FieldSet({', '.join(map(path_text, self.paths()))})"

    def put(self, element: str, below: FieldSet) -> None:
        """Hangs a set below an element, if there is anything in it."""
        if below.members or below.children:
            self.children[element] = below

    def has(self, *path: str) -> bool:
        """Return whether the path is a member."""
        *parents, last = path
        node = self
        for element in parents:
            below = node.children.get(element)
            if below is None:
                return False
            node = below
        return last in node.members

    def paths(self, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        """Yield all members; those of one level before those further down."""
        for element in ordered(self.members):
            yield (*above, element)
        for element in ordered(self.children):
            yield from self.children[element].paths((*above, element))

    def __le__(self, other: FieldSet) -> bool:
        """Return whether the other has all members."""
        theirs = other.children
        return self.members <= other.members and all(
            element in theirs and below <= theirs[element]
            for element, below in self.children.items()
        )

    def __or__(self, other: FieldSet) -> FieldSet:
        """Return the union: the set itself if it has all members of the other."""
        if not self:
            return other
        children, is_same = dict(self.children), other.members <= self.members
        for element, below in other.children.items():
            mine = children.get(element)
            both = below if mine is None else mine | below
            is_same = is_same and both is mine
            children[element] = both
        return self if is_same else FieldSet(self.members | other.members, children)

    def __and__(self, other: FieldSet) -> FieldSet:
        common = FieldSet(self.members & other.members)
        for element, below in self.children.items():
            theirs = other.children.get(element)
            if theirs is not None:
                common.put(element, below & theirs)
        return common

    def __sub__(self, other: FieldSet) -> FieldSet:
        """Return the set without the members of the other; what is below those stays. The set
        itself if they have none in common."""
        mine, theirs = self.children, other.children
        children = mine
        for element in mine.keys() & theirs.keys():  # few, as a rule
            below = mine[element]
            rest = below - theirs[element]
            if rest is below:
                continue
            if children is mine:
                children = dict(mine)
            if rest.members or rest.children:
                children[element] = rest
            else:
                del children[element]
        if children is mine:
            if self.members.isdisjoint(other.members):
                return self
            children = dict(mine)
        return FieldSet(self.members - other.members, children)

    def without_trees(self, other: FieldSet) -> FieldSet:
        """Return the set without the members of the other and everything below them."""
        if not other:
            return self
        remaining = FieldSet(self.members - other.members)
        for element, below in self.children.items():
            if element not in other.members:
                theirs = other.children.get(element)
                remaining.put(element, below if theirs is None else below.without_trees(theirs))
        return remaining


NOTHING: Final = FieldSet()


def union(sets: Sequence[FieldSet]) -> FieldSet:
    """Return all members of all sets. Each is looked at once, however many there are."""
    if len(sets) == 1:
        return sets[0]
    below: dict[str, list[FieldSet]] = {}
    for fields in sets:
        for element, inner in fields.children.items():
            below.setdefault(element, []).append(inner)
    children = {element: union(inner) for element, inner in below.items()}
    return FieldSet(set().union(*(fields.members for fields in sets)), children)


def field_set(*paths: tuple[str, ...]) -> FieldSet:
    """Return the set of these paths."""
    root = FieldSet()
    for *parents, last in paths:
        node = root
        for element in parents:
            node = node.children.setdefault(element, FieldSet())
        node.members.add(last)
    return root


def path_text(path: tuple[str, ...]) -> str:
    """Write a path as messages show it: `.spec.containers[name="c"].image`."""
    return "".join(map(step_text, path))


FieldsV1 = JsonDict
"""The JSON of a set."""

# Objects are changed again and again, and most managers own what they have owned: so what was
# written for them last is remembered with its set, and a third of what a patch takes spared. The
# sets of what is long are not: they take many times its text.

MOST_REMEMBERED: Final = 1024
LONGEST_REMEMBERED: Final = 8 << 10
"""Characters of FieldsV1."""
_remembered: Final = OrderedDict[int, tuple[object, FieldSet]]()
"""By the identity of the FieldsV1."""


def _remember(written: FieldsV1, fields: FieldSet) -> None:
    if len(repr(written)) <= LONGEST_REMEMBERED:
        _remembered[id(written)] = written, fields
        if len(_remembered) > MOST_REMEMBERED:
            with suppress(KeyError):  # another thread was quicker
                _remembered.popitem(last=False)


def to_fields_v1(fields: FieldSet) -> FieldsV1:
    """Return the FieldsV1 of a set, in the order in which servers write it."""
    if fields.written is None:
        fields.written = _written(fields)
        _remember(fields.written, fields)
    return fields.written


def _written(fields: FieldSet) -> FieldsV1:
    members, children = fields.members, fields.children
    if not children:
        return {element: {} for element in ordered(members)}
    if len(children) == 1 and not members:
        [(element, below)] = children.items()
        return {element: _written(below)}
    result: FieldsV1 = {}
    for element in ordered(members | children.keys()):
        inner = children.get(element)
        if inner is None:
            result[element] = {}
        elif element in members:
            result[element] = {SELF: {}, **_written(inner)}
        else:
            result[element] = _written(inner)
    return result


def fields_v1_without(fields: FieldsV1, hidden: FieldSet) -> FieldsV1:
    """`to_fields_v1` of the set that the fields describe, minus another, without making sets."""
    result: FieldsV1 = {}
    for element, below in fields.items():
        inner = hidden.children.get(element)
        is_hidden = element in hidden.members
        if inner is None and not is_hidden:
            result[element] = below
            continue
        is_member = not is_hidden and (not below or SELF in below)
        rest = {item: below[item] for item in below if item != SELF}
        if inner is not None:
            rest = fields_v1_without(rest, inner)
        if is_member:
            result[element] = {SELF: {}, **rest} if rest else rest
        elif rest:
            result[element] = rest
    return result


def from_fields_v1(value: object) -> FieldSet:
    """Return the set that the JSON describes. FieldSetError when it describes none."""
    remembered = _remembered.get(id(value))
    if remembered is not None and remembered[0] is value:
        return remembered[1]
    if not isinstance(value, dict):
        raise FieldSetError("fields are an object")
    read = _read(value)
    _remember(value, read)
    return read


def _read(value: object) -> FieldSet:
    if not isinstance(value, dict):
        raise FieldSetError("fields are an object")
    fields = FieldSet()
    for text, below in value.items():
        if text == SELF:
            continue
        element = text if text.startswith(FIELD) else canonical(text)
        if not element:
            continue
        if below == {}:
            fields.members.add(element)
            continue
        inner = _read(below)
        if SELF in below:
            fields.members.add(element)
        fields.put(element, inner)
    return fields
