"""Scopes: the names that an expression may use, and how the checker looks them up.

`Declarations.build` merges libraries (in load order) and variables into tables, and refuses
contradictions with a `DeclarationError`. `extend` makes a variant with more variables or object
types that shares the rest, since Kubernetes has one set of functions and many sets of variables.

A name is looked up as every name the container makes of it, innermost first: in container `a.b`,
`N` may be `a.b.N`, `a.N` or `N`; a leading dot means only `N`; an alias replaces its first segment.
For each of these: a variable, a type (`int`, `net.IP`), a type with fields, an enum constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from celadon.cel.checking import check_messages
from celadon.cel.checking.overload_resolution import FunctionIndex
from celadon.cel.declarations import Constant, Function, Library, ObjectType, Overload, Variable
from celadon.cel.errors import DeclarationError
from celadon.cel.parsing.tokens import RESERVED
from celadon.cel.syntax import Reference
from celadon.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    LIST,
    STRING,
    TIMESTAMP,
    UINT,
    Kind,
    Type,
    list_of,
    map_of,
    object_type,
    type_of,
    type_param,
    wrapper_of,
)

# --- Well known --------------------------------------------------------------
#
# The protobuf messages that every environment knows, though CEL has no protobuf here.
#
# `google.protobuf.Duration{seconds: 5}` is an expression even in Kubernetes. Such a message
# *is* one of CEL's own types (cel-go `common/types`, well-known types): a `Struct` is a map, an
# `Int64Value` an int that may be null, a `Value` anything. This module says which names exist,
# with which fields to write, and what type the literal then has.

_STRUCT = map_of(STRING, DYN)
_PREFIX = "google.protobuf."

#: Message name to the primitive that it wraps.
_WRAPPED: Final = {
    "BoolValue": BOOL,
    "BytesValue": BYTES,
    "DoubleValue": DOUBLE,
    "FloatValue": DOUBLE,
    "Int32Value": INT,
    "Int64Value": INT,
    "StringValue": STRING,
    "UInt32Value": UINT,
    "UInt64Value": UINT,
}

#: Full message name to the type that such a literal has.
TYPES: Final[Mapping[str, Type]] = MappingProxyType(
    {
        "google.protobuf.Any": ANY,
        "google.protobuf.Duration": DURATION,
        "google.protobuf.Empty": object_type("google.protobuf.Empty"),
        "google.protobuf.ListValue": LIST,
        "google.protobuf.Struct": _STRUCT,
        "google.protobuf.Timestamp": TIMESTAMP,
        "google.protobuf.Value": DYN,
    }
    | {_PREFIX + name: wrapper_of(primitive) for name, primitive in _WRAPPED.items()}
)

_FIELDS: Final[Mapping[str, Mapping[str, Type]]] = {
    "google.protobuf.Any": {"type_url": STRING, "value": BYTES},
    "google.protobuf.Duration": {"seconds": INT, "nanos": INT},
    "google.protobuf.Empty": {},
    "google.protobuf.ListValue": {"values": LIST},
    "google.protobuf.Struct": {"fields": _STRUCT},
    "google.protobuf.Timestamp": {"seconds": INT, "nanos": INT},
    "google.protobuf.Value": {
        "null_value": INT,
        "number_value": DOUBLE,
        "string_value": STRING,
        "bool_value": BOOL,
        "struct_value": _STRUCT,
        "list_value": LIST,
    },
} | {_PREFIX + name: {"value": primitive} for name, primitive in _WRAPPED.items()}

OBJECTS: Final[Mapping[str, ObjectType]] = MappingProxyType(
    {name: ObjectType(name, fields) for name, fields in _FIELDS.items()}
)

SCALARS: Final[Mapping[str, Type]] = MappingProxyType(
    {"timestamp": TIMESTAMP, "duration": DURATION}
)
"""Types that have a second name where a schema declares types (k8s.io/apiserver pkg/cel)."""
_DECLARED_WITH_A_SCHEMA: Final = frozenset(
    {"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint", *SCALARS}
)
_HAVE_VALUES: Final = frozenset(
    {"google.protobuf.Duration", "google.protobuf.Empty", "google.protobuf.Timestamp"}
)
"""The well-known types that are values, too: `type(x) == google.protobuf.Duration`."""

ENUMS: Final[Mapping[str, int]] = MappingProxyType({"google.protobuf.NullValue.NULL_VALUE": 0})

_NAME_BY_KIND: Final = {
    Kind.ANY: "google.protobuf.Any",
    Kind.DURATION: "google.protobuf.Duration",
    Kind.DYN: "google.protobuf.Value",
    Kind.NULL: "google.protobuf.NullValue",
    Kind.TIMESTAMP: "google.protobuf.Timestamp",
}
_NAME_BY_WRAPPED: Final = {
    BOOL.name: "google.protobuf.BoolValue",
    BYTES.name: "google.protobuf.BytesValue",
    DOUBLE.name: "google.protobuf.DoubleValue",
    INT.name: "google.protobuf.Int64Value",
    STRING.name: "google.protobuf.StringValue",
    UINT.name: "google.protobuf.UInt64Value",
}


def message_name(t: Type) -> str | None:
    """Return the message whose fields a literal of that type may set; None if it is no such
    type."""
    if t.kind is Kind.OBJECT:
        return t.name
    if t.kind is Kind.WRAPPER:
        return _NAME_BY_WRAPPED[t.name]
    if t == LIST:
        return "google.protobuf.ListValue"
    if t == _STRUCT:
        return "google.protobuf.Struct"
    return _NAME_BY_KIND.get(t.kind)


# --- Library merging ---------------------------------------------------------
#
# Merging declarations of several libraries, and refusing those that contradict each other.
#
# Two libraries may declare the same function; its overloads are then tried in load order. What
# may not happen: two variables of one name, two overloads of one function that could both
# accept the same arguments of one call style, two overloads of one id with different
# signatures, a function that a standard macro would swallow (cel-go `common/decls/decls.go`,
# `checker/env.go`).

#: name, number of arguments (the receiver counts), whether it is a member: what the standard
#: macros would swallow. cel-go compares macro arity with the overload's, receiver included.
_MACRO_SHAPES = frozenset(
    {("has", 1, False), ("map", 3, True)}
    | {(name, 2, True) for name in ("all", "exists", "exists_one", "existsOne", "map", "filter")}
)

_OPEN = (Kind.DYN, Kind.ANY, Kind.TYPE_PARAM)


def merge_variables(declared: Mapping[str, Type], added: Iterable[Variable]) -> dict[str, Type]:
    """Return a new table. Raises `DeclarationError` if a name is declared twice."""
    merged = dict(declared)
    for variable in added:
        if variable.name in merged:
            raise DeclarationError(check_messages.overlapping_identifier(variable.name))
        merged[variable.name] = variable.type
    return merged


def merge_functions(functions: Iterable[Function]) -> dict[str, Function]:
    """Return one function per name, its overloads in load order. Raises `DeclarationError`."""
    merged: dict[str, Function] = {}
    for function in functions:
        declared = merged.get(function.name)
        merged[function.name] = _merged(declared or Function(function.name, ()), function)
    return merged


def _merged(declared: Function, added: Function) -> Function:
    if declared.singleton and added.singleton and declared.singleton is not added.singleton:
        raise DeclarationError(check_messages.second_singleton(declared.name))
    overloads = list(declared.overloads)
    for overload in added.overloads:
        _add(overloads, overload, declared.name)
    return added._replace(
        overloads=tuple(overloads),
        singleton=declared.singleton or added.singleton,
        pattern=declared.pattern if added.pattern is None else added.pattern,
        cost=declared.cost if added.cost is None else added.cost,
    )


def _add(overloads: list[Overload], added: Overload, function: str) -> None:
    if (function, len(added.params), added.member) in _MACRO_SHAPES:
        raise DeclarationError(check_messages.overlapping_macro(function, len(added.params)))
    for position, overload in enumerate(overloads):
        if overload.id == added.id:
            if not _same_signature(overload, added):
                raise DeclarationError(check_messages.overload_redefinition(function, added.id))
            if added.impl is not None:
                overloads[position] = added
            return
        if _overlap(overload, added):
            raise DeclarationError(
                check_messages.overload_collision(function, overload.id, added.id)
            )
    overloads.append(added)


def _same_signature(a: Overload, b: Overload) -> bool:
    return a.member is b.member and a.params == b.params and a.result == b.result


def _overlap(a: Overload, b: Overload) -> bool:
    """Return whether one call could match both, judged by kinds and names."""
    if a.member is not b.member or len(a.params) != len(b.params):
        return False
    for param, other in zip(a.params, b.params):  # noqa: B905  # compared above
        if param is not other and not _accepts(param, other) and not _accepts(other, param):
            return False
    return True


def _accepts(t: Type, other: Type) -> bool:
    if t.kind in _OPEN:
        return True
    if t.name != other.name or t.kind is not other.kind or len(t.params) != len(other.params):
        return False
    return all(_accepts(param, two) for param, two in zip(t.params, other.params))  # noqa: B905


class Identifier(NamedTuple):
    """A global name resolved: `reference` carries the full name and, for enums, the value."""

    type: Type
    reference: Reference


_OPEN_TYPES: Final[Mapping[str, Type]] = {
    "list": type_of(list_of(type_param("A"))),
    "map": type_of(map_of(type_param("A"), type_param("B"))),
}
"""What the types that hold others were declared as before cel-go 0.27."""

ConstantFamily = Callable[[str], Constant | None]
"""Constants that no list can hold: a full name to the constant."""

ObjectFamily = Callable[[str], ObjectType | None]
"""Types with fields that no list can hold: a name to its type, None for names of other types."""


class Declarations:
    """The names of one environment. Immutable from outside; its caches are not visible.

    `container` is what `undeclared reference` texts print. `cross_type_numeric_comparisons` admits
    `1 < 2.5`. `keyword_fields` lets `x.namespace` find a field declared as `__namespace__`, and so
    for all reserved words (k8s.io/apiserver pkg/cel). `nullable_joins`, `older_names` and
    `older_schemas` are those of `Switches`.
    """

    __slots__ = (
        "_identifiers",
        "_indices",
        "_qualified",
        "aliases",
        "constants",
        "container",
        "cross_type_numeric_comparisons",
        "enums",
        "family",
        "functions",
        "has_schema",
        "keyword_fields",
        "nullable_joins",
        "objects",
        "older_names",
        "older_schemas",
        "types",
        "variables",
    )

    def __init__(
        self,
        *,
        variables: Mapping[str, Type],
        functions: Mapping[str, Function],
        types: Mapping[str, Type],
        objects: Mapping[str, ObjectType],
        enums: Mapping[str, int],
        aliases: Mapping[str, str],
        container: str,
        cross_type_numeric_comparisons: bool,
        keyword_fields: bool,
        nullable_joins: bool,
        older_names: bool,
        older_schemas: bool,
        indices: dict[str, FunctionIndex],
        family: ObjectFamily | None = None,
        constants: ConstantFamily | None = None,
        has_schema: bool = False,
    ) -> None:
        self.variables = variables
        self.functions = functions
        self.types = types
        self.objects = objects
        self.enums = enums
        self.aliases = aliases
        self.container = container
        self.cross_type_numeric_comparisons = cross_type_numeric_comparisons
        self.keyword_fields = keyword_fields
        self.nullable_joins = nullable_joins
        self.older_names = older_names
        self.older_schemas = older_schemas
        self.family = family
        self.constants = constants
        self.has_schema = has_schema
        self._indices = indices
        self._identifiers: dict[str, Identifier] = {}
        self._qualified = frozenset(
            name.partition(".")[0]
            for names in (variables, types, objects, enums, TYPES)
            for name in names
            if "." in name
        )

    @classmethod
    def build(
        cls,
        libraries: Iterable[Library] = (),
        variables: Iterable[Variable] = (),
        *,
        objects: Iterable[ObjectType] = (),
        enums: Mapping[str, int] | None = None,
        aliases: Mapping[str, str] | None = None,
        container: str = "",
        cross_type_numeric_comparisons: bool = False,
        keyword_fields: bool = False,
        nullable_joins: bool = False,
        older_names: bool = False,
        older_schemas: bool = False,
        family: ObjectFamily | None = None,
        constants: ConstantFamily | None = None,
    ) -> Declarations:
        """Make the scope of an environment. Raises `DeclarationError` for overlapping variables,
        overloads or macros."""
        libraries = tuple(libraries)
        declared = [variable for library in libraries for variable in library.variables]
        records = [record for library in libraries for record in library.objects]
        return cls(
            variables=merge_variables({}, (*declared, *variables)),
            functions=merge_functions(f for library in libraries for f in library.functions),
            types={t.runtime_name: t for library in libraries for t in library.types},
            objects={record.name: record for record in (*records, *objects)},
            enums=dict(enums or {}),
            aliases=dict(aliases or {}),
            container=container,
            cross_type_numeric_comparisons=cross_type_numeric_comparisons,
            keyword_fields=keyword_fields,
            nullable_joins=nullable_joins,
            older_names=older_names,
            older_schemas=older_schemas,
            indices={},
            family=family,
            constants=constants,
        )

    def extend(
        self, variables: Iterable[Variable] = (), objects: Iterable[ObjectType] | None = None
    ) -> Declarations:
        """Return a scope with these declarations and more. A variable may not be declared twice; a
        later object type replaces. A schema declares `objects`, if only simple types and so none of
        them."""
        return Declarations(
            variables=merge_variables(self.variables, variables),
            functions=self.functions,
            types=self.types,
            objects={**self.objects, **{record.name: record for record in objects or ()}},
            enums=self.enums,
            aliases=self.aliases,
            container=self.container,
            cross_type_numeric_comparisons=self.cross_type_numeric_comparisons,
            keyword_fields=self.keyword_fields,
            nullable_joins=self.nullable_joins,
            older_names=self.older_names,
            older_schemas=self.older_schemas,
            indices=self._indices,
            family=self.family,
            constants=self.constants,
            has_schema=self.has_schema or objects is not None,
        )

    def candidates(self, name: str) -> tuple[str, ...]:
        """Return the full names that a name as written may mean, in order of precedence."""
        written = name.removeprefix(".")
        if self.aliases:
            first, dot, rest = written.partition(".")
            if first in self.aliases:
                return (f"{self.aliases[first]}{dot}{rest}",)
        if name.startswith(".") or not self.container:
            return (written,)
        names = []
        container = self.container
        while container:
            names.append(f"{container}.{written}")
            container = container.rpartition(".")[0]
        return (*names, written)

    def may_qualify(self, first_segment: str) -> bool:
        """Return whether a dotted name that starts so can be one name; False is certain."""
        return bool(
            first_segment in self._qualified
            or self.family is not None
            or self.container
            or self.aliases
            or first_segment.startswith(".")
        )

    def find_identifier(self, name: str) -> Identifier | None:
        """Return the variable, type or constant of that name, as written (dots, container,
        aliases)."""
        identifier = self._identifiers.get(name)
        if identifier is None:
            for candidate in self.candidates(name):
                identifier = self._global(candidate)
                if identifier is not None:
                    self._identifiers[name] = identifier
                    break
        return identifier

    def find_type(self, name: str) -> Identifier | None:
        """Return the type of that name, as written, whatever else has the name."""
        types = map(self._global_type, self.candidates(name))
        return next((type_ for type_ in types if type_ is not None), None)

    def _global(self, name: str) -> Identifier | None:
        if name in self.variables:
            return Identifier(self.variables[name], Reference(name))
        if (global_type := self._global_type(name)) is not None:
            if self.older_names and name in _OPEN_TYPES:
                return Identifier(_OPEN_TYPES[name], global_type.reference)
            return global_type
        value = self.enums.get(name, ENUMS.get(name))
        if value is not None:
            return Identifier(INT, Reference(name, value=value))
        constant = self.constants(name) if self.constants is not None else None
        return constant and Identifier(constant.type, Reference(name, value=constant.value))

    def has_value(self, name: str) -> bool:
        """Return whether the type of that full name is known when an expression runs, too."""
        if name in self.types:
            return True
        if name in TYPES:
            return name in _HAVE_VALUES
        return not self.has_schema

    def message_of(self, identifier: Identifier) -> str | None:
        """Return the message whose fields a literal `a.b.C{}` of that type may set; None if it is
        none."""
        if self.has_schema and identifier.reference.name == "list":
            return None
        return message_name(identifier.type.params[0])

    def has_fields(self, name: str) -> bool:
        """Return whether fields may be looked for in the type of that full name, if in vain."""
        is_declared = self.has_schema and name in _DECLARED_WITH_A_SCHEMA
        return is_declared or self.find_object(name) is not None

    def _global_type(self, name: str) -> Identifier | None:
        if self.has_schema and name in SCALARS:
            return Identifier(self._named(SCALARS[name]), Reference(name))
        if name in self.types:
            return Identifier(type_of(self.types[name]), Reference(name))
        if name in TYPES:
            return Identifier(type_of(TYPES[name]), Reference(name))
        if self.objects.get(name) or (self.family is not None and self.family(name)):
            return Identifier(self._named(object_type(name)), Reference(name))
        return None

    def _named(self, t: Type) -> Type:
        """Return the type of the name of a type that a schema declares."""
        return t if self.has_schema and self.older_schemas else type_of(t)

    def find_function(self, name: str) -> FunctionIndex | None:
        """Return the function of that name, as written."""
        index = self._indices.get(name)
        if index is None or self.container or self.aliases:
            for candidate in self.candidates(name):
                if candidate in self.functions:
                    index = self._indices.get(candidate)
                    if index is None:
                        index = FunctionIndex(self.functions[candidate])
                        self._indices[candidate] = index
                    return index
            return None
        return index

    def find_object(self, name: str) -> ObjectType | None:
        """Return the type with fields of that full name, the well-known ones included."""
        objects = self.objects.get(name) or OBJECTS.get(name)
        if objects is None and self.family is not None:
            return self.family(name)
        return objects

    def find_field(self, object_name: str, field: str) -> Type | None:
        """Return the declared type of a field; None when the type or the field is unknown."""
        record = self.find_object(object_name)
        if record is None:
            return None
        field_type = record.fields.get(field)
        if field_type is None and self.keyword_fields and field in RESERVED:
            return record.fields.get(f"__{field}__")
        return field_type
