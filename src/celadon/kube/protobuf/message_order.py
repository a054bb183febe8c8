"""The members of an object in the order of its kind's fields, as a server writes them.

Go writes structs field by field and maps sorted by key. The order of the fields is that of the
lines of the message table. What has no message (custom resources) stays as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.json_types import Json, JsonObject
from celadon.kube.protobuf.message_table import (
    JSON_SHAPES,
    MessageField,
    message_fields,
    message_of,
)
from celadon.kube.protobuf.wire import PAYLOADS, SCALARS
from celadon.kube.releases import per_release

Order = Callable[[Any], Any]
_Way = tuple[tuple[str, Order | None], ...]

_TYPE: Final = ("kind", "apiVersion")
REMEMBERED: Final = 256
"""Sets of members, for each message."""


def in_message_order(obj: JsonObject) -> dict[str, Any]:
    """A new object; `kind` and `apiVersion` come first. Unknown members come last. Parts that have
    their order are shared with the object given."""
    name = message_of(metadata.gvk(obj))
    if name is None:
        return dict(obj)
    head = {key: obj[key] for key in _TYPE if key in obj}
    return {**head, **_order_for(name)({key: obj[key] for key in obj if key not in _TYPE})}


@per_release()
def _order_for(name: str) -> Order:
    """Puts the members of a message in order. Objects of a kind mostly have the same few members,
    so the way from one order to the other is remembered: looking for all the fields that a message
    could have takes three times as long."""
    known: dict[tuple[str, ...], _Way | None] = {}

    def order(value: Json) -> Any:
        if value.__class__ is not dict:
            return value
        given = tuple(value)
        try:
            way = known[given]
        except KeyError:
            way = _way(given, _orders(name))
            if len(known) < REMEMBERED:
                known[given] = way
        if way is None:
            return value
        return {key: value[key] if each is None else each(value[key]) for key, each in way}

    return order


def _way(given: tuple[str, ...], orders: Mapping[str, Order | None]) -> _Way | None:
    """None where everything has its place already."""
    known = tuple((key, each) for key, each in orders.items() if key in given)
    way = *known, *((key, None) for key in given if key not in orders)
    is_settled = all(each is None for _, each in way) and tuple(key for key, _ in way) == given
    return None if is_settled else way


@per_release()
def _orders(name: str) -> dict[str, Order | None]:
    """How the members of a message are ordered themselves, in the order of its fields; None for
    those that have no order. Where no field is called so, `kind` and `apiVersion` come first."""
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
    if field.mapped:
        return _sorted_texts if each is None else functools.partial(_map, each=each)
    if field.repeated and each is not None:
        return functools.partial(_list, each=each)
    return each


def _list(value: object, each: Order) -> Any:
    return [each(item) for item in value] if isinstance(value, list) else value


def _sorted_texts(value: object) -> object:
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _map(value: object, each: Order) -> object:
    if not isinstance(value, dict):
        return value
    return {key: each(value[key]) for key in sorted(value)}
