"""Short forms for declaring functions that have a single overload, which most do.

Kubernetes charges by function name, so the cost is the function's; without one a call costs 1.
"""

from __future__ import annotations

from typing import Final

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


# --- Value types -------------------------------------------------------------
#
# The types that Kubernetes adds to CEL.
#
# Two are abstract types that can be named in an expression (`type(x) == net.IP`). The others
# are object types without fields that no expression can name, as upstream declares them.


CIDR: Final = types.opaque("net.CIDR")
IP: Final = types.opaque("net.IP")

NAMED_FORMAT: Final = types.object_type("kubernetes.NamedFormat")
QUANTITY: Final = types.object_type("kubernetes.Quantity")
SEMVER: Final = types.object_type("kubernetes.Semver")
URL: Final = types.object_type("kubernetes.URL")

AUTHORIZER: Final = types.object_type("kubernetes.authorization.Authorizer")
"""Of the variable `authorizer`."""
DECISION: Final = types.object_type("kubernetes.authorization.Decision")
GROUP_CHECK: Final = types.object_type("kubernetes.authorization.GroupCheck")
PATH_CHECK: Final = types.object_type("kubernetes.authorization.PathCheck")
RESOURCE_CHECK: Final = types.object_type("kubernetes.authorization.ResourceCheck")
"""Of the variable `authorizer.requestResource`."""
