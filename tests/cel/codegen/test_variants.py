"""Hand-picked expressions for every emitter: plain, metered and the plain interpreter agree.

What the answers must be is known from elsewhere (recordings, golden cases, the tests of values);
here each row makes both variants take a branch of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import pytest

from celadon.cel import CheckedAst, Environment, EvaluationError, Program, types
from celadon.cel.analysis.constant_folding import constant_identifiers, fold
from celadon.cel.analysis.tree_context import Context
from celadon.cel.values.maps import make_map
from celadon.cel.values.runtime_types import Opaque
from celadon.cel.values.text import Uint
from celadon.kube.library.environments import environment as release
from tests.paths import ROOT
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
ENVIRONMENT = release("1.36").extend(
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
o.?zz.?a.orValue(optional.none())[dyn('')]
o.?zz.or(optional.of(optional.of(o))).orValue(1)['f']
o.yes ? dyn(dyn(optional.of(optional.of(int)))).orValue(timestamp(0)) : timestamp(0)
o.yes ? (dyn([optional.of(int)]) + [timestamp(0)])[0] : timestamp(0)
[dyn(optional.of({'a': 1})), o][0][dyn('a')]
{'k': dyn(optional.of(o)), 'l': o}.k[dyn('f')]
[optional.of(quantity('1Gi'))].map(x, x).size()
[optional.of(ip('1.2.3.4'))].filter(x, true).size()
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
string(o.text)
int(o.f)
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
REMEMBERED = """
quantity('1.5Gi').add(quantity('512Mi')) == quantity('2Gi')
quantity('2Gi') == quantity('1.5Gi').add(quantity('512Mi'))
quantity(o.text).add(1)
quantity(o.f)
quantity('x')
quantity(dyn([]))
quantity(dyn(1))
isQuantity(dyn({}))
isQuantity('x')
isQuantity(o.f)
isQuantity(o.nul)
sign(quantity('1').add(2).sub(quantity('3')))
['1', '1', 'x'].map(x, isQuantity(x))
[dyn('1'), dyn('1'), o.text].map(x, quantity(x)).size()
dyn(quantity('1')).isLessThan(o.f)
semver('1.2.3').isLessThan(semver('1.2.3-rc.1'))
semver('1.2.3+a').compareTo(semver('1.2.3+b'))
semver(o.text)
isSemver('1.2.3') && isSemver('v1.2', true) && !isSemver(o.text)
ip('10.0.0.1') == ip('10.0.0.1')
cidr('10.0.0.0/8').containsIP(o.text)
cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))
cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/9'))
cidr(o.text)
url('https://[::1]:80/a').getHostname() + url('/a').getHostname()
url(o.text).getHost()
isURL(o.text)
"""
COLLECTED = """
l.map(x, x * 2).map(y, y + 1)
l.filter(x, x > 1).map(y, y + 1).filter(z, z > 3)
l.filter(x, x > 1).exists_one(y, y == 2)
o.mixed.filter(x, x == 1).map(y, y)
l.map(x, 6 / (x - 1)).exists(y, y > 2)
l.map(x, 6 / (x - 1)).filter(y, y > 2)
l.map(x, x > 1, x)
m.filter(k, k != 'a').map(k, m[k])
l.map(x, l.map(y, x + y).filter(z, z > i)).filter(w, size(w) > 0)
l.all(x, x < o.deep.er.est[0].n)
[].all(x, x < o.zz.y)
l.all(x, x > 0 && o.deep.er.est[x].n > 0)
l.exists(x, o.map.k == 'v' && l.exists(y, o.map.k == 'v' && x == y))
m.all(k, v, v > 0)
o.map.all(k, v, k < v)
o.list.all(k, v, k < v)
[9223372036854775807, 1, -1].sum()
[dyn(1), dyn(2.0)].sum()
[dyn(1), dyn('a')].isSorted()
['b', 'a'].isSorted()
[3, 2].isSorted()
[dyn('a'), dyn(1)].join(',')
o.list.map(x, string(x)).join(',')
o.mixed.map(x, x).join(',')
"""
ROWS = [
    row
    for part in (ARITHMETIC, COMPARISONS, LOGIC, CHAINS, LOOPS, CALLS, REMEMBERED, COLLECTED)
    for row in part.split("\n")
    if row
]


@cache
def compiled(environment: Environment, text: str) -> tuple[CheckedAst, Program]:
    checked = environment.compile(text).checked()
    return checked, environment.program(checked)


def costed(
    evaluate: Callable[..., tuple[Any, int]], inputs: dict[str, Any]
) -> tuple[str, int | None]:
    try:
        value, cost = evaluate(inputs)
    except EvaluationError as error:
        return f"error: {error.message}", error.cost
    return show(value), cost


def plain(program: Program, inputs: dict[str, Any]) -> str:
    try:
        return show(program.prepare().evaluate(inputs))
    except EvaluationError as error:
        return f"error: {error.message}"


OPEN = ENVIRONMENT.extend({"p": types.DYN, "q": types.DYN})
OPERANDS: tuple[Any, ...] = (
    "abc",
    "",
    1,
    7,
    True,
    None,
    2.5,
    b"abc",
    Uint(1),
    [1, "abc", None],
    {"abc": 1},
    make_map([(True, "a")]),
    ENVIRONMENT.program(ENVIRONMENT.compile("quantity('1')").checked()).evaluate({}),
)
TEMPLATES = """
p in q
p == q
p.startsWith(q)
p.endsWith(q)
p.contains(q)
p + ' ' + q + '!'
'a' + p + q
p + q + 'a'
'%s has %d%%'.format([p, q])
'%d %s'.format([p, q])
p.map(x, q).join('-')
p.map(x, x).join(q)
p.all(k, v, v != q)
p.filter(x, x != q).map(x, x)
p.sum() == q
p.isSorted() || q.isSorted()
quantity(p).isLessThan(quantity(q))
"""


@pytest.mark.parametrize("text", TEMPLATES.split("\n")[1:-1])
def test_variants_agree_on_any_operands(text: str) -> None:
    for p, q in product(OPERANDS, repeat=2):
        agree(OPEN, text, {"p": p, "q": q})


class _GaveUp(BaseException):
    """Raised in place of what decides where a variant gives up."""


def gives_up(program: Program, variant: str, inputs: dict[str, Any]) -> bool:
    """Whether a variant leaves the answer to the metered one; whoever is not there does."""
    module = program._plain_module() if variant == "plain" else program._counted_module()
    function = module.functions.get(variant)
    if function is None:
        return True

    def give_up(*_: object) -> None:
        raise _GaveUp

    names = function.__globals__
    exact = names["exact"]
    names["exact"] = give_up
    try:
        function(inputs)
    except _GaveUp:
        return True
    finally:
        names["exact"] = exact
    return False


def is_value(program: Program, inputs: dict[str, Any]) -> bool:
    return not plain(program, inputs).startswith("error: ")


GIVING_UP = {
    **dict.fromkeys(
        ("o.zz || o.yes", "o.zz && o.no", "o.f && o.no", "o.mixed.exists(x, x > 1)"),
        ("plain", "counted"),
    ),
    **dict.fromkeys(
        (
            "o.?zz.?a.orValue(optional.none())[dyn('')]",
            "o.?zz.or(optional.of(optional.of(o))).orValue(1)['f']",
            "o.yes ? dyn(dyn(optional.of(optional.of(int)))).orValue(timestamp(0)) : timestamp(0)",
            "[optional.of(quantity('1Gi'))].map(x, x).size()",
            "[optional.of(ip('1.2.3.4'))].filter(x, true).size()",
        ),
        ("plain", "counted"),
    ),
    **dict.fromkeys(
        (
            "o.?deep.er.?est[?0].n",
            "o.?list[?7].hasValue()",
            "o.yes ? (dyn([optional.of(int)]) + [timestamp(0)])[0] : timestamp(0)",
        ),
        ("counted",),
    ),
    "[].all(x, x < o.zz.y)": ("plain",),
}
"""Expressions with a value that a quick variant cannot find: an error has to be left behind, or
what it is depends on what is in an optional. Of all others a mistake in a variant would show."""


@pytest.mark.parametrize("text", ROWS)
def test_who_gives_up(text: str) -> None:
    _, program = compiled(ENVIRONMENT, text)
    if is_value(program, INPUTS):
        variants = [one for one in ("plain", "counted") if gives_up(program, one, INPUTS)]
        assert tuple(variants) == GIVING_UP.get(text, ())


@pytest.mark.parametrize("text", TEMPLATES.split("\n")[1:-1])
def test_who_gives_up_on_any_operands(text: str) -> None:
    """Nobody, but where Python would ask an opaque value whether it is what stands before it."""
    _, program = compiled(OPEN, text)
    for p, q in product(OPERANDS, repeat=2):
        inputs = {"p": p, "q": q}
        if is_value(program, inputs):
            for variant in ("plain", "counted"):
                has_given_up = gives_up(program, variant, inputs)
                assert not has_given_up or isinstance(q, Opaque), (variant, inputs)


GENERATED = ROOT / "tests" / "cases" / "cel" / "generated.txt"


def test_generated_modules(request: pytest.FixtureRequest) -> None:
    """The source of plain variants, and of all variants of calls, which `pytest --update-golden`
    writes anew, to be read like code: a form that is never taken changes no answer."""
    written = ""
    for part in (ARITHMETIC, COMPARISONS, CHAINS, CALLS):
        for row in filter(None, part.split("\n")):
            _, program = compiled(ENVIRONMENT, row)
            written += f"# {row}\n{program.source}\n"
            if part == CALLS:
                written += f"{program.counted_source}\n{program.metered_source}\n"
    written = re.sub(r"\n{2,}", "\n", written)
    if request.config.getoption("--update-golden"):
        GENERATED.write_text(written, encoding="utf-8")
    assert written == GENERATED.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ROWS)
def test_variants_agree(text: str) -> None:
    agree(ENVIRONMENT, text, INPUTS)


def agree(environment: Environment, text: str, inputs: dict[str, Any]) -> None:
    checked, program = compiled(environment, text)
    declarations = environment.declarations
    constants = constant_identifiers(checked, declarations)
    context = Context(
        checked,
        fold(checked, declarations.functions, constants),
        declarations.functions,
        constants,
        environment.switches,
    )
    interpreter = Interpreter(context, inputs)
    value = interpreter.run()
    expected = f"error: {value.message}" if failed(value) else show(value)
    assert costed(program.evaluate_metered, inputs) == (expected, interpreter.cost)
    assert costed(program.evaluate_exactly, inputs) == (expected, interpreter.cost)
    assert plain(program, inputs) == expected
