"""Answers that nobody planned, which are cel-go's all the same: both variants give them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel import CostLimitExceeded, EvaluationError, Program, ProgramError, types
from celadon.cel.values.runtime_types import Optional
from celadon.kube.library.environments import environment

ENVIRONMENT = environment("1.36").extend({"o": types.DYN, "x": types.DYN})
ACTIVATION: dict[str, Any] = {
    "o": {"s": "abc", "i": 3, "l": ["a", "b"], "m": {"k": "v"}, "n": None, "q": "2Gi"}
}


def program(text: str) -> Program:
    return ENVIRONMENT.program(ENVIRONMENT.compile(text).checked()).prepare()


def outcome(text: str) -> tuple[object, int | None]:
    """The value or the text of the error, the same of both variants, and the cost."""
    made = program(text)
    plain: object
    cost: int | None
    try:
        plain = made.evaluate(ACTIVATION)
    except EvaluationError as error:
        plain = f"! {error.message}"
    try:
        value, cost = made.evaluate_metered(ACTIVATION)
    except EvaluationError as error:
        value, cost = f"! {error.message}", error.cost
    if isinstance(value, Optional) and isinstance(plain, Optional):
        value, plain = ("optional", value.value), ("optional", plain.value)
    assert plain == value
    return value, cost


NO_KEY = "! no such key: zz"
LISTER = (
    "! internal error: interface conversion: *types.Err is not traits.Lister: missing method Add"
)
HASH = "! internal error: runtime error: hash of unhashable type "


@pytest.mark.parametrize(
    ("text", "value", "cost"),
    [
        # a search for a constant pattern takes what has a text inside, and stops at an error
        ("o.zz.matches('a+')", NO_KEY, 2),
        ("o.zz.find('a+')", NO_KEY, 2),
        ("o.zz.findAll('a+', 2)", NO_KEY, 2),
        ("o.zz.find(o.s)", NO_KEY, 5),
        ("o.m.find('a')", "! no such overload", 3),
        ("o.l.findAll('a', 1)", "! no such overload", 3),
        ("o.s.findAll('.', dyn('1'))", "! no such overload", 3),
        ("matches(o.i, 'a')", "! no such overload", 3),
        ("dyn(int).matches('^in')", True, 1),
        ("dyn(optional.of('abc')).find('b.')", "bc", 3),
        # calls whose overload is chosen late stop at an error
        ("o.zz.indexOf(o.s)", NO_KEY, 2),
        ("o.zz.indexOf(1)", NO_KEY, 3),
        ("quantity('1').add(dyn(o.zz))", NO_KEY, 5),
        ("quantity(o.zz).add(dyn(o.i))", NO_KEY, 3),
        # counting comparisons panics, and nothing absorbs that
        ("o.zz.distinct()", LISTER, 2),
        ("[[1]][3].sort()", LISTER, 2),
        ("o.zz.distinct() == [] || true", LISTER, 2),
        ("[1, 2].exists(i, i == 1 || o.zz.distinct() == [])", True, 10),
        # ... nor that Go cannot hash a key
        ("{semver('1.2.3'): o.s}", HASH + "cel.Semver", 3),
        ("{dyn(format.uuid()): o.zz}", NO_KEY, 34),
        ("{dyn(bytes(o.s)): o.i} == {} || true", HASH + "types.Bytes", 6),
        ("dyn(semver('1.2.3')) in ['a', 'b']", HASH + "cel.Semver", 2),
        ("o.m.transformMap(k, v, v).transformMapEntry(k, v, {k: v})", {"k": "v"}, 42),
        # the presence test at the end of an optional chain
        ("has(o.?m.k)", True, 2),
        ("has(o.?m.zz)", False, 1),
        ("has(o.?zz.k)", False, 0),
        ("has(o.?l.k)", "! unsupported index type 'string' in list", 1),
        ("o.zz.?a.hasValue()", NO_KEY, 3),
        ("o.zz.?a.?b", NO_KEY, 2),
        ("[o.?m][0].?k.hasValue()", False, None),
        # keys that are none
        ("o.m[o.l]", "! invalid qualifier type: []interface {}", 4),
        ("o.m[o.m]", "! invalid qualifier type: map[string]interface {}", 4),
        ("o.m[o.n]", "! invalid qualifier type: <nil>", 4),
        ("o.m[[o.i]]", "! invalid qualifier type: *types.baseList", 15),
        ("[o.l].map(i, o.m[i])", "! invalid qualifier type: *types.baseList", 28),
        # a test of presence as a part of another attribute is what it finds
        ("has(o.?m.k) ? has(o.?m.k) : false", ("optional", "v"), 4),
        ("o.i == 3 ? has(o.?m.k) : false", ("optional", "v"), 5),
        ("o.i == 3 ? has(o.?m.zz) : false", ("optional", None), 4),
        ("o.i == 3 ? has(o.m.k) : false", True, 5),
        ("!(o.i == 3 ? has(o.?m.k) : false)", "! no such overload", 6),
        ("string(o.i == 3 ? has(o.?m.k) : false)", "! no such overload: string(optional_type)", 6),
        ("(o.i == 3 ? has(o.?m.k) : false) == true", False, 6),
        ("(o.i == 3 ? has(o.?m.k) : false) || true", True, 5),
        ("o.i == 3 ? (o.i == 4 ? true : has(o.?m.k)) : false", ("optional", "v"), 8),
        ("o.i == 3 ? has(o.?l.k) : false", "! unsupported index type 'string' in list", 4),
        ("(o.i == 3 ? has(o.?m.k) : dyn(1)).zz", ("optional", None), 5),
        ("optional.of(o).optMap(x, x.i == 3 ? has(x.?m.k) : false)", ("optional", "v"), 12),
        # ... as a key it is none; what a conditional reads from an input keeps Go's classes
        ("{true: 1}[has(o.?m.k)]", "! invalid qualifier type: *types.Optional", 4),
        ("{true: 1}[has(o.m.k)]", 1, 4),
        (
            "{true: 1}[o.i == 3 ? has(o.?m.k) : true]",
            "! invalid qualifier type: *types.Optional",
            7,
        ),
        (
            "{true: 1}[o.i == 3 ? o.m : dyn(true)]",
            "! invalid qualifier type: map[string]interface {}",
            6,
        ),
        ("{true: 1}[o.i == 3 ? dyn(o.m) : true]", "! invalid qualifier type: *types.baseMap", 8),
        ("{true: 1}[(o.i == 3 ? o : o).l]", "! invalid qualifier type: []interface {}", 6),
        # a test takes back what a conditional was not charged
        ("has((o.i == 3 ? o : o).m)", True, 3),
        ("has((true ? o : o).m)", True, 0),
        # what panics is not followed by a charge
        ("o.zz.distinct()[0]", LISTER, 2),
        ("o[[o.zz.distinct()][0][0]]", LISTER, 2),
        (
            "[[1]].flatten(o.s)",
            "! internal error: interface conversion: ref.Val is types.String, not types.Int",
            2,
        ),
        (
            "[[1]].flatten(o.zz)",
            "! internal error: interface conversion: ref.Val is *types.Err, not types.Int",
            2,
        ),
        (
            "o.zz.flatten(o.s)",
            "! internal error: interface conversion: ref.Val is types.String, not types.Int",
            4,
        ),
        # a variadic call stops at an error
        ("o.zz.format([o.i])", NO_KEY, 2),
        ("o.s.format([o.zz])", NO_KEY, 15),
        # optionals that pass through an attribute
        ("o.?s.optMap(s, [s])", ("optional", ["abc"]), 18),
        ("o.?s.optMap(s, o.?i)", ("optional", 3), 6),
        ("o.?s.optMap(s, o.?zz)", ("optional", None), 5),
        ("o.?s.optMap(s, int)", ("optional", "int"), 4),
        ("o.?q.optMap(q, quantity(q)).hasValue()", True, 10),
        (
            "o.?q.optMap(q, quantity(q)).value()",
            "! unsupported conversion to ref.Val: (*resource.Quantity)2Gi",
            10,
        ),
        # what no number of another type is ordered with, and what no index is
        ("dyn(double('NaN')) < o.s", "! NaN values cannot be ordered", 3),
        ("o.s < dyn(double('NaN'))", "! no such overload", 3),
        ("o.l[dyn(1e300)]", "! unsupported index value 1e+300 in list", None),
        (
            "o.l[?dyn(-9223372036854775808.0)]",
            "! unsupported index value -9.223372036854776e+18 in list",
            None,
        ),
        (
            "o.l[dyn(9223372036854775808u)]",
            "! unsupported index value 9223372036854775808 in list",
            None,
        ),
        ("o.l[?dyn(9223372036854774784.0)]", ("optional", None), None),
        (
            "dyn(optional.of(quantity(o.q))).a",
            "! unsupported conversion to ref.Val: (*resource.Quantity)2Gi",
            6,
        ),
        (
            "dyn(optional.of(ip('::1')))[?o.i]",
            "! unsupported conversion to ref.Val: (netip.Addr)::1",
            5,
        ),
        (
            "has(dyn(optional.of(ip('::1'))).a)",
            "! unsupported conversion to ref.Val: (netip.Addr)::1",
            3,
        ),
        ("dyn(optional.of(optional.of({'a': {'b': 1}}))).?a.b", ("optional", 1), 6),
        (
            "o.?q.optMap(q, quantity(q)) == optional.of(quantity('1'))",
            "! unsupported conversion to ref.Val: (*resource.Quantity)2Gi",
            12,
        ),
        (
            "[optional.of(ip('10.0.0.1'))].map(i, i.value().family())",
            "! unsupported conversion to ref.Val: (netip.Addr)10.0.0.1",
            None,
        ),
        (
            "(o.i == 3 ? optional.of(url('https://a/b')) : optional.none()).value().getHost()",
            "! unsupported conversion to ref.Val: (*url.URL)https://a/b",
            None,
        ),
        ("[optional.of(quantity('3'))][0].hasValue()", True, None),
        # types are constants, whatever has their name
        ("[int].map(string, string) == [string]", True, 4),
        ("o.l.map(i, int) == [int, int]", True, 8),
        ("[dyn(quantity('1'))].map(i, i == true)", "! no such overload", None),
        ("[dyn(quantity('1'))].map(i, i != false)", [True], None),
        ("[dyn(quantity('1'))].map(i, true == i)", [False], None),
    ],
)
def test_accidents(text: str, value: object, cost: int | None) -> None:
    found, charged = outcome(text)
    assert found == value
    assert cost in (None, charged)


@pytest.mark.parametrize(
    "text",
    [
        "[type(1)].map(t, t)",
        "[int, int].filter(t, true)",
        "[int].all(t, t == int)",
        "{'a': int}.exists(k, t, t == int)",
        "optional.of(int).optMap(t, 1)",
        "[int].map(x, x)",
    ],
)
def test_loops_over_types(text: str) -> None:
    name = "x" if "map(x" in text else "t"
    with pytest.raises(ProgramError, match=f"^reference to undefined type: {name}$"):
        program(text)


@pytest.mark.parametrize("limit", [1_000_000, 10])
def test_a_cost_below_zero_is_over_any_limit(limit: int) -> None:
    assert outcome("has((o.i == 3 ? o.?zz : o.?m).k)") == (False, 2)
    below = program("has((true ? o.?zz : o.?m).k)")
    assert below.cost_bound(10) == float("inf")
    with pytest.raises(CostLimitExceeded) as raised:
        below.evaluate_metered(ACTIVATION, limit)
    assert raised.value.cost == (1 << 64) - 1


@pytest.mark.parametrize(
    "text",
    [
        "o[" * 200 + "'s'" + "]" * 200,
        "o[" * 200 + "true ? 's' : 'l'" + "]" * 200,
        "o[true ? " * 120 + "'s'" + " : 'l']" * 120,
    ],
)
def test_keys_within_keys(text: str) -> None:
    value, cost = outcome(text)
    assert (value, cost) == ("! no such key: abc", text.count("[") + 1)
