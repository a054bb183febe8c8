"""The math library (cel-go `ext.Math`), versions 0 to 2. Not in Kubernetes.

0 has `math.least` and `math.greatest`, macros over `math.@min` and `math.@max`; 1 adds rounding,
signs and bits; 2 adds `math.sqrt`.
"""

from __future__ import annotations

import math

from celadon.cel import size_growth
from celadon.cel.declarations import Function, Impl, Library, Overload
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.parsing.macros import MATH_MACROS
from celadon.cel.types import BOOL, DOUBLE, DYN, INT, UINT, Type, list_of
from celadon.cel.values import Value
from celadon.cel.values.arithmetic import integer_overflow
from celadon.cel.values.conversions import identity
from celadon.cel.values.equality import compare
from celadon.cel.values.text import MAX_INT, MAX_UINT, MIN_INT, Uint

# --- Math functions ----------------------------------------------------------
#
# What the math library computes: extrema, rounding, signs, bits.
#
# int and uint are 64 bits wide, so shifts and complements are masked. A right shift of an int
# fills with zeros, as cel-go's does.

#: From here on every double is integral.
_INTEGRAL_FROM = 2.0**52
_MATH_FUNCTIONS_NUMBERS = frozenset({int, Uint, float})


def least(a: object, b: object) -> Value:
    """Return the smaller; the first of equal ones."""
    return b if _compare(a, b, "math.@min") > 0 else a


def greatest(a: object, b: object) -> Value:
    """Return the greater; the first of equal ones."""
    return b if _compare(a, b, "math.@max") < 0 else a


def _compare(a: object, b: object, function: str) -> int:
    try:
        return compare(a, b)
    except EvaluationError as error:
        raise EvaluationError(f"{error.message}: {function}") from error


def least_of(numbers: list[Value]) -> Value:
    return _math_functions_extremum(numbers, 1, "math.@min")


def greatest_of(numbers: list[Value]) -> Value:
    return _math_functions_extremum(numbers, -1, "math.@max")


def _math_functions_extremum(numbers: list[Value], replaced_when: int, function: str) -> Value:
    if not numbers:
        raise EvaluationError(f"{function}(list) argument must not be empty")
    best = numbers[0]
    try:
        for number in numbers[1:]:
            if compare(best, number) == replaced_when:
                best = number
    except EvaluationError as error:
        raise no_such_overload(function) from error
    if best.__class__ not in _MATH_FUNCTIONS_NUMBERS:
        raise no_such_overload(function)
    return best


def _is_integral(x: float) -> bool:
    return not abs(x) < _INTEGRAL_FROM


def ceil(x: float) -> float:
    return x if _is_integral(x) else math.copysign(float(math.ceil(x)), x)


def floor(x: float) -> float:
    return x if _is_integral(x) else math.copysign(float(math.floor(x)), x)


def trunc(x: float) -> float:
    return x if _is_integral(x) else math.copysign(float(math.trunc(x)), x)


def round_half_away(x: float) -> float:
    """Round to the nearest integer, halves away from zero."""
    if _is_integral(x):
        return x
    whole = math.floor(abs(x))
    return math.copysign(float(whole + (abs(x) - whole >= 0.5)), x)


def is_finite(x: float) -> bool:
    return math.isfinite(x)


def is_inf(x: float) -> bool:
    return math.isinf(x)


def is_nan(x: float) -> bool:
    return x != x


def absolute_int(n: int) -> int:
    if n == MIN_INT:
        raise integer_overflow()
    return abs(n)


def absolute_double(x: float) -> float:
    return abs(x)


def sign_double(x: float) -> float:
    if x != x:
        return x
    return float((x > 0) - (x < 0))


def sign_int(n: int) -> int:
    return (n > 0) - (n < 0)


def sign_uint(n: Uint) -> Uint:
    return Uint(n > 0)


def _signed(bits: int) -> int:
    bits &= MAX_UINT
    return bits if bits <= MAX_INT else bits - (1 << 64)


def and_int(a: int, b: int) -> int:
    return a & b


def or_int(a: int, b: int) -> int:
    return a | b


def xor_int(a: int, b: int) -> int:
    return a ^ b


def not_int(a: int) -> int:
    return ~a


def and_uint(a: Uint, b: Uint) -> Uint:
    return Uint(int(a) & int(b))


def or_uint(a: Uint, b: Uint) -> Uint:
    return Uint(int(a) | int(b))


def xor_uint(a: Uint, b: Uint) -> Uint:
    return Uint(int(a) ^ int(b))


def not_uint(a: Uint) -> Uint:
    return Uint(MAX_UINT - int(a))


def _left(bits: int, offset: int) -> int:
    if offset < 0:
        raise EvaluationError(f"math.bitShiftLeft() negative offset: {offset}")
    return bits << offset if offset < 64 else 0


def _right(bits: int, offset: int) -> int:
    if offset < 0:
        raise EvaluationError(f"math.bitShiftRight() negative offset: {offset}")
    return (bits & MAX_UINT) >> offset if offset < 64 else 0


def shift_left_int(n: int, offset: int) -> int:
    return _signed(_left(n, offset))


def shift_left_uint(n: Uint, offset: int) -> Uint:
    return Uint(_left(int(n), offset) & MAX_UINT)


def shift_right_int(n: int, offset: int) -> int:
    return _signed(_right(n, offset))


def shift_right_uint(n: Uint, offset: int) -> Uint:
    return Uint(_right(int(n), offset))


def square_root(x: float) -> float:
    """NaN for negative numbers."""
    return math.sqrt(x) if x >= 0 else math.nan


LATEST = 2

_NUMBERS = (DOUBLE, INT, UINT)
_LITERALS = {"double": ("1.5", "2.5"), "int": ("1", "2"), "uint": ("1u", "2u")}
_PAIRS = (
    (DOUBLE, DOUBLE),
    (INT, INT),
    (UINT, UINT),
    (INT, UINT),
    (INT, DOUBLE),
    (DOUBLE, INT),
    (DOUBLE, UINT),
    (UINT, INT),
    (UINT, DOUBLE),
)


def _extremum(name: str, macro: str, picked: int, pair: Impl, of_list: Impl, doc: str) -> Function:
    """`math.@min` or `math.@max`; `picked` says which of two literals is the answer."""

    def example(arguments: str, answer: str) -> tuple[tuple[str, str], ...]:
        return ((f"math.{macro}({arguments}) == {answer}", "true"),)

    def pair_overload(a: Type, b: Type) -> Overload:
        small, large = _LITERALS[a.name][0], _LITERALS[b.name][1]
        return Overload(
            f"math_{name}_{a.name}_{b.name}",
            (a, b),
            a if a == b else DYN,
            pair,
            doc=doc,
            growth=size_growth.single,
            examples=example(f"{small}, {large}", (small, large)[picked]),
        )

    return Function(
        f"math.{name}",
        (
            *(
                Overload(
                    f"math_{name}_{t.name}",
                    (t,),
                    t,
                    identity,
                    doc=doc,
                    examples=example(_LITERALS[t.name][0], _LITERALS[t.name][0]),
                )
                for t in _NUMBERS
            ),
            *(pair_overload(a, b) for a, b in _PAIRS),
            *(
                Overload(
                    f"math_{name}_list_{t.name}",
                    (list_of(t),),
                    t,
                    of_list,
                    doc=doc,
                    examples=example(
                        f"[{', '.join(_LITERALS[t.name])}]", _LITERALS[t.name][picked]
                    ),
                )
                for t in _NUMBERS
            ),
        ),
    )


#: name, parameters, result, implementation, example arguments, their result
_Row = tuple[str, tuple[Type, ...], Type, Impl, str, str]


def _functions(documentation: dict[str, str], rows: tuple[_Row, ...]) -> list[Function]:
    by_name: dict[str, list[Overload]] = {}
    for name, params, result, impl, arguments, answer in rows:
        overload = Overload(
            # cel-go repeats the operand's type for the unary `bitNot`
            f"math_{name}_{'_'.join(p.name for p in params)}"
            + (f"_{params[0].name}" if name == "bitNot" else ""),
            params,
            result,
            impl,
            doc=documentation[name],
            examples=((f"math.{name}({arguments})", answer),),
        )
        by_name.setdefault(name, []).append(overload)
    return [Function(f"math.{name}", tuple(overloads)) for name, overloads in by_name.items()]


_VERSION_0 = [
    _extremum("@min", "least", 0, least, least_of, "The least argument."),
    _extremum("@max", "greatest", 1, greatest, greatest_of, "The greatest argument."),
]

_VERSION_1 = _functions(
    {
        "ceil": "The least integral double that is not less.",
        "floor": "The greatest integral double that is not greater.",
        "round": "The nearest integral double, halves away from zero.",
        "trunc": "Without its fraction.",
        "isInf": "Whether infinite.",
        "isNaN": "Whether not a number.",
        "isFinite": "Whether neither infinite nor NaN.",
        "abs": "Without its sign.",
        "sign": "-1, 0 or 1.",
        "bitAnd": "Bits set in both.",
        "bitOr": "Bits set in either.",
        "bitXor": "Bits set in exactly one.",
        "bitNot": "The other bits.",
        "bitShiftLeft": "Bits moved up; those that leave 64 bits are lost.",
        "bitShiftRight": "Bits moved down, filled with zeros.",
    },
    (
        ("ceil", (DOUBLE,), DOUBLE, ceil, "1.2", "2.0"),
        ("floor", (DOUBLE,), DOUBLE, floor, "1.8", "1.0"),
        ("round", (DOUBLE,), DOUBLE, round_half_away, "2.5", "3.0"),
        ("trunc", (DOUBLE,), DOUBLE, trunc, "-1.8", "-1.0"),
        ("isInf", (DOUBLE,), BOOL, is_inf, "1.0 / 0.0", "true"),
        ("isNaN", (DOUBLE,), BOOL, is_nan, "0.0 / 0.0", "true"),
        ("isFinite", (DOUBLE,), BOOL, is_finite, "1.5", "true"),
        ("abs", (DOUBLE,), DOUBLE, absolute_double, "-1.5", "1.5"),
        ("abs", (INT,), INT, absolute_int, "-1", "1"),
        ("abs", (UINT,), UINT, identity, "1u", "1u"),
        ("sign", (DOUBLE,), DOUBLE, sign_double, "-1.5", "-1.0"),
        ("sign", (INT,), INT, sign_int, "-5", "-1"),
        ("sign", (UINT,), UINT, sign_uint, "5u", "1u"),
        ("bitAnd", (INT, INT), INT, and_int, "6, 3", "2"),
        ("bitAnd", (UINT, UINT), UINT, and_uint, "6u, 3u", "2u"),
        ("bitOr", (INT, INT), INT, or_int, "6, 3", "7"),
        ("bitOr", (UINT, UINT), UINT, or_uint, "6u, 3u", "7u"),
        ("bitXor", (INT, INT), INT, xor_int, "6, 3", "5"),
        ("bitXor", (UINT, UINT), UINT, xor_uint, "6u, 3u", "5u"),
        ("bitNot", (INT,), INT, not_int, "1", "-2"),
        ("bitNot", (UINT,), UINT, not_uint, "1u", "18446744073709551614u"),
        ("bitShiftLeft", (INT, INT), INT, shift_left_int, "1, 2", "4"),
        ("bitShiftLeft", (UINT, INT), UINT, shift_left_uint, "1u, 2", "4u"),
        ("bitShiftRight", (INT, INT), INT, shift_right_int, "-1024, 64", "0"),
        ("bitShiftRight", (UINT, INT), UINT, shift_right_uint, "4u, 2", "1u"),
    ),
)

_VERSION_2 = _functions(
    {"sqrt": "The square root; NaN for negative numbers."},
    (
        ("sqrt", (DOUBLE,), DOUBLE, square_root, "2.25", "1.5"),
        ("sqrt", (INT,), DOUBLE, square_root, "81", "9.0"),
        ("sqrt", (UINT,), DOUBLE, square_root, "81u", "9.0"),
    ),
)


def library(version: int = LATEST) -> Library:
    functions = _VERSION_0
    if version >= 1:
        functions = functions + _VERSION_1
    if version >= 2:
        functions = functions + _VERSION_2
    return Library(f"math/{version}", functions=tuple(functions), macros=MATH_MACROS)
