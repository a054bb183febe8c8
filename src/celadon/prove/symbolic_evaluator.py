"""A checked expression, evaluated while its inputs are not known.

One walk over the tree gives an `Outcome`: where it fails, and where it gives which value. What CEL
says about order is kept: `&&` and `||` take an error only where the other side does not decide,
a conditional evaluates one branch, an optional absorbs what is missing. Loops run over the items
that a list may have, each under its guard, so that every macro is what it is expanded to.

Costs are not counted: an expression that runs out of its budget is not found here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import z3

from celadon.cel import CheckedAst, EvaluationError, syntax, types
from celadon.cel.extend import Opaque
from celadon.prove import solver_terms, symbolic_functions
from celadon.prove.solver_terms import FALSE, TRUE, Formula, both, either, negated, same
from celadon.prove.symbolic_functions import MEANINGS, equal, literal, native, same_key
from celadon.prove.symbolic_values import (
    FAILS,
    Case,
    Cut,
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
    Outcome,
    Scalar,
    Text,
    Truth,
    Uint,
    Value,
    Variables,
    certain,
    combined,
    compared,
    count,
    is_false,
    is_true,
    mapped,
    outcome,
    selected,
)
from celadon.prove.uninterpreted_functions import SEARCHES, Unmodelled

Scope = Mapping[str, Outcome]

MOST_STEPS: Final = 20_000
"""Nodes that are evaluated for one question, those of each round of a loop counted."""

_READ_BY: Final = {
    "isQuantity": "quantity",
    "isIP": "ip",
    "isCIDR": "cidr",
    "isURL": "url",
    "isSemver": "semver",
}
"""What asks whether a text can be read, and what reads it."""

_OF_LISTS: Final = frozenset({syntax.EQUALS, syntax.NOT_EQUALS, syntax.IN, syntax.ADD, "size"})
"""Functions that ask a list for its items."""

_OF_ANYTHING: Final = ("dyn", "optional.of")
"""Functions that do not ask what their argument is."""

_FEW: Final = 2
"""A size that is compared with so small a number needs some witnesses and no bound."""

KEYS: Final = (Truth, Int, Uint, Double, Text)
"""What may be a key or a place at all."""


@dataclass(slots=True)
class Evaluator:
    """Evaluates the nodes of one checked tree."""

    checked: CheckedAst
    unmodelled: Unmodelled
    place: list[syntax.Expr] = field(default_factory=list)
    """The nodes around what was not modelled, the innermost first."""
    steps: int = MOST_STEPS
    """Nodes that may still be evaluated."""
    within: list[frozenset[Cut]] = field(default_factory=list)
    """The inputs that loops are running over, the items of each loop."""
    free: frozenset[int] = frozenset()
    """The loops that need no item of their own (`celadon.prove.example_search`)."""
    few: dict[int, int] = field(default_factory=dict)
    """The calls of `size` that are compared with a small number, and that number."""

    def evaluate(self, scope: Scope) -> Outcome:
        """Return the whole expression. Raises NotModelled."""
        self.unmodelled.sizes.update(_sizes(self.checked.root))
        self.few.update(_few(self.checked.root))
        return self.node(self.checked.root, scope)

    def node(self, node: syntax.Expr, scope: Scope) -> Outcome:
        """Return the outcome of one node; `scope` has the variables."""
        try:
            return self._node(node, scope)
        except NotModelled:
            self.place.append(node)
            raise

    def _node(self, node: syntax.Expr, scope: Scope) -> Outcome:
        # Loops within loops multiply the nodes; a question that is too large ends here and says so.
        self.steps -= 1
        if self.steps < 0:
            raise NotModelled(f"more than {MOST_STEPS} steps")
        match node:
            case syntax.Literal():
                if isinstance(node.value, str):
                    self.unmodelled.texts[node.value] = None
                elif type(node.value) is int:
                    self.unmodelled.numbers[node.value] = None
                return certain(literal(node.value))
            case syntax.Ident():
                return self._ident(node, scope)
            case syntax.Select():
                return self._select(node, scope)
            case syntax.Call():
                return self._call(node, scope)
            case syntax.ListLiteral():
                return self._list(node, scope)
            case syntax.MapLiteral():
                return self._map(node, scope)
            case syntax.Comprehension():
                return self._loop(node, scope)
        raise NotModelled("an object literal")

    def _ident(self, node: syntax.Ident, scope: Scope) -> Outcome:
        variable = scope.get(node.name)
        if variable is not None:
            if self.checked.types[node.id].kind is types.Kind.TYPE:
                raise NotModelled("a variable that is a type")
            return _reopened(variable)
        reference = self.checked.references.get(node.id)
        if reference is not None and reference.value is not None:
            return certain(literal(reference.value))
        kind = self.checked.types[node.id]
        if kind.kind is types.Kind.TYPE:
            return certain(EngineValue(kind.params[0] if kind.params else kind))
        raise NotModelled(f"the variable {node.name}")

    # Fields, keys, places.

    def _select(self, node: syntax.Select, scope: Scope) -> Outcome:
        operand = self.node(node.operand, scope)
        key = Text(solver_terms.text(node.field))
        if node.test_only:
            return mapped(operand, lambda value: _has(value, node.field))
        return mapped(operand, lambda value: member(value, key))

    def _part(self, node: syntax.Expr, scope: Scope) -> Outcome:
        """Return a part of another attribute: a key, or a branch of a conditional. There, a test of
        presence in an optional is what it finds, not whether it finds anything (as in cel-go)."""
        if not (isinstance(node, syntax.Select) and node.test_only):
            return self.node(node, scope)
        return mapped(self.node(node.operand, scope), lambda value: _tested(value, node.field))

    def _at(self, node: syntax.Call, scope: Scope) -> Outcome:
        """`a[b]`, `a[?b]`, `a.?b`. The key of an optional without a value is not evaluated, so its
        errors are none there."""
        operand, key = node.args
        around, place = self.node(operand, scope), self._part(key, scope)
        member_of = member if node.function == syntax.INDEX else optional_member

        def found_in(values: list[Value]) -> Outcome:
            container, key = values
            if isinstance(container, EngineCall) and (part := self.unmodelled.part(container, key)):
                is_certain = node.function == syntax.INDEX
                return selected(*part, FAILS) if is_certain else certain(Maybe(*part))
            container = self._listed(container)
            if any(isinstance(value, EngineCall) for value in (container, key)):
                return self._asked(node, values)
            return member_of(container, key)

        chosen = combined([around, place], found_in, takes_asked=True)
        absent = either(
            both(case.guard, negated(case.value.presence))
            for case in around.cases
            if isinstance(case.value, Maybe)
        )
        return selected(absent, certain(Maybe(FALSE, FAILS)), chosen)

    def _call(self, node: syntax.Call, scope: Scope) -> Outcome:
        match node.function:
            case syntax.CONDITIONAL:
                condition, consequent, otherwise = node.args
                return self._conditional(condition, consequent, otherwise, scope)
            case syntax.LOGICAL_AND:
                return _conjunction(*(self.node(argument, scope) for argument in node.args))
            case syntax.LOGICAL_OR:
                return _disjunction(*(self.node(argument, scope) for argument in node.args))
            case syntax.NOT_STRICTLY_FALSE:
                return symbolic_functions.not_strictly_false(self.node(node.args[0], scope))
            case "or" | "orValue" if node.target is not None:
                return self._optional_else(node, scope)
            case syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT:
                return self._at(node, scope)
            case "flatten" | "reverse" | "distinct" | "slice":
                # The checker takes their lists for others than they are, and so do callers.
                raise NotModelled(node.function)
            case syntax.IN if self._in_nothing(node):
                return certain(literal(value=False))
        operands = node.args if node.target is None else (node.target, *node.args)
        arguments = [self.node(operand, scope) for operand in operands]
        return combined(arguments, lambda values: self._strict(node, values), takes_asked=True)

    def _in_nothing(self, node: syntax.Call) -> bool:
        """`x in []`: false without a look at x, even where x fails (as in cel-go)."""
        inside = node.args[1]
        reference = self.checked.references.get(node.id)
        return (
            isinstance(inside, syntax.ListLiteral)
            and not inside.elements
            and reference is not None
            and reference.overloads == ("in_list",)
        )

    def _strict(self, node: syntax.Call, values: list[Value]) -> Outcome:
        if node.function in _OF_LISTS:
            values = [self._listed(value) for value in values]
        if node.function == syntax.IN:
            self._sought(values[0], values[1])
        if node.function in SEARCHES and isinstance(values[0], Maybe | EngineValue):
            # A constant pattern is searched for in the Go value inside of whatever it is.
            raise NotModelled(f"{node.function} of what is no text")
        # `isQuantity` and `quantity` are one question to the solver, so that neither is believed
        # without the other.
        if node.function in _READ_BY and isinstance(values[0], Text) and len(values) == 1:
            return self._readable(node.function, values[0])
        if any(isinstance(value, EngineCall) for value in values):
            return self._of_asked(node, values)
        if node.id in self.few and isinstance(values[0], List | Map):
            # Of more items than that, and one, nobody can tell how many they are.
            self._enter(values[0].sources, self.few[node.id] + 1)
            return certain(Int(symbolic_functions.number_of(values[0])))
        meaning = MEANINGS.get(node.function)
        sample = None if meaning is None else meaning(values)
        if sample is not None:
            return sample
        if node.function == "type" and (sample := self.unmodelled.sample("type", values[0])):
            return sample
        constants = [native(value) for value in values]
        member = node.target is not None
        if all(constant is not symbolic_functions.NOT_LITERAL for constant in constants):
            return self.unmodelled.run(node.function, constants, member=member)
        modelled, plain = (
            self._asked(node, values),
            symbolic_functions.plain_meaning(node.function, values),
        )
        if plain is None:
            return modelled
        self.unmodelled.plain.append(plain[0])
        return selected(plain[0], certain(plain[1]), modelled)

    def _asked(self, node: syntax.Call, values: list[Value]) -> Outcome:
        result = self.checked.types[node.id]
        return self.unmodelled.call(node.function, values, result, member=node.target is not None)

    def _listed(self, value: Value) -> Value:
        """Return what only the engine knows as a list, if it is a list of parts of a text."""
        parts = self.unmodelled.parts(value) if isinstance(value, EngineCall) else None
        return value if parts is None else parts

    def _readable(self, function: str, value: Text) -> Outcome:
        """`isQuantity(text)` and the like: where `quantity(text)` does not fail."""
        constant = native(value)
        if constant is not symbolic_functions.NOT_LITERAL:
            return self.unmodelled.run(function, [constant], member=False)
        call = self.unmodelled.call(_READ_BY[function], [value], types.DYN, member=False)
        return certain(Truth(negated(call.error)))

    def _of_asked(self, node: syntax.Call, values: list[Value]) -> Outcome:
        """Return the outcome of a function of what only the engine knows."""
        if node.function in _OF_ANYTHING:
            outcome = MEANINGS[node.function](values)
        else:
            outcome = compared(node.function, values)
        return self._asked(node, values) if outcome is None else outcome

    def _sought(self, element: Value, container: Value) -> None:
        """Note that an expression asks whether a list or map has something."""
        if isinstance(container, List):
            self._enter(container.sources)
        elif isinstance(container, Map):
            _asked(container, element)

    def _conditional(
        self, condition: syntax.Expr, consequent: syntax.Expr, otherwise: syntax.Expr, scope: Scope
    ) -> Outcome:
        node = self.node(condition, scope)
        yes, no = is_true(node), is_false(node)
        fails = Outcome(TRUE, ())
        # A branch that is never taken may have in it what is not modelled.
        first = FAILS if z3.is_false(yes) else self._part(consequent, scope)
        second = FAILS if z3.is_false(no) else self._part(otherwise, scope)
        return _reopened(selected(either((yes, no)), selected(yes, first, second), fails))

    def _optional_else(self, node: syntax.Call, scope: Scope) -> Outcome:
        """`optional.orValue(x)` and `optional.or(other)`: the second only where there is none."""
        assert node.target is not None
        other = self.node(node.args[0], scope)
        is_value = node.function == "orValue"

        def otherwise(value: Value) -> Outcome:
            if not isinstance(value, Maybe):
                return FAILS
            present = value.value if is_value else certain(Maybe(TRUE, value.value))
            return selected(value.presence, present, other)

        return mapped(self.node(node.target, scope), otherwise)

    # Literals.

    def _list(self, node: syntax.ListLiteral, scope: Scope) -> Outcome:
        items: list[Item] = []
        errors: list[Formula] = []
        for number, element in enumerate(node.elements):
            value = self.node(element, scope)
            errors.append(value.error)
            if number in node.optional:
                present, value, wrong = taken(value)
                errors.append(wrong)
                items.append(Item(present, value))
            else:
                items.append(Item(TRUE, value))
        error = either(errors)
        return outcome([Case(negated(error), List(tuple(items)))], error)

    def _map(self, node: syntax.MapLiteral, scope: Scope) -> Outcome:
        entries: list[Entry] = []
        errors: list[Formula] = []
        for entry in node.entries:
            key, value = self.node(entry.key, scope), self.node(entry.value, scope)
            errors += [key.error, value.error]
            present = TRUE
            if entry.optional:
                present, value, wrong = taken(value)
                errors.append(wrong)
            for case in key.cases:
                if not isinstance(case.value, Null | Truth | Int | Uint | Double | Text):
                    raise NotModelled("a key of a map that is no scalar")
                entries = [_unless_replaced(other, case.guard, case.value) for other in entries]
                entries.append(Entry(both(present, case.guard), case.value, value))
        error = either(errors)
        return outcome([Case(negated(error), Map(tuple(entries)))], error)

    # Loops.

    def _loop(self, node: syntax.Comprehension, scope: Scope) -> Outcome:
        around = self.node(node.iter_range, scope)

        def looped(values: list[Value]) -> Outcome:
            return self._looped(node, self._listed(values[0]), scope)

        return combined([around], looped, takes_asked=True)

    def _looped(self, node: syntax.Comprehension, value: Value, scope: Scope) -> Outcome:
        if isinstance(value, EngineCall):
            raise NotModelled(f"what {value.function} gives")
        if isinstance(value, Fields):
            fields = value.as_map()
            if fields is None:
                raise NotModelled("a loop over the fields of an object")
            value = fields
        if not isinstance(value, List | Map):
            return FAILS
        sources = value.sources
        # `exists_one` counts: two witnesses tell it from none.
        counts = isinstance(node.accu_init, syntax.Literal) and type(node.accu_init.value) is int
        if node.id not in self.free:
            self._enter(sources, 2 if counts else 1)
        self.within.append(sources)
        try:
            rounds = self._rounds(node, value, scope)
        finally:
            self.within.pop()
        cases = [Case(case.guard, _from(case.value, sources)) for case in rounds.cases]
        return Outcome(rounds.error, tuple(cases))

    def _enter(self, sources: frozenset[Cut], witnesses: int = 1) -> None:
        """Note that the items of inputs are looked at, one at a time. For each item of another
        input it may be another."""
        for source in sources:
            source.loops += witnesses
            for outer in self.within:
                # `containers[0].env` is a list of one item of `containers`: each item has its own,
                # with witnesses of its own. Of two lists that have nothing to do with each other,
                # each pair may matter, and no number of items is enough.
                if not any(source.path.startswith(f"{item.path}[") for item in outer):
                    for cut in (source, *outer):
                        cut.is_counted = True

    def _rounds(self, node: syntax.Comprehension, value: List | Map, scope: Scope) -> Outcome:
        inner = dict(scope)
        inner[node.accu_var] = self.node(node.accu_init, scope)
        running: Formula = TRUE
        for item, first, second in _iterated(value, two=bool(node.iter_var2)):
            inner[node.iter_var] = first
            if node.iter_var2:
                inner[node.iter_var2] = second
            before = inner[node.accu_var]
            # Conditions of macros ask `@not_strictly_false`, so none of them is an error. An item
            # that is not there is no round: it changes nothing and ends nothing.
            goes_on = self.node(node.condition, inner)
            turn = both(running, item)
            running = both(running, either((negated(item), is_true(goes_on))))
            if z3.is_false(turn):
                continue
            after = self.node(node.step, inner)
            inner[node.accu_var] = selected(both(turn, is_true(goes_on)), after, before)
        inner.pop(node.iter_var, None)
        inner.pop(node.iter_var2, None)
        return self.node(node.result, {**scope, node.accu_var: inner[node.accu_var]})


def _sizes(root: syntax.Expr) -> Iterator[int]:
    """Yield the numbers that an expression compares sizes with, and the places that it names."""
    for node in syntax.walk(root):
        if not isinstance(node, syntax.Call):
            continue
        numbers = [argument.value for argument in node.args if isinstance(argument, syntax.Literal)]
        is_place = node.function in (syntax.INDEX, syntax.OPT_INDEX)
        if is_place or (node.function in _COMPARISONS and any(map(_asks_size, node.args))):
            yield from (number for number in numbers if type(number) is int)


def _asks_size(root: syntax.Expr) -> bool:
    return any(map(_is_size, syntax.walk(root)))


def _is_size(node: syntax.Expr) -> bool:
    return isinstance(node, syntax.Call) and node.function == "size"


def _few(root: syntax.Expr) -> Iterator[tuple[int, int]]:
    """Yield each call of `size` that is compared with a small number, and that number."""
    for node in syntax.walk(root):
        if isinstance(node, syntax.Call) and node.function in _COMPARISONS:
            for item, other in (node.args, node.args[::-1]):
                if _is_size(item) and isinstance(other, syntax.Literal):
                    number = other.value
                    if type(number) is int and 0 <= number <= _FEW:
                        yield item.id, number


_COMPARISONS: Final = frozenset(
    {
        *(syntax.EQUALS, syntax.NOT_EQUALS, syntax.LESS, syntax.LESS_EQUALS),
        *(syntax.GREATER, syntax.GREATER_EQUALS),
    }
)


def _from(value: Value, sources: frozenset[Cut]) -> Value:
    """Return a value with the inputs from which a loop has made it."""
    match value:
        case List():
            return List(value.items, value.sources | sources)
        case Map():
            return Map(value.entries, value.sources | sources)
        case Int() | Uint() | Double() | Text():
            for source in sources:
                source.is_counted = True
    return value


def _iterated(value: List | Map, *, two: bool) -> list[tuple[Formula, Outcome, Outcome]]:
    """Return the guard of each round, and what its variables are."""
    if isinstance(value, Map):
        return [(entry.presence, certain(entry.key), entry.value) for entry in value.entries]
    if not two:
        return [(item.presence, item.value, item.value) for item in value.items]
    count(value)
    places = [symbolic_functions.place(value, number) for number in range(len(value.items))]
    return [
        (item.presence, certain(Int(place)), item.value)
        for item, place in zip(value.items, places, strict=True)
    ]


def taken(optional: Outcome) -> tuple[Formula, Outcome, Formula]:
    """Return where an optional has a value, what it is, and where it is no optional."""
    presence: list[Formula] = []
    cases: list[Case] = []
    wrong: list[Formula] = []
    for case in optional.cases:
        if isinstance(case.value, Maybe):
            presence.append(both(case.guard, case.value.presence))
            cases += (
                Case(both(case.guard, item.guard), item.value) for item in case.value.value.cases
            )
        else:
            wrong.append(case.guard)
    return either(presence), outcome(cases), either(wrong)


def _unless_replaced(entry: Entry, guard: Formula, key: Scalar) -> Entry:
    """Return an entry of a literal before one that has this key under a guard: of two that have the
    same key, the later one counts, even if it is left out."""
    if isinstance(key, _NUMBERS) and isinstance(entry.key, _NUMBERS):
        if type(key) is not type(entry.key):
            raise NotModelled("numbers of several kinds as keys")
    elif type(key) is not type(entry.key):
        return entry
    replaced = both(guard, equal(key, entry.key))
    return entry._replace(presence=both(entry.presence, negated(replaced)))


_NUMBERS: Final = (Int, Uint, Double)


# --- Logic -------------------------------------------------------------------


def _conjunction(*operands: Outcome) -> Outcome:
    no = either(is_false(operand) for operand in operands)
    yes = both(*(is_true(operand) for operand in operands))
    return _decided(yes, no)


def _disjunction(*operands: Outcome) -> Outcome:
    yes = either(is_true(operand) for operand in operands)
    no = both(*(is_false(operand) for operand in operands))
    return _decided(yes, no)


def _decided(yes: Formula, no: Formula) -> Outcome:
    """Return an error where neither side decides."""
    decided = either((yes, no))
    return outcome([Case(decided, Truth(yes))], negated(decided))


# --- Optionals that pass through an attribute ---------------------------------
#
# As `celadon.cel.values.typed_lists` says of the contents of optionals: a name or a conditional
# that is an optional comes out as an optional of the Go value inside.


def _reopened(outcome: Outcome) -> Outcome:
    if not any(isinstance(case.value, Maybe) for case in outcome.cases):
        return outcome
    return Outcome(
        outcome.error,
        tuple(
            Case(case.guard, Maybe(case.value.presence, mapped(case.value.value, _again)))
            if isinstance(case.value, Maybe)
            else case
            for case in outcome.cases
        ),
    )


def _again(content: Value) -> Outcome:
    """Return what the content of an optional is then: an error where nothing can be made of it."""
    match content:
        case Maybe():
            inside = mapped(content.value, _again)
            return selected(content.presence, inside, certain(Null()))
        case EngineValue(types.Type() as kind):
            return certain(literal(kind.name))
        case EngineValue(Opaque() as value):
            again = value.reopened()
            return FAILS if isinstance(again, EvaluationError) else certain(EngineValue(again))
    return certain(content)


# --- Members -----------------------------------------------------------------


def _has(value: Value, name: str) -> Outcome:
    """Evaluate `has(value.name)`."""
    match value:
        case Maybe():
            inside = mapped(value.value, lambda inner: _has(inner, name))
            return selected(value.presence, inside, certain(literal(value=False)))
        case Fields() | Map():
            return certain(Truth(_found(value, Text(solver_terms.text(name)))[0]))
        case Variables():
            return certain(literal(value=True))
        case List():
            return FAILS
    # Of what has no fields at all (a text, null), cel-go says that the field is not there.
    return certain(literal(value=False))


def _tested(value: Value, name: str) -> Outcome:
    """`has(value.name)` as a part of another attribute."""
    return (
        optional_member(value, Text(solver_terms.text(name)))
        if isinstance(value, Maybe)
        else _has(value, name)
    )


def member(value: Value, key: Value) -> Outcome:
    """Evaluate `value[key]` or `value.key`."""
    match value:
        case Maybe():
            return optional_member(value, key)
        case Variables():
            name = native(key)
            assert isinstance(name, str)
            return value.get(name)
        case _ if not isinstance(key, KEYS):
            return FAILS
        case List():
            present, member = _element(value, key)
            return FAILS if present is None else selected(present, member, FAILS)
        case Fields() | Map():
            present, member = _found(value, key)
            return selected(present, member, FAILS)
    return FAILS


def optional_member(value: Value, key: Value) -> Outcome:
    """`value[?key]`, `value.?key`: no value where there is none, and of what is none itself."""
    match value:
        case Maybe():
            inside = mapped(value.value, lambda inner: optional_member(inner, key))
            return selected(value.presence, inside, certain(Maybe(FALSE, FAILS)))
        case _ if not isinstance(key, KEYS):
            return FAILS
        case List():
            present, member = _element(value, key)
            return FAILS if present is None else certain(Maybe(present, member))
        case Fields() | Map():
            present, member = _found(value, key)
            return certain(Maybe(present, member))
    return certain(Maybe(FALSE, FAILS))


def _found(value: Fields | Map, key: Value) -> tuple[Formula, Outcome]:
    """Return where there is such an entry, and its value."""
    if isinstance(value, Map):
        _asked(value, key)
        return _first(
            [
                (both(entry.presence, same_key(key, entry.key)), entry.value)
                for entry in value.entries
            ]
        )
    name = native(key)
    if not isinstance(name, str):
        fields = value.as_map()
        if fields is None:
            raise NotModelled("a field whose name is not known")
        return _found(fields, key)
    member = value.field(name)
    return (FALSE, FAILS) if member is None else member


def _asked(value: Map, key: Value) -> None:
    """Note that an entry of a map is asked for: one more of its inputs' entries can matter, unless
    it is one that is known to be there."""
    if isinstance(key, Text) and any(
        isinstance(entry.key, Text) and entry.key.term.eq(key.term) for entry in value.entries
    ):
        return
    for source in value.sources:
        source.keys[key.term.get_id() if isinstance(key, KEYS) else -1] = key


def _element(value: List, key: Value) -> tuple[Formula | None, Outcome]:
    """Return where there is an item before which so many others are, and that item. None instead of
    a formula for what is no place in a list."""
    if isinstance(key, Double) and key.whole is not None:
        key = Int(key.whole)
    if isinstance(key, Double):
        place = native(key)
        if not isinstance(place, float):
            raise NotModelled("a place in a list that is a double")
        key = Int(solver_terms.integer(int(place))) if place.is_integer() else key
    if not isinstance(key, Int | Uint):
        return None, FAILS
    count(value)
    places = [symbolic_functions.place(value, number) for number in range(len(value.items))]
    hits = [
        (both(item.presence, same(place, key.term)), item.value)
        for item, place in zip(value.items, places, strict=True)
    ]
    return _first(hits)


def _first(hits: list[tuple[Formula, Outcome]]) -> tuple[Formula, Outcome]:
    """Return where one of these is there, of which at most one is, and its value."""
    fails = FAILS
    for guard, hit in hits:
        if any(isinstance(case.value, Maybe) for case in hit.cases):
            raise NotModelled("an optional in a list or map")
        fails = selected(guard, hit, fails)
    return either(guard for guard, _ in hits), fails
