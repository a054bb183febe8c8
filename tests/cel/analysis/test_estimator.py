"""Estimated costs: literals, chains, calls, loops, with and without known sizes."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, Switches, types
from celadon.cel.cost import Range
from celadon.cel.libraries import comprehensions, lists, optionals, sets, strings
from celadon.cel.types import Type

ANY = (1 << 64) - 1
VARIABLES: dict[str, Type] = {
    "b": types.BOOL,
    "d": types.DYN,
    "l": types.list_of(types.STRING),
    "m": types.map_of(types.STRING, types.INT),
    "n": types.INT,
    "s": types.STRING,
    "t": types.STRING,
    "w": types.map_of(types.STRING, types.STRING),
}
LIBRARIES = (
    optionals.library(),
    strings.library(),
    lists.library(),
    sets.LIBRARY,
    comprehensions.LIBRARY,
    comprehensions.bindings(),
)
ENVIRONMENT = Environment(VARIABLES, libraries=LIBRARIES, switches=Switches(optional_syntax=True))


class Known:
    """Ten elements or characters in what is named first, twenty in the second, and so on."""

    def __init__(self, *paths: tuple[str, ...]) -> None:
        self._paths = paths

    def size(self, path: tuple[str, ...], type_: Type) -> Range | None:
        if path not in self._paths:
            return None
        return Range(0, 10 * (1 + self._paths.index(path)))


def estimate(text: str, sizes: Known | None = None) -> tuple[int, int]:
    found = ENVIRONMENT.estimate(ENVIRONMENT.compile(text).checked(), sizes)
    return found.min, found.max


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("true", 0, 0),
        ("n", 1, 1),
        ("n + 1", 2, 2),
        ("n + 1 == 2", 3, 3),
        ("-n", 2, 2),
        ("[1, 2]", 10, 10),
        ("[n]", 11, 11),
        ("{'a': n}", 31, 31),
        ("d.f", 1, 1),
        ("m.f", 2, 2),
        ("has(m.f)", 2, 2),
        ("b ? n : n + 1", 2, 3),
        ("n == n", 3, 3),
        ("d == n", 3, 3),
        ("optional.of(n) == optional.of(1)", 4, 4),
        ("b && n > 1", 1, 3),
        ("b || n > 1", 1, 3),
        ("'abc' == 'abc'", 1, 1),
        ("duration('1h')", 1, 1),
        ("l.all(e, true)", 2, ANY),
        ("[1, 2, 3].all(e, e > 0)", 20, 26),
        ("[1, 2].map(e, e + 1)", 49, 49),
        ("[].exists(e, true)", 11, 11),
        ("optional.of(n).orValue(1)", 3, 3),
    ],
)
def test_costs(text: str, low: int, high: int) -> None:
    assert estimate(text) == (low, high)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("s.contains('ab')", [("s",)]),
        ("s.matches('^a+$')", [("s",)]),
        ("l.all(e, e == 'a')", [("l",), ("l", "@items")]),
        ("m.all(k, m[k] > 0)", [("m",), ("m", "@keys")]),
        ("s + s == s", [("s",)]),
        ("s in l", [("s",), ("l",), ("l", "@items")]),
        ("l.map(e, e + 'x').size() > 3", [("l",), ("l", "@items")]),
    ],
)
def test_known_sizes_bound_the_cost(text: str, paths: list[tuple[str, ...]]) -> None:
    low, high = estimate(text, Known(*paths))
    assert low <= high < 1_000
    assert estimate(text)[1] > high


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("(n == 1 ? [] : ['abc'])[0].contains('a')", 13, 14),
        ("(b ? {} : {'abc': 1}).exists(x, x.contains('a'))", 32, 38),
        ("(b ? l : ['abc'])[0].contains('a')", 3, 1844674407370955276),
        ("['abc'].filter(c, true)[0].contains('a')", 23, 36),
        ("['abc', 'ab'].map(c, c)[0].contains('a')", 48, 49),
        ("[].transformList(i, v, true, 'x')[2].contains('a')", 22, 23),
        ("[['a'], []].filter(x, true)[0][0].contains('a')", 45, 1844674407370955333),
        ("strings.quote(s).contains('a')", 2, 1844674407370955265),
        ("strings.quote(d).lowerAscii()", 2, 1844674407370955266),
        ("bytes(s) == b''", 1, 1844674407370955265),
        ("strings.quote(strings.quote('null')).contains('a')", 3, 5),
    ],
)
def test_sizes_that_expressions_make(text: str, low: int, high: int) -> None:
    assert estimate(text) == (low, high)


@pytest.mark.parametrize(
    ("text", "paths", "low", "high"),
    [
        ("l[0].contains('ab')", [("l", "@items")], 2, 3),
        ("[s, 'abc'][0].contains(s)", [("s",)], 13, 14),
        ("[s][0].contains('abc')", [("s",)], 12, 13),
        ("w['k'].contains('abc')", [("w", "@values")], 2, 3),
        ("{'k': s}['k'].contains('abc')", [("s",)], 32, 33),
        ("{s: 'k'}.all(k, k.contains('abc'))", [("s",)], 35, 37),
        ("(l + [s]).all(e, e.contains('abc'))", [("l", "@items"), ("l",), ("s",)], 17, ANY),
        ("([s] + ['a']).all(e, e.contains('abc'))", [("s",)], 29, 33),
        ("(b ? s : t).contains('abc')", [("s",), ("t",)], 2, 4),
        ("cel.bind(x, w, x).all(k, k.contains('abc'))", [("w",), ("w", "@keys")], 13, ANY),
        ("cel.bind(x, s, w).all(k, k.contains('abc'))", [("w",), ("w", "@keys")], 13, ANY),
        ("dyn(l).all(e, e.contains('abc'))", [("l",), ("l", "@items")], 3, ANY),
        (
            "w.all(k, v, k.contains('abc') && v.contains('abc'))",
            [("w",), ("w", "@keys"), ("w", "@values")],
            2,
            102,
        ),
        ("l.all(i, v, v.contains('abc'))", [("l",), ("l", "@items")], 2, 62),
        ("l.map(e, e + 'x').all(e, e.contains('abc'))", [("l",), ("l", "@items")], 13, 243),
        ("w.transformList(k, v, v).all(e, e.contains('abc'))", [("w",), ("w", "@values")], 13, 203),
        ("[[s], ['abc']].all(x, x.all(e, e.contains('abc')))", [("s",)], 38, 3689348814741910578),
        ("[s].map(x, x)[0].contains('abc')", [("s",)], 36, 37),
        ("(s + t).contains('abc')", [("s",), ("t",)], 2, 8),
        ("s.size() + 1", [("s",)], 3, 3),
    ],
)
def test_known_sizes_go_with_the_values(
    text: str, paths: list[tuple[str, ...]], low: int, high: int
) -> None:
    assert estimate(text, Known(*paths)) == (low, high)


@pytest.mark.parametrize(
    "text",
    [
        "l.all(e, e.startsWith('a')) && m.exists(k, m[k] == n)",
        "l.map(e, e + s).filter(e, e.size() > n).size() + 1 > n",
        "b ? s.contains('a') : s == 'a' || [1, n] == [n, 2]",
        "l.exists_one(e, e == s) || n in [1, 2, n]",
        "m.transformList(k, v, v + 1).exists(v, v == 3)",
    ],
)
def test_the_cost_lies_within_the_estimate(text: str) -> None:
    compiled = ENVIRONMENT.compile(text).checked()
    inputs = {
        "b": False,
        "d": None,
        "l": ["a", "ab", "abc"],
        "m": {"k": 2, "j": 3},
        "n": 2,
        "s": "ab",
        "t": "abc",
        "w": {"k": "ab"},
    }
    _, cost = ENVIRONMENT.program(compiled).evaluate_metered(inputs)
    paths = ("l",), ("l", "@items"), ("m",), ("m", "@keys"), ("m", "@values"), ("s",)
    for sizes in (None, Known(*paths)):
        assert cost <= ENVIRONMENT.estimate(compiled, sizes).max


def test_fields_of_dynamic_values_are_estimated_as_free() -> None:
    """cel-go's estimator charges them only for known maps and objects, its tracker always."""
    assert estimate("d.x.y") == (1, 1)
    program = ENVIRONMENT.program(ENVIRONMENT.compile("d.x.y").checked())
    assert program.evaluate_metered({"d": {"x": {"y": 1}}}) == (1, 3)


OLDER = Environment(
    VARIABLES,
    libraries=LIBRARIES,
    switches=Switches(optional_syntax=True, older_sizes=True),
)


@pytest.mark.parametrize(
    ("text", "before", "now"),
    [
        ("[1, 2].exists(x, x == 1) == b", (21, 25), (21, 25)),
        ("['abc'].all(x, x == s)", (14, 1844674407370955280), (14, 17)),
        ("['abc'][0] + s == s", (14, 3689348814741910541), (15, 3689348814741910541)),
        ("['abc'].map(x, x + 'd')[0] == 'abcd'", (37, 1844674407370955300), (37, 37)),
        ("dyn('abc') == dyn(s)", (4, 1844674407370955267), (4, 4)),
    ],
)
def test_older_sizes(text: str, before: tuple[int, int], now: tuple[int, int]) -> None:
    found = OLDER.estimate(OLDER.compile(text).checked())
    assert (found.min, found.max) == before
    assert estimate(text) == now


def test_older_loops_are_as_large_as_what_they_run_over() -> None:
    known = Known(("l",), ("l", "@items"))
    found = OLDER.estimate(OLDER.compile("l.map(x, x + 'a') == l").checked(), known)
    assert (found.min, found.max) == (14, 174)
