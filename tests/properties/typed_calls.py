"""Random, well typed expressions made from the records of functions: every overload can come up.

`draw_expression` picks an overload with a fitting result type and makes an expression for each of
its parameters, so a function that is added to a library is tested without being named here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from celadon.cel import syntax, types
from celadon.cel.declarations import Function, Overload
from celadon.cel.types import Kind, Type

#: What there is of each type without a call; the names are variables.
LEAVES: Mapping[str, Sequence[str]] = {
    "bool": ("true", "b"),
    "int": ("0", "1", "-7", "3", "i"),
    "uint": ("0u", "5u"),
    "double": ("0.0", "-2.5", "1e300"),
    "string": ("''", "'a'", "'abcabc'", "'[a-c]+'", "'10.0.0.0/8'", "'1.2.3'", "s", "t"),
    "bytes": ("b''", "b'ab'", "bytes(s)"),
    "null_type": ("null",),
    "google.protobuf.Timestamp": ("timestamp(0)", "timestamp('2024-02-29T22:05:06.789Z')"),
    "google.protobuf.Duration": ("duration('1h')", "duration('-1ms')"),
}
LISTS: Mapping[str, Sequence[str]] = {"int": ("l",), "string": ("words",)}
ANY = ("d", "d.items", "d.name", "i", "s", "l", "{'a': l}")

_INFIX = {
    syntax.ADD: "+", syntax.SUBTRACT: "-", syntax.MULTIPLY: "*", syntax.DIVIDE: "/",
    syntax.MODULO: "%", syntax.EQUALS: "==", syntax.NOT_EQUALS: "!=", syntax.LESS: "<",
    syntax.LESS_EQUALS: "<=", syntax.GREATER: ">", syntax.GREATER_EQUALS: ">=", syntax.IN: "in",
    syntax.LOGICAL_AND: "&&", syntax.LOGICAL_OR: "||",
}  # fmt: skip
_PREFIX = {syntax.NEGATE: "-", syntax.LOGICAL_NOT: "!"}
_STANDS_FOR = (types.STRING, types.INT)
"""What is put in the place of a type parameter."""


class Calls:
    """The overloads of some functions, by the kind and name of what they return."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._returning: dict[tuple[Kind, str], list[tuple[str, Overload]]] = {}
        for function in functions.values():
            for overload in function.overloads:
                if is_callable(function.name):
                    key = overload.result.kind, overload.result.name
                    self._returning.setdefault(key, []).append((function.name, overload))

    def overloads(self) -> list[tuple[str, Overload]]:
        return [one for row in self._returning.values() for one in row]

    def expression(self, random: Random, wanted: Type, depth: int) -> str:
        """An expression of that type, at most `depth` calls deep where leaves allow."""
        leaves = _leaves(random, wanted)
        if leaves and (depth <= 0 or random.random() < 0.2):
            return random.choice(leaves)
        if wanted.kind is Kind.LIST and random.random() < 0.4:
            return self._loop(random, wanted, depth)
        found = self._returning.get((wanted.kind, wanted.name), [])
        fitting = [one for one in found if _fits(one[1].result, wanted)]
        if depth <= 0:
            fitting = [one for one in fitting if all(_leaves(random, p) for p in one[1].params)]
        if not fitting:
            return random.choice(leaves) if leaves else "dyn(d)"
        name, overload = random.choice(fitting)
        return self.call(random, name, overload, depth)

    def call(self, random: Random, name: str, overload: Overload, depth: int) -> str:
        """A call of that overload."""
        stands_for = random.choice(_STANDS_FOR)
        args = [
            self.expression(random, _instance(param, stands_for), depth - 1)
            for param in overload.params
        ]
        return written(name, overload.member, args)

    def _loop(self, random: Random, wanted: Type, depth: int) -> str:
        over = self.expression(random, types.list_of(types.STRING), depth - 1)
        variable = random.choice("xyz")
        if wanted.params and wanted.params[0] == types.STRING and random.random() < 0.5:
            return f"{over}.filter({variable}, {variable}.size() < {random.randrange(9)})"
        element = self.expression(random, wanted.params[0], depth - 1) if wanted.params else "1"
        return f"{over}.map({variable}, {element})"


def is_callable(name: str) -> bool:
    """Whether expressions can call it: not what only macros call, nor what the server asks."""
    return "@" not in name and name not in ("check",)


def written(name: str, member: bool, args: Sequence[str]) -> str:
    if name in _INFIX:
        return f"({args[0]} {_INFIX[name]} {args[1]})"
    if name in _PREFIX:
        return f"{_PREFIX[name]}({args[0]})"
    if name == syntax.CONDITIONAL:
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if name in (syntax.INDEX, syntax.OPT_INDEX):
        return f"{args[0]}[{'?' if name == syntax.OPT_INDEX else ''}{args[1]}]"
    if name == syntax.OPT_SELECT:
        return f"{args[0]}.?name"
    if member:
        return f"{args[0]}.{name}({', '.join(args[1:])})"
    return f"{name}({', '.join(args)})"


def _leaves(random: Random, wanted: Type) -> Sequence[str]:
    if wanted.kind is Kind.LIST and wanted.params:
        inner = _leaves(random, wanted.params[0])
        parts = ", ".join(random.choice(inner) for _ in range(random.randrange(3))) if inner else ""
        return (f"[{parts}]", *LISTS.get(wanted.params[0].name, ()))
    if wanted.kind is Kind.MAP:
        return ("{'a': d.name}", "{1: l}", "d")
    if wanted.kind in (Kind.DYN, Kind.TYPE_PARAM, Kind.ANY):
        return ANY
    return LEAVES.get(wanted.name, ())


def _fits(result: Type, wanted: Type) -> bool:
    """Kinds and names agree already; parameters that are open fit anything."""
    return len(result.params) == len(wanted.params) and all(
        one.kind is Kind.TYPE_PARAM or one == other
        for one, other in zip(result.params, wanted.params, strict=True)
    )


def _instance(t: Type, stands_for: Type) -> Type:
    if t.kind is Kind.TYPE_PARAM:
        return stands_for
    return Type(t.kind, t.name, tuple(_instance(p, stands_for) for p in t.params))
