"""Formulas and terms of the solver, with the simplifications that keep them small.

All of z3 that the room uses comes through here. Formulas are z3's `BoolRef`; terms are its integers
(unbounded: overflow is a formula of its own), IEEE doubles and strings. z3 has no types of its own
for checkers, so the names below are what signatures say.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final, TypeAlias

import z3

Formula: TypeAlias = z3.BoolRef
Term: TypeAlias = z3.ExprRef

TRUE: Formula = z3.BoolVal(val=True)
FALSE: Formula = z3.BoolVal(val=False)

INT_MIN = -(1 << 63)
INT_MAX = (1 << 63) - 1
UINT_MAX = (1 << 64) - 1

_CONTEXT: Final = z3.main_ctx()
_TRUE_ID: Final = TRUE.get_id()
_FALSE_ID: Final = FALSE.get_id()
# What follows is called so often that it does without the wrappers of z3's own functions: equal
# terms are one term in a context, and have one number.


def both(*formulas: Formula) -> Formula:
    """Return the formula that all of them hold."""
    result: dict[int, Formula] = {}
    for formula in formulas:
        number = formula.get_id()
        if number == _FALSE_ID:
            return FALSE
        if number != _TRUE_ID:
            result[number] = formula
    return _joined(z3.Z3_mk_and, result.values()) if result else TRUE


def either(formulas: Iterable[Formula]) -> Formula:
    """Return the formula that at least one of them holds."""
    result: dict[int, Formula] = {}
    for formula in formulas:
        number = formula.get_id()
        if number == _TRUE_ID:
            return TRUE
        if number != _FALSE_ID:
            result[number] = formula
    return _joined(z3.Z3_mk_or, result.values()) if result else FALSE


def _joined(join: Callable[..., Any], parts: Collection[Formula]) -> Formula:
    if len(parts) == 1:
        return next(iter(parts))
    terms = (z3.Ast * len(parts))(*(part.as_ast() for part in parts))
    return z3.BoolRef(join(_CONTEXT.ref(), len(parts), terms), _CONTEXT)


def negated(formula: Formula) -> Formula:
    """Return the formula that another does not hold."""
    number = formula.get_id()
    if number == _TRUE_ID:
        return FALSE
    if number == _FALSE_ID:
        return TRUE
    return formula.arg(0) if z3.is_not(formula) else z3.Not(formula)


def chosen(condition: Formula, consequent: Term, otherwise: Term) -> Term:
    """Return `consequent` where the condition holds, else `otherwise`."""
    if z3.is_true(condition) or consequent.eq(otherwise):
        return consequent
    return otherwise if z3.is_false(condition) else z3.If(condition, consequent, otherwise)


def folded(term: Term) -> Term:
    """Return what a term of literals comes to, and any other as it is: what the solver makes of one
    depends on the terms that there were before it, and answers must not depend on that."""
    return z3.simplify(term) if next(unknowns(term), None) is None else term


def unknowns(term: Term) -> Iterator[str]:
    """Yield the names of the unknowns in a term, and of the functions without a meaning; now and
    then one of them twice."""
    context = term.ctx.ref()
    seen: set[int] = set()
    waiting = [term.as_ast()]
    while waiting:  # without the wrappers of z3's own functions: formulas are large
        node = waiting.pop()
        number = z3.Z3_get_ast_id(context, node)
        if number in seen or z3.Z3_get_ast_kind(context, node) != z3.Z3_APP_AST:
            continue
        seen.add(number)
        function = z3.Z3_get_app_decl(context, node)
        kind = z3.Z3_get_decl_kind(context, function)
        # Languages are large, and have no unknowns.
        count = 1 if kind == z3.Z3_OP_SEQ_IN_RE else z3.Z3_get_app_num_args(context, node)
        waiting += (z3.Z3_get_app_arg(context, node, place) for place in range(count))
        if kind == z3.Z3_OP_UNINTERPRETED:
            yield z3.FuncDeclRef(function, term.ctx).name()


def truth(value: bool) -> Formula:  # noqa: FBT001 - the literal itself
    """Return the formula that always, or never, holds."""
    return TRUE if value else FALSE


def same(a: Term, b: Term) -> Formula:
    """Return the formula that the terms, of one sort, are equal."""
    if a.eq(b):
        return TRUE
    if z3.is_int_value(a) and z3.is_int_value(b):
        return FALSE
    if z3.is_string_value(a) and z3.is_string_value(b):
        return truth(text_of(a) == text_of(b))
    return a == b


def integer(value: int) -> Term:
    """Return an integer literal."""
    return z3.IntVal(value)


def text(value: str) -> Term:
    """Return a string literal. z3 reads `\\u{41}` as one character, so a backslash is, too."""
    return z3.StringVal(value.replace("\\", "\\u{5c}"))


HIGHEST: Final = 0x2FFFF
"""The largest code point of the solver's strings."""

UNNAMED: Final = 0x20000
"""The first code point that no expression which is modelled may tell from those behind it. So the
solver has 65,536 characters to stand for all that are beyond its own: enough for texts that are
different from each other, and in order."""

BEYOND: Final = f"a character beyond U+{UNNAMED - 1:X}"
"""What is not modelled of them."""


def is_text(term: Term) -> bool:
    """Return whether a literal is a string of CEL: one without surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in text_of(term))


def text_of(term: Term) -> str:
    """Return the string that a literal stands for."""
    escaped: str = term.as_string()
    return _unescaped(escaped)


def _unescaped(escaped: str) -> str:
    r"""Return a text of z3, which prints what is not ASCII as `\u{1F600}`."""
    parts = escaped.split("\\u{")
    result = parts[0]
    for part in parts[1:]:
        code, _, rest = part.partition("}")
        result += chr(int(code, 16)) + rest
    return result


def total(formulas: Iterable[Formula]) -> Term:
    """Return how many of some formulas hold."""
    fixed, open_ = 0, []
    for formula in formulas:
        if z3.is_true(formula):
            fixed += 1
        elif not z3.is_false(formula):
            open_.append(z3.If(formula, z3.IntVal(1), z3.IntVal(0)))
    return z3.Sum(z3.IntVal(fixed), *open_) if open_ else z3.IntVal(fixed)


def double_of(term: Term) -> float:
    """Return the double that a literal stands for."""
    if term.isNaN():
        return math.nan
    bits: int = z3.simplify(z3.fpToIEEEBV(term)).as_long()
    number: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return number
