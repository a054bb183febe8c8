"""Random expressions, directed by types: every overload of every function can come up.

`Expressions.piece` makes an expression of a wanted type: a leaf, a call of any overload that
returns the type, a conditional, something read out of a list, map or optional, or a macro. Now and
then a part is of another type than it should be, behind `dyn(...)` or read from the object, because
what happens on errors is where implementations differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from celadon.cel import Environment, types
from celadon.cel.declarations import Overload
from celadon.cel.types import Kind, Type
from tests.fuzz.pieces import HOLE, Piece
from tests.properties.typed_calls import is_callable, written

LEAVES: Mapping[str, Sequence[str]] = {
    "bool": (
        *("true", "false", "object.b", "object.o.b", "has(object.s)", "has(object.zz.a)"),
        *("has(object.?m.k)", "has(object.?zz.a)"),
    ),
    "int": (
        *("0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808"),
        *("object.i", "object.o.i", "object.neg", "object.zz", "object.l[0]", "object.l[9]"),
    ),
    "uint": ("0u", "1u", "18446744073709551615u", "uint(object.i)"),
    "double": ("0.0", "-0.0", "1.5", "1e300", "-2.5e-3", "object.d", "double(object.i)"),
    "string": (
        *("''", "'a'", "'abc'", "'10.0.0.1'", "'10.0.0.0/8'", "'1.2.3'", "'1Gi'", "'é🐱'"),
        *("'[a-c]+'", "'https://a.b:8/c?d=e'", "'2024-02-29T01:02:03Z'", "'1h30m'", "'uuid'"),
        *("object.s", "object.o.s", "object.m.k", "object.sl[0]", "object.zz", "object.t"),
    ),
    "bytes": ("b''", "b'ab'", "bytes(object.s)"),
    "null_type": ("null", "object.n"),
    "google.protobuf.Timestamp": (
        *("timestamp(0)", "timestamp('2024-02-29T22:05:06.789+01:00')"),
        *("timestamp(object.t)", "timestamp(object.i)"),
    ),
    "google.protobuf.Duration": ("duration('1h')", "duration('-1ms')", "duration(object.s)"),
    "type": ("int", "string", "list", "type(object)", "optional_type", "google.protobuf.Duration"),
    "dyn": (
        *("object", "object.i", "object.s", "object.l", "object.m", "object.n", "object.zz"),
        *("object.o", "object.ml", "object.mix", "object.d", "object.sl", "object.ll", "object.el"),
    ),
}
"""Per name of a type; `zz` is never there."""

LISTS: Mapping[str, Sequence[str]] = {
    "int": ("object.l", "[1, 2, 3]"),
    "string": ("object.sl", "['b', 'a', 'b']"),
    "dyn": ("object.mix", "object.ml", "object.l", "object.zz", "object.el"),
}
NAMES = ("x", "y", "self", "int", "k", "v", "e1", "node", "list", "names", "object", "c", "L")
"""What loop variables are called: names of variables, of types, of ours."""

_SCALARS = (
    *(types.BOOL, types.INT, types.UINT, types.DOUBLE, types.STRING, types.BYTES),
    *(types.TIMESTAMP, types.DURATION, types.DYN, types.NULL),
)
_ABSTRACT: Mapping[str, Sequence[str]] = {
    "kubernetes.Quantity": ("quantity('1Gi')", "quantity(object.q)", "quantity('1').add(2)"),
    "net.IP": ("ip('10.0.0.1')", "ip('::1')", "ip(object.ip)"),
    "net.CIDR": ("cidr('10.0.0.0/8')", "cidr('::/0')"),
    "kubernetes.URL": ("url('https://a.b/c')", "url(object.s)"),
    "kubernetes.Semver": ("semver('1.2.3')", "semver(object.s, true)"),
    "kubernetes.NamedFormat": ("format.uuid()", "format.dns1123Label()"),
}
_WRONG = 0.06
"""How often a part is of a type that it should not have."""

SIMPLEST: Mapping[str, str] = {
    **{name: leaves[0] for name, leaves in (*LEAVES.items(), *_ABSTRACT.items())},
    "list": "[]",
    "map": "{}",
    "optional_type": "optional.none()",
}
"""The leaf that a smaller text has in the place of a piece, by its kind."""


class Expressions:
    """Makes expressions that an environment knows, from a source of chance. `inputs` are what is
    there besides `object`, of any type."""

    def __init__(
        self, environment: Environment, random: Random, inputs: Sequence[str] = ()
    ) -> None:
        self._random = random
        self._dynamic = (*LEAVES["dyn"], *inputs)
        self._returning: dict[tuple[Kind, str], list[tuple[str, Overload]]] = {}
        self._names: list[tuple[str, Type]] = []
        for function in environment.declarations.functions.values():
            for overload in function.overloads:
                if is_callable(function.name):
                    key = overload.result.kind, overload.result.name
                    self._returning.setdefault(key, []).append((function.name, overload))
                    if overload.result.kind is Kind.TYPE_PARAM:
                        self._open.append((function.name, overload))

    @property
    def _open(self) -> list[tuple[str, Overload]]:
        """Overloads whose result is of any type."""
        return self._returning.setdefault((Kind.TYPE_PARAM, "*"), [])

    def any_piece(self, depth: int) -> Piece:
        """An expression of any type."""
        return self.piece(self._any_type(), depth)

    def piece(self, wanted: Type, depth: int) -> Piece:
        """An expression of that type, mostly; `depth` pieces deep at most."""
        random = self._random
        if random.random() < _WRONG:
            return Piece(wanted.name, f"dyn({HOLE})", (self.piece(self._any_type(), depth - 1),))
        bound = [name for name, t in self._names if t == wanted]
        if bound and random.random() < 0.5:
            return Piece(wanted.name, random.choice(bound))
        if depth <= 0:
            return self._leaf(wanted)
        ways: tuple[Callable[[Type, int], Piece], ...] = (
            *(self._leaf, self._call, self._call, self._call, self._call),
            *(self._conditional, self._read, self._macro, self._macro),
        )
        return random.choice(ways)(wanted, depth - 1)

    # --- ways to make one -------------------------------------------------------------------------

    def _leaf(self, wanted: Type, depth: int = 0) -> Piece:
        random = self._random
        match wanted.kind:
            case Kind.LIST:
                element = wanted.params[0] if wanted.params else types.DYN
                if element.name in LISTS and random.random() < 0.6:
                    return Piece("list", random.choice(LISTS[element.name]))
                count = random.randrange(3)
                return self._listed([self._leaf(element) for _ in range(count)])
            case Kind.MAP:
                key, value = wanted.params or (types.STRING, types.DYN)
                if random.random() < 0.4:
                    return Piece("map", random.choice(("object.m", "object", "{}")))
                entry = (self._leaf(key), self._leaf(value))
                return Piece("map", f"{{{HOLE}: {HOLE}}}", entry)
            case Kind.OPAQUE if types.is_optional(wanted):
                inner = wanted.params[0] if wanted.params else types.DYN
                if random.random() < 0.4:
                    leaf = random.choice(("object.?s", "object.?zz.?a", "object.?o.?i"))
                    return Piece("optional_type", leaf)
                return Piece("optional_type", f"optional.of({HOLE})", (self._leaf(inner),))
            case _:
                leaves = LEAVES.get(wanted.name) or _ABSTRACT.get(wanted.name)
                if not leaves or wanted.kind is Kind.DYN:
                    leaves = self._dynamic
                return Piece(wanted.name, random.choice(leaves))

    def _listed(self, parts: Sequence[Piece]) -> Piece:
        return Piece("list", "[" + ", ".join(HOLE for _ in parts) + "]", tuple(parts))

    def _call(self, wanted: Type, depth: int) -> Piece:
        random = self._random
        found = self._returning.get((wanted.kind, wanted.name), [])
        fitting = [one for one in found if len(one[1].result.params) == len(wanted.params)]
        if not fitting or random.random() < 0.1:
            fitting = fitting + self._open
        if not fitting:
            return self._leaf(wanted)
        name, overload = random.choice(fitting)
        chosen = _bindings(overload.result, wanted) or {}
        parts = [self.piece(self._instance(p, chosen), depth) for p in overload.params]
        template = written(name, overload.member, [HOLE] * len(parts))
        return Piece(wanted.name, template, tuple(parts[: template.count(HOLE)]))

    def _conditional(self, wanted: Type, depth: int) -> Piece:
        parts = (
            self.piece(types.BOOL, depth),
            self.piece(wanted, depth),
            self.piece(wanted, depth),
        )
        return Piece(wanted.name, f"({HOLE} ? {HOLE} : {HOLE})", parts)

    def _read(self, wanted: Type, depth: int) -> Piece:
        """Out of an optional, a list or a map; or whether there is something to read."""
        random = self._random
        if wanted.kind is Kind.BOOL and random.random() < 0.4:
            read = self.piece(random.choice((types.DYN, types.optional_of(types.DYN))), depth)
            return Piece("bool", f"has({HOLE}.{random.choice(('a', 'k', 'm', '?o.i'))})", (read,))
        optional, index = types.optional_of(wanted), random.choice(("0", "1", "-1", "object.i"))
        name = wanted.name
        match random.randrange(6):
            case 0:
                return Piece(name, f"{HOLE}.value()", (self.piece(optional, depth),))
            case 1:
                parts = self.piece(optional, depth), self.piece(wanted, depth)
                return Piece(name, f"{HOLE}.orValue({HOLE})", parts)
            case 2:
                return Piece(name, f"{HOLE}[{index}]", (self.piece(types.list_of(wanted), depth),))
            case 3:
                a_map = types.map_of(types.STRING, wanted)
                parts = self.piece(a_map, depth), self.piece(types.STRING, depth)
                return Piece(name, f"{HOLE}[{HOLE}]", parts)
            case 4:
                parts = self.piece(types.list_of(wanted), depth), self.piece(types.INT, depth)
                return Piece(name, f"{HOLE}[?{HOLE}].value()", parts)
            case _:
                key = self.piece(self._any_type(), depth)
                return Piece(name, f"object.{random.choice('mo')}[{HOLE}]", (key,))

    def _macro(self, wanted: Type, depth: int) -> Piece:
        random = self._random
        element = self._any_type()
        over = self.piece(types.list_of(element), depth)
        one, two = random.sample(NAMES, 2)
        if wanted.kind is Kind.BOOL:
            name = random.choice(("all", "exists", "exists_one", "existsOne"))
            if name == "existsOne" or random.random() < 0.4:
                test = self._within(types.BOOL, depth, {one: types.INT, two: element})
                return Piece("bool", f"{HOLE}.{name}({one}, {two}, {HOLE})", (over, test))
            test = self._within(types.BOOL, depth, {one: element})
            return Piece("bool", f"{HOLE}.{name}({one}, {HOLE})", (over, test))
        if wanted.kind is Kind.LIST and wanted.params:
            return self._list_macro(wanted.params[0], depth, (one, two), element, over)
        if types.is_optional(wanted) and wanted.params:
            source = self.piece(types.optional_of(element), depth)
            flat = random.random() < 0.5
            inner = wanted if flat else wanted.params[0]
            made = self._within(inner, depth, {one: element})
            macro = "optFlatMap" if flat else "optMap"
            return Piece("optional_type", f"{HOLE}.{macro}({one}, {HOLE})", (source, made))
        if wanted.kind is Kind.MAP and len(wanted.params) == 2:
            made = self._within(wanted.params[1], depth, {one: types.STRING, two: element})
            a_map = self.piece(types.map_of(types.STRING, element), depth)
            return Piece("map", f"{HOLE}.transformMap({one}, {two}, {HOLE})", (a_map, made))
        return self._call(wanted, depth)

    def _list_macro(
        self, element: Type, depth: int, names: tuple[str, str], source: Type, over: Piece
    ) -> Piece:
        one, two = names
        made = self._within(element, depth, {one: source})
        match self._random.randrange(5):
            case 0:
                test = self._within(types.BOOL, depth, {one: element})
                same = self.piece(types.list_of(element), depth)
                return Piece("list", f"{HOLE}.filter({one}, {HOLE})", (same, test))
            case 1:
                key = self._within(self._random.choice(_SCALARS), depth, {one: element})
                same = self.piece(types.list_of(element), depth)
                return Piece("list", f"{HOLE}.sortBy({one}, {HOLE})", (same, key))
            case 2:
                test = self._within(types.BOOL, depth, {one: source})
                return Piece("list", f"{HOLE}.map({one}, {HOLE}, {HOLE})", (over, test, made))
            case 3:
                made = self._within(element, depth, {one: types.INT, two: source})
                return Piece("list", f"{HOLE}.transformList({one}, {two}, {HOLE})", (over, made))
            case _:
                return Piece("list", f"{HOLE}.map({one}, {HOLE})", (over, made))

    def _within(self, wanted: Type, depth: int, names: Mapping[str, Type]) -> Piece:
        outer, self._names = self._names, [*self._names, *names.items()]
        made = self.piece(wanted, depth)
        self._names = outer
        return made

    # --- types ------------------------------------------------------------------------------------

    def _any_type(self, depth: int = 2) -> Type:
        random = self._random
        chance = random.random()
        if depth and chance < 0.12:
            return types.list_of(self._any_type(depth - 1))
        if depth and chance < 0.2:
            return types.map_of(types.STRING, self._any_type(depth - 1))
        if depth and chance < 0.3:
            return types.optional_of(self._any_type(depth - 1))
        if chance < 0.36:
            return types.TYPE
        if chance < 0.48:
            name = random.choice(tuple(_ABSTRACT))
            kind = Kind.OPAQUE if name.startswith("net.") else Kind.OBJECT
            return Type(kind, name)
        return random.choice(_SCALARS)

    def _instance(self, t: Type, chosen: dict[str, Type]) -> Type:
        if t.kind is Kind.TYPE_PARAM:
            return chosen.setdefault(t.name, self._random.choice(_SCALARS))
        return Type(t.kind, t.name, tuple(self._instance(p, chosen) for p in t.params))


def _bindings(open_type: Type, wanted: Type) -> dict[str, Type]:
    """What the parameters of a type must stand for so that it is the wanted one."""
    if open_type.kind is Kind.TYPE_PARAM:
        return {open_type.name: wanted}
    found: dict[str, Type] = {}
    for one, other in zip(open_type.params, wanted.params, strict=False):
        found.update(_bindings(one, other))
    return found


def pools(campaign: str) -> Mapping[str, Sequence[str]]:
    """Texts that a campaign about policies draws from, by the place they stand in."""
    texts = json.loads(Path(__file__).with_name("pools.json").read_text())
    return MappingProxyType({name: tuple(found) for name, found in texts[campaign].items()})


_EDITS = "()[]{}.,?:+-*/%!=<>&|'\"\\`@# \n0aé"


def damaged(random: Random, text: str) -> str:
    """The text with a few characters changed, for what is said about texts that do not parse."""
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(_EDITS) * random.randrange(2) + text[at + 1 :]
    return text


def objects() -> list[dict[str, Any]]:
    """What expressions run on: the same names, with other things behind them."""
    full: dict[str, Any] = {
        "b": True, "i": 7, "neg": -3, "d": 2.25, "s": "abcabc", "n": None, "q": "1Gi",
        "ip": "10.0.0.1", "t": "2024-02-29T01:02:03Z", "l": [5, 6, 7], "sl": ["b", "a", "b"],
        "ll": [[1], [2, 3]], "el": [], "m": {"k": "v", "a": "b"}, "mix": [1, "a", None, 1.5, [1]],
        "ml": [{"a": 1}, {"a": 2, "b": "x"}], "o": {"i": -2, "s": "zz", "b": False, "l": [1]},
    }  # fmt: skip
    other = {name: index for index, name in enumerate(full)}
    return [full, {**full, "s": "1h", "i": 0, "l": [], "m": {}, "sl": ["a"], "o": None}, other]
