"""Short forms for declaring functions that have a single overload, which most do."""

from __future__ import annotations

from celadon.cel.extend import Function, Impl, Overload, types

Example = tuple[str, str]


def function(
    name: str,
    overload_id: str,
    params: tuple[types.Type, ...],
    result: types.Type,
    impl: Impl,
    doc: str,
    *examples: Example,
) -> Function:
    """`name(params)`."""
    overload = Overload(overload_id, params, result, impl, doc=doc, examples=examples)
    return Function(name, (overload,))


def method(
    name: str,
    overload_id: str,
    params: tuple[types.Type, ...],
    result: types.Type,
    impl: Impl,
    doc: str,
    *examples: Example,
) -> Function:
    """`receiver.name(others)`, the receiver being the first of `params`."""
    overload = Overload(overload_id, params, result, impl, member=True, doc=doc, examples=examples)
    return Function(name, (overload,))
