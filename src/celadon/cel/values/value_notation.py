"""CEL values as text: the literal, or the call, that would make them again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from celadon.cel.types import Type
from celadon.cel.values import Value
from celadon.cel.values.conversions import duration_to_string
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.text import Uint, written
from celadon.cel.values.timestamps import Duration, Timestamp, format_timestamp


def notation(value: object) -> str:
    """`{"a": [1, 2u, 1.5]}`, `duration("90s")`, `optional.none()`, `b"\\x00"`. Raises
    EvaluationError for what is too long to write down."""
    return _notation(value, {})


def _notation(value: object, known: dict[int, str]) -> str:
    """`known` are the lists and maps that are written, by identity."""
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, bytes):
        return f'b"{_bytes(value)}"'
    if isinstance(value, list | tuple | Mapping):
        text = known.get(id(value))
        if text is None:
            text = known[id(value)] = _container(value, known)
        return text
    return _named(value, known)


def _container(value: Sequence[Value] | Mapping[Any, Any], known: dict[int, str]) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_notation(k, known)}: {_notation(v, known)}" for k, v in value.items())
        return f"{{{written(entries)}}}"
    return f"[{written(_notation(one, known) for one in value)}]"


def _number(value: int | float) -> str:
    if isinstance(value, Uint):
        return f"{int(value)}u"
    if isinstance(value, int):
        return str(int(value))
    if value != value:
        return 'double("NaN")'
    if value in (float("inf"), float("-inf")):
        return f'double("{"-" if value < 0 else ""}Infinity")'
    return repr(value)


def _bytes(value: bytes) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}"
        for byte in value
    )


def _named(value: object, known: dict[int, str]) -> str:
    if isinstance(value, Timestamp):
        return f'timestamp("{format_timestamp(value)}")'
    if isinstance(value, Duration):
        return f'duration("{duration_to_string(value)}")'
    if isinstance(value, Optional):
        return (
            "optional.none()" if value is NONE else f"optional.of({_notation(value.value, known)})"
        )
    if isinstance(value, Type):
        return value.runtime_name
    if isinstance(value, Opaque):
        return f"{value.cel_type.name}({json.dumps(value.display(), ensure_ascii=False)})"
    return str(value)
