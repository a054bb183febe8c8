"""What a JSONPath selects of a JSON value, and how a value found by one is printed.

As k8s.io/client-go `util/jsonpath/jsonpath.go` with missing keys allowed. Where that reports an
error (an index beyond the end, a filter on what is no list, a comparison of a text with a number)
nothing is selected: None, between the functions of this module.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, assert_never

from celadon.cel.value_functions import text
from celadon.kube.go.go_text import json_text
from celadon.kube.json_types import Json
from celadon.kube.jsonpath.jsonpath_steps import (
    Descent,
    EveryMember,
    Field,
    Filter,
    Literal,
    Slice,
    Step,
    Steps,
    Union,
    Word,
)

Values: TypeAlias = Sequence[Json]

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EQUALITIES: Final = frozenset({"==", "!="})


def selected(steps: Steps, value: Json) -> Values:
    """The values that the steps lead to, in order."""
    return _walk(steps, [value]) or ()


def printed(value: Json) -> str:
    """A value as Go prints it: texts as they are, objects and lists as JSON with sorted members."""
    if value is None:
        return "<no value>"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return text.go_float(value)
    return json_text(_sorted(value))


def _sorted(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(one) for one in value]
    return value


def _walk(steps: Steps, values: Values) -> Values | None:
    found: Values | None = values
    for step in steps:
        if found is None:
            return None
        found = _stepped(step, found)
    return found


def _stepped(step: Step, values: Values) -> Values | None:
    match step:
        case Literal(value):
            return [value] if isinstance(value, str) else [value for _ in values]
        case Field(name):
            return [one[name] for one in values if isinstance(one, Mapping) and name in one]
        case EveryMember():
            return [inner for one in values for inner in _members(one)]
        case Slice():
            return _sliced(step, values)
        case Union(alternatives):
            return _united(alternatives, values)
        case Filter():
            return _filtered(step, values)
        case Descent():
            return [inner for one in values for inner in _descended(one)]
        case Word():
            return None
        case _:
            assert_never(step)


def _members(value: Json) -> Values:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _descended(value: Json) -> list[Json]:
    """The value and, depth first, what is in it; only those that hold something themselves."""
    members = _members(value)
    if not members:
        return []
    return [value, *(inner for one in members for inner in _descended(one))]


def _sliced(step: Slice, values: Values) -> Values | None:
    found: list[Json] = []
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            return None
        start, end = _bounds(step, len(value))
        if start == end:
            return found
        if not (0 <= start < len(value) and 0 <= end <= len(value) and start < end):
            return None
        if step.step is not None and step.step <= 0:
            return None
        found += value[start : end : step.step or 1]
    return found


def _bounds(step: Slice, length: int) -> tuple[int, int]:
    first = step.start or 0
    end = first + 1 if step.single else step.end
    if end is None:
        end = length
    elif end < 0 or (end == 0 and step.single):
        end += length
    return first + length if first < 0 else first, end


def _united(alternatives: Sequence[Steps], values: Values) -> Values | None:
    found: list[Json] = []
    for steps in alternatives:
        more = _walk(steps, values)
        if more is None:
            return None
        found += more
    return found


def _filtered(step: Filter, values: Values) -> Values | None:
    found: list[Json] = []
    for value in values:
        if not isinstance(value, list):
            return None
        for element in value:
            passes = _passes(step, element)
            if passes is None:
                return None
            if passes:
                found.append(element)
    return found


def _passes(step: Filter, element: Json) -> bool | None:
    left = _walk(step.left, [element])
    if not step.operator:
        return bool(left)
    right = _walk(step.right, [element])
    if left is None or right is None or len(left) > 1 or len(right) > 1:
        return None
    return _compared(left[0], step.operator, right[0]) if left and right else False


def _compared(left: Json, sign: str, right: Json) -> bool | None:
    compare = _COMPARISONS.get(sign)
    comparable = type(left) is type(right) and isinstance(left, str | int | float)
    if compare is None or not comparable:
        return None
    if isinstance(left, bool) and sign not in _EQUALITIES:
        return None
    return compare(left, right)
