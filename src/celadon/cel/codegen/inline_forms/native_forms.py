"""What inline forms are made of.

A form of the plain variant writes the whole call, operands included, and declines (returns None)
where the operands' classes are unknown and no cheap test settles them. Each states in one comment
why the native form is right, because Python differs from CEL in many small ways:

* `True == 1`: comparing with 0 or 1 needs to exclude bool;
* `x in "abc"` and `x[-1]` work on strings and lists: containers are tested by class;
* int is unbounded: results of int arithmetic are range-checked;
* abstract values raise from `__eq__` for foreign classes, which ends the plain variant.

A form of the metered variant gets the evaluated operands and answers with a `Native`: a test of
their classes and, where it holds, the native source of the value. The value must be what the
implementation returns for such operands; a property compares the variants. The charge is the cost
rule's. Where the test fails, the implementation serves. A few calls, which do not evaluate all
their operands, are written whole.

A form serves for a call if every overload that the checker left for it names that form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from celadon.cel.analysis.tree_context import Context
from celadon.cel.codegen.writer_protocols import MeteredWriter, PlainWriter, Writer
from celadon.cel.pricing.cost_rules import SizeSource
from celadon.cel.syntax import Call, Expr


class Native(NamedTuple):
    """Source: of the test, of the value, and of the size of each operand."""

    test: str
    value: str
    sizes: tuple[SizeSource, ...]


PlainForm = Callable[[PlainWriter, Call], str | None]
NativeForm = Callable[[Writer, Call, list[str]], Native | None]
MeteredCall = Callable[[MeteredWriter, Call], str]
"""Writes a whole call of the metered variant, operands included: the atom of its value."""

WholeForm = Callable[[Context, Call], MeteredCall | None]


def always(write: MeteredCall) -> WholeForm:
    """The form that never declines."""
    return lambda context, node: write


def operands(node: Call) -> tuple[Expr, ...]:
    """The receiver, if any, and the arguments."""
    return node.args if node.target is None else (node.target, *node.args)


def is_class(w: Writer, atom: str, kind: str) -> str:
    """The source of the test whether a value is of exactly that class."""
    return f"{atom}.__class__ is {w.emitter.runtime(kind)}"


def last_constant(w: Writer, node: Call) -> object:
    """The last operand if it is constant, else the context (which is no CEL value)."""
    c = w.context
    return c.constant(node.args[-1]) if c.is_constant(node.args[-1]) else c


def length(w: Writer, atom: str) -> str:
    return f"{w.emitter.runtime('len')}({atom})"
