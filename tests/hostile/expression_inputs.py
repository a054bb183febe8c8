"""Expressions: for `celadon eval`, which stops them at the cost that policies have."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from tests.hostile.hostile_case import BROKEN, OK, Content, HostileCase, evaluated, texts

_LONG: Final = 90_000
"""Code points; an expression of 100,000 is refused."""


def _bound(first: str, link: str, count: int, last: str) -> Content:
    """`cel.bind(v1, LINK of v0, cel.bind(v2, LINK of v1, ...))`."""

    def make() -> str:
        names = [f"v{i}" for i in range(count)]
        head = f"cel.bind(v0, {first}, "
        for before, name in pairwise(names):
            head += f"cel.bind({name}, {link.replace('V', before)}, "
        return head + last.replace("V", names[-1]) + ")" * count

    return make


def _mapped(count: int, step: str, first: str, last: str) -> Content:
    """A chain of calls, one behind the other."""
    return lambda: first + step * count + last


def _nested(opening: str, core: str, closing: str, count: int) -> Content:
    return lambda: opening * count + core + closing * count


def _big() -> str:
    return texts(
        {
            "apiVersion": "v1",
            "kind": "X",
            "items": [{"a": {"b": [i, str(i)]}} for i in range(25_000)],
        }
    )


def _long_text() -> str:
    return texts({"apiVersion": "v1", "kind": "X", "a": "a" * 850_000, "items": ["a" * 10] * 4000})


_SHARED: Final = {
    "doubled lists": _bound("[1]", "V + V", 40, "V.size()"),
    "doubled lists, shown": _bound("[1]", "V + V", 22, "V"),
    "doubled lists, walked": _bound("[1]", "V + V", 22, "V.all(x, x == 1)"),
    "doubled lists, searched": _bound("[1]", "V + V", 22, "2 in V"),
    "doubled lists, reversed": _bound("[1]", "V + V", 22, "V.reverse().size()"),
    "doubled lists, sliced": _bound("[1]", "V + V", 22, "V.slice(0, 4000000).size()"),
    "doubled lists, compared": _bound("[1]", "V + V", 22, "V == V + []"),
    "doubled lists, sorted": _bound("[1]", "V + V", 22, "V.sort()"),
    "doubled lists, summed": _bound("[1]", "V + V", 22, "V.sum()"),
    "doubled texts": _bound("'ab'", "V + V", 40, "V.size()"),
    "doubled texts, shown": _bound("'ab'", "V + V", 22, "V"),
    "doubled bytes": _bound("b'ab'", "V + V", 40, "V.size()"),
    "doubled wide texts": _bound("'\U0001f4a3'", "V + V", 40, "V.size()"),
    "pairs of pairs": _bound("[1]", "[V, V]", 100, "V == V"),
    "pairs of pairs, both built": _bound("[1]", "[V, V]", 100, "[V] == [V]"),
    "pairs of pairs, shown": _bound("[1]", "[V, V]", 100, "V"),
    "pairs of pairs, flattened": _bound("[1]", "[V, V]", 100, "V.flatten(200)"),
    "pairs of empty lists, flattened": _bound("[]", "[V, V]", 100, "V.flatten(200)"),
    "pairs of pairs, formatted": _bound("[1]", "[V, V]", 100, "'%s'.format([V])"),
    "pairs of pairs, distinct": _bound("[1]", "[V, V]", 100, "[V, V, V].distinct().size()"),
    "pairs of pairs, found": _bound("[1]", "[V, V]", 100, "V in [[1], V]"),
    "pairs of pairs as sets": _bound("[1]", "[V, V]", 100, "sets.contains([V], [V])"),
    "pairs of pairs, sorted": _bound("[1]", "[V, V]", 100, "[V, V].sort()"),
    "pairs of pairs as a key": _bound("[1]", "[V, V]", 100, "{'a': 1}[dyn(V)]"),
    "pairs of pairs as text": _bound("[1]", "[V, V]", 100, "string(dyn(V))"),
    "pairs of pairs, joined": _bound("['a']", "[dyn(V), dyn(V)]", 100, "dyn(V).join()"),
    "maps of maps": _bound("{'a': 1}", "{'a': V, 'b': V}", 100, "V == V"),
    "maps of maps, shown": _bound("{'a': 1}", "{'a': V, 'b': V}", 100, "V"),
    "maps of maps, formatted": _bound("{'a': 1}", "{'a': V, 'b': V}", 100, "'%s'.format([V])"),
    "optionals of pairs": _bound("[1]", "[optional.of(V), optional.of(V)]", 80, "V == V"),
    "mapped pairs": _mapped(100, ".map(x, [x, x])", "[1]", " == [1]"),
    "mapped and flattened": _mapped(40, ".map(x, [x, x]).flatten()", "[1]", ".size()"),
    "doubled in calls": _mapped(60, ".map(x, x + x)", "[[1]]", "[0].size()"),
    "repeatedly replaced": _mapped(60, ".replace('a', 'aa')", "'a'", ".size()"),
    "replaced everywhere": lambda: "'a'.replace('', object.a).replace('', object.a).size()",
    "joined": lambda: "object.items.join(object.a).size()",
    "split and joined": lambda: "object.a.split('').join(object.a).size()",
}

_LOOPS: Final = {
    "a long range": lambda: "lists.range(9000000000000000000).size()",
    "a range at the limit": lambda: "lists.range(999000)",
    "loops in loops": lambda: (
        "lists.range(1000).all(a, lists.range(1000).all(b, "
        "lists.range(1000).all(c, a + b + c >= 0)))"
    ),
    "loops over the object": lambda: "object.items.all(a, object.items.all(b, a.a == b.a))",
    "comparing the object": lambda: "lists.range(100).all(a, object == object)",
    "deep loops": _nested("[1, 2].all(x, ", "true", ")", 20),
    "deep maps": _nested("[1, 2].map(x, ", "x", ")", 17),
    "transformed maps": lambda: "lists.range(50000).transformMapEntry(i, v, {string(i): v}).size()",
    "maps that grow": lambda: "lists.range(50000).transformMap(i, v, v).size()",
    "sorted by itself": lambda: "lists.range(600).sortBy(x, -x).size()",
    "distinct objects": lambda: "object.items.distinct().size()",
}

_CALLS: Final = {
    "precision without end": lambda: "'%.999999999f'.format([1.0])",
    "precision, many times": lambda: (
        "'" + "%.1000000f" * 2000 + "'.format(lists.range(2000).map(x, 1.5))"
    ),
    "great factors": lambda: " * ".join(["9000000000000000000"] * 500),
    "number of many digits": lambda: "9" * 90_000,
    "text of many digits as int": lambda: "int('" + "9" * 90_000 + "')",
    "text of many digits as double": lambda: "double('" + "9" * 90_000 + "')",
    "text of many digits as quantity": lambda: "quantity('" + "9" * 90_000 + "')",
    "quantity with a great exponent": lambda: "quantity('1e999999999')",
    "quantity with a small exponent": lambda: "quantity('1e-999999999').asApproximateFloat()",
    "versions without end": lambda: "semver('1.1.1-" + "1." * 40_000 + "1')",
    "duration without end": lambda: "duration('" + "1h" * 40_000 + "')",
    "timestamp without end": lambda: "timestamp('2000-01-01T00:00:00." + "1" * 90_000 + "Z')",
    "address without end": lambda: "isIP('" + "1:" * 40_000 + "')",
    "URL without end": lambda: "isURL('http://" + "a." * 40_000 + "/')",
    "label without end": lambda: "format.dns1123Label().value().validate('" + "a" * 90_000 + "')",
    "base64 without end": lambda: "base64.decode('" + "QUFB" * 20_000 + "').size()",
    "shifted bits": lambda: "math.bitShiftLeft(1, 9000000000000000000)",
}

_PATTERNS: Final = {
    "many patterns": lambda: " || ".join(
        f"object.a.matches('a{{{n}}}b{{{n}}}')" for n in range(100, 900)
    ),
    "nested repetition": lambda: "object.a.matches('((a{0,30}){0,30}){0,30}$')",
    "repetition over the limit": lambda: "object.a.matches('(a{1000}){1000}')",
    "nested stars": lambda: "object.a.matches('(a*)*b')",
    "backtracking": lambda: "object.a.matches('(x+x+)+y|(a|aa)+$|(.*)*b')",
    "alternatives": lambda: "object.a.matches('" + "|".join(f"a{i}" for i in range(9000)) + "')",
    "classes": lambda: "object.a.matches('" + "[^a-z]" * 9000 + "')",
    "groups": lambda: "object.a.matches('" + "(" * 900 + ")" * 900 + "')",
    "wide classes": lambda: "object.a.matches('" + "\\\\\\\\pL" * 3000 + "')",
    "unicode without case": lambda: (
        "object.a.matches('(?i)" + "[\\\\\\\\pL\\\\\\\\d]+" * 900 + "')"
    ),
    "all matches": lambda: "object.a.findAll('a*?').size()",
    "all matches of a bad pattern": lambda: "object.a.findAll('(a|aa)*b').size()",
    "patterns that are not constant": lambda: "object.items.all(x, object.a.matches(x + '*b'))",
}

_SYNTAX: Final = {
    "parentheses": _nested("(", "1", ")", 40_000),
    "lists": _nested("[", "1", "]", 40_000),
    "maps": _nested("{1:", "1", "}", 20_000),
    "minus signs": lambda: "-" * _LONG + "1",
    "exclamation marks": lambda: "!" * _LONG + "true",
    "conditions": lambda: "true ? 1 : " * 8000 + "1",
    "conditions in conditions": _nested("true ? (", "1", ") : 2", 200),
    "a long sum": lambda: "+".join(["1"] * 45_000),
    "a long disjunction": lambda: "||".join(["false"] * 12_000),
    "a long conjunction of names": lambda: "&&".join(["object.kind == 'X'"] * 4000),
    "a long list": lambda: "[" + ",".join(["1"] * 45_000) + "]",
    "a long map": lambda: "{" + ",".join(f"{i}:1" for i in range(10_000)) + "}",
    "a long chain of fields": lambda: "object" + ".a" * 40_000,
    "a long chain of indices": lambda: "object" + "[0]" * 25_000,
    "a long chain of calls": lambda: "'a'" + ".trim()" * 12_000,
    "a long chain of questions": lambda: "object" + ".?a" * 25_000,
    "tests of fields": lambda: " && ".join(["has(object.a)"] * 5000),
    "macros in macros": _nested("[1].exists(x, ", "x == 1", ")", 200),
    "macros that double": _nested("[[1]].map(x, ", "x", ", [x])", 10),
    "bindings in bindings": _nested("cel.bind(x, 1, ", "x", ")", 200),
    "two-variable loops": _nested("{1: 1}.all(k, v, ", "true", ")", 100),
    "a name without end": lambda: "a" * _LONG,
    "a text without end": lambda: "'" + "a" * _LONG,
    "a text full of escapes": lambda: "'" + "\\u0041" * 15_000 + "'.size()",
    "mistakes": lambda: "1 +* " * 15_000,
    "many unknown names": lambda: " + ".join(f"x{i}" for i in range(12_000)),
    "many unknown functions": lambda: " + ".join(f"f{i}()" for i in range(10_000)),
    "more than may be": lambda: "1+" * 60_000 + "1",
    "a megabyte": lambda: "1+" * 450_000 + "1",
    "control characters": lambda: "\x00\x1b" * 40_000,
    "comments": lambda: "// x\n" * 18_000 + "1",
    "lines": lambda: "\n" * _LONG + "1 + true",
    "messages": lambda: "".join(f"Msg{i}{{" for i in range(5000)),
}

_ANY: Final = (OK, BROKEN)

CASES: Final[tuple[HostileCase, ...]] = tuple(
    evaluated(f"cel: {name}", make, *_ANY, object=given)
    for group, given in (
        (_SHARED, _long_text),
        (_LOOPS, _big),
        (_CALLS, _long_text),
        (
            _PATTERNS,
            lambda: texts(
                {"apiVersion": "v1", "kind": "X", "a": "a" * 300, "items": ["a" * 3] * 500}
            ),
        ),
        (_SYNTAX, lambda: texts({"apiVersion": "v1", "kind": "X", "a": 1})),
    )
    for name, make in group.items()
)
