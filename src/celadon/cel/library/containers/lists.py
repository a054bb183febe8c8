"""The lists library (cel-go `ext.Lists`), versions 0 to 3. Kubernetes loads version 3.

0 has `slice`, 1 adds `flatten`, 2 adds `sort`, `sortBy`, `lists.range`, `reverse` and `distinct`,
3 charges for them (before, every call costs 1).
"""

from __future__ import annotations

from typing import Any

from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.library.containers import list_costs as costs
from celadon.cel.library.containers.sorting import sort_by_keys
from celadon.cel.parsing.macros import LISTS_MACROS
from celadon.cel.pricing.growth import UNBOUNDED, Argument, Polynomial, at_most, first
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    type_param,
)
from celadon.cel.values.list_classes import is_list
from celadon.cel.values.operations.equality import equal, refusal
from celadon.cel.values.operations.typed_lists import LIST_CLASSES
from celadon.cel.values.runtime_types import type_of
from celadon.cel.values.text import too_long

LATEST = 3
_LIST = list_of(type_param("T"))
_MOST_COMPARED = 2_000
"""Elements, each with each; for more, the charge alone is over every limit worth setting."""
_MOST_FLATTENED = 1_000_000
"""Elements, and lists of them, that one call looks at; they are no part of its charge."""

_SORTABLE: tuple[tuple[Type, str, str], ...] = (
    (INT, "[3, 1, 2].sort()", "[1, 2, 3]"),
    (UINT, "[2u, 1u].sort()", "[1u, 2u]"),
    (DOUBLE, "[1.5, 0.5].sort()", "[0.5, 1.5]"),
    (BOOL, "[true, false].sort()", "[false, true]"),
    (
        DURATION,
        "[duration('1m'), duration('1s')].sort()",
        "[duration('1s'), duration('1m')]",
    ),
    (TIMESTAMP, "[timestamp(60), timestamp(0)].sort()", "[timestamp(0), timestamp(60)]"),
    (STRING, "['b', 'a'].sort()", "['a', 'b']"),
    (BYTES, "[b'b', b'a'].sort()", "[b'a', b'b']"),
)


def slice_list(elements: list[Any], start: int, end: int) -> list[Any]:
    call = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{call}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{call}, start index must be less than or equal to end index")
    if len(elements) < end:
        raise EvaluationError(f"{call}, list is length {len(elements)}")
    return elements[start:end]


def flatten(elements: object) -> list[Any]:
    """Lists inside replaced by their elements, one level deep."""
    if not is_list(elements):
        raise no_such_overload(f"{type_of(elements)}.flatten()")
    return _flattened(elements, 1)


def flatten_deep(elements: object, depth: Any) -> list[Any]:
    """Lists inside replaced by their elements, so many levels deep."""
    if not is_list(elements) or depth.__class__ is not int:
        raise no_such_overload(f"{type_of(elements)}.flatten({type_of(depth)})")
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    return _flattened(elements, depth)


def _flattened(elements: list[Any], depth: int) -> list[Any]:
    """Lists that share structure are small and yet endless when flattened."""
    result: list[Any] = []
    stack = [(iter(elements), depth)]
    left = _MOST_FLATTENED
    while stack:
        remaining, levels = stack[-1]
        for element in remaining:
            left -= 1
            if levels and is_list(element):
                stack.append((iter(element), levels - 1))
                break
            result.append(element)
        else:
            stack.pop()
        if left < 0:
            raise too_long()
    return result


def sort(elements: object) -> list[Any]:
    if not is_list(elements):
        raise refusal("sort", elements, frozenset())
    return sort_by_keys(elements, elements)


def sort_by_associated_keys(elements: object, keys: object) -> list[Any]:
    if not is_list(elements) or not is_list(keys):
        raise refusal("@sortByAssociatedKeys", elements, LIST_CLASSES)
    return sort_by_keys(elements, keys)


def integer_range(count: int) -> list[int]:
    """Too long a range is not built: its cost alone is over every limit worth setting."""
    if count > costs.LONGEST_RANGE:
        raise too_long()
    return list(range(count))


def _counted(count: Argument) -> Polynomial:
    number = count.integer
    return UNBOUNDED if number is None else at_most(1 + min(max(0, number), costs.LONGEST_RANGE))


def reverse(elements: list[Any]) -> list[Any]:
    return elements[::-1]


def distinct(elements: object) -> list[Any]:
    """The first of equal elements. A comparison that fails counts as different."""
    if not is_list(elements):
        raise refusal("distinct", elements, frozenset())
    kinds = {element.__class__ for element in elements}
    if len(kinds) == 1 and kinds <= {str, int, bool, bytes}:
        return list(dict.fromkeys(elements))
    if len(elements) > _MOST_COMPARED:
        raise too_long()
    result: list[Any] = []
    for element in elements:
        if not any(_surely_equal(element, known) for known in result):
            result.append(element)
    return result


def _surely_equal(a: object, b: object) -> bool:
    try:
        return equal(a, b)
    except EvaluationError:
        return False


_SLICE = Function(
    "slice",
    (
        Overload(
            "list_slice",
            (_LIST, INT, INT),
            _LIST,
            slice_list,
            member=True,
            cost=costs.SLICE,
            doc="The elements from a position up to before another.",
            examples=(("[1, 2, 3, 4].slice(1, 3)", "[2, 3]"),),
            growth=first,
        ),
    ),
)

_FLATTEN = Function(
    "flatten",
    (
        Overload(
            "list_flatten",
            (list_of(_LIST),),
            _LIST,
            flatten,
            guarded=False,
            member=True,
            cost=costs.FLATTEN,
            doc="Lists inside replaced by their elements, one level deep.",
            examples=(("[[1], [2, 3]].flatten()", "[1, 2, 3]"),),
            growth=first,
        ),
        Overload(
            "list_flatten_int",
            (list_of(DYN), INT),
            list_of(DYN),
            flatten_deep,
            guarded=False,
            member=True,
            cost=costs.FLATTEN_DEEP,
            doc="Lists inside replaced by their elements, so many levels deep.",
            examples=(("[[1, [2, [3]]]].flatten(2)", "[dyn(1), dyn(2), dyn([3])]"),),
            growth=first,
        ),
    ),
)

_SORT = Function(
    "sort",
    tuple(
        Overload(
            f"list_{t.name}_sort",
            (list_of(t),),
            list_of(t),
            None,
            member=True,
            cost=costs.sort_cost(text=t in (STRING, BYTES), keys=0),
            doc="The elements in ascending order.",
            examples=((source, expected),),
            growth=first,
        )
        for t, source, expected in _SORTABLE
    ),
    sort,
)

_SORT_BY = Function(
    "@sortByAssociatedKeys",
    tuple(
        Overload(
            f"list_{t.name}_sortByAssociatedKeys",
            (_LIST, list_of(t)),
            _LIST,
            None,
            member=True,
            cost=costs.sort_cost(text=t in (STRING, BYTES), keys=1),
            doc="What `sortBy` becomes: the elements in ascending order of their keys.",
            examples=(("['xx', 'y'].sortBy(s, size(s))", "['y', 'xx']"),) if t is INT else (),
            growth=first,
        )
        for t, _, _ in _SORTABLE
    ),
    sort_by_associated_keys,
)

_OTHERS = (
    Function(
        "lists.range",
        (
            Overload(
                "lists_range",
                (INT,),
                list_of(INT),
                integer_range,
                cost=costs.RANGE,
                doc="The integers from 0 up to before a number.",
                examples=(("lists.range(3)", "[0, 1, 2]"),),
                growth=_counted,
            ),
        ),
    ),
    Function(
        "reverse",
        (
            Overload(
                "list_reverse",
                (_LIST,),
                _LIST,
                reverse,
                member=True,
                cost=costs.REVERSE,
                doc="The elements in opposite order.",
                examples=(("[1, 2, 3].reverse()", "[3, 2, 1]"),),
                growth=first,
            ),
        ),
    ),
    Function(
        "distinct",
        (
            Overload(
                "list_distinct",
                (_LIST,),
                _LIST,
                None,
                member=True,
                cost=costs.DISTINCT,
                doc="The elements without those that equal an earlier one.",
                examples=(("[1, 2, 1, 3, 2].distinct()", "[1, 2, 3]"),),
                growth=first,
            ),
        ),
        distinct,
    ),
)


def _free(function: Function) -> Function:
    """The function at the default cost."""
    return function.with_each(cost=None)


def library(version: int = LATEST) -> Library:
    functions: tuple[Function, ...] = (_SLICE,)
    if version >= 1:
        functions += (_FLATTEN,)
    if version >= 2:
        functions += (_SORT, _SORT_BY, *_OTHERS)
    if version < 3:
        functions = tuple(map(_free, functions))
    return Library(
        f"lists/{version}", functions=functions, macros=LISTS_MACROS if version >= 2 else ()
    )
