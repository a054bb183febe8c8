"""Calls in the plain variant: native Python where it means the same, else the implementation.

How a call is written natively stands in the records of its overloads (see `inline_forms`). A form
may decline; then the call goes to the implementation that the checker resolved.
"""

from __future__ import annotations

from celadon.cel.codegen.inline_forms.native_forms import operands
from celadon.cel.codegen.writer_protocols import PlainWriter
from celadon.cel.errors import EvaluationError
from celadon.cel.syntax import Call


def call(w: PlainWriter, node: Call) -> str:
    """The source of any call that is not logic and not part of a chain."""
    if (known := _known(w, node)) is not None:
        return known
    form = w.context.inline(node)
    if form is not None and form.plain is not None:
        code = form.plain(w, node)
        if code is not None:
            return code
    return _general(w, node)


def _known(w: PlainWriter, node: Call) -> str | None:
    """What a constant text was read as when the program was made; None for anything else."""
    c, arg = w.context, operands(node)[:1]
    texts = c.remembered(node)
    if texts is None or not c.is_constant(arg[0]) or c.certain(arg[0]) is not str:
        return None
    try:
        return w.emitter.constant(texts[c.constant(arg[0])])
    except EvaluationError:  # the evaluation will say so
        return None


def _general(w: PlainWriter, node: Call) -> str:
    e = w.emitter
    args = [w.value(arg) for arg in operands(node)]
    if (texts := w.context.remembered(node)) is not None:
        return f"{e.bind(texts, 'k')}[{args[0]}]"
    impl = w.context.direct_impl(node)
    if impl is None or w.context.function(node) is None:
        raise_call = e.runtime("no_such_overload")
        return f"{raise_call}().undefined"
    return f"{e.bind(impl, 'f')}({', '.join(args)})"
