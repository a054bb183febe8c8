"""Values that are numbers behind their texts: quantities, times, durations, addresses.

The solver does not know how their texts are read (the engine says it, example by example), but it
knows that they are compared as numbers: quantities are rationals, times and durations nanoseconds,
addresses integers, in which a block is an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

import z3

from celadon.cel import extend as cel
from celadon.cel import syntax
from celadon.kube.library import CIDR, IP, ParsedQuantity
from celadon.prove import logic
from celadon.prove.logic import Term, negated
from celadon.prove.values import Asked, Int, Known, Measure, Outcome, Truth, Value, certain


def _quantity(value: object) -> Term:
    assert isinstance(value, ParsedQuantity)
    exact = Fraction(value.amount.as_decimal())
    return z3.RealVal(f"{exact.numerator}/{exact.denominator}")


def _time(value: object) -> Term:
    assert isinstance(value, cel.Timestamp)
    return logic.integer(value.unix_nanoseconds)


def _duration(value: object) -> Term:
    assert isinstance(value, cel.Duration)
    return logic.integer(value.nanoseconds)


def _address(value: object) -> Term:
    assert isinstance(value, IP)
    return logic.integer(_number(value.addr.bits, value.addr.value))


def _number(bits: int, value: int) -> int:
    """An address of a family; those of the other lie behind them."""
    return value if bits == 32 else (1 << 32) + value


_QUANTITY: Final = Measure(z3.RealSort, _quantity)
_TIME: Final = Measure(z3.IntSort, _time)
_DURATION: Final = Measure(z3.IntSort, _duration)
_ADDRESS: Final = Measure(z3.IntSort, _address)

_OF: Final[Mapping[str, Measure]] = {
    "quantity": _QUANTITY,
    "timestamp": _TIME,
    "duration": _DURATION,
    "ip": _ADDRESS,
}
"""By the function that reads the text."""


def of_call(function: str) -> Measure | None:
    """The kind of what a function gives that reads a text. What others give is not measured: a
    quantity that was computed, say, is equal to nothing (as in Kubernetes)."""
    return _OF.get(function)


def _measure(value: Value) -> tuple[Measure, Term] | None:
    if isinstance(value, Asked) and value.kind is not None:
        return value.kind, value.measure
    kind = _BY_CLASS.get(type(value.value)) if isinstance(value, Known) else None
    return None if kind is None else (kind, kind.measured(value.value))  # type: ignore[union-attr]


_BY_CLASS: Final[Mapping[type, Measure]] = {
    ParsedQuantity: _QUANTITY,
    cel.Timestamp: _TIME,
    cel.Duration: _DURATION,
    IP: _ADDRESS,
}

_EQUALITY: Final[Mapping[str, Callable[[Term, Term], Term]]] = {
    syntax.EQUALS: logic.same,
    syntax.NOT_EQUALS: lambda a, b: negated(logic.same(a, b)),
}

_ORDER: Final[Mapping[str, Callable[[Term, Term], Term]]] = {
    **_EQUALITY,
    syntax.LESS: lambda a, b: a < b,
    syntax.LESS_EQUALS: lambda a, b: a <= b,
    syntax.GREATER: lambda a, b: b < a,
    syntax.GREATER_EQUALS: lambda a, b: b <= a,
}

_COMPARISONS: Final[Mapping[Measure, Mapping[str, Callable[[Term, Term], Term]]]] = {
    _QUANTITY: {
        **_EQUALITY,
        "isLessThan": lambda a, b: a < b,
        "isGreaterThan": lambda a, b: b < a,
        "compareTo": lambda a, b: z3.If(a < b, z3.IntVal(-1), z3.If(b < a, 1, z3.IntVal(0))),
    },
    _TIME: _ORDER,
    _DURATION: _ORDER,
    _ADDRESS: _EQUALITY,
}


def compared(function: str, values: list[Value]) -> Outcome | None:
    """What a function of two measured values gives; None if it is none of these."""
    if len(values) != 2:
        return None
    if function == "containsIP":
        return _contains(*values)
    a, b = map(_measure, values)
    if a is None or b is None or a[0] is not b[0]:
        return None
    compare = _COMPARISONS[a[0]].get(function)
    if compare is None:
        return None
    term = z3.simplify(compare(a[1], b[1]))
    return certain(Truth(term) if z3.is_bool(term) else Int(term))


def _contains(block: Value, address: Value) -> Outcome | None:
    """A block is an interval of addresses."""
    measure = _measure(address)
    cidr = block.value if isinstance(block, Known) else None
    if measure is None or measure[0] is not _ADDRESS or not isinstance(cidr, CIDR):
        return None
    bits = cidr.prefix.addr.bits
    free = bits - cidr.prefix.length
    first = _number(bits, cidr.prefix.addr.value >> free << free)
    return certain(Truth(z3.And(measure[1] >= first, measure[1] < first + (1 << free))))
