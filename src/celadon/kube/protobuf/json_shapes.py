"""Messages whose JSON is no object with their fields: what Go's own `MarshalJSON` makes of them.

A list that Go has to wrap (`ExtraValue`, `Verbs`) is a plain list in JSON. The alternatives of a
JSON schema (a schema or a list, or a boolean) are the alternative that is set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube.protobuf.wire.wire_errors import misfit
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class JsonShape:
    """`fields_of` takes the JSON value and the name of its field, for complaints; `value_of` the
    fields that were read, and gives None where JSON has null."""

    fields_of: Callable[[Any, str], dict[str, Any]]
    value_of: Callable[[dict[str, Any]], Any]


def _wrapped(value: object, field: str) -> dict[str, Any]:
    if not isinstance(value, list):
        raise misfit(field, "list")
    return {"items": value}


def _unwrapped(fields: dict[str, Any]) -> Any:
    return fields.get("items", [])


def _schema_or_list(value: object, field: str) -> dict[str, Any]:
    return {"jSONSchemas": value} if isinstance(value, list) else _schema(value, field)


def _schema_or_bool(value: object, field: str) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"allows": value}
    return {"allows": True, **_schema(value, field)}


def _schema_or_strings(value: object, field: str) -> dict[str, Any]:
    return {"property": value} if isinstance(value, list) else _schema(value, field)


def _schema(value: object, field: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise misfit(field, "JSON schema")
    return {"schema": value}


_WRAPPED_LIST: Final = JsonShape(_wrapped, _unwrapped)
_EXTENSIONS: Final = "apiextensions.v1.JSONSchemaPropsOr"

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
