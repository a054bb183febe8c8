"""The counted variant: what it writes, when it gives up, what it reads."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel import Environment, EvaluationError, Program, Switches, types
from celadon.cel.errors import CostLimitExceeded
from celadon.cel.libraries import comprehensions, optionals
from celadon.kube.library.environments import environment

ENVIRONMENT = environment("1.36").extend({"o": types.DYN, "v": types.DYN, "s": types.STRING})


BINDING = Environment(
    {"o": types.DYN, "v": types.DYN},
    libraries=(optionals.library(), comprehensions.bindings()),
    switches=Switches(optional_syntax=True),
)


def program(text: str) -> Program:
    return ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())


def test_known_costs_are_added_up_when_it_is_written() -> None:
    assert "if 4 <= L: return t8, 4" in program("o.spec.replicas <= 5").counted_source


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("o.l.all(x, x > 1)", "c += len("),
        ("o.l.map(x, x)", "c += len("),
        ("o.l.exists_one(x, x > 1)", "c += len("),
    ],
)
def test_rounds_that_cost_the_same_are_charged_at_once(text: str, written: str) -> None:
    source = program(text).counted_source
    assert written in source
    assert "over_limit" not in source


def test_rounds_with_computed_costs_look_at_the_limit() -> None:
    assert "over_limit" in program("o.l.all(x, x.startsWith(s))").counted_source


@pytest.mark.parametrize("items", [[], [1], [1, 2, 3], [3, 2, 1], [2, 1, 2], {"a": 1, "b": 2}])
@pytest.mark.parametrize(
    "text",
    ["o.all(x, x != 2)", "o.exists(x, x == 2)", "o.all(x, x != 1 && x != 2)", "o.map(x, [x])"],
)
def test_loops_that_end_early_cost_what_they_cost(text: str, items: Any) -> None:
    one = program(text)
    assert one.evaluate_metered({"o": items}) == one.evaluate_exactly({"o": items})


@pytest.mark.parametrize(
    "text",
    [
        "ip('fe80::1234:5678') == ip('fe80::1234:5678')",
        "ip('fe80::1234:5678') != ip('::1')",
        "cidr('fe80::/64') == cidr(o.net)",
        "cidr('fe80::/64').containsIP(o.text)",
        "cidr('fe80::/64').containsCIDR(o.net)",
        "o.list == o.list && o.map == o.map && o.text != s",
        "o.list.sum() > 0 && o.texts.isSorted()",
        "o.texts == ['a', 'b'] || o.texts.join('-') == s",
        "o.text.contains(s) || o.text.contains('a longer text than ten')",
        "s + o.text + '/' + s + o.text == 'x'",
        "'%s-%d'.format([o.text, o.list[0]]) == s",
        "s.startsWith(o.text) || s.endsWith(o.text + 'x')",
        "o.list.exists_one(x, x == 2) && o.texts.map(t, t + s).size() == 2",
    ],
)
def test_costs_by_sizes(text: str) -> None:
    one = program(text)
    assert one.counted_source
    shown = {"text": "fe80::1", "net": "fe80::/96", "list": [1, 2, 2], "texts": ["ab", "é" * 40]}
    inputs = {"o": {**shown, "map": {"a": 1, "b": {}}}, "s": "some text or other"}
    assert one.evaluate_metered(inputs) == one.evaluate_exactly(inputs)


def test_errors_are_decided_by_the_metered_function() -> None:
    one = program("o.a.b == 1 && o.c == 2")
    found = []
    for evaluate in (one.evaluate_metered, one.evaluate_exactly):
        with pytest.raises(EvaluationError) as raised:
            evaluate({"o": {"a": {}, "c": 2}})
        found.append((raised.value.message, raised.value.cost))
    assert found[0] == found[1]


@pytest.mark.parametrize("limit", range(12))
def test_limits_are_decided_by_the_metered_function(limit: int) -> None:
    one = program("o.all(x, x.startsWith('a'))")
    found = []
    for evaluate in (one.evaluate_metered, one.evaluate_exactly):
        try:
            found.append(evaluate({"o": ["ab", "ac"]}, limit))
        except CostLimitExceeded as error:
            found.append((None, error.cost or 0))
    assert found[0] == found[1]


class _Watched(dict[str, Any]):
    """Like the variables of a policy: what is read is computed, and charged."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names
        self.read: list[str] = []

    def __missing__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        self.read.append(name)
        self[name] = {"k": len(self.read)}
        return self[name]


@pytest.mark.parametrize(
    "text",
    [
        "o.yes || v.a.k == 1 && v.a.k == 2",
        "o.none.all(x, v.a.k == x && v.a.k == x)",
        "o.no && v.a.k == 1",
        "v.a.k == 1 && v.b.k == 2 && v.a.k == 1",
        "cel.bind(x, v.a, o.yes || x.k == 1)",
        "cel.bind(x, v.a, x.k == 1 && v.b.k == 2)",
        "o.yes ? v.b.k : v.a.k + v.a.k",
        "o.?zz.optMap(y, y == v.a.k).orValue(v.b.k == 1)",
    ],
)
def test_nothing_is_read_that_cel_does_not_read(text: str) -> None:
    one = BINDING.program(BINDING.compile(text).checked())
    assert one.counted_source
    found = []
    for evaluate in (one.evaluate_metered, one.evaluate_exactly):
        variables = _Watched("a", "b")
        inputs = {"o": {"yes": True, "no": False, "none": []}, "v": variables}
        found.append((evaluate(inputs), variables.read))
    assert found[0] == found[1]


def test_prepared_programs_are_counted_once_they_are_used() -> None:
    one = program("o.a == 1").prepare()
    first = one.evaluate_metered
    for _ in range(Program.MAX_COLD + 1):
        assert one.evaluate_metered({"o": {"a": 1}}) == (True, 3)
    assert one.evaluate_metered is not first
    assert one.evaluate_metered({"o": {"a": 1}}) == (True, 3)


def test_what_it_cannot_express_is_counted_all_the_same() -> None:
    one = program("has((o.yes ? o : v).a)")
    assert one.evaluate_metered({"o": {"yes": True}, "v": {}}) == one.evaluate_exactly(
        {"o": {"yes": True}, "v": {}}
    )
