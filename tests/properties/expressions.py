"""Random CEL expressions: mostly well typed, often failing at run time, always parseable.

Each kind of expression is a list of templates; `{int}`, `{str}`, `{list}` and `{bool}` in one are
replaced by expressions of that kind, one level less deep. At level 0 only leaves are used.
"""

from __future__ import annotations

import re
from random import Random

from hypothesis import strategies as st

#: What the expressions run on. `nul`, `zz` (absent) and the mixed list make errors likely.
OBJECT = {
    "i": 7,
    "b": True,
    "s": "marker-text",
    "l": [5, 6, 7],
    "d": 2.25,
    "nul": None,
    "mixed": [1, "one", True, None, 1.0],
    "m": {"k": "v", "marker-text": "x"},
    "o": {"i": -2, "s": "zz", "l": [1], "f": False},
    "items": [{"name": "a", "n": 1}, {"name": "b"}, {"name": "a", "n": 3, "on": True}],
}

#: In every string literal, so that its appearance in generated source can be looked for.
MARKER = "qzx"

LEAVES = {
    "int": [
        "0", "1", "2", "-3", "9223372036854775807", "object.i", "object.o.i", "object.zz",
        "object.nul", "x", "y", "object.l[0]", "object.l[9]", "object.s", "size(object.l)",
    ],
    "str": [
        f"'{MARKER}'", f"'{MARKER}-a'", "object.s", "object.o.s", "object.m['k']", "x",
        "object.items[0].name", "object.i",
    ],
    "list": ["object.l", "object.o.l", "[]", "[1, 2]", "object.mixed", "object.m"],
    "bool": [
        "true", "false", "object.b", "object.o.f", "object.zz", "object.nul", "has(object.o.i)",
        "has(object.zz)", "has(object.nul.x)", "x", "has(x.n)",
    ],
}  # fmt: skip

TEMPLATES = {
    "int": [
        "({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} / {int})",
        "({int} % {int})", "size({list})", "size({str})", "({bool} ? {int} : {int})",
        "{list}[{int}]", "object.?o.?i.orValue({int})", "object.?zz.?i.orValue({int})",
        "object[?'i'].optMap(x, x + {int}).orValue(1)", "{list}.sum()", "int({str})", "-({int})",
        "object.?m[?{str}].optMap(y, 1).orValue(2)", "object[?{str}][?{int}].orValue({int})",
        "object.?l[?0].optMap(y, {int}).or(optional.of({int})).value()", "{str}.indexOf({str})",
    ],
    "str": [
        "({str} + {str})", "string({int})", "{str}.replace({str}, {str})", "{str}.substring({int})",
        "object.m[{str}]", "{str}.lowerAscii()", f"'{MARKER}%s %d'.format([{{str}}, {{int}}])",
        "({bool} ? {str} : {str})", f"{{str}}.split('{MARKER}')[0]",
    ],
    "list": [
        "[{int}, {int}]", "({list} + {list})", "{list}.map(x, {int})",
        "{list}.map(y, {bool}, {int})",
        "{list}.filter(x, {bool})", "{list}.transformList(x, y, {int})", "{list}.sortBy(x, {int})",
        f"[{{{{'{MARKER}': {{int}}}}}}]", "{list}.transformMap(x, y, {int}).map(x, x)",
        "object.m.transformMapEntry(x, y, {{x: {int}}}).map(x, x)", "[?object.?zz, ?object.?i]",
    ],
    "bool": [
        "({bool} && {bool})", "({bool} || {bool})", "({bool} && {bool} && {bool})", "!({bool})",
        "({int} == {int})", "({int} != {int})", "({int} < {int})", "({int} >= {int})",
        "({str} == {str})", f"({{str}} == '{MARKER}')", "({int} in {list})", "({str} in object.m)",
        f"({{str}} in ['{MARKER}', '{MARKER}b'])", "{str}.startsWith({str})", "({list} == {list})",
        f"{{str}}.endsWith('{MARKER}')", f"{{str}}.contains('{MARKER}')", "({int} in [0, 1, 5])",
        f"{{str}}.matches('^[a-z{MARKER}]+$')", "{list}.all(x, {bool})", "{list}.exists(y, {bool})",
        "{list}.exists_one(x, {bool})", "{list}.all(x, y, {bool})", "object.?o.?f.hasValue()",
        "object.items.all(i, i.name == {str} && {bool})",
        "object.items.exists(i, has(i.n) && i.n > {int})",
        "({bool} ? {bool} : {bool})", f"sets.contains(['{MARKER}'], {{list}})",
        "dyn({int}) == {str}",
    ],
}  # fmt: skip

_HOLE = re.compile(r"\{(int|str|list|bool)\}")


def generate(random: Random, kind: str, depth: int) -> str:
    """One expression of that kind, at most `depth` templates deep."""
    if depth == 0 or random.random() < 0.15:
        return random.choice(LEAVES[kind])
    template = random.choice(TEMPLATES[kind])
    filled = _HOLE.sub(lambda hole: generate(random, hole[1], depth - 1), template)
    return filled.replace("{{", "{").replace("}}", "}")


@st.composite
def _expressions(draw: st.DrawFn) -> str:
    depth = draw(st.integers(0, 4))
    kind = draw(st.sampled_from(sorted(TEMPLATES)))
    return generate(Random(draw(st.integers(0, 1 << 32))), kind, depth)


expressions = _expressions()
