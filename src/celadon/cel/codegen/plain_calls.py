"""Calls in the plain variant: native Python where it means the same, else the implementation.

How a call is written natively stands in the records of its overloads (see `inline_forms`). A form
may decline; then the call goes to the implementation that the checker resolved.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cel.analysis.tree_context import SCALAR_CLASSES
from celadon.cel.codegen.inline_forms.native_forms import operands
from celadon.cel.codegen.writer_protocols import PlainWriter
from celadon.cel.syntax import Call
from celadon.cel.types import Kind, Type


def call(w: PlainWriter, node: Call) -> str:
    """The source of any call that is not logic and not part of a chain."""
    form = w.context.inline(node)
    if form is not None and form.plain is not None:
        code = form.plain(w, node)
        if code is not None:
            return code
    return _general(w, node)


def _general(w: PlainWriter, node: Call) -> str:
    e = w.emitter
    args = [w.value(arg) for arg in operands(node)]
    overload = w.context.overload(node)
    function = w.context.function(node)
    impl = w.context.impl(node)
    if impl is None or function is None:
        raise_call = e.runtime("no_such_overload")
        return f"{raise_call}().undefined"
    if (
        overload is not None
        and function.singleton is None
        and _is_trusted(w, node, overload.params)
    ):
        impl = overload.impl
    return f"{e.bind(impl, 'f')}({', '.join(args)})"


def _is_trusted(w: PlainWriter, node: Call, params: Sequence[Type]) -> bool:
    """Are all arguments sure to have the overload's classes, so that no guard is needed?"""
    return all(
        param.kind in _OPEN
        or (param.kind in SCALAR_CLASSES and w.context.certain(arg) is SCALAR_CLASSES[param.kind])
        for arg, param in zip(operands(node), params, strict=True)
    )


_OPEN = frozenset({Kind.DYN, Kind.TYPE_PARAM})
