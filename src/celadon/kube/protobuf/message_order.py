"""The members of an object in the order of its kind's fields, as a server writes them.

Go writes structs field by field and maps sorted by key; the numbers of the fields in protobuf
follow the structs but for a few late fields. What has no message (custom resources) stays as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.protobuf.json_shapes import JSON_SHAPES
from celadon.kube.protobuf.message_table import MessageField, message_fields, message_of
from celadon.kube.protobuf.wire.payloads import PAYLOADS
from celadon.kube.protobuf.wire.wire_scalars import SCALARS

Order = Callable[[Any], Any]

_TYPE: Final = ("kind", "apiVersion")


def in_message_order(obj: Mapping[str, Any]) -> dict[str, Any]:
    """A new object; `kind` and `apiVersion` come first. Unknown members come last."""
    name = message_of(metadata.gvk(obj))
    if name is None:
        return dict(obj)
    head = {key: obj[key] for key in _TYPE if key in obj}
    return {**head, **_ordered({key: obj[key] for key in obj if key not in _TYPE}, name)}


def _ordered(value: object, name: str) -> Any:
    if not isinstance(value, dict):
        return value
    orders = _orders(name)
    made = {
        key: value[key] if order is None else order(value[key])
        for key, order in orders.items()
        if key in value
    }
    if len(made) < len(value):
        made.update((key, value[key]) for key in value if key not in orders)
    return made


@functools.cache
def _orders(name: str) -> dict[str, Order | None]:
    """How the members of a message are ordered themselves, in the order of its fields; None for
    those that have no order."""
    found: dict[str, Order | None] = {}
    for field in message_fields(name):
        if field.inline:
            found.update(_orders(field.type))
        else:
            found[field.name] = _order_of(field)
    return found


def _order_of(field: MessageField) -> Order | None:
    plain = field.type in SCALARS or field.type in PAYLOADS or field.type in JSON_SHAPES
    each: Order | None = None if plain else functools.partial(_ordered, name=field.type)
    if field.mapped:
        return functools.partial(_map, each=each)
    if field.repeated and each is not None:
        return functools.partial(_list, each=each)
    return each


def _list(value: object, each: Order) -> Any:
    return [each(item) for item in value] if isinstance(value, list) else value


def _map(value: object, each: Order | None) -> Any:
    if not isinstance(value, dict):
        return value
    if each is None:
        return dict(sorted(value.items()))
    return {key: each(value[key]) for key in sorted(value)}
