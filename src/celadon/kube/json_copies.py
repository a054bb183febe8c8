"""Deep copies of JSON values, without the bookkeeping of `copy.deepcopy`."""

from __future__ import annotations

from typing import Any, Final

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
