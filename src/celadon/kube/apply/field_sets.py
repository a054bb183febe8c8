"""Sets of fields of an object, as tries, and their FieldsV1 form.

A `FieldSet` has the elements that are `members` themselves, and below elements further sets. An
element may be one, the other, or both. As structured-merge-diff `fieldpath/{set,serialize}.go`.

INVARIANT (no empty children): a set below an element is never empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.kube.apply.field_elements import FieldSetError, canonical, ordered, step_text

SELF: Final = "."
"""Says in FieldsV1 that the element is a member, where it has others below it."""


class FieldSet:
    """Only who makes one changes it; everybody else takes it as it is."""

    __slots__ = ("children", "members")

    def __init__(
        self, members: set[str] | None = None, children: dict[str, FieldSet] | None = None
    ) -> None:
        self.members: set[str] = set() if members is None else members
        self.children: dict[str, FieldSet] = {} if children is None else children

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
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
        if below:
            self.children[element] = below

    def has(self, *path: str) -> bool:
        """Whether the path is a member."""
        *parents, last = path
        found = self
        for element in parents:
            below = found.children.get(element)
            if below is None:
                return False
            found = below
        return last in found.members

    def paths(self, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        """All members; those of one level before those further down."""
        for element in ordered(self.members):
            yield (*above, element)
        for element in ordered(self.children):
            yield from self.children[element].paths((*above, element))

    def __or__(self, other: FieldSet) -> FieldSet:
        if not other:
            return self
        if not self:
            return other
        children = dict(self.children)
        for element, below in other.children.items():
            mine = children.get(element)
            children[element] = below if mine is None else mine | below
        return FieldSet(self.members | other.members, children)

    def __and__(self, other: FieldSet) -> FieldSet:
        made = FieldSet(self.members & other.members)
        for element, below in self.children.items():
            theirs = other.children.get(element)
            if theirs is not None:
                made.put(element, below & theirs)
        return made

    def __sub__(self, other: FieldSet) -> FieldSet:
        """Without the members of the other; what is below those stays."""
        if not other:
            return self
        made = FieldSet(self.members - other.members)
        for element, below in self.children.items():
            theirs = other.children.get(element)
            made.put(element, below if theirs is None else below - theirs)
        return made

    def without_trees(self, other: FieldSet) -> FieldSet:
        """Without the members of the other and everything below them."""
        if not other:
            return self
        made = FieldSet(self.members - other.members)
        for element, below in self.children.items():
            if element not in other.members:
                theirs = other.children.get(element)
                made.put(element, below if theirs is None else below.without_trees(theirs))
        return made


NOTHING: Final = FieldSet()


def field_set(*paths: tuple[str, ...]) -> FieldSet:
    """The set of these paths."""
    made = FieldSet()
    for *parents, last in paths:
        found = made
        for element in parents:
            found = found.children.setdefault(element, FieldSet())
        found.members.add(last)
    return made


def path_text(path: tuple[str, ...]) -> str:
    """As messages show it: `.spec.containers[name="c"].image`."""
    return "".join(map(step_text, path))


FieldsV1 = dict[str, Any]
"""The JSON of a set."""


def to_fields_v1(fields: FieldSet) -> FieldsV1:
    """Of a set, in the order in which servers write it."""
    members, children = fields.members, fields.children
    if not children:
        return {element: {} for element in ordered(members)}
    if len(children) == 1 and not members:
        [(element, below)] = children.items()
        return {element: to_fields_v1(below)}
    made: FieldsV1 = {}
    for element in ordered(members | children.keys()):
        inner = children.get(element)
        if inner is None:
            made[element] = {}
        elif element in members:
            made[element] = {SELF: {}, **to_fields_v1(inner)}
        else:
            made[element] = to_fields_v1(inner)
    return made


def fields_v1_without(fields: FieldsV1, hidden: FieldSet) -> FieldsV1:
    """`to_fields_v1` of the set that the fields describe, minus another, without making sets."""
    made: FieldsV1 = {}
    for element, below in fields.items():
        inner = hidden.children.get(element)
        is_hidden = element in hidden.members
        if inner is None and not is_hidden:
            made[element] = below
            continue
        is_member = not is_hidden and (not below or SELF in below)
        rest = {one: below[one] for one in below if one != SELF}
        if inner is not None:
            rest = fields_v1_without(rest, inner)
        if is_member:
            made[element] = {SELF: {}, **rest} if rest else rest
        elif rest:
            made[element] = rest
    return made


def from_fields_v1(value: object) -> FieldSet:
    """The set that the JSON describes. FieldSetError when it describes none."""
    if not isinstance(value, dict):
        raise FieldSetError("fields are an object")
    made = FieldSet()
    for text, below in value.items():
        element = "" if text == SELF else canonical(text)
        if not element:
            continue
        inner = from_fields_v1(below)
        if not below or SELF in below:
            made.members.add(element)
        made.put(element, inner)
    return made
