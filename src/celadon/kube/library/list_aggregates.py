"""`kubernetes.lists`: `isSorted`, `sum`, `min`, `max`, `indexOf` and `lastIndexOf` of lists.

Upstream: k8s.io/apiserver `pkg/cel/library/lists.go`. Elements are compared pair by pair; a pair
that has no order (NaN, mixed kinds) counts as in order, an element that has none at all fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from celadon.cel import extend
from celadon.cel.value_functions import add, compare, equal, is_comparable
from celadon.kube.json_types import JsonDict
from celadon.kube.library import costs
from celadon.kube.library.costs import declared
from celadon.kube.quantity import MAX_INT64, MIN_INT64

#: Names as upstream's overload ids spell them, in the order in which overloads are tried.
_COMPARABLE: Final[dict[str, extend.types.Type]] = {
    "int": extend.types.INT,
    "uint": extend.types.UINT,
    "double": extend.types.DOUBLE,
    "bool": extend.types.BOOL,
    "duration": extend.types.DURATION,
    "timestamp": extend.types.TIMESTAMP,
    "string": extend.types.STRING,
    "bytes": extend.types.BYTES,
}
_ZEROS: Final[JsonDict] = {
    "int": 0,
    "uint": extend.Uint(0),
    "double": 0.0,
    "duration": extend.Duration(0),
}
_ADDABLE: Final = frozenset({int, extend.Uint, float, extend.Duration})
#: Classes whose values are in order by Python's own operators.
_PLAIN: Final = frozenset({int, str})


def _order(a: object, b: object) -> int:
    """-1, 0 or 1, and 0 where two values have no order."""
    try:
        return compare(a, b)
    except extend.EvaluationError:
        return 0


def _check_comparable(element: object) -> None:
    if not is_comparable(element):
        raise extend.no_such_overload()


def _is_sorted(elements: list[Any]) -> bool:
    if elements and (kind := elements[0].__class__) in _PLAIN:
        before = elements[0]
        for element in elements:
            if element.__class__ is not kind:
                return _is_any_sorted(elements)
            if element < before:
                return False
            before = element
        return True
    return _is_any_sorted(elements)


def _is_any_sorted(elements: list[Any]) -> bool:
    for i, element in enumerate(elements):
        _check_comparable(element)
        if i and _order(elements[i - 1], element) > 0:
            return False
    return True


def _extreme(name: str, replaced: int) -> Callable[[list[Any]], Any]:
    """Return what finds the first element that no other precedes; `replaced` is the order in which
    one yields."""

    def find(elements: list[Any]) -> Any:  # noqa: ANN401 - a value of CEL
        if not elements:
            raise extend.EvaluationError(f"{name} called on empty list")
        result = elements[0]
        for element in elements:
            _check_comparable(element)
            if _order(result, element) == replaced:
                result = element
        return result

    return find


_min: Final = _extreme("min", 1)
_max: Final = _extreme("max", -1)


def _sum(zero: object) -> Callable[[list[Any]], Any]:
    def total(elements: list[Any]) -> Any:  # noqa: ANN401 - a value of CEL
        result = zero
        for element in elements:
            if element.__class__ not in _ADDABLE:
                raise extend.no_such_overload()
            result = add(result, element)
        return result

    return total


_sum_of_any: Final = _sum(0)


def _sum_of_ints(elements: list[Any]) -> int:
    total = 0
    for element in elements:
        if element.__class__ is not int or not MIN_INT64 <= (total := total + element) <= MAX_INT64:
            return int(_sum_of_any(elements))
    return total


def _is_equal(a: object, b: object) -> bool:
    try:
        return equal(a, b)
    except extend.EvaluationError:
        return False


def _index_of(elements: list[Any], value: object) -> int:
    return next((i for i, element in enumerate(elements) if _is_equal(element, value)), -1)


def _last_index_of(elements: list[Any], value: object) -> int:
    for i in range(len(elements) - 1, -1, -1):
        if _is_equal(elements[i], value):
            return i
    return -1


def _overload(
    id: str,
    element: extend.types.Type,
    result: extend.types.Type,
    impl: Callable[[list[Any]], Any],
    doc: str,
    *example: str,
) -> extend.Overload:
    examples = ((example[0], example[1]),) if example else ()
    return extend.Overload(
        id,
        (extend.types.list_of(element),),
        result,
        impl,
        member=True,
        doc=doc,
        examples=examples,
        growth=extend.growth.first,
    )


_IS_SORTED: Final = extend.Function(
    "isSorted",
    tuple(
        _overload(
            f"list_{name}_is_sorted_bool",
            element,
            extend.types.BOOL,
            _is_sorted,
            "Whether no element is less than the one before.",
            *(("[1, 2, 2].isSorted()", "true") if element is extend.types.INT else ()),
        )
        for name, element in _COMPARABLE.items()
    ),
    cost=costs.WALK,
)
_SUM: Final = extend.Function(
    "sum",
    tuple(
        _overload(
            f"list_{name}_sum_{name}",
            _COMPARABLE[name],
            _COMPARABLE[name],
            _sum_of_ints if zero.__class__ is int else _sum(zero),
            "The elements added up; zero for an empty list.",
            *(("[1, 3].sum()", "4") if name == "int" else ()),
        )
        for name, zero in _ZEROS.items()
    ),
    cost=costs.WALK,
)
_EXTREMES: Final = tuple(
    extend.Function(
        function_name,
        tuple(
            _overload(
                f"list_{name}_{function_name}_{name}",
                element,
                element,
                impl,
                f"The {adjective} element; an error for an empty list.",
                *((f"[1, 3].{function_name}()", example) if element is extend.types.INT else ()),
            )
            for name, element in _COMPARABLE.items()
        ),
        cost=costs.WALK,
    )
    for function_name, impl, adjective, example in (
        ("max", _max, "greatest", "3"),
        ("min", _min, "least", "1"),
    )
)

LIBRARY: Final = extend.Library(
    "kubernetes.lists",
    functions=(
        _IS_SORTED,
        _SUM,
        *_EXTREMES,
        declared(
            "list(T).indexOf(T) -> int",
            "list_a_index_of_int",
            _index_of,
            "Where an element is first; -1 if nowhere.",
            ("[1, 2, 2, 3].indexOf(2)", "1"),
            cost=costs.WALK,
        ),
        declared(
            "list(T).lastIndexOf(T) -> int",
            "list_a_last_index_of_int",
            _last_index_of,
            "Where an element is last; -1 if nowhere.",
            ("[1, 2, 2, 3].lastIndexOf(2)", "2"),
            cost=costs.WALK,
        ),
    ),
)
