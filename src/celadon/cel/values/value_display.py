"""Values of any kind as Go's `%v` prints them: how error texts show keys and values."""

from __future__ import annotations

from typing import Any

from celadon.cel.types import Type
from celadon.cel.values.opaque import Opaque
from celadon.cel.values.optional_values import NONE, Optional
from celadon.cel.values.text import go_float, written
from celadon.cel.values.times.timestamps import Duration, Timestamp, go_duration, go_time


def display(value: Any) -> str:
    """Go's `%v` of a CEL value, as error texts show keys and values. A null prints `0`."""
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
        case list():
            return f"[{written(map(display, value))}]"
        case Timestamp():
            return go_time(value)
        case Duration():
            return go_duration(value)
        case Type():
            return str(value)
        case Optional():
            return "optional.none()" if value is NONE else f"optional({display(value.value)})"
        case Opaque():
            return value.display()
        case _:
            pairs = (f"{display(k)}: {display(v)}" for k, v in value.items())
            return f"{{{written(pairs)}}}"
