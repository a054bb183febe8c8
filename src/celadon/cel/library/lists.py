"""The lists library (cel-go `ext.Lists`), versions 0 to 3. Kubernetes loads version 3.

0 has `slice`, 1 adds `flatten`, 2 adds `sort`, `sortBy`, `lists.range`, `reverse` and `distinct`,
3 charges for them (before, every call costs 1).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from celadon.cel import cost
from celadon.cel.declarations import Function, Impl, Library, Overload
from celadon.cel.errors import EvaluationError, Panicked, no_such_overload
from celadon.cel.parsing.macros import LISTS_MACROS
from celadon.cel.size_growth import UNBOUNDED, Argument, Polynomial, at_most, first
from celadon.cel.syntax import Literal
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
from celadon.cel.values import Value
from celadon.cel.values.container_access import UnpaidWork
from celadon.cel.values.equality import NoKey, common_keys, equal, is_comparable, refusal
from celadon.cel.values.runtime_types import go_name, is_list, type_of
from celadon.cel.values.text import Uint, too_long
from celadon.cel.values.timestamps import Duration, Timestamp
from celadon.cel.values.typed_lists import LIST_CLASSES, shown_size

# --- List costs --------------------------------------------------------------
#
# The costs of the lists library: a call, the list it allocates, and the elements it visits.
#
# cel-go `ext/lists.go`. Two oddities are kept: the estimated *size* of a sorted or distinct
# list is the square of the list's size, and a negative depth of `flatten` subtracts from the
# cost, wrapping around below zero.

#: A longer range is not built (it could take all memory), but charged as if it were.
LONGEST_RANGE = 4_000_000

_BASE = cost.CALL_COST + cost.LIST_CREATE_COST
_COMPARISON_FACTOR = 2.0
_TEXT_COMPARISON_FACTOR = 2.1
_TWO_TO_64 = 1 << 64
_SIGN_BIT = 1 << 63


def _literal(argument: cost.Sized, default: int) -> int:
    """Return the value of an int literal, 0 if negative; the default for anything else."""
    node = argument.node
    if isinstance(node, Literal) and node.value.__class__ is int:
        return max(0, int(node.value))
    return default


def _scaled(n: int, factor: float) -> int:
    return min(cost.MAX_UINT64, math.ceil(n * factor))


def _allocating(size: cost.Range, factor: float = 1.0) -> cost.CallEstimate:
    visited = cost.Range(_scaled(size.min, factor), _scaled(size.max, factor))
    return cost.CallEstimate(visited.plus(cost.fixed(_BASE)), size)


def _track_output(args: Sequence[Value], result: object) -> int:
    return _BASE + shown_size(result)


def _track_range(args: Sequence[Value], result: object) -> int:
    if args[0].__class__ is int and args[0] > LONGEST_RANGE:
        return _BASE + int(args[0])
    return _track_output(args, result)


def _estimate_slice(args: Sequence[cost.Sized]) -> cost.CallEstimate:
    start, end = _literal(args[1], 0), _literal(args[2], args[0].size.max)
    return _allocating(cost.fixed((end - start) % _TWO_TO_64))


def _estimate_range(args: Sequence[cost.Sized]) -> cost.CallEstimate:
    return _allocating(cost.fixed(_literal(args[0], cost.MAX_UINT64)))


def _estimate_same_size(args: Sequence[cost.Sized]) -> cost.CallEstimate:
    return _allocating(args[0].size)


def _track_flatten(args: Sequence[Value], result: object) -> int:
    size = shown_size(args[0])
    if len(args) == 2:
        depth = args[1]
        if depth.__class__ is not int:
            raise Panicked(f"interface conversion: ref.Val is {_class(depth)}, not types.Int")
        size = _unsigned(float(size) * float(depth))
    return (_BASE + size) % _TWO_TO_64


def _unsigned(number: float) -> int:
    """Go's `uint64(number)` as amd64 computes it: numbers out of range give the sign bit."""
    if -float(_SIGN_BIT) <= number < _SIGN_BIT:
        return int(number) % _TWO_TO_64
    if _SIGN_BIT <= number < _TWO_TO_64:
        return int(number)
    return _SIGN_BIT


def _estimate_flatten(args: Sequence[cost.Sized]) -> cost.CallEstimate:
    depth = _literal(args[1], cost.MAX_UINT64) if len(args) == 2 else 1
    return _allocating(args[0].size, float(depth))


def _self_comparison(elements: object) -> int:
    if not is_list(elements):
        raise _not_a_list(elements)
    size = len(elements)
    factor = _COMPARISON_FACTOR
    if elements and elements[0].__class__ in (str, bytes):
        factor = _TEXT_COMPARISON_FACTOR
    return _BASE + int(size * size * factor)


#: Classes that have the first method that a list has, which Go's panic then does not name.
_ADDERS = frozenset({int, Uint, float, str, bytes, Duration, Timestamp})


def _not_a_list(value: object) -> Panicked:
    """cel-go takes for granted that it compares the elements of a list. The text names the first
    method of a list that the class lacks."""
    name = _class(value)
    missing = "Contains" if value.__class__ in _ADDERS else "Add"
    return Panicked(f"interface conversion: {name} is not traits.Lister: missing method {missing}")


def _class(value: object) -> str:
    return "*types.Err" if isinstance(value, EvaluationError) else go_name(value)


def _track_first(args: Sequence[Value], result: object) -> int:
    return _self_comparison(args[0])


def _track_keys(args: Sequence[Value], result: object) -> int:
    return _self_comparison(args[1])


def _estimate_distinct(args: Sequence[cost.Sized]) -> cost.CallEstimate:
    return _allocating(args[0].size.times(args[0].size), _COMPARISON_FACTOR)


def sort_cost(*, text: bool, keys: int) -> cost.CostRule:
    """Return the cost of `sort` (`keys` 0) or `sortBy` (1, the argument that holds the keys)."""
    factor = _TEXT_COMPARISON_FACTOR if text else _COMPARISON_FACTOR

    def estimate(args: Sequence[cost.Sized]) -> cost.CallEstimate:
        size = args[keys].size
        return _allocating(size.times(size), factor)

    def bound(*arguments: Argument) -> Polynomial:
        return arguments[keys].size * arguments[keys].size * _TEXT_COMPARISON_FACTOR + _BASE

    track = _track_keys if keys else _track_first
    return cost.CostRule(track, estimate, bound=bound, panics=True)


def _bound_first(elements: Argument, *others: Argument) -> Polynomial:
    return elements.size + _BASE


def _bound_distinct(elements: Argument) -> Polynomial:
    return elements.size * elements.size * _TEXT_COMPARISON_FACTOR + _BASE


def _bound_range(count: Argument) -> Polynomial:
    return UNBOUNDED if count.integer is None else at_most(_BASE + max(0, count.integer))


def _bound_deep(elements: Argument, depth: Argument) -> Polynomial:
    """Bound the cost; a negative depth makes it wrap around."""
    if depth.integer is None or depth.integer < 0:
        return UNBOUNDED
    return elements.size * depth.integer + _BASE


SLICE = cost.CostRule(_track_output, _estimate_slice, bound=_bound_first)
RANGE = cost.CostRule(_track_range, _estimate_range, bound=_bound_range)
REVERSE = cost.CostRule(_track_output, _estimate_same_size, bound=_bound_first)
FLATTEN = cost.CostRule(_track_flatten, _estimate_flatten, bound=_bound_first)
#: To a depth that is given.
FLATTEN_DEEP = cost.CostRule(_track_flatten, _estimate_flatten, bound=_bound_deep, panics=True)
DISTINCT = cost.CostRule(_track_first, _estimate_distinct, bound=_bound_distinct, panics=True)


# --- Sorting -----------------------------------------------------------------
#
# Sorting as `sort()` and `sortBy()` do it: keys of one kind, order of equal keys as in Go.
#
# Up to twelve elements Go's `sort.Slice` is an insertion sort, which is stable and, unlike a
# merge sort, well defined when NaN is among the keys (a comparison with NaN fails, and a
# failure is "not less"). Longer lists are sorted stably here; Go leaves the order of their
# equal keys open.

_INSERTION_SORT_LIMIT = 12


def sort_by_keys(elements: list[Any], keys: list[Any]) -> list[Any]:
    """Return the elements in ascending order of their keys."""
    if len(elements) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys "
            f"list, but got {len(elements)} and {len(keys)} elements respectively"
        )
    if not keys:
        return elements
    kind = keys[0].__class__
    if not is_comparable(keys[0]):
        raise EvaluationError("list elements must be comparable")
    if any(key.__class__ is not kind for key in keys):
        raise EvaluationError("list elements must have the same type")
    positions = list(range(len(keys)))
    if kind is float and len(keys) <= _INSERTION_SORT_LIMIT:
        _insertion_sort(positions, keys)
    else:
        positions.sort(key=keys.__getitem__)
    return [elements[position] for position in positions]


def _insertion_sort(positions: list[int], keys: list[float]) -> None:
    for end in range(1, len(positions)):
        index = end
        while index > 0 and keys[positions[index]] < keys[positions[index - 1]]:
            positions[index], positions[index - 1] = positions[index - 1], positions[index]
            index -= 1


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


def slice_list(elements: list[Value], start: int, end: int) -> list[Value]:
    call = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{call}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{call}, start index must be less than or equal to end index")
    if len(elements) < end:
        raise EvaluationError(f"{call}, list is length {len(elements)}")
    return elements[start:end]


def flatten(elements: object) -> list[Value]:
    """Replace lists inside by their elements, one level deep."""
    if not is_list(elements):
        raise no_such_overload(f"{type_of(elements)}.flatten()")
    return _flattened(elements, 1)


def flatten_deep(elements: object, depth: Value) -> list[Value]:
    """Replace lists inside by their elements, so many levels deep."""
    if not is_list(elements) or depth.__class__ is not int:
        raise no_such_overload(f"{type_of(elements)}.flatten({type_of(depth)})")
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    return _flattened(elements, depth)


def _flatten_again(work: UnpaidWork, impl: Impl, elements: Value, *depth: Any) -> Value:
    """Flatten in a loop: how many elements are looked at is no part of the charge."""
    levels = depth[0] if depth else 1
    if is_list(elements) and levels.__class__ is int and levels >= 0:
        return _flattened(elements, levels, work)
    return impl(elements, *depth)


def _flattened(elements: list[Value], depth: int, work: UnpaidWork | None = None) -> list[Value]:
    """Flatten within bounds: lists that share structure are small and yet endless when
    flattened."""
    result: list[Value] = []
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
    if work is not None:
        work.pay(_MOST_FLATTENED - left)
    return result


def sort(elements: object) -> list[Any]:
    if not is_list(elements):
        raise refusal("sort", elements, frozenset())
    return sort_by_keys(elements, elements)


def _sort_again(work: UnpaidWork, impl: Impl, elements: Value) -> Value:
    """Sort in a loop: a list of any elements is sorted for the charge of a call."""
    if is_list(elements):
        work.pay(len(elements))
    return impl(elements)


def sort_by_associated_keys(elements: object, keys: object) -> list[Value]:
    if not is_list(elements) or not is_list(keys):
        raise refusal("@sortByAssociatedKeys", elements, LIST_CLASSES)
    return sort_by_keys(elements, keys)


def integer_range(count: int) -> list[int]:
    """Too long a range is not built: its cost alone is over every limit worth setting."""
    if count > LONGEST_RANGE:
        raise too_long()
    return list(range(count))


def _counted(count: Argument) -> Polynomial:
    number = count.integer
    return UNBOUNDED if number is None else at_most(1 + min(max(0, number), LONGEST_RANGE))


def reverse(elements: list[Value]) -> list[Value]:
    return elements[::-1]


def distinct(elements: object) -> list[Value]:
    """Return the first of equal elements. A comparison that fails counts as different."""
    if not is_list(elements):
        raise refusal("distinct", elements, frozenset())
    kinds = {element.__class__ for element in elements}
    if len(kinds) == 1 and kinds <= {str, int, bool, bytes}:
        return list(dict.fromkeys(elements))
    if len(elements) > _MOST_COMPARED:
        raise too_long()
    result: list[Value] = []
    alike: dict[Hashable, list[Value]] = {}
    for key, element in zip(common_keys(elements), elements, strict=True):
        candidates = alike.setdefault(key, [])
        if not any(_surely_equal(element, candidate) for candidate in candidates):
            candidates.append(element)
            result.append(element)
    return result


def _distinct_again(work: UnpaidWork, impl: Impl, elements: Value) -> Value:
    """Tell distinct elements in a loop: those that are looked at again have keys by then."""
    if not is_list(elements) or len(elements) > _MOST_COMPARED:
        return impl(elements)
    result: list[Value] = []
    keys: set[Hashable] = set()
    others: list[Value] = []
    for element in elements:
        try:
            key = work.key(element)
        except NoKey:
            is_new = not work.walk(element, result)
            others += [element] * is_new
        else:
            is_new = key not in keys and not work.walk(element, others)
            keys.add(key)
        result += [element] * is_new
    return result


def _surely_equal(a: object, b: object) -> bool:
    try:
        return equal(a, b)
    except EvaluationError:
        return False


_SLICE = Function.single(
    "slice",
    "list_slice",
    (_LIST, INT, INT),
    _LIST,
    slice_list,
    "The elements from a position up to before another.",
    ("[1, 2, 3, 4].slice(1, 3)", "[2, 3]"),
    member=True,
    cost=SLICE,
    growth=first,
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
            cost=FLATTEN,
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
            cost=FLATTEN_DEEP,
            doc="Lists inside replaced by their elements, so many levels deep.",
            examples=(("[[1, [2, [3]]]].flatten(2)", "[dyn(1), dyn(2), dyn([3])]"),),
            growth=first,
        ),
    ),
    unpaid=_flatten_again,
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
            cost=sort_cost(text=t in (STRING, BYTES), keys=0),
            doc="The elements in ascending order.",
            examples=((source, expected),),
            growth=first,
        )
        for t, source, expected in _SORTABLE
    ),
    sort,
    unpaid=_sort_again,
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
            cost=sort_cost(text=t in (STRING, BYTES), keys=1),
            doc="What `sortBy` becomes: the elements in ascending order of their keys.",
            examples=(("['xx', 'y'].sortBy(s, size(s))", "['y', 'xx']"),) if t is INT else (),
            growth=first,
        )
        for t, _, _ in _SORTABLE
    ),
    sort_by_associated_keys,
)

_OTHERS = (
    Function.single(
        "lists.range",
        "lists_range",
        (INT,),
        list_of(INT),
        integer_range,
        "The integers from 0 up to before a number.",
        ("lists.range(3)", "[0, 1, 2]"),
        cost=RANGE,
        growth=_counted,
    ),
    Function.single(
        "reverse",
        "list_reverse",
        (_LIST,),
        _LIST,
        reverse,
        "The elements in opposite order.",
        ("[1, 2, 3].reverse()", "[3, 2, 1]"),
        member=True,
        cost=REVERSE,
        growth=first,
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
                cost=DISTINCT,
                doc="The elements without those that equal an earlier one.",
                examples=(("[1, 2, 1, 3, 2].distinct()", "[1, 2, 3]"),),
                growth=first,
            ),
        ),
        distinct,
        unpaid=_distinct_again,
    ),
)


def _free(function: Function) -> Function:
    """Return the function at the default cost."""
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
