"""The values that an expression can come to when its inputs are not known: guarded alternatives.

An `Outcome` says under which condition evaluation fails, and under which other conditions it gives
which value. The guards of one outcome exclude each other, and one of them, or the error, always
holds. Scalars of one kind are one term (`if` inside the solver); lists and maps stay apart.

A list has a fixed number of items, each of which is there only where its guard holds: the list is
what is left of them, in their order. So `filter` gives an item a stronger guard, `map` changes the
items and `+` puts two lists together, and none of them asks how long a list is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

import z3

from celadon.cel import extend as cel
from celadon.cel import syntax
from celadon.kube import Json
from celadon.kube.library import CIDR, IP, ParsedQuantity
from celadon.prove import solver_terms
from celadon.prove.solver_terms import (
    FALSE,
    TRUE,
    Formula,
    Term,
    both,
    chosen,
    either,
    folded,
    negated,
    text,
)


class NotModelled(Exception):
    """An expression does what is beyond what is proved about; the text says what it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Null:
    """Stands for `null`."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """A bool."""

    term: Formula


@dataclass(frozen=True, slots=True, eq=False)
class Int:
    """A signed integer; who makes one says where it leaves the 64 bits."""

    term: Term


@dataclass(frozen=True, slots=True, eq=False)
class Uint:
    """An unsigned integer."""

    term: Term


@dataclass(frozen=True, slots=True, eq=False)
class Double:
    """An IEEE double. `whole` is the integer that it is, if it is known to be one."""

    term: Term
    whole: Term | None = None


class Numeral(NamedTuple):
    """Says where a text is an integer in digits, and which."""

    guard: Formula
    value: Term


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string, as a sequence of code points; it may be known to be a numeral."""

    term: Term
    numeral: Numeral | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EngineValue:
    """A value of the engine that has no symbolic form: bytes, a type, a timestamp, a quantity."""

    value: object


class Measure(NamedTuple):
    """The numbers behind the texts of values: their sort, and the number of a value of the
    engine."""

    sort: Callable[[], z3.SortRef]
    measured: Callable[[object], Term]


@dataclass(frozen=True, slots=True, eq=False)
class EngineCall:
    """The result of a function that only the engine knows, for arguments that are not known.
    `measure` is the number that it is compared by, if there is a `kind` of those."""

    function: str
    arguments: tuple[Value, ...]
    member: bool
    kind: Measure | None = None
    measure: Term | None = None


class Item(NamedTuple):
    """One element of a list, where `there` holds."""

    presence: Formula
    value: Outcome


@dataclass(frozen=True, slots=True, eq=False)
class List:
    """The items whose guards hold. `sources` are the inputs that they were read from. An input is
    `unordered` if it is a set, or a list whose items have keys: none of its items is there twice,
    and their order does not count."""

    items: tuple[Item, ...]
    sources: frozenset[Cut] = frozenset()
    unordered: bool = False


class Entry(NamedTuple):
    """One entry of a map, where `there` holds."""

    presence: Formula
    key: Scalar
    value: Outcome


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """Entries whose keys differ from each other where both are there."""

    entries: tuple[Entry, ...]
    sources: frozenset[Cut] = frozenset()


@dataclass(slots=True, eq=False)
class Cut:
    """An input list or map that has no more than so many items here, and may have more in truth.

    What looks at one item at a time asks for witnesses: an item that is as it says, or is not. If a
    list has so many items that each such question can have one of its own (`witnesses`), longer
    lists have nothing new. `is_counted` once an expression asks for the size, for a place, or for
    items of one list for each of another: then the number of items is a bound of what was proved.
    """

    path: str
    loops: int = 0
    keys: dict[int, Value] = field(default_factory=dict)
    """Those that are asked for, by the numbers of their terms. What has a number keeps it as long
    as it is here."""
    most: int = 0
    """What one of several alternatives asks for, of which only one has to hold."""
    is_counted: bool = False
    is_assumed: bool = False
    """Whether the solver was told that there are no more, which is a bound of all that it says of
    what these come from."""

    @property
    def witnesses(self) -> int:
        """Return the items that the questions can ask for."""
        return self.loops + self.most + len(self.keys)


@dataclass(slots=True, eq=False)
class Fields:
    """An object whose fields are made when they are asked for. `make` gives the presence and the
    value of a field, or None for a field that no such object has."""

    path: str
    make: Callable[[str], tuple[Formula, Outcome] | None]
    least: Mapping[str, Json] = field(default_factory=dict)
    """What the schema requires, for who writes such an object down."""
    members: dict[str, tuple[Formula, Outcome]] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    """All fields that such an object may have; None if they are unknown, or too many to compare."""
    every: tuple[str, ...] | None = None
    """The same, however many there are."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Fields whose names are no identifiers, by the names that expressions have for them."""

    def field(self, name: str) -> tuple[Formula, Outcome] | None:
        """Return the same field each time."""
        name = self.renamed.get(name, name)
        if name not in self.members:
            new = self.make(name)
            if new is None:
                return None
            self.members[name] = new
        return self.members[name]

    def as_map(self) -> Map | None:
        """Return the same with all its fields made; None if they are unknown."""
        if self.every is None:
            return None
        every = ((name, self.field(name)) for name in self.every)
        return Map(
            tuple(
                Entry(item[0], Text(text(name)), item[1])
                for name, item in every
                if item is not None
            )
        )

    def made_field(self, name: str) -> tuple[Formula, Outcome]:
        """Return a field that every such object may have."""
        member = self.field(name)
        assert member is not None
        return member


@dataclass(frozen=True, slots=True, eq=False)
class Unshaped:
    """An input that may be anything: its schema does not say what it is. `sample` is what an
    example has there."""

    path: str
    sample: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """Stands for `optional(...)`: the value is there where `there` holds."""

    presence: Formula
    value: Outcome


@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """The object `variables`: each is evaluated when it is asked for."""

    get: Callable[[str], Outcome]


Scalar: TypeAlias = Null | Truth | Int | Uint | Double | Text | EngineValue
Value: TypeAlias = Scalar | EngineCall | List | Map | Fields | Maybe | Variables | Unshaped


class Case(NamedTuple):
    """A value, where the guard holds."""

    guard: Formula
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Fails where `error` holds, else is the value of the one case whose guard holds."""

    error: Formula
    cases: tuple[Case, ...]


FAILS = Outcome(TRUE, ())
MERGED = (Truth, Int, Uint, Double, Text)


def certain(value: Value) -> Outcome:
    """Return the outcome that is always this value."""
    return Outcome(FALSE, (Case(TRUE, value),))


def outcome(cases: Iterable[Case], error: Formula = FALSE) -> Outcome:
    """Return the cases, with scalars of one kind made one."""
    merged: dict[type, Case] = {}
    others: list[Case] = []
    for case in cases:
        # What can never be is left out at once: alternatives multiply with each argument of a call.
        if case.guard.eq(FALSE):
            continue
        kind = type(case.value)
        before = merged.get(kind)
        if isinstance(case.value, Null) and before is not None:
            merged[kind] = Case(either((before.guard, case.guard)), case.value)
        elif isinstance(case.value, MERGED) and before is not None:
            assert isinstance(before.value, MERGED)
            # One term with an `if` inside in place of two alternatives keeps their number small.
            # Guards exclude each other, so the order does not matter.
            term = chosen(before.guard, before.value.term, case.value.term)
            value = type(case.value)(term)
            if isinstance(value, Double):
                value = _with_whole(value, before, case)
            elif isinstance(value, Text):
                value = _with_numeral(value, before, case)
            merged[kind] = Case(either((before.guard, case.guard)), value)
        elif isinstance(case.value, Null | Truth | Int | Uint | Double | Text):
            merged[kind] = case
        else:
            others.append(case)
    return Outcome(error, (*merged.values(), *_joined(others)))


def _with_whole(merged: Double, left: Case, right: Case) -> Double:
    """Return what two doubles become, with the integer that it is if both are one."""
    assert isinstance(left.value, Double)
    assert isinstance(right.value, Double)
    a, b = left.value.whole, right.value.whole
    if a is None or b is None:
        return merged
    return Double(merged.term, chosen(left.guard, a, b))


def _with_numeral(merged: Text, *cases: Case) -> Text:
    """Return what two texts become, with what is known of either as a numeral."""
    numerals = [
        Numeral(both(case.guard, case.value.numeral.guard), case.value.numeral.value)
        for case in cases
        if isinstance(case.value, Text) and case.value.numeral is not None
    ]
    if not numerals:
        return merged
    value = numerals[0].value
    for numeral in numerals[1:]:
        value = chosen(numeral.guard, numeral.value, value)
    return Text(merged.term, Numeral(either(numeral.guard for numeral in numerals), value))


def _joined(cases: Iterable[Case]) -> list[Case]:
    """Cases of the very same value are one; so are lists that begin alike: what follows is there
    under the guard of its case."""
    # Alternatives multiply: `a + (b ? c : [])` in a row would double them each time.
    result: list[Case] = []
    for case in cases:
        for number, other in enumerate(result):
            joined = _as_one(other, case)
            if joined is not None:
                result[number] = joined
                break
        else:
            result.append(case)
    return result


def _as_one(a: Case, b: Case) -> Case | None:
    guard = either((a.guard, b.guard))
    if a.value is b.value:
        return Case(guard, a.value)
    if not (isinstance(a.value, List) and isinstance(b.value, List)):
        return None
    if a.value.unordered or b.value.unordered:
        return None
    # Both are the same list with something added, as branches of a conditional often are.
    shared = 0
    for element, other in zip(a.value.items, b.value.items, strict=False):
        if element is not other:
            break
        shared += 1
    if shared < min(len(a.value.items), len(b.value.items)):
        return None
    rest = [
        Item(both(case.guard, item.presence), item.value)
        for case in (a, b)
        for item in case.value.items[shared:]  # type: ignore[union-attr]
    ]
    return Case(guard, List((*a.value.items[:shared], *rest), a.value.sources | b.value.sources))


def selected(condition: Formula, consequent: Outcome, otherwise: Outcome) -> Outcome:
    """Return one of two outcomes, by a condition."""
    if condition.eq(TRUE):
        return consequent
    if condition.eq(FALSE):
        return otherwise
    other = negated(condition)
    cases = [
        *(Case(both(condition, case.guard), case.value) for case in consequent.cases),
        *(Case(both(other, case.guard), case.value) for case in otherwise.cases),
    ]
    error = either((both(condition, consequent.error), both(other, otherwise.error)))
    return outcome(cases, error)


def mapped(argument: Outcome, function: Callable[[Value], Outcome]) -> Outcome:
    """Return what a function gives for each alternative; it fails where the argument does."""
    return combined([argument], lambda values: function(values[0]))


def combined(
    arguments: Iterable[Outcome],
    function: Callable[[list[Value]], Outcome],
    *,
    takes_asked: bool = False,
) -> Outcome:
    """Return what a strict function gives for each combination of alternatives. Raises NotModelled
    for what may be anything, and for what only the engine knows unless the function takes that."""
    errors: list[Formula] = []
    ways: list[tuple[Formula, list[Value]]] = [(TRUE, [])]
    for argument in arguments:
        errors.append(argument.error)
        ways = [
            (both(guard, case.guard), [*values, case.value])
            for guard, values in ways
            for case in argument.cases
        ]
    cases: list[Case] = []
    for guard, values in ways:
        if guard.eq(FALSE):
            continue
        for value in values:
            if isinstance(value, Unshaped):
                raise NotModelled(f"{value.path}, which may be anything")
            if isinstance(value, EngineCall) and not takes_asked:
                raise NotModelled(f"what {value.function} gives")
        result = function(values)
        errors.append(both(guard, result.error))
        cases += (Case(both(guard, case.guard), case.value) for case in result.cases)
    return outcome(cases, either(errors))


def is_true(outcome: Outcome) -> Formula:
    """Return where an outcome is the bool true."""
    return either(both(guard, term) for guard, term in _truths(outcome))


def is_false(outcome: Outcome) -> Formula:
    """Return where an outcome is the bool false."""
    return either(both(guard, negated(term)) for guard, term in _truths(outcome))


def _truths(outcome: Outcome) -> Iterator[tuple[Formula, Formula]]:
    for case in outcome.cases:
        if isinstance(case.value, Unshaped):
            raise NotModelled(f"{case.value.path}, which may be anything")
        if isinstance(case.value, EngineCall):
            raise NotModelled(f"what {case.value.function} gives")
        if isinstance(case.value, Truth):
            yield case.guard, case.value.term


def count(value: List | Map) -> None:
    """Note that an expression asks how many items there are, or which is where."""
    for source in value.sources:
        source.is_counted = True


# --- Numbers behind texts ----------------------------------------------------
#
# Values that are numbers behind their texts: quantities, times, durations, addresses.
#
# The solver does not know how their texts are read (the engine says it, example by example), but it
# knows that they are compared as numbers: quantities are rationals, times and durations
# nanoseconds, addresses integers, in which a block is an interval.


def _quantity(value: object) -> Term:
    assert isinstance(value, ParsedQuantity)
    exact = Fraction(value.amount.as_decimal())
    return z3.RealVal(f"{exact.numerator}/{exact.denominator}")


def _time(value: object) -> Term:
    assert isinstance(value, cel.Timestamp)
    return solver_terms.integer(value.unix_nanoseconds)


def _duration(value: object) -> Term:
    assert isinstance(value, cel.Duration)
    return solver_terms.integer(value.nanoseconds)


def _address(value: object) -> Term:
    assert isinstance(value, IP)
    return solver_terms.integer(_number(value.addr.bits, value.addr.value))


def _number(bits: int, value: int) -> int:
    """Return the number of an address of a family; those of the other lie behind them."""
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


def measure_read_by(function: str) -> Measure | None:
    """Return the kind of what a function gives that reads a text. What others give is not measured:
    a quantity that was computed, say, is equal to nothing (as in Kubernetes)."""
    return _OF.get(function)


def _measure(value: Value) -> tuple[Measure, Term] | None:
    if isinstance(value, EngineCall) and value.kind is not None:
        return value.kind, value.measure
    kind = _BY_CLASS.get(type(value.value)) if isinstance(value, EngineValue) else None
    return None if kind is None else (kind, kind.measured(value.value))  # type: ignore[union-attr]


_BY_CLASS: Final[Mapping[type, Measure]] = {
    ParsedQuantity: _QUANTITY,
    cel.Timestamp: _TIME,
    cel.Duration: _DURATION,
    IP: _ADDRESS,
}

_EQUALITY: Final[Mapping[str, Callable[[Term, Term], Term]]] = {
    syntax.EQUALS: solver_terms.same,
    syntax.NOT_EQUALS: lambda a, b: negated(solver_terms.same(a, b)),
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
    """Return what a function of two measured values gives; None if it is none of these."""
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
    term = folded(compare(a[1], b[1]))
    return certain(Truth(term) if z3.is_bool(term) else Int(term))


def _contains(block: Value, address: Value) -> Outcome | None:
    """Return whether a block, which is an interval, has an address in it."""
    measure = _measure(address)
    cidr = block.value if isinstance(block, EngineValue) else None
    if measure is None or measure[0] is not _ADDRESS or not isinstance(cidr, CIDR):
        return None
    bits = cidr.prefix.addr.bits
    free = bits - cidr.prefix.length
    first = _number(bits, cidr.prefix.addr.value >> free << free)
    return certain(Truth(z3.And(measure[1] >= first, measure[1] < first + (1 << free))))
