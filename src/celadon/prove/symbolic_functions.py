"""Operators and functions on values that are not known: what each gives, and where it fails.

Three ways, in this order: a function that has a meaning in the solver is written here (`MEANINGS`);
one whose arguments are all literal is called in the engine; any other is only known to the engine
(`celadon.prove.uninterpreted_functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import z3

from celadon.cel import extend as cel
from celadon.cel import syntax
from celadon.cel.value_functions import equal as cel_equal
from celadon.prove import solver_terms
from celadon.prove.solver_terms import (
    FALSE,
    TRUE,
    Formula,
    Term,
    both,
    either,
    folded,
    negated,
    same,
    truth,
)
from celadon.prove.symbolic_values import (
    FAILS,
    Case,
    Double,
    EngineCall,
    EngineValue,
    Entry,
    Fields,
    Int,
    Item,
    List,
    Map,
    Maybe,
    NotModelled,
    Null,
    Numeral,
    Outcome,
    Scalar,
    Text,
    Truth,
    Uint,
    Unshaped,
    Value,
    certain,
    count,
    is_false,
    outcome,
)

NOT_LITERAL: Final = object()


# --- Literals ----------------------------------------------------------------


def native(value: Value) -> object:
    """Return the engine's value of a literal; `NOT_LITERAL` for what is not known."""
    match value:
        case Null():
            return None
        case EngineValue():
            return value.value
        case Truth():
            return _literal(value.term, z3.is_true(value.term) or z3.is_false(value.term), bool)
        case Int():
            return _literal(value.term, z3.is_int_value(value.term), int)
        case Uint():
            return _literal(value.term, z3.is_int_value(value.term), cel.Uint)
        case Text():
            if z3.is_string_value(value.term):
                return solver_terms.text_of(value.term)
            return NOT_LITERAL
        case Double():
            return solver_terms.double_of(value.term) if z3.is_fp_value(value.term) else NOT_LITERAL
        case List():
            return _native_list(value)
        case Map():
            return _native_map(value)
        case Maybe():
            return _native_optional(value)
    return NOT_LITERAL


def _literal(term: Term, is_literal: bool, kind: type) -> object:  # noqa: FBT001
    if not is_literal:
        return NOT_LITERAL
    return z3.is_true(term) if kind is bool else kind(term.as_long())


def _sure(outcome: Outcome) -> object:
    if not z3.is_false(outcome.error) or len(outcome.cases) != 1:
        return NOT_LITERAL
    return native(outcome.cases[0].value)


def _native_list(value: List) -> object:
    result = []
    for item in value.items:
        element = _sure(item.value)
        if not z3.is_true(item.presence) or element is NOT_LITERAL:
            return NOT_LITERAL
        result.append(element)
    return result


def _native_optional(value: Maybe) -> object:
    if z3.is_false(value.presence):
        return cel.NONE
    inside = _sure(value.value) if z3.is_true(value.presence) else NOT_LITERAL
    return inside if inside is NOT_LITERAL else cel.Optional(inside)


def _native_map(value: Map) -> object:
    result = {}
    for entry in value.entries:
        key, element = native(entry.key), _sure(entry.value)
        if not z3.is_true(entry.presence) or key is NOT_LITERAL or element is NOT_LITERAL:
            return NOT_LITERAL
        result[key] = element
    return result


def literal(value: object) -> Value:
    """Return the symbolic form of a value of the engine."""
    match value:
        case None:
            return Null()
        case bool():
            return Truth(truth(value))
        case cel.Uint():
            return Uint(solver_terms.integer(int(value)))
        case int():
            return Int(solver_terms.integer(value))
        case float():
            return Double(z3.FPVal(value, z3.Float64()))
        case str():
            if any(ord(char) >= solver_terms.UNNAMED for char in value):
                raise NotModelled(solver_terms.BEYOND)
            return Text(solver_terms.text(value))
        case list() | tuple():
            return List(tuple(Item(TRUE, certain(literal(item))) for item in value))
        case Mapping():
            members = ((_scalar(key), certain(literal(member))) for key, member in value.items())
            return Map(tuple(Entry(TRUE, key, member) for key, member in members))
        case cel.Optional():
            return _optional_of(value)
    return EngineValue(value)


def _optional_of(value: cel.Optional) -> Value:
    if value is cel.NONE:
        return Maybe(FALSE, FAILS)
    return Maybe(TRUE, certain(literal(value.value)))


def _scalar(key: object) -> Scalar:
    scalar = literal(key)
    assert isinstance(scalar, Null | Truth | Int | Uint | Double | Text | EngineValue)
    return scalar


# --- Equality and order ------------------------------------------------------


def equal(a: Value, b: Value) -> Formula:
    """Return where `a == b`: values of different kinds differ, numbers of any kind are compared.
    Raises NotModelled."""
    for side in (a, b):
        if isinstance(side, Unshaped):
            raise NotModelled(f"{side.path}, which may be anything")
        if isinstance(side, EngineCall):
            raise NotModelled(f"what {side.function} gives")
    if isinstance(a, Int | Uint) and isinstance(b, Int | Uint):
        return same(a.term, b.term)
    if isinstance(a, Truth | Text) and isinstance(b, type(a)):
        return same(a.term, b.term)
    if isinstance(a, Int | Uint | Double) and isinstance(b, Int | Uint | Double):
        return _equal_numbers(a, b)
    if isinstance(a, Fields) or isinstance(b, Fields):
        return _equal_objects(a, b)
    match a, b:
        case Null(), Null():
            return TRUE
        case List(), List():
            return _equal_lists(a, b)
        case Map(), Map():
            return _equal_maps(a, b)
        case Maybe(), Maybe():
            inside = both(a.presence, b.presence, _equal_outcomes(a.value, b.value))
            return either((inside, both(negated(a.presence), negated(b.presence))))
        case EngineValue(), EngineValue() if not _refuses(a, b):
            return truth(cel_equal(a.value, b.value))
        case EngineValue(cel.Opaque()), _:
            raise NotModelled("a comparison that is an error inside of another")
    return FALSE


def _refuses(a: Value, b: Value) -> bool:
    """Return whether it is an error to ask if two values are equal: values of Kubernetes' types can
    be compared with their like, if they stand on the left."""
    return (
        isinstance(a, EngineValue)
        and isinstance(a.value, cel.Opaque)
        and not (isinstance(b, EngineValue) and type(b.value) is type(a.value))
    )


def _equality(values: list[Value], *, is_negated: bool = False) -> Outcome:
    if _refuses(*values):
        return FAILS
    result = equal(*values)
    return _bool(negated(result) if is_negated else result)


def _equal_numbers(a: Int | Uint | Double, b: Int | Uint | Double) -> Formula:
    """Return where two numbers are equal, at least one of which is a double."""
    match a, b:
        case Double(), Double():
            if a.whole is not None:
                return _is(b, a.whole)
            return z3.fpEQ(a.term, b.term) if b.whole is None else _is(a, b.whole)
        case Double(), Int() | Uint():
            return _is(a, _nearest(b))
        case Int() | Uint(), Double():
            return _is(b, _nearest(a))
    raise AssertionError("a double among two integers")


def _is(double: Double, number: Term) -> Formula:
    """Return where a double is an integer: infinities and NaN are none."""
    if double.whole is not None:
        return same(double.whole, number)
    finite = negated(z3.Or(z3.fpIsNaN(double.term), z3.fpIsInf(double.term)))
    return z3.And(finite, z3.fpToReal(double.term) == z3.ToReal(number))


def same_key(a: Value, b: Value) -> Formula:
    """Return where two keys of maps are the same: a double is looked for as the integer that it
    is. Raises NotModelled."""
    match a, b:
        case (Double() as double, (Int() | Uint()) as number) | (
            (Int() | Uint()) as number,
            Double() as double,
        ):
            return _is(double, number.term)
    return equal(a, b)


def _nearest(number: Int | Uint) -> Term:
    """Return the double that is nearest to an integer, of two the even one, as an integer again:
    cel-go compares integers with doubles as doubles (`common/types/compare.go`)."""
    constant = native(number)
    if constant is not NOT_LITERAL:
        return solver_terms.integer(int(float(constant)))  # type: ignore[arg-type]
    size = result = z3.If(number.term < 0, -number.term, number.term)
    for bits in range(1, 12):  # that do not fit into the 53 of a double
        unit = 1 << bits
        whole, rest = size / unit, size % unit
        up = z3.Or(rest > unit // 2, z3.And(rest == unit // 2, whole % 2 == 1))
        result = z3.If(size > 1 << (52 + bits), (whole + z3.If(up, 1, 0)) * unit, result)
    return z3.If(number.term < 0, -result, result)


def _equal_objects(a: Value, b: Value) -> Formula:
    if a is b:
        return TRUE
    if isinstance(a, Fields) and isinstance(b, Fields) and not (a.names is None or b.names is None):
        return both(*(_equal_fields(a, b, name) for name in dict.fromkeys((*a.names, *b.names))))
    if isinstance(a, Fields | Map) and isinstance(b, Fields | Map):
        raise NotModelled("whether two objects are equal")
    return FALSE


def _equal_fields(a: Fields, b: Fields, name: str) -> Formula:
    """Return where one field is the same in two objects, or in neither."""
    left, right = (fields.field(name) or (FALSE, FAILS) for fields in (a, b))
    inside = z3.Implies(both(left[0], right[0]), _equal_outcomes(left[1], right[1]))
    return both(left[0] == right[0], inside)


def _equal_outcomes(a: Outcome, b: Outcome) -> Formula:
    """Neither of them is an error where this is asked."""
    return either(
        both(case.guard, other.guard, equal(case.value, other.value))
        for case in a.cases
        for other in b.cases
    )


def _equal_lists(a: List, b: List) -> Formula:
    for item in (a, b):
        count(item)
    if a.unordered != b.unordered:
        raise NotModelled("whether a set is equal to a list")
    # Items of a set differ from each other: with equally many on both sides it is enough that each
    # item of the one is in the other.
    if a.unordered:
        items = (z3.Implies(element.presence, _has_item(b, element)) for element in a.items)
        return both(same(size_of(a), size_of(b)), *items)
    # Which item stands at a place depends on which before it are there, so any two may face each
    # other.
    pairs = [
        z3.Implies(
            both(element.presence, other.presence, same(place(a, i), place(b, j))),
            _equal_outcomes(element.value, other.value),
        )
        for i, element in enumerate(a.items)
        for j, other in enumerate(b.items)
    ]
    return both(same(size_of(a), size_of(b)), *pairs)


def _has_item(value: List, sought: Item) -> Formula:
    return either(
        both(item.presence, _equal_outcomes(item.value, sought.value)) for item in value.items
    )


def place(value: List, index: int) -> Term:
    """Return before which of the items that are there an item stands."""
    return solver_terms.total(item.presence for item in value.items[:index])


def _equal_maps(a: Map, b: Map) -> Formula:
    inside = [
        z3.Implies(
            entry.presence,
            either(
                both(
                    other.presence,
                    same_key(entry.key, other.key),
                    _equal_outcomes(entry.value, other.value),
                )
                for other in b.entries
            ),
        )
        for entry in a.entries
    ]
    return both(same(size_of(a), size_of(b)), *inside)


def size_of(value: List | Map) -> Term:
    """Return how many items there are; the exact number matters."""
    count(value)
    return number_of(value)


def number_of(value: List | Map) -> Term:
    """Return how many items there are."""
    parts: Sequence[Item | Entry] = value.items if isinstance(value, List) else value.entries
    return solver_terms.total(part.presence for part in parts)


_ORDERS: Final[Mapping[str, Callable[[Term, Term], Formula]]] = {
    syntax.LESS: lambda a, b: a < b,
    syntax.LESS_EQUALS: lambda a, b: a <= b,
    syntax.GREATER: lambda a, b: b < a,
    syntax.GREATER_EQUALS: lambda a, b: b <= a,
}


def _ordered(function: str) -> Callable[[list[Value]], Outcome | None]:
    order = _ORDERS[function]

    def compare(values: list[Value]) -> Outcome | None:
        match values:
            case [(Int() | Uint()) as a, (Int() | Uint()) as b] | [Text() as a, Text() as b]:
                return _bool(folded(order(a.term, b.term)))
            case [(Int() | Uint() | Double()) as a, (Int() | Uint() | Double()) as b]:
                return _ordered_with_double(order, a, b)
            case [Truth() as a, Truth() as b]:
                return _bool(order(_number(a), _number(b)))
        return _unless_literal(values)

    return compare


def _ordered_with_double(
    order: Callable[[Term, Term], Formula], a: Double | Int | Uint, b: Double | Int | Uint
) -> Outcome:
    """Compare numbers as doubles, at least one of which is one: NaN has no order, which is an
    error."""
    doubles = [item.term for item in (a, b) if isinstance(item, Double) and item.whole is None]
    has_no_order = either(folded(z3.fpIsNaN(double)) for double in doubles)
    result = order(*doubles) if len(doubles) > 1 else order(_real(a), _real(b))
    has_order = negated(has_no_order)
    return Outcome(has_no_order, (Case(has_order, Truth(folded(result))),))


def _real(value: Double | Int | Uint) -> Term:
    if not isinstance(value, Double):
        return z3.ToReal(_nearest(value))
    if value.whole is not None:
        return z3.ToReal(value.whole)
    # All finite doubles are below 2**1024; the solver's reals have no infinity.
    beyond = solver_terms.integer(1 << 1024)
    infinite = z3.If(z3.fpIsNegative(value.term), -beyond, beyond)
    return z3.If(z3.fpIsInf(value.term), z3.ToReal(infinite), z3.fpToReal(value.term))


def _number(value: Truth) -> Term:
    return solver_terms.chosen(value.term, solver_terms.integer(1), solver_terms.integer(0))


def _bool(formula: Formula) -> Outcome:
    return certain(Truth(formula))


def _unless_literal(values: Sequence[Value]) -> Outcome | None:
    """Return None (ask the engine) where all is known or may have a meaning there; else no
    overload: doubles are computed with doubles only."""
    doubles = sum(isinstance(value, Double) for value in values)
    if 0 < doubles < len(values):
        return FAILS
    if all(isinstance(value, EngineValue | Double) or _is_literal(value) for value in values):
        return None
    return FAILS


def _is_literal(value: Value) -> bool:
    return native(value) is not NOT_LITERAL


# --- Arithmetic --------------------------------------------------------------


def _bounded(kind: type[Int] | type[Uint], term: Term) -> Outcome:
    """Return an error where a term leaves the 64 bits."""
    # The solver's integers have no end, so the 64 bits are a condition beside the value.
    low, high = (
        (solver_terms.INT_MIN, solver_terms.INT_MAX) if kind is Int else (0, solver_terms.UINT_MAX)
    )
    term = folded(term)
    fits = both(folded(term >= low), folded(term <= high))
    return Outcome(negated(fits), (Case(fits, kind(term)),))


def _arithmetic(operate: Callable[[Term, Term], Term]) -> Callable[[list[Value]], Outcome | None]:
    def calculate(values: list[Value]) -> Outcome | None:
        match values:
            case [Int() as a, Int() as b]:
                return _bounded(Int, operate(a.term, b.term))
            case [Uint() as a, Uint() as b]:
                return _bounded(Uint, operate(a.term, b.term))
        return _unless_literal(values)

    return calculate


def _added(values: list[Value]) -> Outcome | None:
    match values:
        case [Text() as a, Text() as b]:
            return certain(Text(folded(z3.Concat(a.term, b.term))))
        case [List(unordered=True), List()]:
            raise NotModelled("the union of sets")
        case [List() as a, List() as b]:
            return certain(List((*a.items, *b.items), a.sources | b.sources))
    return _arithmetic(lambda a, b: a + b)(values)


def _divided(values: list[Value], *, rest: bool) -> Outcome | None:
    """Divide towards zero; the rest has the sign of the dividend. By zero is an error."""
    match values:
        case [(Int() | Uint()) as a, (Int() | Uint()) as b] if type(a) is type(b):
            # The solver divides so that the rest is never negative, Go towards zero: so the
            # magnitudes are divided and the sign is set afterwards.
            magnitude = z3.If(a.term < 0, -a.term, a.term), z3.If(b.term < 0, -b.term, b.term)
            quotient = z3.If(
                (a.term < 0) == (b.term < 0),
                magnitude[0] / magnitude[1],
                -(magnitude[0] / magnitude[1]),
            )
            fails = same(b.term, solver_terms.integer(0))
            # Where the quotient leaves the 64 bits, Go has no rest either.
            bounded = _bounded(type(a), quotient)
            if rest:
                term = folded(a.term - quotient * b.term)
                bounded = Outcome(bounded.error, (Case(bounded.cases[0].guard, type(a)(term)),))
            works = negated(fails)
            cases = tuple(Case(both(works, case.guard), case.value) for case in bounded.cases)
            return Outcome(either((fails, bounded.error)), cases)
        case [Double(), Double()] if rest:
            return FAILS
    return _unless_literal(values)


def _negative(values: list[Value]) -> Outcome | None:
    match values:
        case [Int() as a]:
            return _bounded(Int, -a.term)
    return _unless_literal(values)


def _not(values: list[Value]) -> Outcome | None:
    return _bool(negated(values[0].term)) if isinstance(values[0], Truth) else FAILS


# --- Containers and strings --------------------------------------------------


def _size(values: list[Value]) -> Outcome | None:
    match values:
        case [Text() as text]:
            return certain(Int(folded(z3.Length(text.term))))
        case [(List() | Map()) as container]:
            return certain(Int(size_of(container)))
        case [Fields()]:
            raise NotModelled("how many fields an object has")
    return _unless_literal(values)


def _in(values: list[Value]) -> Outcome | None:
    element, container = values
    match container:
        case List():
            return _bool(
                either(
                    both(item.presence, case.guard, equal(element, case.value))
                    for item in container.items
                    for case in item.value.cases
                )
            )
        case Map():
            keys = (
                both(entry.presence, same_key(element, entry.key)) for entry in container.entries
            )
            return _bool(either(keys))
        case Fields():
            name = native(element)
            if not isinstance(name, str):
                fields = container.as_map()
                if fields is None:
                    raise NotModelled("whether an object has a field whose name is not known")
                return _in([element, fields])
            field = container.field(name)
            return _bool(FALSE if field is None else field[0])
    return FAILS


def _text_pair(meaning: Callable[[Term, Term], Formula]) -> Callable[[list[Value]], Outcome | None]:
    def ask(values: list[Value]) -> Outcome | None:
        match values:
            case [Text() as text, Text() as other]:
                return _bool(folded(meaning(text.term, other.term)))
        return _unless_literal(values)

    return ask


def _matches(values: list[Value]) -> Outcome | None:
    from celadon.prove.regular_languages import contained  # late: the parser of patterns is large

    match values:
        case [Text() as text, Text() as pattern]:
            constant = native(pattern)
            if not isinstance(constant, str) or _is_literal(text):
                return None
            language = contained(constant)
            return FAILS if language is None else _bool(z3.InRe(text.term, language))
    return FAILS


def _optional(values: list[Value]) -> Outcome | None:
    return certain(Maybe(TRUE, certain(values[0])))


def _none(values: list[Value]) -> Outcome | None:
    assert not values
    return certain(Maybe(FALSE, FAILS))


def _has_value(values: list[Value]) -> Outcome | None:
    return _bool(values[0].presence) if isinstance(values[0], Maybe) else FAILS


def _value(values: list[Value]) -> Outcome | None:
    match values:
        case [Maybe() as optional]:
            inside = optional.value
            cases = [Case(both(optional.presence, case.guard), case.value) for case in inside.cases]
            return outcome(cases, either((negated(optional.presence), inside.error)))
    return FAILS


def _unwrapped(values: list[Value]) -> Outcome | None:
    """Return the values that are there of a list of optionals."""
    match values:
        case [List() as optionals]:
            items: list[Item] = []
            errors: list[Formula] = []
            for item in optionals.items:
                maybe = [(c.guard, c.value) for c in item.value.cases if isinstance(c.value, Maybe)]
                errors.append(both(item.presence, negated(either(guard for guard, _ in maybe))))
                items += (
                    Item(both(item.presence, guard, maybe.presence), maybe.value)
                    for guard, maybe in maybe
                )
            error = either(errors)
            return outcome([Case(negated(error), List(tuple(items), optionals.sources))], error)
    return FAILS


def _same_value(values: list[Value]) -> Outcome | None:
    """Evaluate `dyn(x)`."""
    return certain(values[0])


# --- Conversions -------------------------------------------------------------

_DIGITS: Final = z3.Plus(z3.Range("0", "9"))


def _to_int(values: list[Value], kind: type[Int] | type[Uint] = Int) -> Outcome | None:
    """Read a number as Go's `strconv.ParseInt` does in base 10: digits behind at most one sign; an
    unsigned number has no sign."""
    match values:
        case [Text() as text] if not _is_literal(text):
            first = z3.SubString(text.term, 0, 1)
            negative = same(first, solver_terms.text("-"))
            signed = either((negative, same(first, solver_terms.text("+"))))
            rest = z3.SubString(text.term, 1, z3.Length(text.term) - 1)
            has_sign = FALSE if kind is Uint else signed
            digits = solver_terms.chosen(has_sign, rest, text.term)
            number = z3.StrToInt(digits)
            bounded = _bounded(kind, solver_terms.chosen(both(has_sign, negative), -number, number))
            fits = z3.InRe(digits, _DIGITS)
            cases = [Case(both(fits, case.guard), case.value) for case in bounded.cases]
            return outcome(cases, either((negated(fits), bounded.error)))
        case [(Int() | Uint()) as number]:
            return _bounded(kind, number.term)
        case [Double(whole=whole)] if whole is not None:
            return _bounded(kind, whole)
    return None


def _to_text(values: list[Value]) -> Outcome | None:
    match values:
        case [Text()]:
            return certain(values[0])
        case [(Int() | Uint()) as number] if not _is_literal(number):
            digits = z3.IntToStr(z3.If(number.term < 0, -number.term, number.term))
            text = z3.If(number.term < 0, z3.Concat("-", digits), digits)
            return certain(Text(text, Numeral(TRUE, number.term)))
        case [Truth() as truth_value]:
            return certain(
                Text(
                    solver_terms.chosen(
                        truth_value.term, solver_terms.text("true"), solver_terms.text("false")
                    )
                )
            )
    return None


# --- Parts of strings --------------------------------------------------------


def _at(values: list[Value]) -> Outcome | None:
    """`text.charAt(i)`: empty at the very end, an error behind it."""
    match values:
        case [Text() as text, Int() as place]:
            end = z3.Length(text.term)
            inside = both(folded(place.term >= 0), folded(place.term <= end))
            char = Text(folded(z3.SubString(text.term, place.term, 1)))
            return Outcome(negated(inside), (Case(inside, char),))
    return None


def _part(values: list[Value]) -> Outcome | None:
    """Evaluate `text.substring(start)` or `text.substring(start, end)`."""
    match values:
        case [Text() as text, Int() as start, *rest]:
            length = folded(z3.Length(text.term))
            if rest and not isinstance(rest[0], Int):
                return None
            end = rest[0].term if rest and isinstance(rest[0], Int) else length
            inside = both(*map(folded, (start.term >= 0, start.term <= end, end <= length)))
            part = Text(folded(z3.SubString(text.term, start.term, end - start.term)))
            return Outcome(negated(inside), (Case(inside, part),))
    return None


def _place_of(values: list[Value]) -> Outcome | None:
    """Evaluate `text.indexOf(part)`: -1 where there is none."""
    match values:
        case [Text() as text, Text() as part]:
            return certain(Int(folded(z3.IndexOf(text.term, part.term, 0))))
    return None


# --- Texts that are plain ----------------------------------------------------
#
# Functions of texts that only the engine knows leave most texts as they are, or do something simple
# with them. Told so, the solver finds examples and proofs that it would never guess its way to.


def _range_of(pattern: str) -> z3.ReRef:
    from celadon.prove.regular_languages import contained  # late: the parser of patterns is large

    language = contained(f"(?s)^{pattern}$")
    assert language is not None
    return language


_UNCHANGED: Final[Mapping[str, str]] = {
    "lowerAscii": "[^A-Z]*",
    "upperAscii": "[^a-z]*",
    "trim": "([!-~]([ -~]*[!-~])?)?",
}
"""Texts that a function gives back as they are."""

_PLAIN_PATTERN: Final = "[A-Za-z0-9 /:@,=_-]*"
"""Patterns that stand for themselves."""


def plain_meaning(function: str, values: Sequence[Value]) -> tuple[Formula, Value] | None:
    """Return where a function of texts is simple, and what it gives there."""
    match values:
        case [Text() as text] if function in _UNCHANGED:
            return z3.InRe(text.term, _range_of(_UNCHANGED[function])), text
        case [Text() as text, Text() as part, Text()] if function == "replace":
            return negated(z3.Contains(text.term, part.term)), text
        case [Text() as text, Text() as pattern] if function == "matches":
            contains = Truth(z3.Contains(text.term, pattern.term))
            return z3.InRe(pattern.term, _range_of(_PLAIN_PATTERN)), contains
    return None


Meaning = Callable[[list[Value]], Outcome | None]
"""What a function gives; None if it has no meaning for these kinds of values."""

MEANINGS: Final[Mapping[str, Meaning]] = {
    syntax.EQUALS: _equality,
    syntax.NOT_EQUALS: lambda values: _equality(values, is_negated=True),
    **{name: _ordered(name) for name in _ORDERS},
    syntax.ADD: _added,
    syntax.SUBTRACT: _arithmetic(lambda a, b: a - b),
    syntax.MULTIPLY: _arithmetic(lambda a, b: a * b),
    syntax.DIVIDE: lambda values: _divided(values, rest=False),
    syntax.MODULO: lambda values: _divided(values, rest=True),
    syntax.NEGATE: _negative,
    syntax.LOGICAL_NOT: _not,
    syntax.IN: _in,
    "size": _size,
    "startsWith": _text_pair(lambda text, start: z3.PrefixOf(start, text)),
    "endsWith": _text_pair(lambda text, end: z3.SuffixOf(end, text)),
    "contains": _text_pair(z3.Contains),
    "matches": _matches,
    "charAt": _at,
    "substring": _part,
    "indexOf": _place_of,
    "int": _to_int,
    "uint": lambda values: _to_int(values, Uint),
    "string": _to_text,
    "dyn": _same_value,
    "optional.of": _optional,
    "optional.none": _none,
    "hasValue": _has_value,
    "value": _value,
    "optional.unwrap": _unwrapped,
    "unwrapOpt": _unwrapped,
}


def not_strictly_false(outcome: Outcome) -> Outcome:
    """Return what the macros ask before they go on."""
    return _bool(negated(both(is_false(outcome), negated(outcome.error))))
