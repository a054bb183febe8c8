"""What a comprehension does, recognised from its parts.

Macros expand to one general node (`syntax.Comprehension`) that says how to iterate, not what for.
Code for the general form would build a new list per step; so each pass that cares (both code
generators, the cost bound) asks `classify` what the node means and works on that.

Every comprehension that a macro of this package produces is recognised. `classify` returns a
`Fold` for anything else (hand-built trees), which the generators run literally.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from celadon.cel import syntax
from celadon.cel.syntax import Call, Comprehension, Expr, Ident, ListLiteral, Literal, MapLiteral


class Quantifier(enum.Enum):
    """The macros that stop at the first decisive element: `false` for `all`, `true` for
    `exists`."""

    ALL = "all"
    EXISTS = "exists"


class Quantified(NamedTuple):
    """`all` or `exists`: absorbing, stops at the decisive element."""

    quantifier: Quantifier
    predicate: Expr


class ExistsOne(NamedTuple):
    """`exists_one`: true if the predicate holds for exactly one element."""

    predicate: Expr


class Collect(NamedTuple):
    """`map`, `filter`, `transformList`: appends `element` where `predicate` (if any) holds."""

    element: Expr
    predicate: Expr | None


class Insert(NamedTuple):
    """`transformMap` (key and value) or `transformMapEntry` (`key` None, value a map)."""

    key: Expr | None
    value: Expr
    predicate: Expr | None


class Bind(NamedTuple):
    """`optMap`, `sortBy`, `cel.bind`: one lazily computed name for one expression."""

    name: str
    value: Expr
    body: Expr


class Fold:
    """None of the above: condition, step and result as they stand."""

    __slots__ = ()


Shape = Quantified | ExistsOne | Collect | Insert | Bind | Fold


def classify(node: Comprehension) -> Shape:
    """The meaning of a comprehension (constant time)."""
    if node.iter_var == syntax.UNUSED:
        return Bind(node.accu_var, node.accu_init, node.result)
    accu = node.accu_var
    init = node.accu_init
    step, predicate, conditional = node.step, None, False
    if isinstance(step, Call) and step.function == syntax.CONDITIONAL and _is(step.args[2], accu):
        predicate, step, conditional = step.args[0], step.args[1], True
    match init:
        case Literal(value=bool()) if not conditional:
            return _quantified(node, step)
        case Literal() if conditional and init.value == 0 and predicate is not None:
            return ExistsOne(predicate)
        case ListLiteral(elements=()) if _call(step, syntax.ADD, accu, 2):
            appended = step.args[1]  # type: ignore[union-attr]  # _call checked that it is a Call
            if isinstance(appended, ListLiteral) and len(appended.elements) == 1:
                return Collect(appended.elements[0], predicate)
        case MapLiteral(entries=()) if _call(step, syntax.MAP_INSERT, accu, 3):
            return Insert(step.args[1], step.args[2], predicate)  # type: ignore[union-attr]  # as above
        case MapLiteral(entries=()) if _call(step, syntax.MAP_INSERT, accu, 2):
            return Insert(None, step.args[1], predicate)  # type: ignore[union-attr]  # as above
        case _:
            pass
    return Fold()


def _quantified(node: Comprehension, step: Expr) -> Shape:
    if _call(step, syntax.LOGICAL_AND, node.accu_var, 2):
        return Quantified(Quantifier.ALL, step.args[1])  # type: ignore[union-attr]  # _call checked
    if _call(step, syntax.LOGICAL_OR, node.accu_var, 2):
        return Quantified(Quantifier.EXISTS, step.args[1])  # type: ignore[union-attr]  # _call checked
    return Fold()


def mapped_element(node: Comprehension) -> Expr | None:
    """What `list.map(x, ...)` makes of each element; None for any other comprehension."""
    shape = classify(node)
    if not isinstance(shape, Collect) or shape.predicate is not None or node.iter_var2:
        return None
    return shape.element


def macro_call(node: Comprehension) -> Call | None:
    """A call of a macro that expands to a node of this meaning, for people to read; None if no
    macro does. Its variables get negative ids, which no parsed node has."""
    shape = classify(node)
    match shape:
        case Bind():
            name = Ident(-2 * node.id, shape.name)
            return Call(node.id, "cel.bind", None, (name, shape.value, shape.body))
        case Fold():
            return None
    names = [node.iter_var, node.iter_var2] if node.iter_var2 else [node.iter_var]
    variables = (Ident(-2 * node.id - number, name) for number, name in enumerate(names))
    macro, parts = _macro_parts(node, shape)
    given = (part for part in parts if part is not None)
    return Call(node.id, macro, node.iter_range, (*variables, *given))


def _macro_parts(
    node: Comprehension, shape: Quantified | ExistsOne | Collect | Insert
) -> tuple[str, tuple[Expr | None, ...]]:
    """The name of a macro with that shape, and its arguments behind the variables."""
    match shape:
        case Quantified():
            return shape.quantifier.value, (shape.predicate,)
        case ExistsOne():
            return "exists_one", (shape.predicate,)
        case Collect() if node.iter_var2:
            return "transformList", (shape.predicate, shape.element)
        case Collect() if _is(shape.element, node.iter_var):
            return "filter", (shape.predicate,)
        case Collect():
            return "map", (shape.predicate, shape.element)
        case Insert(key=None):
            return "transformMapEntry", (shape.predicate, shape.value)
        case Insert():
            return "transformMap", (shape.predicate, shape.value)


def _is(node: Expr, name: str) -> bool:
    return isinstance(node, Ident) and node.name == name


def _call(node: Expr, function: str, accu: str, arity: int) -> bool:
    """Is this `function(accu, ...)` with that many arguments?"""
    return (
        isinstance(node, Call)
        and node.function == function
        and len(node.args) == arity
        and _is(node.args[0], accu)
    )


def optional_mapping(node: Expr) -> tuple[Expr, Bind] | None:
    """`t.optMap(v, e)` as the optional `t` and what is made of its value, or None."""
    if not (isinstance(node, Call) and node.function == syntax.CONDITIONAL):
        return None
    test, yes, no = node.args
    if not (
        isinstance(test, Call) and test.function == "hasValue" and test.target is not None
        and isinstance(yes, Call) and yes.function == "optional.of" and len(yes.args) == 1
        and isinstance(no, Call) and no.function == "optional.none"
    ):  # fmt: skip
        return None
    body = yes.args[0]
    shape = classify(body) if isinstance(body, Comprehension) else None
    if not isinstance(shape, Bind) or not isinstance(shape.value, Call):
        return None
    return (test.target, shape) if shape.value.function == "value" else None
