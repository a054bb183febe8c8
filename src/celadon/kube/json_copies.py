"""Deep copies of JSON values, without the bookkeeping of `copy.deepcopy`."""

from __future__ import annotations

from typing import Any


def fresh(value: Any) -> Any:
    """A deep copy: new containers, the same scalars."""
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fresh(item) for item in value]
    return value
