"""Random expressions with random objects, for what must agree with the engine.

Templates as in `tests.properties.expressions`, with those of Kubernetes' libraries; objects have
the fields that the expressions ask for, now and then with a value of another kind, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from celadon.kube import Json
from tests.properties import expressions

_SAMPLES: Final[Mapping[str, Sequence[Json]]] = {
    "i": (0, 1, -1, 2, 7, -3, 1 << 53, (1 << 63) - 1, -(1 << 63), 80, 443),
    "b": (True, False),
    "s": (
        *("", "a", "qzx", "qzx-a", "marker-text", "registry.io/a:1", "\\u{41}", "é", "\U0001f600"),
        *("A", "aA", "7", "-7", "+7", "007", "9223372036854775808", "true"),
        *(" a ", "a\nb", "$^", "a,b"),
    ),
    "d": (0.0, 1.0, -1.0, 2.25, 1e300, -0.0, 7.0, 9007199254740993.0),
    "q": ("1", "100m", "1Gi", "1G", "0", "-1", "1e3", "x", "", "1.5", "12n", "1024Mi", ".5", "5."),
    "t": ("2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "1969-12-31T23:59:59Z", "x"),
    "p": ("10.0.0.1", "10.0.0.0/8", "::1", "fe80::/10", "300.1.1.1", "10.0.0.1/8", "x"),
    "v": ("1.0.0", "1.2.3-rc.1", "v1.0.0", "0.0.1", "1.0", "x"),
    "u": ("https://example.com/a?b=c", "http://a:80", "/path", "x"),
    "k": ("1h", "90s", "-1m", "0s", "x", "1"),
}  # fmt: skip

_LEAVES: Final[Mapping[str, Sequence[str]]] = {
    "int": ["object.o.l[1]", "size(object.s)", "object.d", "uint(3)", "object.items[0].n"],
    "str": [
        *("object.q", "object.t", "object.p", "object.v", "object.u", "object.k", "object.o.s"),
        *("'1Gi'", "'10.0.0.0/8'", "'1.0.0'", "'2020-01-01T00:00:00Z'", "'1h'", "''", "'-'", "','"),
    ],
    "list": ["object.items", "object.s.split('-')", "object.items.map(y, y.name)"],
    "bool": ["object.d > 1.0", "has(object.m.k)", "has(object.?o.i)", "object == object.o"],
}

_TEMPLATES: Final[Mapping[str, Sequence[str]]] = {
    "int": [
        *("{list}.indexOf({int})", "{str}.lastIndexOf({str})", "{list}.max()", "uint({int})"),
        *("int(double({int}))", "quantity({str}).asInteger()", "semver({str}).major()"),
        *("timestamp({str}).getFullYear()", "duration({str}).getSeconds()", "math.abs({int})"),
        *("math.greatest({int}, {int})", "math.least({int}, 2)", "ip({str}).family()"),
        *("cidr({str}).prefixLength()", "quantity({str}).compareTo(quantity({str}))"),
        *("int(timestamp({str}))", "{{'a': {int}, 'b': 2}}[{str}]", "{{{int}: 1, 2: 3}}[{int}]"),
        *("math.sign({int})", "int({bool})", "math.bitAnd({int}, 7)"),
    ],
    "str": [
        *("{str}.upperAscii()", "{str}.trim()", "{str}.substring({int}, {int})"),
        *("{str}.charAt({int})",),
        *("{list}.join('-')", "{str}.replace('-', '+')", "{str}.reverse()", "url({str}).getHost()"),
        *("string({bool})", "string(quantity({str}).asApproximateFloat())", "string(ip({str}))"),
        *("{str}.find('[a-z]+')", "string(duration({str}))", "object.?s.orValue({str})"),
        *("'%s'.format([{int}])", "string({int})", "{str}.split({str})[{int}]"),
        *("{str}.split('-')[size({str}.split('-')) - 1]", "{str}.split('a')[?{int}].orValue('')"),
        *("{str}.split('a').filter(y, y != '').join('+')", "{str}.findAll('[a-z]')[{int}]"),
    ],
    "list": [
        *("{list}.slice(0, {int})", "{str}.split({str})", "{str}.split({str}, {int})"),
        *("{list}.flatten()", "{list}.distinct()", "{list}.reverse()", "{list}.sort()"),
        *("lists.range(3)", "[{str}, {str}]", "object.items.filter(y, {bool})"),
        *("{str}.findAll('[a-z]')",),
        *("[{int}] + {list}", "({bool} ? {list} : {list})"),
    ],
    "bool": [
        *("isQuantity({str})", "quantity({str}).isLessThan(quantity({str}))", "isIP({str})"),
        *("quantity({str}) == quantity({str})", "isCIDR({str})", "isSemver({str})", "isURL({str})"),
        *("cidr({str}).containsIP({str})", "cidr({str}).containsCIDR({str})"),
        *("ip({str}).isLoopback()",),
        *("ip({str}) == ip({str})", "semver({str}).isLessThan(semver({str}))", "{list}.isSorted()"),
        *("timestamp({str}) < timestamp({str})", "duration({str}) > duration({str})"),
        *("sets.intersects({list}, {list})", "sets.equivalent({list}, {list})", "bool({str})"),
        *("{str} < {str}", "{str} <= {str}", "{bool} == {bool}", "{list}.contains({int})"),
        *("({bool} ? has(object.?o.i) : {bool})", "object.o == {list}", "object.?o == object.?m"),
        *("type({int}) == int", "{list} == []", "double({int}) < 1.5", "{str} in {list}"),
        *("quantity({str}).isInteger()", "sign(quantity({str})) == {int}", "object.m == object.m"),
        *("object[{str}] == {int}", "{str} in object", "object.m.all(y, y == {str})"),
        *("quantity({str}).add(quantity('1')).isGreaterThan(quantity({str}))",),
        *("{list}.exists(x, x == {int})",),
        *("url({str}).getHostname() == {str}", "{str}.matches({str})", "{str}.matches('^a.*-')"),
        *("{str}.split('-').all(y, y.matches('^[a-z]*$'))", "size({str}.split('a')) == {int}"),
        *("{str} in {str}.split({str})", "{str}.findAll('[a-z]+').exists(y, y == {str})"),
        *("{str}.split('zx') == [{str}, '']", "{str}.split({str}, 2).all(y, y < {str})"),
        *("!format.dns1123Label().validate({str}).hasValue()",),
        *("optional.ofNonZeroValue({str}).hasValue()",),
        *("{str}.matches('[^a-c]$|^x')", "object.items.exists_one(i, i.name == {str})"),
    ],
}  # fmt: skip

_ALL_LEAVES = {kind: [*expressions.LEAVES[kind], *more] for kind, more in _LEAVES.items()}
_ALL = {kind: [*expressions.TEMPLATES[kind], *more] for kind, more in _TEMPLATES.items()}

_HOLE = re.compile(r"\{(int|str|list|bool)\}")


def expression(random: Random, kind: str, depth: int) -> str:
    """One expression of that kind, at most `depth` templates deep."""
    if depth == 0 or random.random() < 0.1:
        return random.choice(_ALL_LEAVES[kind])
    template = random.choice(_ALL[kind])
    filled = _HOLE.sub(lambda hole: expression(random, hole[1], depth - 1), template)
    return filled.replace("{{", "{").replace("}}", "}")


def value(random: Random, kind: str) -> Json:
    """A value of a kind: now and then of another one."""
    if random.random() < 0.08:
        kind = random.choice(["i", "b", "s", "d", "nul", "l", "m"])
    if kind in _SAMPLES:
        return random.choice(_SAMPLES[kind])
    few = range(random.choice([0, 1, 1, 2, 3]))
    match kind:
        case "l":
            return [value(random, "i") for _ in few]
        case "mixed":
            return [value(random, random.choice(["i", "s", "b", "d", "nul"])) for _ in few]
        case "m":
            return {
                random.choice(["k", "marker-text", "qzx", "a"]): value(random, "s") for _ in few
            }
        case "o":
            return fields(random, {"i": "i", "s": "s", "l": "l", "f": "b"})
        case "items":
            return [fields(random, {"name": "s", "n": "i", "on": "b"}) for _ in few]
    return None


def fields(random: Random, kinds: Mapping[str, str]) -> dict[str, Json]:
    """An object with most of these fields."""
    return {name: value(random, kind) for name, kind in kinds.items() if random.random() < 0.9}


def case(seed: int) -> tuple[str, dict[str, Json]]:
    """An expression and an object."""
    random = Random(seed)
    kind = random.choice(["bool", "bool", "bool", "int", "str", "list"])
    made = expression(random, kind, random.choice([1, 1, 2, 2, 3]))
    names = ("i", "b", "s", "l", "d", "nul", "mixed", "m", "o", "items")
    return made, fields(random, {name: name for name in (*names, *"qtpvuk")})
