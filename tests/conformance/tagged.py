"""CEL values in the notation of the recordings: `{"int": "5"}`, `{"list": [...]}`.

`encode` makes that notation of a value, `decode` a value of that notation, and `same` compares two
notations: maps without order, doubles as numbers, and texts of opaque values only where they are
not addresses of a running program.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from celadon.cel import types
from celadon.cel.errors import EvaluationError
from celadon.cel.types import Type
from celadon.cel.values.maps import is_map, make_map
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import (
    Duration,
    Timestamp,
    format_timestamp,
    parse_duration,
    parse_timestamp,
)

Tagged: TypeAlias = dict[str, Any]

_NAMED_TYPES = {
    t.runtime_name: t
    for t in (
        *(types.BOOL, types.BYTES, types.DOUBLE, types.DURATION, types.INT, types.LIST, types.MAP),
        *(types.NULL, types.STRING, types.TIMESTAMP, types.TYPE, types.UINT, types.DYN),
    )
}


def encode(value: Any) -> Tagged:
    match value:
        case None:
            return {"null": True}
        case bool():
            return {"bool": value}
        case Uint():
            return {"uint": str(int(value))}
        case int():
            return {"int": str(value)}
        case float():
            return {"double": _double(value)}
        case str():
            return {"string": value}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case list():
            return {"list": [encode(item) for item in value]}
        case Timestamp():
            return {"timestamp": format_timestamp(value)}
        case Duration():
            return {"duration": _duration(value)}
        case Type():
            return {"type": value.runtime_name}
        case Optional():
            return {"optional": None if value is NONE else encode(value.value)}
        case EvaluationError():  # what an optional may hold
            return {"err": value.message}
        case Opaque():
            return {"opaque": value.cel_type.runtime_name, "text": value.display()}
    if is_map(value):
        return {"map": [[encode(k), encode(v)] for k, v in value.items()]}
    raise TypeError(f"no CEL value: {value!r}")


def _double(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _duration(value: Duration) -> str:
    """Seconds as a double, which is how the recordings were written."""
    seconds = abs(value.nanoseconds) // 1_000_000_000
    rest = abs(value.nanoseconds) % 1_000_000_000
    text = f"{Decimal(repr(seconds + rest / 1e9)):f}".removesuffix(".0")
    return f"-{text}s" if value.nanoseconds < 0 else f"{text}s"


def decode(tagged: Tagged) -> Any:
    (tag, content), *_ = tagged.items()
    match tag:
        case "null":
            return None
        case "bool" | "string":
            return content
        case "int":
            return int(content)
        case "uint":
            return Uint(int(content))
        case "double":
            return float(content)
        case "bytes":
            return base64.b64decode(content)
        case "list":
            return [decode(item) for item in content]
        case "map":
            return make_map([(decode(k), decode(v)) for k, v in content])
        case "timestamp":
            return parse_timestamp(content)
        case "duration":
            return parse_duration(content)
        case "type":
            return _NAMED_TYPES[content]
        case "optional":
            return NONE if content is None else Optional(decode(content))
    raise TypeError(f"no value for the tag {tag!r}")


def same(left: Tagged, right: Tagged) -> bool:
    if "double" in left and "double" in right:
        a, b = float(left["double"]), float(right["double"])
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if "list" in left and "list" in right:
        return len(left["list"]) == len(right["list"]) and all(
            map(same, left["list"], right["list"])
        )
    if "map" in left and "map" in right:
        return _same_entries(left["map"], right["map"])
    if left.get("optional") and right.get("optional"):
        return same(left["optional"], right["optional"])
    if "opaque" in left and "opaque" in right:
        return left["opaque"] == right["opaque"] and _same_text(left["text"], right["text"])
    return left == right


def _same_entries(left: Sequence[Sequence[Tagged]], right: Sequence[Sequence[Tagged]]) -> bool:
    rest = list(right)
    for key, value in left:
        for entry in rest:
            if same(key, entry[0]) and same(value, entry[1]):
                rest.remove(entry)
                break
        else:
            return False
    return not rest


def _same_text(left: str, right: str) -> bool:
    """A named format is recorded as a Go struct with an address in it; its name must agree."""
    if right.startswith("{"):
        return left.lstrip("{").split()[0] == right.lstrip("{").split()[0]
    return left == right
