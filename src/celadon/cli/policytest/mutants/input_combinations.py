"""Searches all combinations of the inputs that an alteration may depend on, up to a bound that is
reported.

For each kind of object a request that comes to the policy is the beginning. Its inputs (the
operation, what the expressions read, the labels that selectors look at) are each given a few
values (see below); which the API server refuses whatever else there is, are left out. Then
all combinations are asked; of too many inputs those of any three of them, or of any two, the others
as they were. Where nothing differs, the alteration makes no difference within this bound.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any, Final

from celadon.admission import Operation, PolicyFrame
from celadon.cel import syntax
from celadon.cli.policytest import referenced_fields
from celadon.cli.policytest.case_results import AuthorizerAnswer, Case
from celadon.cli.policytest.mutants import request_pool
from celadon.cli.policytest.mutants.policy_mutants import Alteration
from celadon.cli.reading.json_text import Path
from celadon.kube import Json, Ruling
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Read inputs -------------------------------------------------------------
#
# What single expressions read, directly or through variables, and what that is compared with.
#
# An input is a place of an object, as in `referenced_fields.place_of`. Beside it stand the
# literals of the comparisons that it has a part in, however far inside: of `size(object.spec.x)
# > 3` that is 3, of `object.spec.a + object.spec.b == 'ab'` it is 'ab' for both. What a loop
# makes of a list has the places of the list for its origin.

_RELATIONS: Final = frozenset(
    {
        syntax.EQUALS,
        syntax.NOT_EQUALS,
        syntax.LESS,
        syntax.LESS_EQUALS,
        syntax.GREATER,
        syntax.GREATER_EQUALS,
        syntax.IN,
        "startsWith",
        "endsWith",
        "contains",
        "matches",
        "orValue",
    }
)
"""Functions that say something about a value by way of another one."""
_QUESTIONS: Final[Mapping[str, str]] = {
    **{name: name for name in ("path", "group", "resource", "subresource", "namespace", "name")},
    "check": "verb",
}
"""Functions of authorizers, and what they ask about."""
_GIVEN: Final = frozenset(
    {
        *((root, name) for root in ("object", "oldObject") for name in ("apiVersion", "kind")),
        *(("request", name) for name in ("operation", "kind", "resource", "subResource", "uid")),
        *(("request", f"request{name}") for name in ("Kind", "Resource", "SubResource")),
    }
)
"""What follows from what is asked: from the operation, and from the kind of the object."""
_BOUND: Final[Mapping[str, Path]] = {name: (name,) for name in ("request", "namespaceObject")}
"""Variables besides those that are places everywhere."""


@dataclass(slots=True)
class Inputs:
    """Holds what expressions read. `related` are the places, each with the literals that it is
    compared with; of `keys` nobody knows whether they are such, or items of a list. `names` are the
    variables that are read (`object`, `request` ...), `literals` all that is written out,
    `questions` what an authorizer is asked: a field of the question, and its value."""

    related: dict[Path, list[Any]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    literals: list[object] = field(default_factory=list)
    keys: set[Path] = field(default_factory=set)
    questions: dict[tuple[str, str], None] = field(default_factory=dict)

    def add(self, other: Inputs) -> None:
        """Add what something else reads as well."""
        for place, values in other.related.items():
            known = self.related.setdefault(place, [])
            known += [value for value in values if value not in known]
        self.names |= other.names
        self.literals += other.literals
        self.keys |= other.keys
        self.questions |= other.questions

    def without(self, root: str) -> Inputs:
        """Return a copy without the places behind a variable."""
        result = {place: values for place, values in self.related.items() if place[0] != root}
        return Inputs(result, self.names, self.literals, self.keys, self.questions)

    @property
    def leaves(self) -> list[Path]:
        """Places in which no other is read, and which requests are free to have any value at."""
        related = [place for place in self.related if place not in self.keys]
        inner = {place[:length] for place in related for length in range(1, len(place))}
        return [place for place in related if place not in inner and place[:2] not in _GIVEN]

    def relate(self) -> None:
        """All places have to do with all literals."""
        for value in self.related.values():
            value += [literal for literal in self.literals if literal not in value]


def place_text(place: Path) -> str:
    """Return the place as people write it."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


class InputReader:
    """A reader of the expressions of one policy."""

    def __init__(self, variables: Mapping[str, syntax.Expr]) -> None:
        self._variables = variables
        self._read_variables: dict[str, Inputs] = {}

    def inputs(self, expressions: Iterable[syntax.Expr]) -> Inputs:
        """Return what some of them read together."""
        inputs = Inputs()
        for expression in expressions:
            inputs.add(self._read(expression, _BOUND, {}))
        return inputs

    def _read(
        self, node: syntax.Expr, bound: Mapping[str, Path], origins: Mapping[str, Inputs]
    ) -> Inputs:
        inputs = Inputs()
        place = referenced_fields.place_of(node, bound, self._variables)
        if place is not None and len(place) > 1:
            inputs.related[place] = []
        match node:
            case syntax.Literal(_, value) if isinstance(value, bool | int | str):
                inputs.literals.append(value)
            case syntax.Ident(_, name) if name in origins:
                inputs.add(origins[name])
            case syntax.Ident(_, name):
                inputs.names.add(name)
            case syntax.Select(_, syntax.Ident(_, "variables"), name) if name in self._variables:
                inputs.add(self._variable(name))
            case syntax.Comprehension():
                self._loop(node, bound, origins, inputs)
            case _:
                for child in syntax.children(node):
                    inputs.add(self._read(child, bound, origins))
                self._made(node, bound, inputs)
        return inputs

    def _made(self, node: syntax.Expr, bound: Mapping[str, Path], inputs: Inputs) -> None:
        """Note what calls and written objects say of what stands in them."""
        match node:
            case syntax.Call(_, syntax.IN, None, (syntax.Literal(_, str() as key), range_)):
                place = referenced_fields.place_of(range_, bound, self._variables)
                if place is not None:
                    inputs.related.setdefault((*place, key), [])
                    inputs.keys.add((*place, key))
            case syntax.Call(_, function, target, (syntax.Literal(_, str() as asked),)) if (
                target is not None and function in _QUESTIONS
            ):
                inputs.questions[_QUESTIONS[function], asked] = None
            case syntax.Struct(_, name, fields) if name == referenced_fields.PATCH:
                for item in fields:
                    if item.name == "path" and isinstance(item.value, syntax.Literal):
                        inputs.related[
                            ("object", *referenced_fields.pointer_steps(str(item.value.value)))
                        ] = []
            case syntax.Struct(_, name) if name == referenced_fields.CONFIGURATION:
                inputs.related |= {
                    place: [] for place in referenced_fields.written_places(node, ("object",))
                }
        if isinstance(node, syntax.Call) and node.function in _RELATIONS:
            inputs.relate()

    def _variable(self, name: str) -> Inputs:
        inputs = self._read_variables.get(name)
        if inputs is None:
            inputs = self._read_variables[name] = self._read(self._variables[name], _BOUND, {})
            inputs.names.add(f"variables.{name}")
        return inputs

    def _loop(
        self,
        node: syntax.Comprehension,
        bound: Mapping[str, Path],
        origins: Mapping[str, Inputs],
        inputs: Inputs,
    ) -> None:
        items = self._read(node.iter_range, bound, origins)
        inputs.add(items)
        place = referenced_fields.place_of(node.iter_range, bound, self._variables)
        variable = node.iter_var2 or node.iter_var
        inner = {key: value for key, value in bound.items() if key != variable}
        if place is not None:
            inner[variable] = (*place, 0)
            inputs.related.setdefault((*place, 0), [])
        made_of: dict[Path, list[object]] = (
            {item: [] for item in items.related} if place is None else {}
        )
        loop_origins = {**origins, variable: Inputs(made_of)}
        for child in (node.accu_init, node.condition, node.step, node.result):
            inputs.add(self._read(child, inner, loop_origins))


# --- Input values ------------------------------------------------------------
#
# Values to try at a place: nothing, and what expressions compare it with.
#
# Of each literal both neighbours are tried: one more and one less, a text with something before
# or behind it, texts as long as a number says. That is where comparisons change their minds. So
# are parts of texts, which may be put together again, and what is opposite to a number. The
# fewer inputs there are, the more values each has.

_ALL_VALUES: Final = 64
"""Values of all inputs together, of which each has its share."""
_LEAST_VALUES: Final = 6
_LONGEST: Final = 300
"""Characters of a text that is made to be as long as a number says."""
_RANGE: Final = 40
"""Up to such a number all that are less are tried as well."""
_OTHERS: Final[tuple[Json, ...]] = (
    *("other", 1, True, 0, False, {}, [], ""),
    *(["other"], ["other", "more"], {"other": "more"}),
)
"""Something of every type."""
_WORD: Final = late_pattern(r"\w+")


@dataclass(frozen=True, slots=True)
class Value:
    """Holds what may stand at a place; `second` says that it stands in an item behind the one
    that is there, of the first list on the way. None is nothing."""

    place: Path
    value: Any
    second: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """An input, and what it may be besides what it is. `place` is that of the input."""

    place: Path
    values: tuple[Value, ...]


def choices(inputs: Inputs, now: Mapping[Path, object]) -> Iterator[Choice]:
    """Yield all inputs, those that stand in others behind these. `now` is what stands at places."""
    places = sorted(inputs.related, key=len)
    most = max(_LEAST_VALUES, _ALL_VALUES // max(1, len(places)))
    second: dict[Path, list[Value]] = {}
    for place in places:
        result = list(_values(now[place], inputs.related[place], most))
        yield Choice(place, tuple(Value(place, item) for item in result))
        first = next((i for i, step in enumerate(place) if isinstance(step, int)), None)
        if first is not None:
            second_values = second.setdefault(place[:first], [])
            place_values = [now[place], *result]
            second_values += [
                Value(place, item, second=True) for item in place_values if item is not None
            ]
    for place, values in second.items():
        yield Choice((*place, 1), tuple(values[:most]))


def _values(now: object, related: Iterable[Any], most: int) -> Iterator[object]:
    """Yield null, then others than what is there, the most telling first. Where nothing is,
    nobody knows what may be there: something of every type is tried besides."""
    tried: list[object] = [now]
    if now is not None:
        yield None
    most += len(_OTHERS) if now is None else 0
    for item in _compared(list(related), now):
        is_known = any(type(item) is type(other) and item == other for other in tried)
        if (now is None or type(item) is type(now)) and not is_known:
            tried.append(item)
            yield item
            if len(tried) > most:
                return


def _compared(related: Sequence[Json], now: object) -> Iterator[object]:
    """Yield the literals, then what is like them."""
    yield from related
    numbers = [
        int(item) for item in related if isinstance(item, int) and not isinstance(item, bool)
    ]
    texts = [item for item in related if isinstance(item, str)]
    beside = [number + step for number in numbers for step in (1, -1)]
    beside += [factor - number for number in numbers for factor in (0, 1, -1)]
    beside += range(max([number for number in numbers if number <= _RANGE], default=0))
    yield from dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    if isinstance(now, list):
        yield from ([text] for text in texts)
    yield from _OTHERS
    yield from beside
    if isinstance(now, str) or now is None:
        yield from map(str, (*numbers, *beside))
        yield from ("x" * number for number in (*numbers, *beside) if 0 <= number <= _LONGEST)
    for text in texts:
        yield from (f"{text}x", f"x{text}", f"x{text}x")


# --- Policy inputs -----------------------------------------------------------
#
# What the parts of a policy read: which inputs an alteration can show in.

_Part = tuple[str, int]
"""A list of the policy, and the index of an item: its expressions belong together."""

_VARIABLES = "variables"


class PolicyInputs:
    """The policy inputs of one policy. A part is a match condition, a validation with its message,
    an annotation or a mutation; variables belong to the parts that use them."""

    def __init__(self, compiled: PolicyFrame) -> None:
        roots: dict[_Part, list[syntax.Expr]] = {}
        for expression in compiled.expressions:
            if expression.program is not None:
                section, index = expression.source.path.steps[1:3]
                roots.setdefault((str(section), int(index)), []).append(
                    expression.program.checked.root
                )
        names = list(compiled.variables)
        variables = {
            name: roots[_VARIABLES, i][0]
            for i, name in enumerate(names)
            if (_VARIABLES, i) in roots
        }
        reader = InputReader(variables)
        self._names = names
        self._parts = [
            (part, reader.inputs(root)) for part, root in roots.items() if part[0] != _VARIABLES
        ]

    def groups(self, alteration: Alteration) -> list[tuple[int, Inputs]]:
        """Return by number what those parts read that the alteration can show in; all parts for
        what is about the policy as a whole."""
        section, index = (*alteration.path[1:3], "", "")[:2]
        numbered = list(enumerate(self._parts))
        if alteration.path[:1] == ("spec",) and section == _VARIABLES:
            name = f"{_VARIABLES}.{self._names[int(index)]}"
            return [(i, inputs) for i, (_, inputs) in numbered if name in inputs.names]
        section_inputs = [(i, inputs) for i, (part, inputs) in numbered if part == (section, index)]
        return section_inputs or [(i, inputs) for i, (_, inputs) in numbered]


def with_labels(inputs: Inputs, label_values: Mapping[str, Sequence[str]]) -> Inputs:
    """Return the inputs with the labels of the object that selectors look at."""
    all_inputs = Inputs()
    all_inputs.add(inputs)
    for key, values in label_values.items():
        all_inputs.related.setdefault(("object", "metadata", "labels", key), []).extend(values)
    return all_inputs


_MOST: Final = 900
"""Combinations for one alteration."""
_LEAST: Final = 120
"""Combinations of what one expression reads, however many expressions there are."""
_MOST_BASES: Final = 3
_NAMED: Final = 6
"""Inputs that a bound names."""

_TELL_OPERATIONS: Final = frozenset({"oldObject", "request"})
"""Variables by which expressions know what a request does, short of a DELETE."""
_MATCHING: Final = frozenset({"matchConstraints", "matchResources", "paramRef"})

_Changed = Callable[[Case], Case | None]


@dataclass(frozen=True, slots=True)
class _Input:
    """Holds one input of a policy. `changes` make it something else than it is."""

    name: str
    changes: tuple[_Changed, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """Requests, and by what they are all that there are. `strength` is how many inputs are changed
    together; `inputs` are their names with the number of values, `varied` their names, and those of
    objects that have to be there. `fixed` are places that are read and could not be changed: about
    them nothing is known."""

    requests: tuple[request_pool.Generated, ...]
    count: int
    strength: int
    inputs: tuple[str, ...]
    varied: frozenset[str]
    fixed: tuple[str, ...]

    @property
    def bound(self) -> str:
        """Return what bounds the space, for people."""
        if not self.inputs:
            return "nothing that is read can have another value"
        named = ", ".join(self.inputs[:_NAMED])
        more = f" and {len(self.inputs) - _NAMED} more" if len(self.inputs) > _NAMED else ""
        any_of = f" of any {self.strength}" if self.strength < len(self.inputs) else ""
        return f"{self.count} combinations{any_of} of {named}{more}"


class InputCombinations:
    """The combinations for one policy and the requests of one test. Spaces are kept: many
    alterations share one."""

    def __init__(self, pool: request_pool.RequestPool, inputs: PolicyInputs, name: str) -> None:
        self._pool = pool
        self._inputs = inputs
        self._name = name
        self._spaces: dict[tuple[int, bool], list[Space]] = {}

    def spaces(self, alteration: Alteration) -> Iterator[Space]:
        """Yield those that an alteration may show in: of each part of the policy that it has to do
        with."""
        groups = self._inputs.groups(alteration)
        most = max(_LEAST, _MOST // max(1, len(groups) * len(self._beginnings)))
        of_matching = _is_about_matching(alteration)
        for number, group in groups:
            key = number, of_matching
            if key not in self._spaces:
                self._spaces[key] = [
                    self._space(base, group, most, of_matching=of_matching)
                    for base in self._beginnings
                ]
            yield from self._spaces[key]

    @cached_property
    def _beginnings(self) -> list[request_pool.Generated]:
        """Return a request for each kind of object; those of cases go before all others."""
        result: dict[tuple[str, str], request_pool.Generated] = {}
        for generated in self._pool.first(_LEAST):
            value = generated.case.object.value
            kind = str(value["apiVersion"]), str(value["kind"])
            beginning = result.get(kind)
            better = (
                beginning is not None and beginning.origin is None and generated.origin is not None
            )
            if self._name in generated.glance.reached and (beginning is None or better):
                result[kind] = generated
        return list(result.values())[:_MOST_BASES]

    def _space(
        self, base: request_pool.Generated, group: Inputs, most: int, *, of_matching: bool
    ) -> Space:
        base = self._replacing(base, group)
        group = group.without("oldObject") if base.case.old is None else group
        inputs = list(self._taken_inputs(base, group, of_matching=of_matching))
        sizes = [len(varied_input.changes) for varied_input in inputs]
        fitting = [number for number in range(1, len(inputs) + 1) if _count(sizes, number) <= most]
        strength = max([*fitting, min(2, len(inputs))])
        result = {id(generated): generated for generated in self._asked(base, inputs, strength)}
        names = tuple(
            f"{varied_input.name} ({len(varied_input.changes) + 1})" for varied_input in inputs
        )
        varied = {varied_input.name for varied_input in inputs} | set(
            self._needed(base.case, group)
        )
        fixed = tuple(name for name in map(place_text, group.leaves) if name not in varied)
        count = _count(sizes, strength)
        return Space(tuple(result.values()), count, strength, names, frozenset(varied), fixed)

    def _needed(self, case: Case, group: Inputs) -> Iterator[str]:
        """Objects that have to be there: of them, only what is in them can be another."""
        for place in group.leaves:
            if isinstance(self._pool.changes.value_at(case, place), dict):
                yield place_text(place)

    def _replacing(self, base: request_pool.Generated, group: Inputs) -> request_pool.Generated:
        """Return the same request as an UPDATE, where the object before it is read and that is
        possible: nothing can be different in an object that is not there."""
        if base.case.old is None and any(place[0] == "oldObject" for place in group.related):
            for case in request_pool.asked_otherwise(base.case):
                generated = self._pool.taken(case, base.origin) if case.old is not None else None
                if generated is not None and self._name in generated.glance.reached:
                    return generated
        return base

    def _asked(
        self, base: request_pool.Generated, inputs: Sequence[_Input], strength: int
    ) -> Iterator[request_pool.Generated]:
        yield base
        for count in range(1, strength + 1):
            for group_inputs in combinations(inputs, count):
                for changes in product(*(varied_input.changes for varied_input in group_inputs)):
                    generated = self._with(base, changes)
                    if generated is not None:
                        yield generated

    def _with(
        self, base: request_pool.Generated, changes: Sequence[_Changed]
    ) -> request_pool.Generated | None:
        case: Case | None = base.case
        for change in changes:
            case = None if case is None else change(case)
        return None if case is None else self._pool.taken(case, base.origin)

    def _taken_inputs(
        self, base: request_pool.Generated, group: Inputs, *, of_matching: bool
    ) -> Iterator[_Input]:
        """Yield inputs that make another request that the API server does not refuse."""
        for all_input in self._all_inputs(base.case, group, of_matching=of_matching):
            changes = ((change, self._with(base, (change,))) for change in all_input.changes)
            made_changes = tuple(
                change
                for change, generated in changes
                if generated is not None and generated is not base
            )
            if made_changes:
                yield replace(all_input, changes=made_changes)

    def _all_inputs(self, case: Case, group: Inputs, *, of_matching: bool) -> Iterator[_Input]:
        places, changes = self._pool.read, self._pool.changes
        operations = self._operations(group, of_matching=of_matching)
        yield _Input("operation", tuple(map(_asking, operations)))
        if of_matching:
            labels = tuple(
                functools.partial(_labelled, changes, namespace) for namespace in places.namespaces
            )
            yield _Input("labels of the Namespace", labels)
            group = with_labels(group, places.object_wishes)
            if changes.without_params(case) is not None:
                yield _Input("params", (changes.without_params,))
        if "authorizer" in group.names:
            yield _Input("what the authorizer says", tuple(_answers(group)))
        now = {place: changes.value_at(case, place) for place in group.related}
        for choice in choices(group, now):
            yield _Input(place_text(choice.place), tuple(map(self._putting, choice.values)))

    def _operations(self, group: Inputs, *, of_matching: bool) -> list[Operation]:
        """Return the operations under which something may be different."""
        operations = {
            operation
            for _, kind_operations in self._pool.read.kinds
            for operation in kind_operations
        }
        if not of_matching and not group.names & _TELL_OPERATIONS:
            operations &= {Operation.DELETE}
        return [operation for operation in Operation if of_matching or operation in operations]

    def _putting(self, choice: Value) -> _Changed:
        change = (
            referenced_fields.with_second_item if choice.second else referenced_fields.with_value_at
        )
        return lambda case: self._pool.changes.with_value(case, choice.place, choice.value, change)


def _is_about_matching(alteration: Alteration) -> bool:
    """Return whether it shows by which requests come to the policy, and with which params."""
    return not alteration.path or bool(_MATCHING.intersection(alteration.path))


def _count(sizes: Sequence[int], strength: int) -> int:
    """Return how many combinations there are: of so many inputs at most, each with so many
    changes."""
    return sum(
        prod(group_sizes)
        for count in range(strength + 1)
        for group_sizes in combinations(sizes, count)
    )


def _asking(operation: Operation) -> _Changed:
    def change(case: Case) -> Case | None:
        other_cases = (
            other_case
            for other_case in request_pool.asked_otherwise(case)
            if other_case.operation is operation
        )
        return next(other_cases, None)

    return change


def _answers(group: Inputs) -> Iterator[_Changed]:
    """Everything is allowed, nothing is, and what is asked about one thing."""
    no = AuthorizerAnswer(Ruling.DENY)
    yield _answered(AuthorizerAnswer(Ruling.ALLOW))
    yield _answered(no)
    for question, value in group.questions:
        yield _answered(AuthorizerAnswer(Ruling.ALLOW, {question: value}), no)


def _answered(*answers: AuthorizerAnswer) -> _Changed:
    return lambda case: replace(case, answers=answers)


def _labelled(
    changes: request_pool.CaseChanges, labels: Mapping[str, str], case: Case
) -> Case | None:
    return changes.in_namespace(case, labels)
