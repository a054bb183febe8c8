"""Short forms for declaring functions that have a single overload, which most do.

Kubernetes charges by function name, so the cost is the function's; without one a call costs 1.
"""

from __future__ import annotations

from celadon.cel.extend import CostRule, Function, Growth, Impl, Overload, types

Example = tuple[str, str]


def function(
    name: str,
    overload_id: str,
    params: tuple[types.Type, ...],
    result: types.Type,
    impl: Impl,
    doc: str,
    *examples: Example,
    cost: CostRule | None = None,
    growth: Growth | None = None,
) -> Function:
    """`name(params)`."""
    overload = Overload(
        overload_id, params, result, impl, doc=doc, examples=examples, growth=growth
    )
    return Function(name, (overload,), cost=cost)


def method(
    name: str,
    overload_id: str,
    params: tuple[types.Type, ...],
    result: types.Type,
    impl: Impl,
    doc: str,
    *examples: Example,
    cost: CostRule | None = None,
    growth: Growth | None = None,
) -> Function:
    """`receiver.name(others)`, the receiver being the first of `params`."""
    overload = Overload(
        overload_id, params, result, impl, member=True, doc=doc, examples=examples, growth=growth
    )
    return Function(name, (overload,), cost=cost)
