"""Objects with one value changed, wherever it stands and whatever is missing on the way to it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any


def with_value_at(
    given: Mapping[str, Any],
    steps: Sequence[str | int],
    value: Any,  # noqa: ANN401 - any JSON
) -> dict[str, Any] | None:
    """A copy with the value there, without what is there for None; None where nothing can be
    changed. Of a list the first item stands for all."""
    made: dict[str, Any] = copy.deepcopy(dict(given))
    return made if _put(made, steps, value) else None


def with_second_item(
    given: Mapping[str, Any],
    steps: Sequence[str | int],
    value: Any,  # noqa: ANN401 - any JSON
) -> dict[str, Any] | None:
    """A copy in which the first list on the way has one more item: the first one with the value
    there. None where there is no such list, or nothing in it."""
    length = next((i for i, step in enumerate(steps) if isinstance(step, int)), 0)
    changed = with_value_at(given, steps, value)
    made: dict[str, Any] = copy.deepcopy(dict(given))
    items, others = value_at(made, steps[:length]), value_at(changed, steps[:length])
    if not length or not isinstance(items, list) or not items or not others:
        return None
    other = others[0]
    if isinstance(other, dict) and isinstance(other.get("name"), str):
        other = {**other, "name": f"{other['name']}-2"}
    items.append(other)
    return made


def value_at(value: Any, steps: Sequence[str | int]) -> Any:  # noqa: ANN401 - any JSON
    """What is there; None where there is nothing."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _put(holder: Any, steps: Sequence[str | int], value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Changes a value deep inside, with what is missing on the way to it; None takes it away."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if following is None:
            return _set(holder, step, value)
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(holder, dict) and isinstance(step, str):
            if not isinstance(holder.get(step), dict | list):
                holder[step] = empty
            holder = holder[step]
        elif isinstance(holder, list) and isinstance(step, int):
            if not holder:
                holder.append(empty)
            holder = holder[0]
        else:
            return False
    return False


def _set(holder: Any, step: str | int, value: Any) -> bool:  # noqa: ANN401 - any JSON
    if isinstance(holder, dict) and isinstance(step, str):
        if value is None:
            return holder.pop(step, None) is not None
        holder[step] = value
        return True
    if isinstance(holder, list) and step == 0:
        if value is None:
            holder.clear()
        else:
            holder[:] = [value]
        return True
    return False
