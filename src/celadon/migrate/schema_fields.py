"""The fields of an object by its schema, and how expressions reach them.

A `Place` is a value somewhere in an object: the expression that reads it, its schema where the kind
is known, and which of the steps to it may lead nowhere. Steps that may are written as optional ones
(`object.spec.?securityContext`), and `Place.present` says whether the value is there.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from celadon.kube import GroupVersionKind, Json
from celadon.kube.schemas import Schema, codec_for, resolved, schema_for
from celadon.kube.well_known_values import CONTAINER_LISTS, POD_TEMPLATES
from celadon.migrate.cel_text import (
    ALWAYS,
    Condition,
    Pool,
    binds,
    comparison,
    conjunction,
    filled,
    member,
    quoted,
    some,
    truth,
)
from celadon.migrate.translations import NotTranslated, pointer_to


class Form(enum.Enum):
    """A schema describes values of one of these kinds."""

    FIELDS = "fields"
    MAP = "map"
    LIST = "list"
    STRING = "string"
    QUANTITY = "quantity"
    """A text that is one."""
    INTEGER = "integer"
    NUMBER = "number"
    BOOL = "bool"
    INT_OR_STRING = "int or string"
    AMOUNT = "amount"
    """A quantity of CEL, which is no text."""
    SPAN = "span"
    """A duration of CEL."""
    INSTANT = "instant"
    """A timestamp of CEL."""
    ANY = "any"


_SCALARS: Final = {
    "string": Form.STRING,
    "integer": Form.INTEGER,
    "number": Form.NUMBER,
    "boolean": Form.BOOL,
}
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN: Final = frozenset(
    [
        *("object", "request", "params", "variables", "key", "all", "any"),
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"),
        *("loop", "namespace", "package", "return", "var", "void", "while"),
    ]
)
"""Names that variables of macros cannot have, or should not."""

_KEYWORDS: Final = frozenset({"false", "in", "null", "true"})
"""Words that cannot stand behind a dot. Those that are reserved can."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema that may not be known."""

    schema: Schema | None = None

    @property
    def form(self) -> Form:
        """Return the kind of value that the schema describes."""
        schema = self.schema
        if schema is None:
            return Form.ANY
        schema = resolved(schema)
        # Quantities and int-or-strings are texts by their type, so their formats come first.
        if schema.format == "quantity":
            return Form.QUANTITY
        if schema.int_or_string or schema.format == "int-or-string":
            return Form.INT_OR_STRING
        if schema.type == "array":
            return Form.LIST
        if schema.properties:
            return Form.FIELDS
        if schema.additional_properties is not None:
            return Form.MAP
        return _SCALARS.get(schema.type, Form.ANY)

    def member(self, name: str) -> Shape | None:
        """Return the shape of a field or of a map's value; None where no such field can be."""
        if self.schema is None:
            return Shape()
        schema = resolved(self.schema)
        if name in schema.properties:
            return Shape(schema.properties[name])
        if schema.additional_properties is not None:
            return Shape(schema.additional_properties)
        # What is open may have any field; an object with named fields has no others when policies
        # see it, since the API server drops them.
        return Shape() if self.form is Form.ANY else None

    def item(self) -> Shape:
        """Return the shape of a list's items, or of a map's values."""
        if self.schema is None:
            return Shape()
        schema = resolved(self.schema)
        return Shape(schema.items or schema.additional_properties)

    @property
    def is_of_rbac(self) -> bool:
        """Return whether it is a role or binding, whose `rules` are written as null where there are
        none."""
        return self.schema is not None and resolved(self.schema).name.startswith("io.k8s.api.rbac.")

    def requires(self, name: str) -> bool:
        """Return whether every valid value has a field: it is required, or must have fields that
        are."""
        if self.schema is None or self.form is not Form.FIELDS:
            return False
        return name in resolved(self.schema).required


@dataclass(frozen=True, slots=True)
class Step:
    """One field or key."""

    name: str
    is_field: bool
    is_sure: bool
    is_nullable: bool = False
    """Whether it is always there, but may be null."""

    is_index: bool = False
    is_read: bool = False
    """Whether the name is an expression that reads the key."""

    def plain(self) -> str:
        """Return the step as it is written where it leads somewhere."""
        return f".{self.name}" if self.is_field else f"[{self._key}]"

    def optional(self) -> str:
        """Return the step on an optional value."""
        return f".?{self.name}" if self.is_field else f"[?{self._key}]"

    @property
    def _key(self) -> str:
        return self.name if self.is_index or self.is_read else quoted(self.name)


@dataclass(frozen=True, slots=True)
class Place:
    """A value in an object."""

    root: str
    shape: Shape
    steps: tuple[Step, ...] = ()
    always: frozenset[str] = frozenset()
    """Fields, by their path from the root of the object, that every object of the kind has."""
    path: str = ""
    reserved_names: frozenset[str] = frozenset()
    """Names that items of its lists cannot have, since they are in use around it."""
    root_exists: Condition = ALWAYS
    """Whether the root can be read."""

    def member(self, name: str, shape: Shape) -> Place:
        """Return the value of a field or key."""
        path = f"{self.path}.{name}" if self.path else name
        is_field = self.shape.form is not Form.MAP and is_selectable(name)
        is_sure = self.shape.requires(name) or path in self.always
        is_nullable = path == "rules" and self.shape.is_of_rbac
        step = Step(name, is_field, is_sure, is_nullable=is_nullable)
        return replace(self, shape=shape, steps=(*self.steps, step), path=path)

    @property
    def unsure(self) -> int:
        """Return how many steps may lead nowhere."""
        return sum(not step.is_sure for step in self.steps) + (self.root_exists != ALWAYS)

    @property
    def plain(self) -> str:
        """Return the value, where it is there."""
        return self.root + "".join(step.plain() for step in self.steps)

    @property
    def optional(self) -> str:
        """Return the value as an optional one: every step from the first one that may lead
        nowhere."""
        if self.root_exists != ALWAYS:
            root = f"({self.root_exists.text} ? optional.of({self.root}) : optional.none())"
            return root + "".join(step.optional() for step in self.steps)
        first = next((n for n, step in enumerate(self.steps) if not step.is_sure), len(self.steps))
        sure, unsure = self.steps[:first], self.steps[first:]
        return (
            self.root
            + "".join(step.plain() for step in sure)
            + "".join(step.optional() for step in unsure)
        )

    def present(self) -> Condition:
        """Return the condition under which the value is there."""
        if not self.unsure:
            return ALWAYS
        if self.root_exists != ALWAYS:
            return conjunction([self.root_exists, replace(self, root_exists=ALWAYS).present()])
        if self.steps[-1].is_nullable:
            return comparison(
                f"dyn({self.plain})", "!=", "null"
            )  # null is no list to a type checker
        if self.unsure > 1:
            return truth(f"{self.optional}.hasValue()")
        first = next(n for n, step in enumerate(self.steps) if not step.is_sure)
        return _has(
            self.root + "".join(step.plain() for step in self.steps[:first]), self.steps[first]
        )

    @property
    def items(self) -> str:
        """Return the items of a list, or the keys of a map: none where it is absent."""
        if not self.unsure:
            return self.plain
        empty = "{}" if self.shape.form is Form.MAP else "[]"
        if not self.steps:
            return f"({self.root_exists.text} ? {self.root} : {empty})"
        return f"{self.optional}.orValue({empty})"

    @property
    def pool(self) -> Pool | None:
        """Return what a list of containers is one of: the lists of its pod."""
        name = self.steps[-1].name if self.steps else ""
        around = replace(self, steps=self.steps[:-1])
        if name not in CONTAINER_LISTS or around.unsure:
            return None
        return around.plain, _IN_A_SUM.index(name)

    @property
    def is_never_empty(self) -> bool:
        """Return whether it is a list that is never empty in a valid object."""
        return self.shape.schema is not None and self.path.endswith("spec.containers")

    def there(self) -> Place:
        """Return the same place, where it is known to be there."""
        steps = (replace(step, is_sure=True, is_nullable=False) for step in self.steps)
        return replace(self, steps=tuple(steps), root_exists=ALWAYS)

    @property
    def item_name(self) -> str:
        """Return a name for an item of a list: the list's own, in the singular."""
        name = self.steps[-1].name if self.steps else ""
        if name in ("initContainers", "ephemeralContainers"):
            return "container"
        for plural, singular in (("ies", "y"), ("sses", "ss"), ("s", "")):
            if name.endswith(plural) and len(name) > len(plural) + 1:
                name = name.removesuffix(plural) + singular
                break
        if not is_selectable(name) or name in _TAKEN:
            name = "item"
        while name in self.reserved_names:
            name = f"other{name[0].upper()}{name[1:]}"
        return name

    def some(self, variable: str, condition: Condition) -> Condition:
        """Return the condition under which something holds for an item of a list, which may be
        absent. Raises NotTranslated where an item of an inner list has the name of this one's."""
        if binds(condition, variable):
            raise NotTranslated("lists in each other whose items have one name")
        if self.steps and self.steps[-1].is_nullable:
            return conjunction([self.present(), self.there().some(variable, condition)])
        if condition == ALWAYS:
            return filled(self.items)
        return some(self.items, variable, condition, self.pool)

    def at(self, index: int) -> Place:
        """Return an item of a list that is there, by its number; absent where the list is
        shorter."""
        step = Step(str(index), is_field=False, is_sure=False, is_index=True)
        path = f"{self.path}[*]"
        return replace(self, shape=self.shape.item(), steps=(*self.steps, step), path=path)

    def from_end(self, index: int) -> Place:
        """Return an item of a list that is there, by its number from the end, which has the number
        1."""
        plain = self.there().plain
        step = Step(f"size({plain}) - {index}", is_field=False, is_sure=False, is_index=True)
        whole = replace(self.there(), root_exists=self.present())
        path = f"{self.path}[*]"
        return replace(whole, shape=self.shape.item(), steps=(*whole.steps, step), path=path)

    def at_key(self, key: str) -> Place:
        """Return what a map has at a key that an expression reads."""
        step = Step(key, is_field=False, is_sure=False, is_read=True)
        path = f"{self.path}[*]"
        return replace(self, shape=self.shape.item(), steps=(*self.steps, step), path=path)

    def item(self, variable: str) -> Place:
        """Return an item of a list, as a macro calls it."""
        path = f"{self.path}[*]"
        return replace(
            self, root=variable, shape=self.shape.item(), steps=(), path=path, root_exists=ALWAYS
        )


@dataclass(frozen=True, slots=True)
class PatchTarget:
    """A value that a JSON patch edits."""

    place: Place
    pointer: str
    """The expression of its JSON pointer."""
    type_name: str
    """The name of its type in CEL: `Object.spec`."""

    def member(self, name: str, shape: Shape) -> Self:
        """Return a field of it, or what a map has at a key."""
        place, pointer = self.place.member(name, shape), pointer_to(self.pointer, name)
        return replace(self, place=place, pointer=pointer, type_name=f"{self.type_name}.{name}")


_IN_A_SUM: Final = ("containers", "initContainers", "ephemeralContainers")
"""The lists of containers in the order in which a sum has them."""


def _has(base: str, step: Step) -> Condition:
    if step.is_field:
        return truth(f"has({base}{step.plain()})")
    if step.is_index:
        _, is_from_end, number = step.name.rpartition(" - ")
        if is_from_end:
            return comparison(f"size({base})", ">=", number)
        return comparison(f"size({base})", ">", step.name)
    return member(step.name if step.is_read else quoted(step.name), base)


def is_selectable(name: str) -> bool:
    """Return whether a name can stand behind a dot."""
    return _IDENTIFIER.fullmatch(name) is not None and name not in _KEYWORDS


_OF_ALL: Final = frozenset({"apiVersion", "kind", "metadata", "metadata.name"})
"""Fields of every object when a policy sees it."""


def object_place(gvks: Sequence[GroupVersionKind], root: str = "object") -> Place:
    """Return the object of a request that is of one of some kinds: with a schema where it is of
    one kind that is built in."""
    schemas = [schema_for(gvk) for gvk in gvks]
    # Several kinds have several schemas: only what all objects have is sure then.
    if len(gvks) != 1 or schemas[0] is None:
        return Place(root, Shape(), always=_OF_ALL)
    codec = codec_for(gvks[0])
    # Policies see objects as Go writes them, with the fields that are not `omitempty` always there.
    written = _paths(codec.empty()) if codec is not None else set()
    always = {*_OF_ALL, *written}
    if gvks[0].kind == "ReplicationController":
        # The template is a pointer in Go, so an empty object has none; validation demands one.
        template = ".".join(POD_TEMPLATES[gvks[0].group_kind])
        always |= {template, f"{template}.metadata", f"{template}.spec"}
    return Place(root, Shape(schemas[0]), always=frozenset(always))


def _paths(value: Json, path: str = "") -> set[str]:
    """Return the paths of all members of an object."""
    if not isinstance(value, Mapping):
        return set()
    paths = {f"{path}{name}" for name in value}
    return paths.union(*(_paths(value, f"{path}{name}.") for name, value in value.items()))
