"""What the expressions of a policy read of an object, and the values that they compare with.

A place is the name of a variable (one of `ROOTS`) and steps into it; what a loop
reads of its items is read of the first one. Values are the literals in the expressions, and their
neighbours: one more and one less, a text with something in front of it or behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.cel import syntax
from celadon.cli.reading.json_places import Path
from celadon.records import dataclass

ROOTS: Final = frozenset({"object", "oldObject", "params", "namespaceObject"})
PATCH: Final = "JSONPatch"
CONFIGURATION: Final = "Object"
"""The types that mutations are of."""
_MOST_VALUES: Final = 40
_OTHERS: Final[tuple[Any, ...]] = (True, False, "x", 0, 1, 2, "1", [], {})
"""Values that are tried wherever something is read."""


@dataclass(frozen=True, slots=True)
class ReadPlaces:
    """Places without repetition, in the order of the expressions; values likewise."""

    places: tuple[Path, ...]
    values: tuple[Any, ...]


def read_places(
    expressions: Iterable[syntax.Expr], variables: Mapping[str, syntax.Expr]
) -> ReadPlaces:
    """Of some expressions and the variables that they may use."""
    reader = _Reader(variables)
    for one in (*variables.values(), *expressions):
        reader.read(one, {})
    values = list(_neighbours(reader.literals))
    distinct = {(type(one), str(one)): one for one in (*values[:_MOST_VALUES], *_OTHERS)}
    return ReadPlaces(tuple(dict.fromkeys(reader.places)), tuple(distinct.values()))


def _neighbours(literals: Iterable[Any]) -> Iterator[Any]:
    for one in literals:
        yield one
        if isinstance(one, int) and not isinstance(one, bool):
            beside = (int(one), int(one) + 1, int(one) - 1)
            yield from (*beside[1:], *map(str, beside))
        elif isinstance(one, str):
            yield from (f"{one}x", f"x{one}", f"x{one}x")


def _constant_map(entries: Iterable[syntax.MapEntry]) -> list[dict[str, Any]]:
    """A map of texts that is written out, if it is one."""
    found = {}
    for one in entries:
        if not (isinstance(one.key, syntax.Literal) and isinstance(one.value, syntax.Literal)):
            return []
        if not (isinstance(one.key.value, str) and isinstance(one.value.value, str)):
            return []
        found[one.key.value] = one.value.value
    return [found]


def pointer_steps(text: str) -> Iterator[str | int]:
    """The steps of a JSON pointer; every item of a list is the first one."""
    for step in text.split("/")[1:]:
        plain = step.replace("~1", "/").replace("~0", "~")
        yield 0 if plain == "-" or plain.isdecimal() else plain


def written_places(node: syntax.Expr, place: Path) -> Iterator[Path]:
    """Where a configuration writes values that are no objects."""
    match node:
        case syntax.Struct(_, _, fields):
            for one in fields:
                yield from written_places(one.value, (*place, one.name))
        case syntax.MapLiteral(_, entries):
            for entry in entries:
                if isinstance(entry.key, syntax.Literal) and isinstance(entry.key.value, str):
                    yield from written_places(entry.value, (*place, entry.key.value))
        case _:
            yield place


def place_of(
    node: syntax.Expr, bound: Mapping[str, Path], variables: Mapping[str, syntax.Expr]
) -> Path | None:
    """Where a value stands that is read as it is; None for what is made of others. `bound` are the
    items of loops."""
    match node:
        case syntax.Ident(_, name):
            if name in bound:
                return bound[name]
            return (name,) if name in ROOTS else None
        case syntax.Select(_, syntax.Ident(_, "variables"), name):
            found = variables.get(name)
            return None if found is None else place_of(found, {}, variables)
        case syntax.Select(_, operand, name):
            place = place_of(operand, bound, variables)
            return None if place is None else (*place, name)
        case syntax.Call(_, "_[_]" | "_?._" | "_[?_]", None, (operand, syntax.Literal(_, key))):
            place = place_of(operand, bound, variables)
            known = isinstance(key, str | int) and not isinstance(key, bool)
            return (*place, key) if place is not None and known else None  # type: ignore[arg-type]  # known
        case syntax.Call(_, "orValue" | "value", syntax.Call() as inner):
            return place_of(inner, bound, variables)
        case syntax.Call(_, "_?_:_", None, (_, first, _)):
            return place_of(first, bound, variables)
        case _:
            return None


class _Reader:
    def __init__(self, variables: Mapping[str, syntax.Expr]) -> None:
        self._variables = variables
        self.places: list[Path] = []
        self.literals: list[Any] = []

    def read(self, node: syntax.Expr, bound: Mapping[str, Path]) -> None:
        """Takes in a node and all below it; `bound` are the items of loops."""
        place = place_of(node, bound, self._variables)
        if place is not None and len(place) > 1:
            self.places.append(place)
        match node:
            case syntax.Literal(_, value) if isinstance(value, bool | int | str):
                self.literals.append(value)
            case syntax.Select(_, operand):
                self.read(operand, bound)
            case syntax.Call(_, _, target, args):
                for one in (*args, *(() if target is None else (target,))):
                    self.read(one, bound)
                self._keys(node, bound)
            case syntax.ListLiteral() | syntax.MapLiteral() | syntax.Struct():
                for one in syntax.children(node):
                    self.read(one, bound)
                self._made(node)
            case syntax.Comprehension():
                self._loop(node, bound)
            case _:
                return

    def _keys(self, node: syntax.Call, bound: Mapping[str, Path]) -> None:
        """`'key' in object.metadata.labels` reads that label."""
        if node.function == "@in" and len(node.args) == 2:
            key, place = node.args[0], place_of(node.args[1], bound, self._variables)
            if isinstance(key, syntax.Literal) and isinstance(key.value, str) and place:
                self.places.append((*place, key.value))

    def _made(self, node: syntax.Expr) -> None:
        """What a mutation writes is what it would find if it had nothing to do."""
        match node:
            case syntax.MapLiteral(_, entries):
                self.literals += _constant_map(entries)
            case syntax.Struct(_, name, fields) if name == PATCH:
                for path in (one.value for one in fields if one.name == "path"):
                    if isinstance(path, syntax.Literal) and isinstance(path.value, str):
                        self.places.append(("object", *pointer_steps(path.value)))
            case syntax.Struct(_, name) if name == CONFIGURATION:
                self.places += written_places(node, ("object",))
            case _:
                return

    def _loop(self, node: syntax.Comprehension, bound: Mapping[str, Path]) -> None:
        self.read(node.iter_range, bound)
        place = place_of(node.iter_range, bound, self._variables)
        inner = dict(bound)
        if place is not None:
            inner[node.iter_var] = (*place, 0)
            self.places.append((*place, 0))
        for one in (node.accu_init, node.condition, node.step, node.result):
            self.read(one, inner)
