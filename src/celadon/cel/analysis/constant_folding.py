"""Constant folding: what cel-go's `OptOptimize` computes while it plans a program.

Only these, because folding is observable (it changes costs, and its errors fail the program rather
than the evaluation; reference, section 8.8):

* list and map literals of constants;
* conversions (`int('5')`, `timestamp('...')`, `type(1)`, ...) of one constant;
* `x in []`, which is false without x ever being looked at;
* constant regular expressions, which are compiled, and constant keys, which must be keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.cel import re2, syntax
from celadon.cel.checking.scope import Declarations
from celadon.cel.declarations import Function
from celadon.cel.errors import EvaluationError, ProgramError
from celadon.cel.runtime import implementation
from celadon.cel.syntax import Call, CheckedAst, Expr, Ident, ListLiteral, Literal, MapLiteral
from celadon.cel.types import Kind
from celadon.cel.values import Value
from celadon.cel.values.container_access import qualifier_error
from celadon.cel.values.maps import make_map, make_strict_map

_CONVERSIONS = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)

_FOLDED_CALLS = _CONVERSIONS | {syntax.IN, syntax.INDEX, syntax.OPT_INDEX}
"""The functions whose calls are looked at, besides those that take a regular expression."""

_ABSENT = object()


def fold(
    checked: CheckedAst,
    functions: Mapping[str, Function],
    constants: Mapping[int, Value],
    *,
    strict_map_keys: bool = False,
) -> dict[int, Value]:
    """Node ids of folded nodes and their values. `constants` are identifiers that are values.
    With `strict_map_keys`, map literals that these refuse are left for the evaluation to refuse.

    Raises `ProgramError` with the text of the failed conversion or regular expression.
    """
    folded: dict[int, Value] = {}

    def constant(node: Expr) -> Any:
        if isinstance(node, Literal):
            return node.value
        if isinstance(node, Ident):
            return constants.get(node.id, _ABSENT)
        return folded.get(node.id, _ABSENT)

    for node in checked.nodes:
        value = _ABSENT
        if node.__class__ is Call:
            function = functions.get(node.function)
            if function is not None and (
                function.pattern is not None or node.function in _FOLDED_CALLS
            ):
                args = node.args if node.target is None else (node.target, *node.args)
                value = _call(checked, function, node, [constant(arg) for arg in args])
        elif node.__class__ is ListLiteral and not node.optional:
            items = [constant(element) for element in node.elements]
            value = _ABSENT if _ABSENT in map(_marker, items) else items
        elif node.__class__ is MapLiteral and not any(entry.optional for entry in node.entries):
            pairs = [(constant(entry.key), constant(entry.value)) for entry in node.entries]
            if not any(_ABSENT is part for pair in pairs for part in pair):
                value = _strict_map(pairs) if strict_map_keys else _map(pairs)
        if value is not _ABSENT:
            folded[node.id] = value
    return folded


def _marker(item: object) -> Value:
    """Return the item itself, only if it is the marker: values are never compared."""
    return _ABSENT if item is _ABSENT else None


def _map(pairs: list[tuple[Value, Value]]) -> Value:
    try:
        return make_map(pairs)
    except EvaluationError as error:  # bytes are no key
        raise ProgramError(error.message) from None


def _strict_map(pairs: list[tuple[Value, Value]]) -> Value:
    try:
        return make_strict_map(pairs)
    except EvaluationError:
        return _ABSENT


def _call(checked: CheckedAst, function: Function, node: Call, args: list[Any]) -> Value:
    reference = checked.references.get(node.id)
    if reference is None:
        return _ABSENT
    if reference.overloads == ("in_list",) and args[1].__class__ is list and not args[1]:
        return False
    if function.pattern is not None and args[function.pattern].__class__ is str:
        try:
            re2.compile(args[function.pattern])
        except re2.RegexError as error:
            raise ProgramError(str(error)) from None
    if node.function in (syntax.INDEX, syntax.OPT_INDEX) and args[1] is not _ABSENT:
        refused = qualifier_error(args[1])
        if refused is not None:
            raise ProgramError(refused.message)
    if node.function in _CONVERSIONS and len(args) == 1 and args[0] is not _ABSENT:
        try:
            return implementation(function, reference.overloads)(args[0])
        except EvaluationError as error:
            raise ProgramError(error.message) from None
    return _ABSENT


# --- Named constants ---------------------------------------------------------
#
# Identifiers that denote a value rather than a variable: types (`int`) and enum constants.
#
# cel-go's planner takes every identifier whose checked type is the type of a type for the name
# of one, the variables of macros included: `[type(1)].map(int, int)` is a list of the type
# `int` whatever is in the range, and `[type(1)].map(t, t)` cannot be planned at all.


def constant_identifiers(checked: CheckedAst, declarations: Declarations) -> dict[int, Value]:
    """Node ids of such identifiers with the `Type` or int they denote. Raises `ProgramError` for
    one that no type has the name of."""
    result: dict[int, Value] = {}
    suspects: set[int] = set()
    for node_id, reference in checked.references.items():
        if reference.overloads:
            continue
        if reference.value is not None:
            result[node_id] = reference.value
        elif checked.types[node_id].kind is Kind.TYPE:
            variable = declarations.variables.get(reference.name)
            if variable is None or variable.kind is not Kind.TYPE:
                suspects.add(node_id)
    if not result and not suspects:
        return result
    names = {node.id: node.name for node in checked.nodes if isinstance(node, Ident)}
    for node_id, name in names.items():
        if node_id in suspects:
            denoted = declarations.find_type(checked.references[node_id].name)
            if denoted is None or not declarations.has_value(denoted.reference.name):
                raise ProgramError(f"reference to undefined type: {name}")
            result[node_id] = denoted.type.params[0]
    return {node_id: value for node_id, value in result.items() if node_id in names}
