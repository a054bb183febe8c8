"""What single expressions read, directly or through variables, and what that is compared with.

An input is a place of an object, as in `first_tests.read_places`. Beside it stand the literals of
the comparisons that it has a part in, however far inside: of `size(object.spec.x) > 3` that is 3,
of `object.spec.a + object.spec.b == 'ab'` it is 'ab' for both. What a loop makes of a list has the
places of the list for its origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from celadon.cel import syntax
from celadon.cli.policy_tests.first_tests.read_places import (
    CONFIGURATION,
    PATCH,
    place_of,
    pointer_steps,
    written_places,
)
from celadon.cli.reading.json_places import Path
from celadon.records import dataclass

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
_BOUND: Final[Mapping[str, Path]] = {one: (one,) for one in ("request", "namespaceObject")}
"""Variables besides those that are places everywhere."""


@dataclass(slots=True)
class Inputs:
    """`related` are the places, each with the literals that it is compared with; of `keys` nobody
    knows whether they are such, or items of a list. `names` are the variables that are read
    (`object`, `request` ...), `literals` all that is written out, `questions` what an authorizer is
    asked: a field of the question, and its value."""

    related: dict[Path, list[Any]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    literals: list[Any] = field(default_factory=list)
    keys: set[Path] = field(default_factory=set)
    questions: dict[tuple[str, str], None] = field(default_factory=dict)

    def add(self, other: Inputs) -> None:
        """What something else reads as well."""
        for place, values in other.related.items():
            known = self.related.setdefault(place, [])
            known += [one for one in values if one not in known]
        self.names |= other.names
        self.literals += other.literals
        self.keys |= other.keys
        self.questions |= other.questions

    def without(self, root: str) -> Inputs:
        """The same without the places behind a variable."""
        kept = {place: values for place, values in self.related.items() if place[0] != root}
        return Inputs(kept, self.names, self.literals, self.keys, self.questions)

    @property
    def leaves(self) -> list[Path]:
        """Places in which no other is read, and which requests are free to have any value at."""
        known = [one for one in self.related if one not in self.keys]
        inner = {place[:length] for place in known for length in range(1, len(place))}
        return [one for one in known if one not in inner and one[:2] not in _GIVEN]

    def relate(self) -> None:
        """All places have to do with all literals."""
        for known in self.related.values():
            known += [one for one in self.literals if one not in known]


def place_text(place: Path) -> str:
    """As people write it."""
    steps = (f"[{one}]" if isinstance(one, int) else f".{one}" for one in place)
    return "".join(steps).removeprefix(".")


class InputReader:
    """For the expressions of one policy."""

    def __init__(self, variables: Mapping[str, syntax.Expr]) -> None:
        self._variables = variables
        self._read_variables: dict[str, Inputs] = {}

    def inputs(self, expressions: Iterable[syntax.Expr]) -> Inputs:
        """Of some of them together."""
        found = Inputs()
        for one in expressions:
            found.add(self._read(one, _BOUND, {}))
        return found

    def _read(
        self, node: syntax.Expr, bound: Mapping[str, Path], origins: Mapping[str, Inputs]
    ) -> Inputs:
        found = Inputs()
        place = place_of(node, bound, self._variables)
        if place is not None and len(place) > 1:
            found.related[place] = []
        match node:
            case syntax.Literal(_, value) if isinstance(value, bool | int | str):
                found.literals.append(value)
            case syntax.Ident(_, name) if name in origins:
                found.add(origins[name])
            case syntax.Ident(_, name):
                found.names.add(name)
            case syntax.Select(_, syntax.Ident(_, "variables"), name) if name in self._variables:
                found.add(self._variable(name))
            case syntax.Comprehension():
                self._loop(node, bound, origins, found)
            case _:
                for one in syntax.children(node):
                    found.add(self._read(one, bound, origins))
                self._made(node, bound, found)
        return found

    def _made(self, node: syntax.Expr, bound: Mapping[str, Path], found: Inputs) -> None:
        """What calls and written objects say of what stands in them."""
        match node:
            case syntax.Call(_, syntax.IN, None, (syntax.Literal(_, str() as key), range_)):
                place = place_of(range_, bound, self._variables)
                if place is not None:
                    found.related.setdefault((*place, key), [])
                    found.keys.add((*place, key))
            case syntax.Call(_, function, target, (syntax.Literal(_, str() as asked),)) if (
                target is not None and function in _QUESTIONS
            ):
                found.questions[_QUESTIONS[function], asked] = None
            case syntax.Struct(_, name, fields) if name == PATCH:
                for one in fields:
                    if one.name == "path" and isinstance(one.value, syntax.Literal):
                        found.related[("object", *pointer_steps(str(one.value.value)))] = []
            case syntax.Struct(_, name) if name == CONFIGURATION:
                found.related |= {place: [] for place in written_places(node, ("object",))}
        if isinstance(node, syntax.Call) and node.function in _RELATIONS:
            found.relate()

    def _variable(self, name: str) -> Inputs:
        known = self._read_variables.get(name)
        if known is None:
            known = self._read_variables[name] = self._read(self._variables[name], _BOUND, {})
            known.names.add(f"variables.{name}")
        return known

    def _loop(
        self,
        node: syntax.Comprehension,
        bound: Mapping[str, Path],
        origins: Mapping[str, Inputs],
        found: Inputs,
    ) -> None:
        items = self._read(node.iter_range, bound, origins)
        found.add(items)
        place = place_of(node.iter_range, bound, self._variables)
        item = node.iter_var2 or node.iter_var
        inner = {key: value for key, value in bound.items() if key != item}
        if place is not None:
            inner[item] = (*place, 0)
            found.related.setdefault((*place, 0), [])
        made_of: dict[Path, list[Any]] = {one: [] for one in items.related} if place is None else {}
        own = {**origins, item: Inputs(made_of)}
        for one in (node.accu_init, node.condition, node.step, node.result):
            found.add(self._read(one, inner, own))
