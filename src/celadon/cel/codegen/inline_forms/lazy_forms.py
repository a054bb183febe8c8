"""Inline forms of calls that do not evaluate all their operands, or not at once: optional values
and blocks."""

from __future__ import annotations

from contextlib import ExitStack

from celadon.cel.codegen.inline_forms.native_forms import Native, always, is_class, operands
from celadon.cel.codegen.writer_protocols import MeteredWriter, PlainWriter, Writer
from celadon.cel.declarations import Inline
from celadon.cel.syntax import Call, Expr, ListLiteral


def _has_value(w: PlainWriter, node: Call) -> str:
    e = w.emitter
    receiver = operands(node)[0]
    parts = w.maybe(receiver)
    if parts is not None and parts[1].isidentifier():  # anything else may fail, though not needed
        return parts[0]
    t, kind = e.name(), e.runtime("Optional")
    slow = e.bind(w.context.impl(node), "f")
    return (
        f"({t} is not {e.runtime('NONE')} if ({t} := {w.value(receiver)}).__class__ is {kind} "
        f"else {slow}({t}))"
    )


def _metered_has_value(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x = atoms[0]
    return Native(is_class(w, x, "Optional"), f"{x} is not {w.emitter.runtime('NONE')}", (1,))


def _or_value(w: PlainWriter, node: Call) -> str:
    """`opt.orValue(x)`: a left value that is no optional passes through."""
    e = w.emitter
    left, right = operands(node)
    if (parts := w.maybe(left)) is not None:
        return _otherwise(w, *parts, right)
    t, kind = w.atom(left), e.runtime("Optional")
    present = f"({t}.value if {t}.__class__ is {kind} else {t})"
    return _otherwise(w, f"{t} is not {e.runtime('NONE')}", present, right)


def _or(w: PlainWriter, node: Call) -> str:
    left, right = operands(node)
    t = w.atom(left)
    return _otherwise(w, f"{t} is not {w.emitter.runtime('NONE')}", t, right)


def _otherwise(w: PlainWriter, test: str, present: str, right: Expr) -> str:
    """`present` if the test holds, else the right side, which is evaluated only then."""
    e = w.emitter
    with e.capture() as captured:
        code = w.value(right)
    if not captured[0]:
        return f"({present} if {test} else {code})"
    result = e.name()
    with e.block(f"if {test}:"):
        e.emit(f"{result} = {present}")
    with e.block("else:"):
        e.splice(captured)
        e.emit(f"{result} = {code}")
    return result


def _metered_otherwise(w: MeteredWriter, node: Call) -> str:
    """`opt.or(o)`, `opt.orValue(v)`: no charge of their own, the right side only when absent."""
    e = w.emitter
    left, right = operands(node)
    result = e.assign(w.value(left), node.id)
    with w.branch(f"if {result} is {e.runtime('NONE')}:", node.id):
        e.emit(f"{result} = {w.value(right)}", right.id)
    if node.function == "orValue":
        with w.branch(f"elif {result}.__class__ is {e.runtime('Optional')}:", node.id):
            e.emit(f"{result} = {result}.value")
    return result


def _block(w: PlainWriter, node: Call) -> str:
    """`cel.@block([slots], body)`: each slot once, visible to those after it as `@index0`, ..."""
    slots, body = node.args
    names: dict[str, str] = {}
    for position, slot in enumerate(block_slots(slots)):
        with w.scope(names):
            names[f"@index{position}"] = w.atom(slot)
    with w.scope(names):
        return w.value(body)


def _metered_block(w: MeteredWriter, node: Call) -> str:
    """`cel.@block([slots], body)`: each slot at its first use."""
    slots, body = node.args
    with ExitStack() as scopes:
        for position, slot in enumerate(block_slots(slots)):
            name = f"@index{position}"
            scopes.enter_context(w.scope({name: w.lazy(slot)}, lazy=name))
        return w.value(body)


def block_slots(node: Expr) -> tuple[Expr, ...]:
    """The slots of a block; its macro made sure that they are written as a list."""
    assert isinstance(node, ListLiteral), "`cel.block` refuses anything else"
    return node.elements


def _not_strictly_false(w: MeteredWriter, node: Call) -> str:
    return w.value(node.args[0])


HAS_VALUE = Inline(_has_value, _metered_has_value)
OR_VALUE = Inline(_or_value, whole=always(_metered_otherwise))
OR = Inline(_or, whole=always(_metered_otherwise))
BLOCK = Inline(_block, whole=always(_metered_block))
NOT_STRICTLY_FALSE = Inline(whole=always(_not_strictly_false))
