"""Values of the language as JSON: what a JSON patch writes.

As the conversions to `structpb.Value` in cel-go `common/types`, which know no integers beyond those
that a double holds exactly (they become texts), and the encoding of that.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any, Final

from celadon.admission.mutating.native_values import DataValues, configuration, require_type_names
from celadon.cel.extend import NONE, Duration, Opaque, Timestamp, Uint, types
from celadon.cel.value_functions import duration_to_string, format_timestamp
from celadon.kube.apply import ForeignValue, MutationRefused
from celadon.kube.library import PatchObject, PatchOperation, unwrapped

LARGEST_EXACT: Final = (1 << 53) - 1
_EXPONENT_FROM: Final = 1e21
_NO_JSON: Final = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "
_TARGET: Final = "*structpb.Value"


def json_value(value: object, data: DataValues) -> Any:  # noqa: ANN401 - any JSON
    """A JSON value. MutationRefused for what is none."""
    if isinstance(value, PatchObject):
        require_type_names(value)
    try:
        return _converted(value, data)
    except MutationRefused as error:
        raise MutationRefused(f"{_NO_JSON}{error}") from None


def _converted(value: object, data: DataValues) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case None | bool() | str():
            return value
        case Uint() | int():
            number = int(value)
            return number if abs(number) <= LARGEST_EXACT else str(number)
        case float():
            return _number(value)
        case bytes():
            return base64.b64encode(value).decode()
        case list():
            return [_converted(item, data) for item in value]
        case Mapping():
            return {_key(key): _converted(one, data) for key, one in value.items()}
        case Timestamp():
            return format_timestamp(value)
        case Duration():
            return duration_to_string(value)
        case PatchObject():
            return _in_doubles(configuration(value, data))
        case PatchOperation():
            raise MutationRefused(f"cannot convert to native type: {_TARGET}")
        case types.Type():
            raise MutationRefused("type conversion not supported for 'type'")
        case Opaque():
            name = value.cel_type.name.rpartition(".")[2]
            raise MutationRefused(f"type conversion error from '{name}' to '{_TARGET}'")
    if value is NONE:
        raise MutationRefused("optional.none() dereference")
    return _converted(unwrapped(value), data)


def _number(value: float) -> int | float:
    """As it is read again: without a fraction it is an integer."""
    if math.isnan(value) or math.isinf(value):
        shown = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise MutationRefused(
            f"json: error calling MarshalJSON for type {_TARGET}: proto:\u00a0"
            f"google.protobuf.Value.number_value: invalid {shown} value"
        )
    return int(value) if value.is_integer() and abs(value) < _EXPONENT_FROM else value


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    raise MutationRefused(f"unsupported type conversion from '{_type_name(key)}' to 'string'")


def _type_name(key: object) -> str:
    return "bool" if isinstance(key, bool) else "uint" if isinstance(key, Uint) else "int"


def _in_doubles(value: object) -> Any:  # noqa: ANN401 - any JSON
    """The fields of an object: there numbers lose what a double does not hold."""
    match value:
        case dict():
            return {key: _in_doubles(one) for key, one in value.items()}
        case list():
            return [_in_doubles(item) for item in value]
        case None | bool() | str():
            return value
        case int() | float():
            return _number(float(value))
        case ForeignValue(value=Uint() as number):
            return _number(float(number))
        case ForeignValue(value=bytes() as content):
            return base64.b64encode(content).decode()
        case ForeignValue():
            raise MutationRefused(f"proto:\u00a0invalid type: {value.go_type}")
    raise AssertionError("a configuration is JSON but for foreign values")
