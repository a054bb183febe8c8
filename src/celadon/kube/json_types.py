"""JSON as it is typed here.

`Json` is any JSON value, for code that passes values on or asks what they are. Objects stay what
they are, plain JSON, because their shape is open: `JsonObject` is one that nobody changes, and
whoever reads a member knows what it should be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Any JSON value."""

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read; its members are what its kind says."""


# --- Json copies -------------------------------------------------------------
#
# Deep copies of JSON values, without the bookkeeping of `copy.deepcopy`.


_CONTAINERS: Final[frozenset[type]] = frozenset({dict, list})


def fresh(value: object) -> Any:  # noqa: ANN401 - any JSON
    """A deep copy: new containers, the same scalars."""
    if value.__class__ is dict:
        return {
            key: fresh(item) if item.__class__ in _CONTAINERS else item
            for key, item in value.items()
        }
    if value.__class__ is list:
        return [fresh(item) if item.__class__ in _CONTAINERS else item for item in value]
    return value
