"""Values that Python has no class for, types at run time, and the guards that choose overloads.

cel-go checks a declared overload's arguments by type name before running it, looking only at the
first element of a list and the first entry of a map. `guard` builds that predicate once per
parameter type, so that choosing an overload costs one call per argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeGuard

from celadon.cel import types
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.types import Kind, Type
from celadon.cel.values import Value
from celadon.cel.values.text import Uint, go_float, written
from celadon.cel.values.timestamps import Duration, Timestamp, go_duration, go_time

# --- Lists -------------------------------------------------------------------
#
# The classes a CEL list may have: `list`, and lists that know what their schema says.
#
# Nearly all lists are of class `list`, so code asks for that first and for `TypedList` only where
# the answer was no (as with `dict` and the other maps).


class TypedList(list[Any]):
    """A list that decides by its schema what it equals and what adding to it gives: see
    `operations.typed_lists`. INVARIANT (typed lists): whatever looks for a list by its class looks
    for this one, too."""

    __slots__ = ()

    def matches(self, other: list[object], pay: Callable[[int], None] | None = None) -> bool:
        """Return CEL's `self == other`; `pay` as for `equality.equal`."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and self.matches(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # lists are never keys


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Is the value a CEL list, whichever of the classes it has?"""
    return value.__class__ is list or isinstance(value, TypedList)


# --- Opaque ------------------------------------------------------------------
#
# The base of abstract values: what a library's own type (`net.IP`, …) provides.


class Opaque:
    """Is the base of values of abstract types.

    `cel_type` is its type, the same for all values of a class; `go_name` what Go's `%T` prints for
    it in error texts, `go_content` what it prints for a Go value inside that cel-go cannot make a
    CEL value again, and `is_hashable` whether Go can make it a key. Subclasses implement `equals`
    for another value of their own class; against any other class, CEL equality with an opaque
    *left* operand is the error `no such overload` (the
    reference, section 4.2).
    `__eq__` follows CEL, so that generated code may use `==`: it raises for foreign classes.
    `cost_size` is the size the cost model sees (1 unless overridden).
    """

    __slots__ = ()
    cel_type: ClassVar[Type]
    go_name: ClassVar[str] = "types.Opaque"
    go_content: ClassVar[str] = ""
    is_hashable: ClassVar[bool] = True

    def equals(self, other: Opaque) -> bool:
        """Equality with another value of the same class; may raise EvaluationError."""
        raise no_such_overload()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            raise no_such_overload()
        return self.equals(other)

    __hash__ = None  # type: ignore[assignment]  # opaque values are never keys or set members

    def reopened(self) -> Any:
        """Return what cel-go makes of the Go value inside (see the contents of optionals below):
        this again, or an EvaluationError, as a value."""
        if not self.go_content:
            return self
        return EvaluationError(
            f"unsupported conversion to ref.Val: ({self.go_content}){self.display()}"
        )

    @property
    def cost_size(self) -> int:
        """Return the size that cost rules see; 1 where cel-go knows none."""
        return 1

    @property
    def is_zero(self) -> bool:
        """Return whether `optional.ofNonZeroValue` drops the value."""
        return False

    def display(self) -> str:
        """Return the text that results and error messages show."""
        return f"{self.cel_type.name}"


class Record(Opaque):
    """Is the base of abstract values with fields, such as a protobuf message.

    `record["name"]` is the value of a field, its default if it is not set, and `has` says whether
    it is set; both raise EvaluationError for a name that is no field. Unlike other abstract values,
    a record is merely different from a value of another type.
    """

    __slots__ = ()

    def __getitem__(self, field: str) -> Any:
        raise no_such_field(field)

    def has(self, field: str) -> bool:
        """Is the field set? Raises EvaluationError for a field that the type does not have."""
        raise no_such_field(field)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.equals(other)

    __hash__ = None


def no_such_field(field: str) -> EvaluationError:
    """Return the error that a message or record has no field of that name."""
    return EvaluationError(f"no such field '{field}'")


# --- Optional values ---------------------------------------------------------
#
# optional values: `Optional(value)` is present, `NONE` is absent.


class Optional:
    """Holds an optional value. A present null is `Optional(None)`; absence is the one object
    `NONE`."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "NONE" if self is NONE else f"Optional({self.value!r})"

    def get(self) -> Any:
        """Return the value. Raises EvaluationError if there is none."""
        if self is NONE:
            raise EvaluationError("optional.none() dereference")
        return self.value


NONE: Final[Optional] = Optional(None)
"""The optional without a value, the only one; compare with `is`."""

Guard: TypeAlias = Callable[[Any], bool]

OPTIONAL = types.opaque(types.OPTIONAL_NAME)

_TYPES: dict[type, Type] = {
    type(None): types.NULL,
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    list: types.LIST,
    dict: types.MAP,
    Timestamp: types.TIMESTAMP,
    Duration: types.DURATION,
    Type: types.TYPE,
    Optional: OPTIONAL,
}

_GO_NAMES: dict[type, str] = {
    type(None): "types.Null",
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    list: "*types.baseList",
    dict: "*types.baseMap",
    Timestamp: "types.Timestamp",
    Duration: "types.Duration",
    Type: "*types.Type",
    Optional: "*types.Optional",
}

_CLASSES: dict[Kind, type] = {
    Kind.NULL: type(None),
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.UINT: Uint,
    Kind.DOUBLE: float,
    Kind.STRING: str,
    Kind.BYTES: bytes,
    Kind.TIMESTAMP: Timestamp,
    Kind.DURATION: Duration,
    Kind.TYPE: Type,
}


def type_of(value: object) -> Type:
    """Return what `type(value)` gives: names without parameters (`list(dyn)` for every list)."""
    type_ = _TYPES.get(value.__class__)
    if type_ is not None:
        return type_
    if isinstance(value, Opaque):
        return value.cel_type
    return types.LIST if isinstance(value, TypedList) else types.MAP


def type_name(value: object) -> str:
    """Return the name of the value's type, without parameters: `list`,
    `google.protobuf.Timestamp`."""
    return type_of(value).name


def go_name(value: object) -> str:
    """Return what Go's `%T` prints: `types.Int`, `*types.baseList`."""
    result = _GO_NAMES.get(value.__class__)
    if result is not None:
        return result
    if isinstance(value, Opaque):
        return value.go_name
    return "*types.baseList" if isinstance(value, TypedList) else "*types.baseMap"


def overload_error(name: str, args: Sequence[Value]) -> EvaluationError:
    """`no such overload: getHours(string)`: no declared overload takes these values."""
    return no_such_overload(f"{name}({', '.join(map(type_name, args))})")


def conversion_error(source: Type | str, target: Type) -> EvaluationError:
    """`type conversion error from 'string' to 'int'`."""
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


def guard(declared: Type) -> Guard:
    """Return a predicate: may a value of unknown type stand for a parameter of this declared
    type?"""
    match declared.kind:
        case Kind.DYN | Kind.ANY | Kind.TYPE_PARAM | Kind.ERROR:
            return _anything
        case Kind.LIST:
            return _list_guard(declared.params[0])
        case Kind.MAP:
            return _map_guard(*declared.params)
        case Kind.OPAQUE | Kind.OBJECT:
            return _name_guard(declared.name)
        case Kind.WRAPPER:
            return _wrapper_guard(declared.name)
        case kind:
            return _class_guard(_CLASSES[kind])


def is_decided_by_class(declared: Type, *, with_first: bool = False) -> bool:
    """Return whether the guard of this type looks at nothing but the value's class. `with_first`
    also allows a look at the class of a list's first element."""
    open_kinds = (Kind.DYN, Kind.ANY, Kind.TYPE_PARAM, Kind.ERROR)
    if declared.kind is Kind.LIST and with_first:
        return is_decided_by_class(declared.params[0])
    if declared.kind in (Kind.LIST, Kind.MAP):
        return all(part.kind in open_kinds for part in declared.params)
    return True


def _anything(value: object) -> bool:
    return True


def _class_guard(expected: type) -> Guard:
    return lambda value: value.__class__ is expected


def _name_guard(name: str) -> Guard:
    return lambda value: type_of(value).name == name


def _wrapper_guard(primitive: str) -> Guard:
    return lambda value: value is None or type_of(value).name == primitive


def _is_map(value: object) -> bool:
    return value.__class__ is dict or type_of(value) is types.MAP


def _list_guard(element: Type) -> Guard:
    check = guard(element)
    if check is _anything:
        return is_list
    return lambda value: is_list(value) and (not value or check(value[0]))


def _map_guard(key: Type, value_type: Type) -> Guard:
    check_key, check_value = guard(key), guard(value_type)
    if check_key is _anything and check_value is _anything:
        return _is_map

    def matches(value: Any) -> bool:
        if not _is_map(value):
            return False
        for first_key, first_value in value.items():
            return check_key(first_key) and check_value(first_value)
        return True

    return matches


# --- Value display -----------------------------------------------------------
#
# Values of any kind as Go's `%v` prints them: how error texts show keys and values.


def display(value: Value) -> str:
    """Go's `%v` of a CEL value, as error texts show keys and values. A null prints `0`. Raises
    EvaluationError for what is too long to write down."""
    return _displayed(value, {})


def _displayed(value: Value, memo: dict[int, str]) -> str:
    """`memo` are the lists and maps that are written, by identity."""
    match value:
        case str():
            return value
        case None:
            return "0"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return go_float(value)
        case bytes():
            return "[" + " ".join(map(str, value)) + "]"
        case Timestamp():
            return go_time(value)
        case Duration():
            return go_duration(value)
        case Type():
            return str(value)
        case Optional():
            message = "" if value is NONE else _displayed(value.value, memo)
            return "optional.none()" if value is NONE else f"optional({message})"
        case Opaque():
            return value.display()
        case _:
            text = memo.get(id(value))
            if text is None:
                text = memo[id(value)] = _container(value, memo)
            return text


def _container(value: Any, memo: dict[int, str]) -> str:
    if isinstance(value, list):
        return f"[{written(_displayed(item, memo) for item in value)}]"
    pairs = (f"{_displayed(k, memo)}: {_displayed(v, memo)}" for k, v in value.items())
    return f"{{{written(pairs)}}}"


# --- Unknown inputs ----------------------------------------------------------
#
# What is not known yet: how a caller says it, and how a result does. See `partial_evaluation`.

ANY = None
"""In `AttributePattern.keys`: any key at this place."""


class AttributePattern(NamedTuple):
    """Names an attribute that is not known: a variable and keys. What lies below or above it is
    unknown too: with `object.spec` unknown, so are `object.spec.replicas` and `object` as a
    whole."""

    variable: str
    keys: tuple[str | int | bool | None, ...] = ()


class Unknown(NamedTuple):
    """Stands for a result that waits for inputs; `nodes` are the ids of the attributes it waits
    for."""

    nodes: frozenset[int]

    def merged(self, other: Unknown) -> Unknown:
        """Return what waits for the attributes of both."""
        return Unknown(self.nodes | other.nodes)
