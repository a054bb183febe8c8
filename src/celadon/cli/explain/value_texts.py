"""Values of the language in few characters, for places where there is no room for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from celadon.cel import EvaluationError
from celadon.cel.extend import Optional
from celadon.cel.value_functions import notation

_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_DEPTH = 50
_LEAST = 12
"""Characters below which nothing of a container is shown but its size."""


def brief(value: Any, room: int, depth: int = _DEPTH) -> str:  # noqa: ANN401 - a value of CEL
    """The value in about so many characters, and containers within containers to a depth: what is
    left out leaves an ellipsis."""
    if not depth:
        return _ELLIPSIS
    if isinstance(value, EvaluationError):
        return shortened(f"error: {value.message}", room)
    if isinstance(value, str):
        return _text(value, room)
    if isinstance(value, Mapping):
        return _mapping(value, room, depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return _sequence(value, room, depth)
    if isinstance(value, Optional) and isinstance(value.value, Mapping | Sequence):
        return f"optional.of({brief(value.value, room - 13, depth - 1)})"
    try:
        return shortened(notation(value), room)
    except EvaluationError:
        return _ELLIPSIS


def size_text(value: Any) -> str:  # noqa: ANN401 - a value of CEL
    """`{4 keys}` or `[2 items]` of a container; empty for all else."""
    if isinstance(value, Mapping):
        return f"{{{_counted(len(value), 'key')}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{_counted(len(value), 'item')}]"
    return ""


def shortened(text: str, room: int) -> str:
    """The beginning of a text, if not all of it fits."""
    return text if len(text) <= room else f"{text[: max(room - 1, 1)]}{_ELLIPSIS}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _text(value: str, room: int) -> str:
    if len(value) <= room:
        quoted = json.dumps(value, ensure_ascii=False)
        if len(quoted) <= max(room, 2):
            return quoted
    kept = max(room - 3, 1)
    return f'{json.dumps(value[:kept], ensure_ascii=False)[: kept + 1]}{_ELLIPSIS}"'


def _mapping(value: Mapping[Any, Any], room: int, depth: int) -> str:
    entries = ((f"{brief(key, room)}: ", one) for key, one in value.items())
    return f"{{{_joined(entries, len(value), room, depth)}}}" if value else "{}"


def _sequence(value: Sequence[Any], room: int, depth: int) -> str:
    return f"[{_joined((('', one) for one in value), len(value), room, depth)}]" if value else "[]"


def _joined(items: Iterable[tuple[str, Any]], count: int, room: int, depth: int) -> str:
    """Items with what stands before each, as many as there is room for."""
    found: list[str] = []
    left = room - 2
    for label, item in items:
        if left < _LEAST and (found or left < len(label) + 2):
            break
        text = f"{label}{brief(item, max(left - len(label), 1), depth - 1)}"
        if len(text) > left and found:
            break
        found.append(text)
        left -= len(text) + 2
    rest = count - len(found)
    if rest:
        found.append(f"{_ELLIPSIS} {rest} more" if found else f"{_ELLIPSIS} {rest}")
    return ", ".join(found)
