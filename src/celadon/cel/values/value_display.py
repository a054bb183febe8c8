"""Values of any kind as Go's `%v` prints them: how error texts show keys and values."""

from __future__ import annotations

from typing import Any

from celadon.cel.types import Type
from celadon.cel.values.opaque import Opaque
from celadon.cel.values.optional_values import NONE, Optional
from celadon.cel.values.text import go_float, written
from celadon.cel.values.times.timestamps import Duration, Timestamp, go_duration, go_time


def display(value: Any) -> str:
    """Go's `%v` of a CEL value, as error texts show keys and values. A null prints `0`. Raises
    EvaluationError for what is too long to write down."""
    return _displayed(value, {})


def _displayed(value: Any, known: dict[int, str]) -> str:
    """`known` are the lists and maps that are written, by identity."""
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
            shown = "" if value is NONE else _displayed(value.value, known)
            return "optional.none()" if value is NONE else f"optional({shown})"
        case Opaque():
            return value.display()
        case _:
            text = known.get(id(value))
            if text is None:
                text = known[id(value)] = _container(value, known)
            return text


def _container(value: Any, known: dict[int, str]) -> str:
    if isinstance(value, list):
        return f"[{written(_displayed(one, known) for one in value)}]"
    pairs = (f"{_displayed(k, known)}: {_displayed(v, known)}" for k, v in value.items())
    return f"{{{written(pairs)}}}"
