"""The size of a value as the cost model counts it."""

from __future__ import annotations

from typing import Any

from celadon.cel.errors import EvaluationError
from celadon.cel.values import Value
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.typed_lists import LIST_CLASSES

_LENGTHS = frozenset({str, dict, bytes}) | LIST_CLASSES
_UNITS = frozenset({bool, int, float, type(None)})


def shown_size(value: Value) -> int:
    """The size as libraries of functions see it: an optional is 1, whatever is in it."""
    return 1 if value.__class__ is Optional else size_of(value)


def size_of(value: Any) -> int:
    """Code points, bytes, elements or entries; a present optional's content; otherwise 1.

    Errors stand for arguments that failed and count 1.
    """
    kind = value.__class__
    if kind in _LENGTHS:
        return len(value)
    if kind in _UNITS or isinstance(value, EvaluationError):
        return 1
    if kind is Optional:
        return 1 if value is NONE else size_of(value.value)
    if isinstance(value, Opaque):
        return value.cost_size
    return len(value) if hasattr(value, "items") else 1
