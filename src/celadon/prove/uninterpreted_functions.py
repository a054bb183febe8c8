"""Functions that only the engine knows: what the solver is told of them.

A call whose arguments are known is a call of the engine. Of any other the solver knows that equal
arguments give equal results. Once it has an example, the engine is asked about the arguments in
it, and where the example had it otherwise the solver is told (a lesson) and looks again.

What such a function gives may be no scalar (a quantity, an address, a list). Then it stays a call
(`EngineCall`), and what is asked of it is a call with that call inside. Quantities, times,
durations and addresses have a measure besides, by which they are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import z3

from celadon.cel import Environment, EvaluationError, Program, syntax, types
from celadon.cel import extend as cel
from celadon.prove import solver_terms
from celadon.prove.regular_languages import consumed, contained
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
    unknowns,
)
from celadon.prove.symbolic_functions import NOT_LITERAL, literal, native
from celadon.prove.symbolic_objects import Inputs
from celadon.prove.symbolic_values import (
    FAILS,
    Case,
    Cut,
    Double,
    EngineCall,
    EngineValue,
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
    Text,
    Truth,
    Uint,
    Value,
    certain,
    count,
    measure_read_by,
)


class Call(NamedTuple):
    """One call: what the solver has for its result, its measure, and where it fails."""

    name: str
    engine_call: EngineCall
    leaves: tuple[Term, ...]
    failing: Formula
    """The function without a meaning that says where it fails."""
    fails: Formula
    """Where it fails for all that is known."""
    result: Truth | Int | Uint | Double | Text | None
    type: types.Type
    is_solved: bool | None = None
    """Of a call that is asked about parts of texts (`Parts`): whether the solver knows by itself
    what it gives."""


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
not. Those that the expressions name are added."""

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
}
"""Functions that never fail, by what makes the value that they are functions of."""

_PARTS: Final = frozenset({"split", "findAll"})
"""Functions of a text that give parts of it."""

_FEWEST_PARTS: Final = 2
"""Parts of a text that are looked at, however few items lists have."""

_MOST_PARTS: Final = 5
"""Parts that are looked at where an expression names a size or a place, however few items lists
have."""

MOST_COUNTED: Final = 12
"""Items of lists that are looked at where an expression names a size or a place."""

MOST_PARTS: Final = 4
"""Parts that are looked for one behind the other where an expression names a place: each asks for
the place of another."""

_TOTAL_OF_TEXTS: Final[Mapping[str, int]] = {
    "lowerAscii": 1,
    "upperAscii": 1,
    "trim": 1,
    "reverse": 1,
    "split": 2,
    "lastIndexOf": 2,
    "replace": 3,
}
"""Functions that never fail if they are given so many texts."""

SEARCHES: Final = frozenset({"matches", "find", "findAll"})
"""Functions of a text and a pattern."""

_MOST_TEXTS: Final = 20


def _searches(function: str, arguments: Sequence[Value]) -> bool:
    """Return whether something right is searched for in a text, which never fails."""
    if function not in SEARCHES or [type(argument) for argument in arguments] != [Text, Text]:
        return False
    pattern = native(arguments[1])
    if not isinstance(pattern, str):
        return False
    try:
        cel.re2.compile(pattern)
    except cel.re2.RegexError:
        return False
    return True


def _never_fails(function: str, arguments: Sequence[Value]) -> bool:
    """Return whether a member never fails for arguments of these kinds."""
    if len(arguments) == 1 and isinstance(arguments[0], EngineCall):
        return function in _TOTAL.get(arguments[0].function, ())
    texts = sum(isinstance(argument, Text) for argument in arguments)
    is_right = texts == len(arguments) == _TOTAL_OF_TEXTS.get(function)
    return is_right or _searches(function, arguments)


def _plain_quantity(function: str, arguments: Sequence[Value]) -> Numeral | None:
    """Return where a quantity is read from digits, and which integer it is."""
    match arguments:
        case [Text(numeral=Numeral() as numeral)] if function == "quantity":
            return numeral
    return None


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
    z3.Z3_INT_SORT: solver_terms.integer(0),
    z3.Z3_SEQ_SORT: solver_terms.text(""),
    z3.Z3_FLOATING_POINT_SORT: z3.FPVal(0.0, z3.Float64()),
}


class Model(Protocol):
    """The terms of an example."""

    def eval(self, term: Term, *, model_completion: bool) -> Term:
        """Return what a term is."""
        ...


class _Failed(Exception):
    """A call inside of another fails, so that the other is none."""


def _around(number: int) -> range:
    return range(number - 1, number + 2)


def _separator(engine_call: EngineCall) -> str | None:
    """Return the text that a call of `split` splits at; None if it is not known, or empty: without
    a separator the characters are the parts."""
    if engine_call.function != "split" or len(engine_call.arguments) != 2:
        return None
    separator = native(engine_call.arguments[1])
    return separator if isinstance(separator, str) and separator else None


def _literals_in(term: Term) -> Iterator[str]:
    """Yield the texts that a term is put together of."""
    if z3.is_string_value(term):
        yield solver_terms.text_of(term)
    for child in term.children():
        yield from _literals_in(child)


def _facts_of_matches(
    engine_call: EngineCall, size: Term, items: Sequence[Item]
) -> Iterator[Formula]:
    """Yield what is true of the matches of a pattern, and of any some of them."""
    arguments = engine_call.arguments
    pattern = native(arguments[1]) if len(arguments) == 2 else None
    if engine_call.function != "findAll" or not isinstance(pattern, str):
        return
    text = arguments[0]
    assert isinstance(text, Text)
    with suppress(NotModelled):
        language, match = contained(pattern), consumed(pattern)
        if language is None or match is None:
            return
        yield same(size, solver_terms.integer(0)) == negated(z3.InRe(text.term, language))
        for item in items:
            (case,) = item.value.cases
            assert isinstance(case.value, Text)
            part = case.value.term
            is_match = both(z3.InRe(part, match), z3.Contains(text.term, part))
            yield either((negated(item.presence), is_match))


# --- Parts of texts ----------------------------------------------------------
#
# The solver takes the parts of a text (`split`, `findAll`) for an input, of which the engine says
# what it is for the text of an example. Where the separator is known, the solver knows how they
# make the text.


@dataclass(slots=True)
class Parts:
    """The parts of a text that a call gives. What is asked about them has a `tag`, so that any two
    lists of parts have nothing to do with each other: without some of its parts a list is as good
    as an input without some of its items. The terms among the arguments of the call (`leaves`) are
    kept since their numbers say which call it is."""

    call: EngineCall
    text: Term
    tag: str
    size: Term
    leaves: list[Term]
    separator: str | None
    items: list[Item] = field(default_factory=list)
    places: set[int] = field(default_factory=set)
    """Those that an expression names."""
    whole: List | None = None

    def item(self, unmodelled: Unmodelled, place: int) -> Item:
        """Return the part at a place, if the separator is known."""
        self._add(unmodelled, place + 1)
        if place not in self.places:
            self.places.add(place)
            rest = unmodelled.inputs.unknown(f"rest {place}{self.tag}", z3.StringSort())
            goes_on = same(self.text, self._joined([*self._terms[: place + 1], rest]))
            unmodelled.inputs.assumed.append(either((self.size <= place + 1, goes_on)))
        return self.items[place]

    @property
    def _terms(self) -> list[Term]:
        return [part.term for item in self.items for _, part in item.value.cases]  # type: ignore[union-attr]

    def _add(self, unmodelled: Unmodelled, most: int) -> None:
        """Make items, so that there are so many."""
        for number in range(len(self.items), most):
            part = unmodelled.part_at(self.call, number, self.tag)
            self.items.append(Item(self.size > number, certain(Text(part))))
            if self.separator is not None:
                separator, begun = map(solver_terms.text, (self.separator, self.separator[:-1]))
                text = same(self.text, self._joined(self._terms))
                # The first place of a separator is behind the part, and none is in the last one.
                first = negated(z3.Contains(z3.Concat(part, begun), separator))
                unmodelled.inputs.assumed += [
                    either((self.size <= number + 1, first)),
                    either((self.size <= number, negated(z3.Contains(part, separator)))),
                    either((negated(same(self.size, solver_terms.integer(number + 1))), text)),
                ]

    def likely(self, texts: Sequence[str]) -> Iterator[Formula]:
        """Yield for each part that it is one of some texts, if the separator is known."""
        if self.separator is None:
            return
        for item, term in zip(self.items, self._terms, strict=True):
            is_named = either(same(term, solver_terms.text(word)) for word in texts)
            yield either((negated(item.presence), is_named))

    def _joined(self, parts: Sequence[Term]) -> Term:
        separator = solver_terms.text(self.separator or "")
        terms = [term for part in parts for term in (separator, part)][1:]
        return z3.Concat(*terms) if len(terms) > 1 else terms[0]

    def listed(self, unmodelled: Unmodelled) -> List:
        """Return all of them, of which there are no more than items in lists, and those that
        literals in the text have."""
        if self.whole is None:
            named = (number for number in unmodelled.counted if number <= _MOST_PARTS)
            most = max(unmodelled.inputs.items, *named, _FEWEST_PARTS)
            if self.separator is not None:
                most += sum(word.count(self.separator) for word in _literals_in(self.text))
            unmodelled.inputs.assumed.append(self.size <= most)
            self._add(unmodelled, most)
            names = (name for name in unknowns(self.text) if not name.endswith("?"))
            cut = Cut(f"{next(names, 'a text')}.{self.call.function}()")
            unmodelled.inputs.cuts.append(cut)
            self.whole = List(tuple(self.items[:most]), frozenset([cut]))
            unmodelled.facts += _facts_of_matches(self.call, self.size, self.whole.items)
        if self.separator is not None:
            # All of them and the separators are the text: none can be left out.
            count(self.whole)
            self._note_bound()
        return self.whole

    def note_longer(self, size: int) -> None:
        """Note that a text has so many parts: it is left out of the question if these are more than
        are looked at."""
        if self.whole is not None and size > len(self.whole.items):
            self._note_bound()

    def _note_bound(self) -> None:
        assert self.whole is not None
        for cut in self.whole.sources:
            cut.is_assumed = True


@dataclass(slots=True)
class Unmodelled:
    """The functions that only the engine knows, and the calls of them."""

    env: Environment
    calls: list[Call] = field(default_factory=list)
    programs: dict[tuple[str, bool, int], Program] = field(default_factory=dict)
    constants: list[object] = field(default_factory=list)
    """Values in calls that have no form in the solver: each is another one to it."""
    taught: set[str] = field(default_factory=set)
    texts: dict[str, None] = field(default_factory=dict)
    """Those that the expressions name."""
    numbers: dict[int, None] = field(default_factory=dict)
    """The integers that they name."""
    sizes: set[int] = field(default_factory=set)
    """What the expressions compare sizes with, and the places in lists that they name."""
    plain: list[Formula] = field(default_factory=list)
    """Where what is asked of texts is simple (`celadon.prove.symbolic_functions`)."""
    inputs: Inputs = field(default_factory=Inputs)
    """What the arguments of the calls are made of."""
    lists: dict[tuple[str, tuple[int, ...]], Parts] = field(default_factory=dict)
    """Parts of texts, by the call that gives them."""
    facts: list[Formula] = field(default_factory=list)
    """What is true of parts of texts, and told only where an example is against it."""

    def run(self, function: str, arguments: Sequence[object], *, member: bool) -> Outcome:
        """Return what the engine gives for arguments that are known."""
        try:
            return certain(literal(self._run(function, arguments, member=member)))
        except EvaluationError:
            return FAILS

    def _run(self, function: str, arguments: Sequence[object], *, member: bool) -> object:
        target = arguments[0] if member else None
        # A name for an optional would open it, and so lose one that is inside of another.
        if isinstance(target, cel.Optional) and target is not cel.NONE:
            if function == "hasValue":
                return True
            if function == "value":
                return target.value
        program = self._program(function, len(arguments), member=member)
        return program.evaluate({f"a{n}": argument for n, argument in enumerate(arguments)})

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
        """Return what a function gives that asks for nothing but the kind of its argument."""
        if type(value) not in _KINDS:
            return None
        return self.run(function, [_KINDS[type(value)]], member=False)

    # Calls.

    def call(
        self, function: str, arguments: Sequence[Value], result: types.Type, *, member: bool
    ) -> Outcome:
        """Return a call whose result is unknown but for its type."""
        call = self._call(function, arguments, result, member=member)
        succeeds = negated(call.fails)
        value: Value = call.engine_call if call.result is None else call.result
        if types.is_optional(result):
            value = self._optional(call.engine_call, result)
        return Outcome(call.fails, (Case(succeeds, value),))

    def _call(
        self,
        function: str,
        arguments: Sequence[Value],
        result: types.Type,
        *,
        member: bool,
        tag: str = "",
    ) -> Call:
        engine_call = EngineCall(function, tuple(arguments), member)
        leaves: list[Term] = []
        name = self._name(engine_call, leaves) + tag
        leaves = [folded(leaf) for leaf in leaves]
        # What has a tag is no function: it is asked once.
        given = [] if tag else leaves
        sorts = [term.sort() for term in given]
        fails = failing = z3.Function(f"{name} fails", *sorts, z3.BoolSort())(*given)
        if len(arguments) == 1 and isinstance(arguments[0], Text) and function in _LANGUAGES:
            language = contained(_LANGUAGES[function])
            assert language is not None
            fails = either((fails, negated(z3.InRe(arguments[0].term, language))))
        if member and _never_fails(function, arguments):
            fails = failing = FALSE
        kind = measure_read_by(function)
        if kind is not None:
            measure = z3.Function(f"{name} measure", *sorts, kind.sort())(*leaves)
            if (numeral := _plain_quantity(function, arguments)) is not None:
                fails = both(negated(numeral.guard), fails)
                measure = solver_terms.chosen(numeral.guard, z3.ToReal(numeral.value), measure)
            engine_call = EngineCall(function, engine_call.arguments, member, kind, measure)
        value = None
        if result.kind in _SORTS:
            form, sort = _SORTS[result.kind]
            value = form(z3.Function(name, *sorts, sort())(*given))
        call = Call(name, engine_call, tuple(leaves), failing, fails, value, result)
        self.calls.append(call)
        return call

    def _optional(self, engine_call: EngineCall, result: types.Type) -> Maybe:
        """Return an optional: whether it has a value is a call, and so is its value."""
        has = self._call("hasValue", [engine_call], types.BOOL, member=True).result
        assert isinstance(has, Truth)
        inside = self.call("value", [engine_call], result.params[0], member=True)
        return Maybe(has.term, Outcome(FALSE, (Case(TRUE, inside.cases[0].value),)))

    # Parts of texts.

    def parts(self, engine_call: EngineCall) -> List | None:
        """Return the parts of a text that a call gives; None if it gives something else."""
        found = self._parts_of(engine_call)
        if found is None:
            return None
        return found.listed(self)

    def part(self, engine_call: EngineCall, place: Value) -> tuple[Formula, Outcome] | None:
        """Return where there is a part at a place that is known, and the part, however many there
        are; None if it cannot be told so."""
        number = native(place) if isinstance(place, Int) else None
        found = self._parts_of(engine_call)
        if found is None or found.separator is None:
            return None
        if not isinstance(number, int) or not 0 <= number < MOST_PARTS:
            return None
        item = found.item(self, number)
        return item.presence, item.value

    @property
    def counted(self) -> Iterator[int]:
        """One more than each size or place that an expression names, within reason."""
        return (size + 1 for size in self.sizes if size < MOST_COUNTED)

    def part_at(self, engine_call: EngineCall, place: int, tag: str) -> Term:
        """Return the part at a place, of which the engine says what it is."""
        arguments: list[Value] = [engine_call, Int(solver_terms.integer(place))]
        name = f"{tag}[{place}]"
        part = self._call(syntax.INDEX, arguments, types.STRING, member=False, tag=name).result
        is_solved = _separator(engine_call) is not None
        self.calls[-1] = self.calls[-1]._replace(is_solved=is_solved)
        assert isinstance(part, Text)
        return part.term

    def _parts_of(self, engine_call: EngineCall) -> Parts | None:
        text = engine_call.arguments[0] if engine_call.arguments else None
        if engine_call.function not in _PARTS or not isinstance(text, Text):
            return None
        leaves: list[Term] = []
        key = self._name(engine_call, leaves), tuple(leaf.get_id() for leaf in leaves)
        if key not in self.lists:
            tag = f"#{len(self.lists)}"
            size = self._call("size", [engine_call], types.INT, member=False, tag=tag).result
            assert isinstance(size, Int)
            parts = Parts(engine_call, text.term, tag, size.term, leaves, _separator(engine_call))
            # That no text differs from itself says nothing, but what the parts depend on.
            depends = (z3.Distinct(leaf, leaf) for leaf in leaves)
            least = size.term >= (0 if parts.separator is None else 1)
            self.inputs.assumed.append(z3.Or(least, *depends))
            self.lists[key] = parts
        return self.lists[key]

    def _name(self, value: Value, leaves: list[Term]) -> str:
        """Return a value without its terms, which are added to `leaves`."""
        match value:
            case Truth() | Int() | Uint() | Double() | Text():
                leaves.append(value.term)
                return type(value).__name__
            case Null():
                return "null"
            case EngineValue():
                return f"constant {self._constant(value.value)}"
            case EngineCall():
                inside = ", ".join(self._name(argument, leaves) for argument in value.arguments)
                return f"{'.' * value.member}{value.function}({inside})"
            case List():
                count(value)
                parts = [self._guarded(item.presence, item.value, leaves) for item in value.items]
                return f"[{', '.join(parts)}]"
            case Map():
                count(value)
                parts = [
                    f"{self._name(entry.key, leaves)}: "
                    f"{self._guarded(entry.presence, entry.value, leaves)}"
                    for entry in value.entries
                ]
                return f"{{{', '.join(parts)}}}"
            case Maybe():
                return f"optional({self._guarded(value.presence, value.value, leaves)})"
        raise NotModelled("a function of a whole object")

    def _guarded(self, present: Formula, outcome: Outcome, leaves: list[Term]) -> str:
        if z3.is_false(present):
            return "none"
        leaves.append(present)
        parts = []
        for case in outcome.cases:
            leaves.append(case.guard)
            parts.append(self._name(case.value, leaves))
        return " or ".join(parts)

    def _constant(self, value: object) -> int:
        for number, constant in enumerate(self.constants):
            if constant is value:
                return number
        self.constants.append(value)
        return len(self.constants) - 1

    # Lessons.

    def value(self, engine_call: EngineCall, model: Model) -> object:
        """Return what the engine gives for a call in a model."""
        return self._engine_says(engine_call, model)

    def known(self, call: Call, model: Model) -> list[tuple[Term, Term]]:
        """Return what the terms of a call are in a model of those before it."""
        try:
            value = self._engine_says(call.engine_call, model)
        except _Failed as error:
            value = error
        if isinstance(value, EvaluationError | _Failed):
            nothing = [] if call.result is None else [call.result.term]
            return [(call.failing, TRUE), *((item, _ZEROS[item.sort_kind()]) for item in nothing)]
        return [(call.failing, FALSE), *self._results(call, value)]

    def lessons(self, model: Model) -> list[Formula]:
        """Return what the engine says of the calls of a model where the model has it otherwise."""
        result = [
            fact for fact in self.facts if not z3.is_true(model.eval(fact, model_completion=True))
        ]
        for parts in self.lists.values():
            parts.note_longer(self._parts_in(parts.call, model))
        for call in list(self.calls):
            lesson = None if call.is_solved else self._lesson(call, model)
            if lesson is None:
                continue
            result.append(lesson)
            if call.name not in self.taught:
                self.taught.add(call.name)
                result += self._facts(call)
        return result

    def _parts_in(self, engine_call: EngineCall, model: Model) -> int:
        """Return how many parts there are in a model."""
        with suppress(_Failed):
            value = self._engine_says(engine_call, model)
            if isinstance(value, list | tuple):
                return len(value)
        return 0

    def likely(self) -> list[Formula]:
        """Return for each call that reads a text that it is one of which the engine has said what
        it is."""
        plain = list(self.plain)
        numerals = [str(one) for number in self.numbers for one in _around(number)]
        for parts in self.lists.values():
            plain += parts.likely(["", *list(self.texts)[:_MOST_TEXTS], *numerals[:_MOST_TEXTS]])
        for call in self.calls:
            arguments = call.engine_call.arguments
            if not arguments or not isinstance(arguments[0], Text):
                continue
            samples = self._samples(call.engine_call.function) if len(arguments) == 1 else []
            if (
                call.engine_call.function in SEARCHES
            ):  # who searches a text often names what is in it
                samples = list(self.texts)[:_MOST_TEXTS]
            numeral = _plain_quantity(call.engine_call.function, arguments)
            if samples and (numeral is None or not numeral.guard.eq(TRUE)):
                term = arguments[0].term
                numerals = [] if numeral is None else [numeral.guard]
                texts = (same(term, solver_terms.text(sample)) for sample in samples)
                plain.append(either((*numerals, *texts)))
        return plain

    def _samples(self, function: str) -> list[str]:
        """Texts to try with a function; those that expressions name are the bounds of what they
        compare, where a change from `1T` to `1Ti` shows."""
        if function not in _SAMPLES:
            return []
        return list(dict.fromkeys((*_SAMPLES[function], *list(self.texts)[:_MOST_TEXTS])))

    def _facts(self, call: Call) -> Iterator[Formula]:
        """Yield what the engine says of the samples of a function."""
        function, arguments, member = (
            call.engine_call.function,
            call.engine_call.arguments,
            call.engine_call.member,
        )
        if len(arguments) != 1 or not isinstance(arguments[0], Text):
            return
        for sample in self._samples(function):
            sampled = self._call(
                function, [Text(solver_terms.text(sample))], call.type, member=member
            )
            self.calls.pop()
            yield self._right(sampled, self._engine_says(sampled.engine_call, None))

    def _lesson(self, call: Call, model: Model) -> Formula | None:
        values = [model.eval(leaf, model_completion=True) for leaf in call.leaves]
        at_sample = both(*map(same, call.leaves, values))
        if any(z3.is_string_value(value) and not solver_terms.is_text(value) for value in values):
            return negated(at_sample)
        try:
            value = self._engine_says(call.engine_call, model)
        except _Failed:
            return None
        if call.is_solved is not None and isinstance(value, EvaluationError):
            return None  # there are not so many parts, and nobody asks for this one
        right = self._right(call, value)
        if z3.is_true(model.eval(right, model_completion=True)):
            return None
        return z3.Implies(at_sample, right)

    def _engine_says(self, engine_call: EngineCall, model: Model | None) -> object:
        """Return the engine's value of a call; an EvaluationError where it fails. Raises _Failed
        where a call inside does."""
        arguments = [self._in_model(argument, model) for argument in engine_call.arguments]
        if any(argument is NOT_LITERAL for argument in arguments):
            raise _Failed
        try:
            return self._run(engine_call.function, arguments, member=engine_call.member)
        except EvaluationError as error:
            return error

    def _right(self, call: Call, value: object) -> Formula:
        if isinstance(value, EvaluationError):
            return call.fails
        results = self._results(call, value)
        return both(negated(call.fails), *(same(term, result) for term, result in results))

    def _results(self, call: Call, value: object) -> list[tuple[Term, Term]]:
        """Return the result and the measure of a call, and what they are if the engine gives
        this."""
        result = []
        if call.result is not None:
            literal_value = _literal(value)
            if not isinstance(literal_value, type(call.result)):
                raise NotModelled(f"{call.engine_call.function}, which gives another type")
            result.append((call.result.term, literal_value.term))
        if call.engine_call.kind is not None:
            result.append((call.engine_call.measure, call.engine_call.kind.measured(value)))
        return result

    def _in_model(self, value: Value, model: Model | None) -> object:
        """Return the engine's value in a model; NOT_LITERAL where it fails in it."""
        match value:
            case EngineCall():
                answer = self._engine_says(value, model)
                return NOT_LITERAL if isinstance(answer, EvaluationError) else answer
            case Truth() | Int() | Uint() | Double() | Text():
                if model is None:
                    return native(value)
                return native(type(value)(model.eval(value.term, model_completion=True)))
            case List():
                return [
                    self._outcome(item.value, model)
                    for item in value.items
                    if _holds(item.presence, model)
                ]
            case Map():
                return {
                    self._in_model(entry.key, model): self._outcome(entry.value, model)
                    for entry in value.entries
                    if _holds(entry.presence, model)
                }
            case Maybe():
                if not _holds(value.presence, model):
                    return cel.NONE
                return cel.Optional(self._outcome(value.value, model))
        return native(value)

    def _outcome(self, outcome: Outcome, model: Model | None) -> object:
        for case in outcome.cases:
            if _holds(case.guard, model):
                assigned = self._in_model(case.value, model)
                if assigned is NOT_LITERAL:
                    raise _Failed
                return assigned
        raise _Failed


def _literal(value: object) -> Value:
    """Return what the engine gives as a literal. Characters of a text that come from a model may be
    those that stand there for all that no expression names. Raises NotModelled."""
    if isinstance(value, str) and all(ord(char) <= solver_terms.HIGHEST for char in value):
        return Text(solver_terms.text(value))
    return literal(value)


def _holds(formula: Formula, model: Model | None) -> bool:
    if model is None:
        return bool(z3.is_true(formula))
    return bool(z3.is_true(model.eval(formula, model_completion=True)))
