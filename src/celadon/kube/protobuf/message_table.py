"""The table of messages: which fields a kind has, under which numbers, and in which order.

The pack `messages` is made of the types in `data/`. A message is a text with a line for each field
in the order of the Go struct: number, name in JSON, type. `?` marks what Go holds by pointer (or as
bytes): on the wire only when it is set. Everything else is always written, zeros too, except lists
and maps, whose empty form has no bytes. `(inline)` fields hold a message whose fields are in JSON
those of the outer one. Types without a package are of the same one.

The lines of a message are parsed when the message is first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.json_types import Json, JsonDict, JsonObject, SharedParts
from celadon.kube.names import GroupVersionKind
from celadon.kube.protobuf.wire import PAYLOADS, SCALARS, misfit
from celadon.kube.releases import per_release
from celadon.kube.schemas import schema_packs
from celadon.records import dataclass

META: Final = "meta.v1"
INLINE: Final = "(inline)"
_LIST_END: Final = "[]"
_MAP_START: Final = "map<string,"

IN_EVERY_GROUP_VERSION: Final = frozenset(
    {
        *("CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions"),
        "UpdateOptions",
    }
)
"""Kinds of meta.v1 that every group version registers (apimachinery `metav1.AddToGroupVersion`)."""

_META_VERSION: Final = GroupVersionKind("meta.k8s.io", "v1", "")


@dataclass(frozen=True, slots=True)
class MessageField:
    """Describes a field of a message. `type` is a scalar or the full name of a message. A field is
    at most one of `repeated` and `mapped` (to values of `type`, under strings). `name` is that in
    JSON."""

    number: int
    name: str
    type: str
    optional: bool = False
    repeated: bool = False
    mapped: bool = False

    @property
    def inline(self) -> bool:
        return self.name == INLINE


@per_release()
def _lines() -> Mapping[str, str]:
    lines: Mapping[str, str] = schema_packs.load("messages")["messages"]
    return lines


@per_release()
def kinds() -> Mapping[GroupVersionKind, str]:
    """Return the kinds of the table, and the names of their messages."""
    named = {
        GroupVersionKind(*name.split("/")): message
        for name, message in schema_packs.load("messages")["kinds"].items()
    }
    options = {
        _META_VERSION._replace(kind=kind): f"{META}.{kind}" for kind in IN_EVERY_GROUP_VERSION
    }
    return named | options


def message_of(gvk: GroupVersionKind) -> str | None:
    """Return the name of the message, as `core.v1.Pod`; None for kinds without one."""
    if gvk.kind in IN_EVERY_GROUP_VERSION:
        return f"{META}.{gvk.kind}"
    return kinds().get(gvk)


@per_release()
def message_fields(name: str) -> tuple[MessageField, ...]:
    """Return the fields in the order of Go's structs, in which JSON has them. Raises KeyError for a
    name that is not in the table."""
    package = ".".join(name.split(".")[:2])
    return tuple(_field(line, package) for line in _lines()[name].splitlines())


def _field(line: str, package: str) -> MessageField:
    number, name, type_ = line.split()
    optional, repeated = type_.endswith("?"), type_.endswith(_LIST_END)
    mapped = type_.startswith(_MAP_START)
    if mapped:
        type_ = type_[len(_MAP_START) : -1]
    type_ = type_.removesuffix("?").removesuffix(_LIST_END)
    if type_[0].isupper():
        type_ = f"{package}.{type_}"
    return MessageField(int(number), name, type_, optional, repeated, mapped)


# --- Json shapes -------------------------------------------------------------
#
# Messages whose JSON is no object with their fields: what Go's own `MarshalJSON` makes of them.
#
# A list that Go has to wrap (`ExtraValue`, `Verbs`) is a plain list in JSON. The alternatives
# of a JSON schema (a schema or a list, or a boolean) are the alternative that is set.


@dataclass(frozen=True, slots=True)
class JsonShape:
    """Describes how a value is read from JSON. `fields_of` takes the JSON value and the name of its
    field, for complaints; `value_of` the fields that were read, and gives None where JSON has
    null."""

    fields_of: Callable[[Any, str], JsonObject]
    value_of: Callable[[dict[str, Json]], Json]


def _wrapped(value: object, field: str) -> dict[str, Json]:
    if not isinstance(value, list):
        raise misfit(field, "list")
    return {"items": value}


def _unwrapped(fields: dict[str, Json]) -> Json:
    return fields.get("items", [])


def _schema_or_list(value: object, field: str) -> JsonDict:
    return {"jSONSchemas": value} if isinstance(value, list) else _schema(value, field)


def _schema_or_bool(value: object, field: str) -> JsonDict:
    if isinstance(value, bool):
        return {"allows": value}
    return {"allows": True, **_schema(value, field)}


def _schema_or_strings(value: object, field: str) -> dict[str, object]:
    return {"property": value} if isinstance(value, list) else _schema(value, field)


def _schema(value: object, field: str) -> JsonDict:
    if not isinstance(value, dict):
        raise misfit(field, "JSON schema")
    return {"schema": value}


_WRAPPED_LIST: Final = JsonShape(_wrapped, _unwrapped)
_SCHEMA: Final = "apiextensions.v1.JSONSchemaProps"
_EXTENSIONS: Final = f"{_SCHEMA}Or"

JSON_SHAPES: Final[Mapping[str, JsonShape]] = {
    _EXTENSIONS + "Array": JsonShape(
        _schema_or_list, lambda fields: fields.get("jSONSchemas") or fields.get("schema")
    ),
    _EXTENSIONS + "Bool": JsonShape(
        _schema_or_bool, lambda fields: fields.get("schema", fields.get("allows", False))
    ),
    _EXTENSIONS + "StringArray": JsonShape(
        _schema_or_strings, lambda fields: fields.get("property") or fields.get("schema")
    ),
    "authentication.v1.ExtraValue": _WRAPPED_LIST,
    "authorization.v1.ExtraValue": _WRAPPED_LIST,
    "certificates.v1.ExtraValue": _WRAPPED_LIST,
    "meta.v1.Verbs": _WRAPPED_LIST,
}
"""Under the names of the messages."""


# --- The order of members ----------------------------------------------------
#
# The members of an object in the order of its kind's fields, as a server writes them.
#
# Go writes structs field by field and maps sorted by key. The order of the fields is that of the
# lines of the message table. What has no message (custom resources) stays as it is.

Order = Callable[[Any, SharedParts], Any]
_Way = tuple[tuple[str, Order | None], ...]

_TYPE: Final = ("kind", "apiVersion")
REMEMBERED: Final = 256
"""Sets of members, for each message."""


_NOTHING: Final[SharedParts] = {}


def in_message_order(obj: JsonObject, shared: SharedParts = _NOTHING) -> JsonDict:
    """Return a new object; `kind` and `apiVersion` come first. Unknown members come last. Parts
    that have their order are shared with the object given; in the place of copies come the parts of
    a stored object of which they were made."""
    name = message_of(metadata.gvk(obj))
    if name is None:
        return dict(obj)
    ordered: JsonDict = _order_for(name)(obj, shared)
    return dict(ordered) if ordered is obj else ordered


def ordered_message(part: JsonObject, name: str) -> JsonDict:
    """Return a part of an object, whose message is called so (`core.v1.PodSpec`), in the same
    order."""
    return dict(_order_for(name)(part, _NOTHING))


@per_release()
def _order_for(name: str) -> Order:
    """Return what puts the members of a message in order. Objects of a kind mostly have the same
    few members, so the way from one order to the other is remembered: looking for all the fields
    that a message could have takes three times as long."""
    ways: dict[tuple[str, ...], _Way | None] = {}

    def order(value: Json, shared: SharedParts) -> Any:
        if value.__class__ is not dict:
            return value
        if id(value) in shared:
            return shared[id(value)][1]
        keys = tuple(value)
        try:
            way = ways[keys]
        except KeyError:
            way = _way(keys, _orders(name))
            if len(ways) < REMEMBERED:
                ways[keys] = way
        if way is None:
            return value
        return {key: value[key] if each is None else each(value[key], shared) for key, each in way}

    return order


def _way(keys: tuple[str, ...], orders: Mapping[str, Order | None]) -> _Way | None:
    """Return None where everything has its place already."""
    ordered = tuple((key, each) for key, each in orders.items() if key in keys)
    way = *ordered, *((key, None) for key in keys if key not in orders)
    is_settled = all(each is None for _, each in way) and tuple(key for key, _ in way) == keys
    return None if is_settled else way


@per_release()
def _orders(name: str) -> dict[str, Order | None]:
    """Return how the members of a message are ordered themselves, in the order of its fields; None
    for those that have no order. Where no field is called so, `kind` and `apiVersion` come
    first."""
    orders: dict[str, Order | None] = {}
    for field in message_fields(name):
        if field.inline:
            orders.update(_orders(field.type))
        else:
            orders[field.name] = _order_of(field)
    return {**dict.fromkeys(key for key in _TYPE if key not in orders), **orders}


def _order_of(field: MessageField) -> Order | None:
    plain = field.type in SCALARS or field.type in PAYLOADS or field.type in JSON_SHAPES
    each: Order | None = None if plain else _order_for(field.type)
    if field.type.startswith(_EXTENSIONS):
        each = functools.partial(_schemas, each=_order_for(_SCHEMA))
    if field.mapped:
        return _sorted_texts if each is None else functools.partial(_map, each=each)
    if field.repeated and each is not None:
        return functools.partial(_list, each=each)
    return each


def _list(value: object, shared: SharedParts, each: Order) -> Any:
    if id(value) in shared:
        return shared[id(value)][1]
    return [each(item, shared) for item in value] if isinstance(value, list) else value


def _schemas(value: object, shared: SharedParts, each: Order) -> Any:
    """Order a schema, or a list of schemas; whether there may be more, and texts, stay."""
    return _list(value, shared, each) if isinstance(value, list) else each(value, shared)


def _sorted_texts(value: object, _: SharedParts) -> object:
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _map(value: object, shared: SharedParts, each: Order) -> object:
    if not isinstance(value, dict):
        return value
    return {key: each(value[key], shared) for key in sorted(value)}
