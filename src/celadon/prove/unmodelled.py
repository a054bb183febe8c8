"""Functions that only the engine knows: what the solver is told of them.

A call whose arguments are known is a call of the engine. Of any other the solver knows that equal
arguments give equal results. Once it has an example, the engine is asked about the arguments in
it, and where the example had it otherwise the solver is told (a lesson) and looks again.

What such a function gives may be no scalar (a quantity, an address, a list). Then it stays a call
(`Asked`), and what is asked of it is a call with that call inside. Quantities, times, durations and
addresses have a measure besides, by which they are compared (`celadon.prove.measures`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import z3

from celadon.cel import Environment, EvaluationError, Program, syntax, types
from celadon.cel import extend as cel
from celadon.prove import logic, measures
from celadon.prove.functions import NOT_LITERAL, literal, native
from celadon.prove.logic import FALSE, TRUE, Formula, Term, both, either, negated, same
from celadon.prove.patterns import contained
from celadon.prove.values import (
    FAILS,
    Asked,
    Case,
    Double,
    Fields,
    Int,
    Known,
    List,
    Map,
    Maybe,
    NotModelled,
    Null,
    Outcome,
    Text,
    Truth,
    Uint,
    Value,
    certain,
    count,
)


class Call(NamedTuple):
    """One call: what the solver has for its result, its measure, and where it fails."""

    name: str
    asked: Asked
    leaves: tuple[Term, ...]
    failing: Formula
    """The function without a meaning that says where it fails."""
    fails: Formula
    """Where it fails for all that is known."""
    result: Truth | Int | Uint | Double | Text | None
    type: types.Type


_SORTS: Final[
    Mapping[types.Kind, tuple[type[Truth | Int | Uint | Double | Text], Callable[[], z3.SortRef]]]
] = {
    types.Kind.BOOL: (Truth, z3.BoolSort),
    types.Kind.INT: (Int, z3.IntSort),
    types.Kind.UINT: (Uint, z3.IntSort),
    types.Kind.DOUBLE: (Double, z3.Float64),
    types.Kind.STRING: (Text, z3.StringSort),
}

_SAMPLES: Final[Mapping[str, Sequence[str]]] = {
    "quantity": ("", "1", "0", "100m", "1Gi", "-1", "1e3", "100E"),
    "ip": ("", "10.0.0.1", "192.168.0.1", "127.0.0.1", "::1", "2001:db8::1"),
    "cidr": ("", "10.0.0.0/8", "192.168.0.0/16", "0.0.0.0/0", "::/0"),
    "url": ("", "https://example.com/", "http://example.com:80/a?b=c", "/"),
    "semver": ("", "0.0.1", "1.0.0", "1.2.3-rc.1", "99.0.0"),
    "timestamp": ("", "1970-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    "duration": ("", "0s", "1s", "1h", "-1h", "1000h"),
    "lowerAscii": ("", "A", "a"),
    "upperAscii": ("", "A", "a"),
}
"""Texts of which the engine says at once what these make of them: right ones, and one that is
not."""

_LANGUAGES: Final[Mapping[str, str]] = {
    "quantity": r"^[+-]?[0-9.]*([numkKMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$",
    "ip": r"^[0-9A-Fa-f:.]+$",
    "cidr": r"^[0-9A-Fa-f:.]+/[0-9]+$",
    "semver": r"(?s)^[0-9]+\.[0-9]+\.[0-9]+.*$",
    "timestamp": r"(?s)^[0-9]{4}-[0-9]{2}-[0-9]{2}.+$",
    "duration": r"(?s)^[+-]?[0-9.].*$",
}
"""What a text must look like that one of these can read: not all such texts can be read."""

_TOTAL: Final[Mapping[str, frozenset[str]]] = {
    "ip": frozenset(
        {
            *("family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
            *("isLinkLocalUnicast", "isGlobalUnicast"),
        }
    ),
    "cidr": frozenset({"ip", "masked", "prefixLength"}),
    "url": frozenset(
        {"getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery"}
    ),
    "quantity": frozenset({"sign", "isInteger", "asApproximateFloat"}),
    "semver": frozenset({"major", "minor", "patch"}),
    "text": frozenset({"lowerAscii", "upperAscii", "trim"}),
}
"""Functions that never fail, by what makes the value that they are functions of."""


def _maker(value: Value) -> str:
    if isinstance(value, Asked):
        return value.function
    return "text" if isinstance(value, Text) else ""


_KINDS: Final[Mapping[type, object]] = {
    Truth: True,
    Int: 0,
    Uint: cel.Uint(0),
    Double: 0.0,
    Text: "",
    List: [],
    Map: {},
    Fields: {},
    Maybe: cel.NONE,
}
"""One value of each kind, which have the same type."""


_ZEROS: Final[Mapping[int, Term]] = {
    z3.Z3_BOOL_SORT: FALSE,
    z3.Z3_INT_SORT: logic.integer(0),
    z3.Z3_SEQ_SORT: logic.text(""),
    z3.Z3_FLOATING_POINT_SORT: z3.FPVal(0.0, z3.Float64()),
}


class Model(Protocol):
    """What terms are in an example."""

    def eval(self, term: Term, *, model_completion: bool) -> Term:
        """What a term is."""
        ...


class _Failed(Exception):
    """A call inside of another fails, so that the other is none."""


@dataclass(slots=True)
class Unmodelled:
    """The functions that only the engine knows, and the calls of them."""

    env: Environment
    calls: list[Call] = field(default_factory=list)
    programs: dict[tuple[str, bool, int], Program] = field(default_factory=dict)
    constants: list[object] = field(default_factory=list)
    """Values in calls that have no form in the solver: each is another one to it."""
    taught: set[str] = field(default_factory=set)

    def run(self, function: str, arguments: Sequence[object], *, member: bool) -> Outcome:
        """What the engine gives for arguments that are known."""
        try:
            return certain(literal(self._run(function, arguments, member=member)))
        except EvaluationError:
            return FAILS

    def _run(self, function: str, arguments: Sequence[object], *, member: bool) -> object:
        program = self._program(function, len(arguments), member=member)
        return program.evaluate({f"a{n}": one for n, one in enumerate(arguments)})

    def _program(self, function: str, count: int, *, member: bool) -> Program:
        key = (function, member, count)
        if key not in self.programs:
            env = self.env.extend({f"a{number}": types.DYN for number in range(count)})
            parsed, _ = env.parse("null")
            assert parsed is not None
            idents = [syntax.Ident(number + 2, f"a{number}") for number in range(count)]
            target, args = (idents[0], idents[1:]) if member else (None, idents)
            call = syntax.Call(1, function, target, tuple(args))
            positions = dict.fromkeys(range(1, count + 2), 0)
            tree = syntax.Ast(call, parsed.source, positions)
            self.programs[key] = env.program(env.check(tree).checked())
        return self.programs[key]

    def sample(self, function: str, value: Value) -> Outcome | None:
        """What a function gives that asks for nothing but the kind of its argument."""
        if type(value) not in _KINDS:
            return None
        return self.run(function, [_KINDS[type(value)]], member=False)

    # Calls.

    def call(
        self, function: str, arguments: Sequence[Value], result: types.Type, *, member: bool
    ) -> Outcome:
        """A call whose result is unknown but for its type."""
        made = self._call(function, arguments, result, member=member)
        succeeds = negated(made.fails)
        value: Value = made.asked if made.result is None else made.result
        if types.is_optional(result):
            value = self._optional(made.asked, result)
        return Outcome(made.fails, (Case(succeeds, value),))

    def _call(
        self, function: str, arguments: Sequence[Value], result: types.Type, *, member: bool
    ) -> Call:
        asked = Asked(function, tuple(arguments), member)
        leaves: list[Term] = []
        name = self._name(asked, leaves)
        leaves = [z3.simplify(leaf) for leaf in leaves]
        sorts = [term.sort() for term in leaves]
        fails = failing = z3.Function(f"{name} fails", *sorts, z3.BoolSort())(*leaves)
        if len(arguments) == 1 and isinstance(arguments[0], Text) and function in _LANGUAGES:
            language = contained(_LANGUAGES[function])
            assert language is not None
            fails = either((fails, negated(z3.InRe(arguments[0].term, language))))
        if member and arguments and function in _TOTAL.get(_maker(arguments[0]), ()):
            fails = failing = FALSE
        kind = measures.of_call(function)
        if kind is not None:
            measure = z3.Function(f"{name} measure", *sorts, kind.sort())(*leaves)
            asked = Asked(function, asked.arguments, member, kind, measure)
        value = None
        if result.kind in _SORTS:
            form, sort = _SORTS[result.kind]
            value = form(z3.Function(name, *sorts, sort())(*leaves))
        call = Call(name, asked, tuple(leaves), failing, fails, value, result)
        self.calls.append(call)
        return call

    def _optional(self, asked: Asked, result: types.Type) -> Maybe:
        """An optional: whether it has a value is a call, and so is its value."""
        has = self._call("hasValue", [asked], types.BOOL, member=True).result
        assert isinstance(has, Truth)
        inside = self.call("value", [asked], result.params[0], member=True)
        return Maybe(has.term, Outcome(FALSE, (Case(TRUE, inside.cases[0].value),)))

    def _name(self, value: Value, leaves: list[Term]) -> str:
        """A value without its terms, which are added to `leaves`."""
        match value:
            case Truth() | Int() | Uint() | Double() | Text():
                leaves.append(value.term)
                return type(value).__name__
            case Null():
                return "null"
            case Known():
                return f"constant {self._constant(value.value)}"
            case Asked():
                inside = ", ".join(self._name(one, leaves) for one in value.arguments)
                return f"{'.' * value.member}{value.function}({inside})"
            case List():
                count(value)
                parts = [self._guarded(item.there, item.value, leaves) for item in value.items]
                return f"[{', '.join(parts)}]"
            case Map():
                count(value)
                parts = [
                    f"{self._name(one.key, leaves)}: {self._guarded(one.there, one.value, leaves)}"
                    for one in value.entries
                ]
                return f"{{{', '.join(parts)}}}"
            case Maybe():
                return f"optional({self._guarded(value.there, value.value, leaves)})"
        raise NotModelled("a function of a whole object")

    def _guarded(self, there: Formula, made: Outcome, leaves: list[Term]) -> str:
        if z3.is_false(there):
            return "none"
        leaves.append(there)
        parts = []
        for case in made.cases:
            leaves.append(case.guard)
            parts.append(self._name(case.value, leaves))
        return " or ".join(parts)

    def _constant(self, value: object) -> int:
        for number, known in enumerate(self.constants):
            if known is value:
                return number
        self.constants.append(value)
        return len(self.constants) - 1

    # Lessons.

    def value(self, asked: Asked, model: Model) -> object:
        """What the engine gives for a call in a model."""
        return self._engine_says(asked, model)

    def known(self, call: Call, model: Model) -> list[tuple[Term, Term]]:
        """What the terms of a call are in a model of those before it."""
        try:
            value = self._engine_says(call.asked, model)
        except _Failed as error:
            value = error
        if isinstance(value, EvaluationError | _Failed):
            nothing = [] if call.result is None else [call.result.term]
            return [(call.failing, TRUE), *((one, _ZEROS[one.sort_kind()]) for one in nothing)]
        return [(call.failing, FALSE), *self._results(call, value)]

    def lessons(self, model: Model) -> list[Formula]:
        """What the engine says of the calls of a model where the model has it otherwise."""
        found: list[Formula] = []
        for call in list(self.calls):
            lesson = self._lesson(call, model)
            if lesson is None:
                continue
            found.append(lesson)
            if call.name not in self.taught:
                self.taught.add(call.name)
                found += self._facts(call)
        return found

    def likely(self) -> list[Formula]:
        """For each call that reads a text: that it is one of which the engine has said what it
        is."""
        found = []
        for call in self.calls:
            arguments = call.asked.arguments
            samples = _SAMPLES.get(call.asked.function)
            if samples is not None and len(arguments) == 1 and isinstance(arguments[0], Text):
                term = arguments[0].term
                found.append(either(same(term, logic.text(one)) for one in samples))
        return found

    def _facts(self, call: Call) -> Iterator[Formula]:
        """What the engine says of the samples of a function."""
        function, arguments, member = call.asked.function, call.asked.arguments, call.asked.member
        if len(arguments) != 1 or not isinstance(arguments[0], Text):
            return
        for one in _SAMPLES.get(function, ()):
            known = self._call(function, [Text(logic.text(one))], call.type, member=member)
            self.calls.pop()
            yield self._right(known, self._engine_says(known.asked, None))

    def _lesson(self, call: Call, model: Model) -> Formula | None:
        values = [model.eval(leaf, model_completion=True) for leaf in call.leaves]
        here = both(*map(same, call.leaves, values))
        if any(z3.is_string_value(value) and not logic.is_text(value) for value in values):
            return negated(here)
        try:
            right = self._right(call, self._engine_says(call.asked, model))
        except _Failed:
            return None
        if z3.is_true(model.eval(right, model_completion=True)):
            return None
        return z3.Implies(here, right)

    def _engine_says(self, asked: Asked, model: Model | None) -> object:
        """The engine's value of a call; an EvaluationError where it fails. Raises _Failed where a
        call inside does."""
        arguments = [self._in_model(one, model) for one in asked.arguments]
        if any(one is NOT_LITERAL for one in arguments):
            raise _Failed
        try:
            return self._run(asked.function, arguments, member=asked.member)
        except EvaluationError as error:
            return error

    def _right(self, call: Call, value: object) -> Formula:
        if isinstance(value, EvaluationError):
            return call.fails
        results = self._results(call, value)
        return both(negated(call.fails), *(same(term, known) for term, known in results))

    def _results(self, call: Call, value: object) -> list[tuple[Term, Term]]:
        """The result and the measure of a call, and what they are if the engine gives this."""
        found = []
        if call.result is not None:
            made = literal(value)
            if not isinstance(made, type(call.result)):
                raise NotModelled(f"{call.asked.function}, which gives another type")
            found.append((call.result.term, made.term))
        if call.asked.kind is not None:
            found.append((call.asked.measure, call.asked.kind.measured(value)))
        return found

    def _in_model(self, value: Value, model: Model | None) -> object:
        """The engine's value in a model; NOT_LITERAL where it fails in it."""
        match value:
            case Asked():
                made = self._engine_says(value, model)
                return NOT_LITERAL if isinstance(made, EvaluationError) else made
            case Truth() | Int() | Uint() | Double() | Text():
                if model is None:
                    return native(value)
                return native(type(value)(model.eval(value.term, model_completion=True)))
            case List():
                return [
                    self._outcome(item.value, model)
                    for item in value.items
                    if _holds(item.there, model)
                ]
            case Map():
                return {
                    self._in_model(one.key, model): self._outcome(one.value, model)
                    for one in value.entries
                    if _holds(one.there, model)
                }
            case Maybe():
                if not _holds(value.there, model):
                    return cel.NONE
                return cel.Optional(self._outcome(value.value, model))
        return native(value)

    def _outcome(self, made: Outcome, model: Model | None) -> object:
        for case in made.cases:
            if _holds(case.guard, model):
                found = self._in_model(case.value, model)
                if found is NOT_LITERAL:
                    raise _Failed
                return found
        raise _Failed


def _holds(formula: Formula, model: Model | None) -> bool:
    if model is None:
        return bool(z3.is_true(formula))
    return bool(z3.is_true(model.eval(formula, model_completion=True)))
