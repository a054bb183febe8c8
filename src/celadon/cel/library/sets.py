"""The sets library (cel-go `ext.Sets`): lists compared as sets, elements by CEL equality."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cel.codegen import inline_functions
from celadon.cel.cost import ONE, CallEstimate, CostRule, Sized, SizeSource, fixed
from celadon.cel.declarations import Function, Impl, Inline, Library
from celadon.cel.size_growth import Argument, Polynomial
from celadon.cel.types import BOOL, list_of, type_param
from celadon.cel.values import Value
from celadon.cel.values.container_access import UnpaidWork
from celadon.cel.values.container_access import contains as is_in
from celadon.cel.values.equality import candidates
from celadon.cel.values.runtime_types import is_list
from celadon.cel.values.text import too_long
from celadon.cel.values.typed_lists import shown_size

_LIST = list_of(type_param("T"))
_MOST_COMPARISONS = 4_000_000
#: Kinds whose equality Python's sets share, as long as a list has one kind only.
_HASHED = ({str}, {int}, {bytes})


def _same_hashed_kind(a: list[Value], b: list[Value]) -> bool:
    return set(map(type, a)).union(map(type, b)) in _HASHED


def _refuse_long(a: list[Value], b: list[Value]) -> None:
    """Refuse so many comparisons that the charge for them alone is over every limit worth
    setting."""
    if len(a) * len(b) > _MOST_COMPARISONS:
        raise too_long()


def contains(a: list[Value], b: list[Value]) -> bool:
    """Return whether every element of b is in a."""
    if _same_hashed_kind(a, b):
        return set(a).issuperset(b)
    _refuse_long(a, b)
    return all(is_in(element, some) for element, some in candidates(b, a))


def equivalent(a: list[Value], b: list[Value]) -> bool:
    """Return whether each has every element of the other; how often does not matter."""
    return contains(a, b) and contains(b, a)


def intersects(a: list[Value], b: list[Value]) -> bool:
    """Return whether some element of a is in b."""
    if _same_hashed_kind(a, b):
        return not set(a).isdisjoint(b)
    _refuse_long(a, b)
    return any(is_in(element, some) for element, some in candidates(a, b))


def _in_loops(holds: Callable[[UnpaidWork, list[Value], list[Value]], bool]) -> Impl:
    """Return what runs in a loop: elements are compared by what is remembered of them."""

    def run(work: UnpaidWork, impl: Impl, a: Value, b: Value) -> Value:
        if is_list(a) and is_list(b) and not _same_hashed_kind(a, b):
            _refuse_long(a, b)
            return holds(work, a, b)
        return impl(a, b)

    return run


def _contains_again(work: UnpaidWork, a: list[Value], b: list[Value]) -> bool:
    return all(work.contains(element, a) for element in b)


def _equivalent_again(work: UnpaidWork, a: list[Value], b: list[Value]) -> bool:
    return _contains_again(work, a, b) and _contains_again(work, b, a)


def _intersects_again(work: UnpaidWork, a: list[Value], b: list[Value]) -> bool:
    return any(work.contains(element, b) for element in a)


def _cost(factor: int) -> CostRule:
    def tracked(args: Sequence[Value], result: object) -> int:
        return 1 + factor * shown_size(args[0]) * shown_size(args[1])

    def estimated(args: Sequence[Sized]) -> CallEstimate:
        return CallEstimate(args[0].size.times(args[1].size).times(fixed(factor)).plus(ONE))

    def bound(first: Argument, second: Argument) -> Polynomial:
        return first.size * second.size * factor + 1

    def written(first: SizeSource, second: SizeSource) -> SizeSource:
        return f"1 + {factor} * {first} * {second}"

    return CostRule(tracked, estimated, bound=bound, written=written)


def _function(
    name: str,
    impl: Impl,
    unpaid: Impl,
    factor: int,
    doc: str,
    *examples: tuple[str, str],
    inline: Inline | None = None,
) -> Function:
    function = Function.single(
        f"sets.{name}",
        f"list_sets_{name}_list",
        (_LIST, _LIST),
        BOOL,
        impl,
        doc,
        *examples,
        cost=_cost(factor),
        inline=inline,
    )
    return function._replace(unpaid=unpaid)


LIBRARY = Library(
    "sets",
    functions=(
        _function(
            "contains",
            contains,
            _in_loops(_contains_again),
            1,
            "Whether the first list has every element of the second.",
            ("sets.contains([1, 2, 3, 4], [2, 3])", "true"),
            ("sets.contains([], [1])", "false"),
            inline=inline_functions.SETS_CONTAINS,
        ),
        _function(
            "equivalent",
            equivalent,
            _in_loops(_equivalent_again),
            2,
            "Whether each list has every element of the other.",
            ("sets.equivalent([1], [1, 1])", "true"),
            ("sets.equivalent(dyn([1, 2, 3]), [3u, 2u, 1u])", "true"),
        ),
        _function(
            "intersects",
            intersects,
            _in_loops(_intersects_again),
            1,
            "Whether the lists have an element in common.",
            ("sets.intersects([1], [1, 2])", "true"),
            ("sets.intersects([1], [])", "false"),
            inline=inline_functions.SETS_INTERSECTS,
        ),
    ),
)
