"""Hand-picked expressions for every emitter: plain, metered and the plain interpreter agree.

What the answers must be is known from elsewhere (recordings, golden cases, the tests of values);
here each row makes both variants take a branch of their own.
"""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel import EvaluationError, Program, types
from celadon.cel.analysis.folding import fold
from celadon.cel.analysis.named_constants import constant_identifiers
from celadon.cel.analysis.tree_context import Context
from celadon.kube.library.releases import environment
from tests.properties.interpreter import Interpreter, failed, show

INPUTS: dict[str, Any] = {
    "b": True,
    "d": 2.5,
    "i": 7,
    "l": [3, 1, 2],
    "m": {"a": 1, "b": 2},
    "o": {
        "f": 1,
        "text": "abc",
        "yes": True,
        "no": False,
        "nul": None,
        "list": [1, 2, 3],
        "map": {"k": "v"},
        "deep": {"er": {"est": [{"n": 1}, {"n": 2}, {}]}},
        "mixed": [1, "a", None, 2.0, True, [1], {}],
    },
    "s": "hello",
}
ENVIRONMENT = environment("1.36").extend(
    {
        "b": types.BOOL,
        "d": types.DOUBLE,
        "i": types.INT,
        "l": types.list_of(types.INT),
        "m": types.map_of(types.STRING, types.INT),
        "o": types.DYN,
        "s": types.STRING,
    }
)
ARITHMETIC = """
i + 1
i - 9223372036854775807 - 100
i * i
i / 0
i % 0
-i
d / 0.0
d * 2.0
i + int(d)
s + s
l + l
o.f + 1
o.text + 'x'
o.list + [4]
o.f + o.text
-o.f
-o.text
o.f / o.f
o.f % 0
uint(i) - 8u
uint(i) + 1u == 8u
duration('1h') + duration('1m')
timestamp('2026-01-01T00:00:00Z') + duration('1s')
"""
COMPARISONS = """
i < 8
d >= 2.5
s <= 'z'
o.f < 2
o.f < 'a'
o.text > 'a'
o.nul < 1
b == o.yes
o.f == 1u
o.mixed == o.mixed
o.map == {'k': 'v'}
l != [3, 1]
o == o
i in l
o.f in o.list
'a' in m
o.text in o.map
o.f in o.text
s in ['a', 'hello']
3 in o.mixed
i in []
dyn(i) == 7.0
o.text in [dyn('abc'), dyn(1), dyn(2.0)]
o.nul in [dyn(null), dyn(1)]
"""
LOGIC = """
b && o.no
o.no || o.yes
o.zz || o.yes
o.yes || o.zz
o.zz && o.no
o.no && o.zz
o.f && o.no
o.f || o.no
o.f && true
!o.no
!o.f
o.zz && o.f
o.zz || 1 / 0 > 0
b ? 1 : 1 / 0
o.f ? 1 : 2
o.zz ? 1 : 2
o.no ? o.zz : o.f
!(o.yes && !o.no) || o.zz
"""
CHAINS = """
o.f
o.zz
o.f.g
o['text']
o.list[1]
o.list[9]
o.list['a']
o.list[1.0]
o.map.k
o.map[1]
o.deep.er.est[0].n
o.deep.er.est[2].n
o.deep['er'].est[o.f].n
m.a
m.zz
l[0]
l[-1]
l[i]
has(o.f)
has(o.zz)
has(o.f.g)
has(o.zz.g)
has(o.deep.er)
o.?f
o.?zz.g
o.?deep.er.?est[?0].n
o[?'zz'].orValue(3)
o.?f.g
o.?list[?7].hasValue()
[?o.?f, ?o.?zz]
o.?zz.or(o.?f).value()
o.?f.optMap(x, x + 1)
o.?zz.optMap(x, x + 1).orValue(9)
o.?map.optFlatMap(x, x.?k)
optional.none().value()
optional.ofNonZeroValue(0).hasValue()
o.nul.f
null == o.nul
"""
LOOPS = """
l.all(x, x > 0)
l.all(x, x > 1)
l.exists(x, x == 2)
l.exists(x, x == 9)
l.exists_one(x, x == 2)
l.exists_one(x, x > 0)
l.map(x, x * 2)
l.filter(x, x > 1)
l.map(x, x > 1, x * 10)
m.all(k, m[k] > 0)
m.map(k, k + '!')
o.list.all(x, x)
o.mixed.all(x, x == 1)
o.mixed.exists(x, x > 1)
o.mixed.exists_one(x, x == 1)
o.deep.er.est.all(x, has(x.n) && x.n < 2)
o.deep.er.est.exists(x, x.n == 2)
o.deep.er.est.all(x, x.n > 0)
o.deep.er.est.map(x, x.n)
o.deep.er.est.filter(x, x.n > 1)
o.f.all(x, true)
o.text.exists(x, true)
o.nul.map(x, x)
o.zz.filter(x, x)
l.map(x, l.map(y, x * y))
l.all(x, o.list.exists(y, x == y))
[].all(x, x)
{}.exists(x, x)
l.map(x, l.filter(y, y < x).map(z, z + i))
l.all(i, i > 0) && i == 7
l.map(o, o + 1)
l.transformList(j, x, j * x)
l.transformMap(j, x, x > 1, x)
m.transformMap(k, v, v + 1)
m.transformMapEntry(k, v, {v: k})
l.transformMapEntry(j, x, {'same': x})
l.all(j, x, j < 3 && x < 4)
m.exists(k, v, k == 'b' && v == 2)
l.existsOne(j, x, j == x)
o.list.filter(x, x).size()
l.map(x, x / (x - 1))
l.exists(x, x / (x - 1) > 0)
l.all(x, x / (x - 1) > 100)
l.sortBy(x, -x)
o.mixed.sortBy(x, x)
o.list.sum() == 6
"""
CALLS = """
size(s)
s.size() + l.size() + m.size()
size(o.text)
size(o.f)
s.startsWith('he')
o.text.startsWith('a')
o.f.startsWith('a')
o.list.startsWith('a')
s.matches('^h')
o.text.matches('^a.c$')
s.matches(s)
o.f.matches('a')
s.contains(o.text)
s.replace('l', 'L')
o.text.split('b')
s.substring(9)
string(o.f)
int(o.text)
int(d)
double(o.f)
bool('true')
type(o.f) == int
type(o.f) == o.f
dyn(l) == o.list
bytes(s) == b'hello'
string(o.map)
quantity('1Gi').isGreaterThan(quantity('1Mi'))
quantity(o.text)
isQuantity(o.text)
'%s %d'.format([s, i])
l.isSorted()
sets.contains(l, [1])
l.min() + l.max()
o.f.isSorted()
timestamp(s)
ip('10.0.0.1').family()
[o.f, o.f][0]
{'k': i}[s]
{o.f: 1}
{o.list: 1}
{o.nul: 1}
[o.zz]
{'a': o.zz}
'%d'.format([o.text])
"""
ROWS = [
    row
    for part in (ARITHMETIC, COMPARISONS, LOGIC, CHAINS, LOOPS, CALLS)
    for row in part.split("\n")
    if row
]


def metered(program: Program) -> tuple[str, int | None]:
    try:
        value, cost = program.evaluate_metered(INPUTS)
    except EvaluationError as error:
        return f"error: {error.message}", error.cost
    return show(value), cost


def plain(program: Program) -> str:
    try:
        return show(program.evaluate(INPUTS))
    except EvaluationError as error:
        return f"error: {error.message}"


@pytest.mark.parametrize("text", ROWS)
def test_variants_agree(text: str) -> None:
    checked = ENVIRONMENT.compile(text).checked()
    program = ENVIRONMENT.program(checked)
    declarations = ENVIRONMENT.declarations
    constants = constant_identifiers(checked, declarations)
    context = Context(
        checked,
        fold(checked, declarations.functions, constants),
        declarations.functions,
        constants,
        ENVIRONMENT.switches,
    )
    interpreter = Interpreter(context, INPUTS)
    value = interpreter.run()
    expected = f"error: {value.message}" if failed(value) else show(value)
    assert metered(program) == (expected, interpreter.cost)
    assert plain(program) == expected
