"""The math library (cel-go `ext.Math`), versions 0 to 2. Not in Kubernetes.

0 has `math.least` and `math.greatest`, macros over `math.@min` and `math.@max`; 1 adds rounding,
signs and bits; 2 adds `math.sqrt`.
"""

from __future__ import annotations

from celadon.cel.declarations import Function, Impl, Library, Overload
from celadon.cel.library import math_functions as m
from celadon.cel.parsing.macros import MATH_MACROS
from celadon.cel.pricing import growth
from celadon.cel.types import BOOL, DOUBLE, DYN, INT, UINT, Type, list_of
from celadon.cel.values.conversions import identity

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
            growth=growth.single,
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
    _extremum("@min", "least", 0, m.least, m.least_of, "The least argument."),
    _extremum("@max", "greatest", 1, m.greatest, m.greatest_of, "The greatest argument."),
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
        ("ceil", (DOUBLE,), DOUBLE, m.ceil, "1.2", "2.0"),
        ("floor", (DOUBLE,), DOUBLE, m.floor, "1.8", "1.0"),
        ("round", (DOUBLE,), DOUBLE, m.round_half_away, "2.5", "3.0"),
        ("trunc", (DOUBLE,), DOUBLE, m.trunc, "-1.8", "-1.0"),
        ("isInf", (DOUBLE,), BOOL, m.is_inf, "1.0 / 0.0", "true"),
        ("isNaN", (DOUBLE,), BOOL, m.is_nan, "0.0 / 0.0", "true"),
        ("isFinite", (DOUBLE,), BOOL, m.is_finite, "1.5", "true"),
        ("abs", (DOUBLE,), DOUBLE, m.absolute_double, "-1.5", "1.5"),
        ("abs", (INT,), INT, m.absolute_int, "-1", "1"),
        ("abs", (UINT,), UINT, identity, "1u", "1u"),
        ("sign", (DOUBLE,), DOUBLE, m.sign_double, "-1.5", "-1.0"),
        ("sign", (INT,), INT, m.sign_int, "-5", "-1"),
        ("sign", (UINT,), UINT, m.sign_uint, "5u", "1u"),
        ("bitAnd", (INT, INT), INT, m.and_int, "6, 3", "2"),
        ("bitAnd", (UINT, UINT), UINT, m.and_uint, "6u, 3u", "2u"),
        ("bitOr", (INT, INT), INT, m.or_int, "6, 3", "7"),
        ("bitOr", (UINT, UINT), UINT, m.or_uint, "6u, 3u", "7u"),
        ("bitXor", (INT, INT), INT, m.xor_int, "6, 3", "5"),
        ("bitXor", (UINT, UINT), UINT, m.xor_uint, "6u, 3u", "5u"),
        ("bitNot", (INT,), INT, m.not_int, "1", "-2"),
        ("bitNot", (UINT,), UINT, m.not_uint, "1u", "18446744073709551614u"),
        ("bitShiftLeft", (INT, INT), INT, m.shift_left_int, "1, 2", "4"),
        ("bitShiftLeft", (UINT, INT), UINT, m.shift_left_uint, "1u, 2", "4u"),
        ("bitShiftRight", (INT, INT), INT, m.shift_right_int, "-1024, 64", "0"),
        ("bitShiftRight", (UINT, INT), UINT, m.shift_right_uint, "4u, 2", "1u"),
    ),
)

_VERSION_2 = _functions(
    {"sqrt": "The square root; NaN for negative numbers."},
    (
        ("sqrt", (DOUBLE,), DOUBLE, m.square_root, "2.25", "1.5"),
        ("sqrt", (INT,), DOUBLE, m.square_root, "81", "9.0"),
        ("sqrt", (UINT,), DOUBLE, m.square_root, "81u", "9.0"),
    ),
)


def library(version: int = LATEST) -> Library:
    functions = _VERSION_0
    if version >= 1:
        functions = functions + _VERSION_1
    if version >= 2:
        functions = functions + _VERSION_2
    return Library(f"math/{version}", functions=tuple(functions), macros=MATH_MACROS)
