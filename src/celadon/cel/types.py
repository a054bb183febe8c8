"""Type terms: what they are, how they print, when one may stand for another.

One frozen class with a `Kind`, because cel-go's rules compare kinds, names and parameters. The
constructors below are the only way others build types. Two printers exist (cel-go
`checker/format.go` and `common/types`): `display()` is the checker's, `runtime_name` the one that
run-time texts, `type()` and `%s` use.
"""

from __future__ import annotations

import enum

from celadon.records import dataclass


class Kind(enum.Enum):
    """Says what sort of type it is; the values are the names that declarations use."""

    DYN = "dyn"
    ANY = "any"
    BOOL = "bool"
    BYTES = "bytes"
    DOUBLE = "double"
    DURATION = "duration"
    ERROR = "error"
    INT = "int"
    LIST = "list"
    MAP = "map"
    NULL = "null"
    OPAQUE = "opaque"
    STRING = "string"
    OBJECT = "object"
    TIMESTAMP = "timestamp"
    TYPE = "type"
    TYPE_PARAM = "type_param"
    UINT = "uint"
    WRAPPER = "wrapper"


@dataclass(frozen=True, slots=True)
class Type:
    """Describes a type. `name` is the run-time name (`google.protobuf.Duration`), for parameters
    the parameter's."""

    kind: Kind
    name: str
    params: tuple[Type, ...] = ()

    @property
    def runtime_name(self) -> str:
        """Return what `type(x)` shows: without parameters, `list` for `list(int)`."""
        return self.name

    def display(self) -> str:
        """Return the type as cel-go's checker prints it: `list(int)`, `timestamp`, `wrapper(int)`,
        `null`."""
        match self.kind:
            case Kind.DURATION | Kind.TIMESTAMP | Kind.NULL | Kind.ANY | Kind.DYN:
                return str(self.kind.value)
            case Kind.ERROR:
                return "!error!"
            case Kind.WRAPPER:
                return f"wrapper({self.name})"
            case _ if self.params:
                return f"{self.name}({', '.join(p.display() for p in self.params)})"
            case _:
                return self.name

    def __str__(self) -> str:
        """Return the type as cel-go's `Type.String`: run-time names with parameters, `list(dyn)`,
        `null_type`."""
        if self.params:
            return f"{self.name}({', '.join(str(p) for p in self.params)})"
        return self.name


DYN = Type(Kind.DYN, "dyn")
ANY = Type(Kind.ANY, "google.protobuf.Any")
BOOL = Type(Kind.BOOL, "bool")
BYTES = Type(Kind.BYTES, "bytes")
DOUBLE = Type(Kind.DOUBLE, "double")
DURATION = Type(Kind.DURATION, "google.protobuf.Duration")
ERROR = Type(Kind.ERROR, "error")
INT = Type(Kind.INT, "int")
NULL = Type(Kind.NULL, "null_type")
STRING = Type(Kind.STRING, "string")
TIMESTAMP = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
TYPE = Type(Kind.TYPE, "type")
UINT = Type(Kind.UINT, "uint")
LIST = Type(Kind.LIST, "list", (DYN,))
MAP = Type(Kind.MAP, "map", (DYN, DYN))

OPTIONAL_NAME = "optional_type"


def list_of(element: Type) -> Type:
    """Return the type `list(element)`."""
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """`map(key, value)`; keys are bool, int, uint, string or dyn."""
    return Type(Kind.MAP, "map", (key, value))


def type_of(parameter: Type) -> Type:
    """`type(parameter)`: the type of a value that is a type."""
    return Type(Kind.TYPE, "type", (parameter,))


def optional_of(value: Type) -> Type:
    """Return the type `optional_type(value)`."""
    return Type(Kind.OPAQUE, OPTIONAL_NAME, (value,))


def opaque(name: str, *params: Type) -> Type:
    """Return an abstract type such as `net.IP`: compared by name, no fields."""
    return Type(Kind.OPAQUE, name, params)


def object_type(name: str) -> Type:
    """Return a type with fields, known to a `TypeProvider` by this name."""
    return Type(Kind.OBJECT, name)


def wrapper_of(primitive: Type) -> Type:
    """`wrapper(primitive)`: the primitive or null (`google.protobuf.Int64Value` and the like)."""
    return Type(Kind.WRAPPER, primitive.name)


def type_param(name: str) -> Type:
    """Return a type that each call of a generic function chooses: `A` in `list(A)`."""
    return Type(Kind.TYPE_PARAM, name)


def is_optional(t: Type) -> bool:
    """Return whether it is `optional_type(...)` of anything."""
    return t.kind is Kind.OPAQUE and t.name == OPTIONAL_NAME


def is_dyn(t: Type) -> bool:
    """Types the checker lets pass everywhere: dyn, any and error."""
    return t.kind in (Kind.DYN, Kind.ANY, Kind.ERROR)
