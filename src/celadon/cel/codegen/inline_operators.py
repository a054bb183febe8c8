"""Inline forms of equality, ordering, arithmetic and negation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import reduce
from itertools import compress
from typing import Any, Final, NamedTuple

from celadon.cel import syntax
from celadon.cel.analysis.tree_context import Context
from celadon.cel.codegen.emitter import MeteredWriter, PlainWriter, Writer
from celadon.cel.cost import SizeSource
from celadon.cel.declarations import Inline
from celadon.cel.syntax import Call, Expr, ListLiteral
from celadon.cel.types import Kind
from celadon.cel.values.text import MAX_INT, MIN_INT

# --- Native forms ------------------------------------------------------------
#
# What inline forms are made of.
#
# A form of the plain variant writes the whole call, operands included, and declines (returns
# None) where the operands' classes are unknown and no cheap test settles them. Each states in
# one comment why the native form is right, because Python differs from CEL in many small ways:
#
# * `True == 1`: comparing with 0 or 1 needs to exclude bool; * `x in "abc"` and `x[-1]` work on
# strings and lists: containers are tested by class; * int is unbounded: results of int
# arithmetic are range-checked; * abstract values raise from `__eq__` for foreign classes, which
# ends the plain variant.
#
# A form of the metered variant gets the evaluated operands and answers with a `Native`: a test
# of their classes and, where it holds, the native source of the value. The value must be what
# the implementation returns for such operands; a property compares the variants. The charge is
# the cost rule's. Where the test fails, the implementation serves. A few calls, which do not
# evaluate all their operands, are written whole.
#
# A form serves for a call if every overload that the checker left for it names that form.


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
    """Return the form that never declines."""
    return lambda context, node: write


def operands(node: Call) -> tuple[Expr, ...]:
    """Return the receiver, if any, and the arguments."""
    return node.args if node.target is None else (node.target, *node.args)


def is_class(w: Writer, atom: str, kind: str) -> str:
    """Return the source of the test whether a value is of exactly that class."""
    return f"{atom}.__class__ is {w.emitter.runtime(kind)}"


def last_constant(w: Writer, node: Call) -> object:
    """Return the last operand if it is constant, else the context (which is no CEL value)."""
    c = w.context
    return c.constant(node.args[-1]) if c.is_constant(node.args[-1]) else c


def length(w: Writer, atom: str) -> str:
    return f"{w.emitter.runtime('len')}({atom})"


def repeats(w: Writer, node: Call) -> bool:
    """Return whether it is a call that is hardly charged, and may be made again and again."""
    return bool(w.emitter.unpaid_work) and w.context.is_unpaid(node)


def operator_call(w: Writer, node: Call, function: str, *operands: str) -> str:
    """Return the source of a call of an operator's implementation, a run-time function of that
    name."""
    if repeats(w, node):
        return w.emitter.call(w.context, node, w.context.impl(node), operands)
    return f"{w.emitter.runtime(function)}({', '.join(operands)})"


#: Integers that double represents exactly, so that int/double comparison cannot differ.
EXACT = 1 << 53
#: From so many texts on, a formatted string joins them faster than `+`.
_SEVERAL: Final = 3
#: Most additions that are written as one.
_MOST: Final = 20


def _equals(w: PlainWriter, node: Call) -> str:
    return _equality(w, node, "==", "equal")


def _not_equals(w: PlainWriter, node: Call) -> str:
    return _equality(w, node, "!=", "not_equal")


def _equality(w: PlainWriter, node: Call, operator: str, function: str) -> str:
    left, right = node.args
    c, e = w.context, w.emitter
    for side, other in ((right, left), (left, right)):
        if c.is_constant(side):
            code = _equals_constant(w, other, c.constant(side), operator, left=other is left)
            if code is not None:
                return code
    certain, two = c.certain(left), c.certain(right)
    if certain is two and certain in (int, str, bool):
        return f"({w.value(left)} {operator} {w.value(right)})"
    x, y = w.atom(left), w.atom(right)
    slow = operator_call(w, node, function, x, y)
    return f"({x} {operator} {y} if {x}.__class__ is {e.runtime('str')} else {slow})"


def _equals_constant(
    w: PlainWriter, node: Expr, value: Any, operator: str, *, left: bool
) -> str | None:
    """Comparison with a constant; None where Python's `==` could differ from CEL's. `left` says
    that the node is the left operand, with which it fails if it is abstract."""
    e, kind = w.emitter, value.__class__
    if w.context.is_constant(node):
        return None
    negated = operator == "!="
    if kind is bool and left and w.context.checked.types[node.id].kind is not Kind.BOOL:
        return _equals_bool(w, node, value=value, negated=negated)
    if value is None or kind is bool:
        return f"({w.value(node)} {'is not' if negated else 'is'} {value})"
    if kind is str:
        return f"({w.value(node)} {operator} {e.key(value)})"
    if kind is int and -EXACT < value < EXACT:
        if value not in (0, 1) or w.context.certain(node) is int:
            return f"({w.value(node)} {operator} {e.constant(value)})"
        t, bools = e.name(), e.runtime("bool")
        if negated:
            return f"(({t} := {w.value(node)}) != {value} or {t}.__class__ is {bools})"
        return f"(({t} := {w.value(node)}) == {value} and {t}.__class__ is not {bools})"
    return None


def _equals_bool(w: PlainWriter, node: Expr, *, value: bool, negated: bool) -> str:
    """Write the comparison of a left operand of an open type."""
    e = w.emitter
    t = e.name()
    other = f"{t} is {not value}"
    if negated:
        slow = f"{e.runtime('not_equal')}({t}, {value})"
        return f"(({t} := {w.value(node)}) is not {value} and ({other} or {slow}))"
    slow = f"({t} is not {not value} and {e.runtime('equal')}({t}, {value}))"
    return f"(({t} := {w.value(node)}) is {value} or {slow})"


def _metered_equality(operator: str, identity: str) -> NativeForm:
    def form(w: Writer, node: Call, atoms: list[str]) -> Native | None:
        x, y = atoms
        value = last_constant(w, node)
        if value.__class__ is int:
            return Native(is_class(w, x, "int"), f"{x} {operator} {y}", (1, 1))
        if value.__class__ is bool:
            return Native(is_class(w, x, "bool"), f"{x} {identity} {value}", (1, 1))
        if value is None:
            return Native(is_class(w, x, "dict"), f"{operator == '!='}", (length(w, x), 1))
        if isinstance(value, str):
            sizes = length(w, x), len(value)
            return Native(is_class(w, x, "str"), f"{x} {operator} {y}", sizes)
        test = f"{is_class(w, x, 'str')} and {is_class(w, y, 'str')}"
        return Native(test, f"{x} {operator} {y}", (length(w, x), length(w, y)))

    return form


def _ordering(operator: str) -> PlainForm:
    def write(w: PlainWriter, node: Call) -> str:
        left, right = node.args
        c, e = w.context, w.emitter
        function = e.bind(w.context.impl(node), "f")
        certain, two = c.certain(left), c.certain(right)
        if certain is two and certain in (int, str):
            return f"({w.value(left)} {operator} {w.value(right)})"
        if two in (int, str) and c.is_constant(right):
            # ints against ints and strings against strings compare as in Python
            t, kind, k = e.name(), e.runtime(two.__name__), e.constant(c.constant(right))
            fast = f"{t} {operator} {k} if ({t} := {w.value(left)}).__class__ is {kind}"
            return f"({fast} else {function}({t}, {k}))"
        if certain in (int, str) and c.is_constant(left):
            t, kind, k = e.name(), e.runtime(certain.__name__), e.constant(c.constant(left))
            fast = f"{k} {operator} {t} if ({t} := {w.value(right)}).__class__ is {kind}"
            return f"({fast} else {function}({k}, {t}))"
        x, y = w.atom(left), w.atom(right)
        ints = e.runtime("int")
        return (
            f"({x} {operator} {y} if {x}.__class__ is {ints} and {y}.__class__ is {ints} "
            f"else {function}({x}, {y}))"
        )

    return write


def _metered_ordering(operator: str) -> NativeForm:
    def form(w: Writer, node: Call, atoms: list[str]) -> Native | None:
        x, y = atoms
        value = last_constant(w, node)
        if value.__class__ is int:
            return Native(is_class(w, x, "int"), f"{x} {operator} {y}", (1, 1))
        test = f"{is_class(w, x, 'int')} and {is_class(w, y, 'int')}"
        return Native(test, f"{x} {operator} {y}", (1, 1))

    return form


def _arithmetic(operator: str) -> PlainForm:
    def write(w: PlainWriter, node: Call) -> str:
        left, right = node.args
        c, e = w.context, w.emitter
        function = e.bind(w.context.impl(node), "f")
        certain, two = c.certain(left), c.certain(right)
        if operator == "+" and (texts := _joined_texts(w, node)) is not None:
            return texts
        if (certain not in (int, None)) or (two not in (int, None)):
            return f"{function}({w.value(left)}, {w.value(right)})"
        x, y = w.atom(left), w.atom(right)
        ints = e.runtime("int")
        tests = [f"{n}.__class__ is {ints}" for n, k in ((x, certain), (y, two)) if k is not int]
        t = e.name()
        tests.append(f"{MIN_INT} <= ({t} := {x} {operator} {y}) <= {MAX_INT}")
        return f"({t} if {' and '.join(tests)} else {function}({x}, {y}))"

    return write


def _joined_texts(w: PlainWriter, node: Call) -> str | None:
    """Write a row of additions of texts, if it is one for sure or by a test."""
    c, e = w.context, w.emitter
    parts = text_addends(c, node)
    if parts is None:
        return None
    atoms = [w.atom(part) for part in parts]
    is_open = [c.certain(part) is None for part in parts]
    if not any(is_open):
        return f"({joined(atoms)})"
    text, function = e.runtime("str"), e.bind(c.impl(node), "f")
    tests = (f"{atom}.__class__ is {text}" for atom in compress(atoms, is_open))
    slow = reduce(lambda x, y: f"{function}({x}, {y})", atoms)
    return f"({joined(atoms)} if {' and '.join(tests)} else {slow})"


def joined(texts: list[str]) -> str:
    """Return the source of texts put together."""
    if len(texts) >= _SEVERAL:
        return "f'" + "".join(f"{{{text}}}" for text in texts) + "'"
    return " + ".join(texts)


def text_addends(c: Context, node: Call) -> list[Expr] | None:
    """Return the addends of a row of additions one of which is a text: then all must be. None for
    any other call."""
    if node.function != syntax.ADD:
        return None
    parts = _addends(node)
    kinds = [c.certain(part) for part in parts]
    return parts if str in kinds and {str, None}.issuperset(kinds) else None


def _addends(node: Call) -> list[Expr]:
    """Return the addends of a row of additions, from left to right."""
    parts: list[Expr] = []
    first: Expr = node
    while isinstance(first, Call) and first.function == syntax.ADD and len(parts) < _MOST:
        parts.append(first.args[1])
        first = first.args[0]
    return [first, *reversed(parts)]


def _metered_arithmetic(operator: str) -> NativeForm:
    def form(w: Writer, node: Call, atoms: list[str]) -> Native | None:
        x, y = atoms
        result = w.emitter.name()
        in_range = f"{MIN_INT} <= ({result} := {x} {operator} {y}) <= {MAX_INT}"
        test = f"{is_class(w, x, 'int')} and {is_class(w, y, 'int')} and {in_range}"
        return Native(test, result, (1, 1))

    return form


def _metered_add(w: Writer, node: Call, atoms: list[str]) -> Native | None:
    x, y = atoms
    c = w.context
    if str in (c.certain(node.args[0]), c.certain(node.args[1])):
        args = [c.constant(arg) if c.is_constant(arg) else None for arg in node.args]
        pairs = list(zip(atoms, args, strict=True))
        tests = [is_class(w, atom, "str") for atom, text in pairs if not isinstance(text, str)]
        sizes = [len(t) if isinstance(t, str) else length(w, atom) for atom, t in pairs]
        return Native(" and ".join(tests) or "True", f"{x} + {y}", tuple(sizes))
    return _metered_arithmetic("+")(w, node, atoms)


def _not(w: PlainWriter, node: Call) -> str:
    return f"(not {w.boolean(node.args[0])})"


def _metered_not(w: MeteredWriter, node: Call) -> str:
    e = w.emitter
    x = w.value(node.args[0])
    w.charge()
    test = f"{x}.__class__ is {e.runtime('bool')}"
    return e.assign(f"{x} is False if {test} else {e.runtime('not_v')}({x})", node.id)


EQUALS = Inline(_equals, _metered_equality("==", "is"))
NOT_EQUALS = Inline(_not_equals, _metered_equality("!=", "is not"))
LESS = Inline(_ordering("<"), _metered_ordering("<"))
LESS_EQUALS = Inline(_ordering("<="), _metered_ordering("<="))
GREATER = Inline(_ordering(">"), _metered_ordering(">"))
GREATER_EQUALS = Inline(_ordering(">="), _metered_ordering(">="))
ADD = Inline(_arithmetic("+"), _metered_add)
SUBTRACT = Inline(_arithmetic("-"), _metered_arithmetic("-"))
MULTIPLY = Inline(_arithmetic("*"), _metered_arithmetic("*"))
LOGICAL_NOT = Inline(_not, whole=always(_metered_not))


# --- Lazy forms --------------------------------------------------------------
#
# Inline forms of calls that do not evaluate all their operands, or not at once: optional values
# and blocks.


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
    """Return the slots of a block; its macro made sure that they are written as a list."""
    assert isinstance(node, ListLiteral), "`cel.block` refuses anything else"
    return node.elements


def _not_strictly_false(w: MeteredWriter, node: Call) -> str:
    return w.value(node.args[0])


HAS_VALUE = Inline(_has_value, _metered_has_value)
OR_VALUE = Inline(_or_value, whole=always(_metered_otherwise))
OR = Inline(_or, whole=always(_metered_otherwise))
BLOCK = Inline(_block, whole=always(_metered_block))
NOT_STRICTLY_FALSE = Inline(whole=always(_not_strictly_false))
