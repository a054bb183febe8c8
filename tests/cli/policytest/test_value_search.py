"""What an expression wants of an object."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel.types import DYN
from celadon.cli.policytest.value_search import GONE, KEY, THERE, Length, ValueSearch, merged
from celadon.cli.reading.json_text import Path
from celadon.kube.library.environments import environment
from tests.paths import ROOT

ENVIRONMENT = environment().extend(
    dict.fromkeys(("object", "oldObject", "variables", "request"), DYN)
)


def tree(text: str) -> Any:
    return ENVIRONMENT.compile(text).checked().ast.root


def ways(text: str, *, wanted: bool, **variables: str) -> list[dict[str, Any]]:
    """With places as texts."""
    known = {name: tree(one) for name, one in variables.items()}
    facts: dict[Path, Any] = {("object", "kind"): "Pod", ("request", "operation"): "CREATE"}
    found = ValueSearch(known, facts).all_of([(tree(text), wanted)])
    return [{".".join(map(str, place)): value for place, value in one.items()} for one in found]


A = "object.a"


@pytest.mark.parametrize(
    ("text", "holds", "fails"),
    [
        ("object.a == 'x1'", {A: "x1"}, {A: "x"}),
        ("object.a > 5", {A: 6}, {A: 5}),
        ("5 >= object.a", {A: 5}, {A: 6}),
        ("object.a", {A: True}, {A: False}),
        ("!object.a", {A: False}, {A: True}),
        ("has(object.a)", {A: THERE}, {A: GONE}),
        ("object.?a.orValue('no') == 'yes'", {A: "yes"}, {A: "x"}),
        ("object.?a.hasValue()", {A: THERE}, {A: GONE}),
        ("object.a in ['b', 'c']", {A: "b"}, {A: "bx"}),
        ("'k' in object.labels", {"object.labels.k": THERE}, {"object.labels.k": GONE}),
        ("'k' in object.list", {"object.list.0": "k"}, {"object.list.0": GONE}),
        ("object.a.startsWith('ab')", {A: "ab"}, {A: "xab"}),
        ("object.a.matches('^[0-9]+$')", {A: "1"}, {A: "x"}),
        ("size(object.list) <= 2", {"object.list": Length(2)}, {"object.list": Length(3)}),
        ("object.a == 'x1' && object.b == 1", {A: "x1", "object.b": 1}, {A: "x1", "object.b": 2}),
        ("object.a == 1 || object.b == 1", {A: 2, "object.b": 1}, {A: 2, "object.b": 2}),
        ("object.b ? object.a == 1 : false", {"object.b": True, A: 1}, {"object.b": True, A: 2}),
        ("object.kind == 'Pod'", {}, None),
        ("object.kind == 'Job' ? false : object.a == 1", {A: 1}, {A: 2}),
        ("request.operation == 'UPDATE' || object.a == 1", {A: 1}, {A: 2}),
        (
            "object.list.all(i, i.a == 1)",
            {"object.list.0": THERE, "object.list.0.a": 1},
            {"object.list.0": THERE, "object.list.0.a": 2},
        ),
        (
            "(object.l + (has(object.m) ? object.m : [])).exists(i, i == 1)",
            {"object.l.0": 1},
            {"object.l.0": 2},
        ),
        ("object.labels.all(k, k == 'a')", {f"object.labels.{KEY}": "a"}, None),
        ("['a', 'b'].all(k, k in object.labels)", {"object.labels.a": THERE}, None),
        (
            "variables.bad.size() == 0",
            {"object.l.0": THERE, "object.l.0.a": 2},
            {"object.l.0.a": 1},
        ),
        ("variables.is", {A: 1}, {A: 2}),
        ("object.a == oldObject.a", {A: "x", "oldObject.a": "x"}, {A: "x", "oldObject.a": "y"}),
    ],
)
def test_ways(text: str, holds: Any, fails: Any) -> None:
    for wanted, expected in ((True, holds), (False, fails)):
        found = ways(
            text,
            wanted=wanted,
            bad="object.l.filter(i, i.a == 1).map(i, 'bad ' + i.name)",
            **{"is": "object.a == 1"},
        )
        assert expected is None or expected in found, (text, wanted, found)


def test_what_cannot_be_has_no_way() -> None:
    assert ways("object.kind == 'Job' && object.a == 1", wanted=True) == []


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": THERE}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"a": THERE}, {"a": 1}),
        ({"a": 1}, {"a": 2}, None),
        ({"a": GONE}, {"a": THERE}, None),
    ],
)
def test_merging(one: Any, other: Any, both: Any) -> None:
    def placed(way: Any) -> Any:
        return None if way is None else {("object", name): value for name, value in way.items()}

    assert merged(placed(one), placed(other)) == placed(both)


def test_nothing_is_in_what_is_gone() -> None:
    assert merged({("object", "a"): GONE}, {("object", "a", "b"): 1}) is None


def test_the_answer_ends() -> None:
    deep = " || ".join(
        f"object.l.exists(i, i.a{n} == {n} && object.m.all(j, j != i.b))" for n in range(60)
    )
    assert ways(deep, wanted=False) is not None


EXPRESSIONS = ROOT / "tests" / "cases" / "wanted_values.txt"
MOST_SHOWN = 6


def _shown(found: list[dict[str, Any]]) -> str:
    """The likely ways, and how many others there are."""
    lines = [
        ", ".join(f"{place}={_short(value)}" for place, value in way.items()) or "nothing"
        for way in found[:MOST_SHOWN]
    ]
    others = [f"and {len(found) - MOST_SHOWN} others"] if len(found) > MOST_SHOWN else []
    return " | ".join([*lines, *others]) or "no way"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"{text[:9]}... of {len(text)}"


def test_whole_answers(request: pytest.FixtureRequest) -> None:
    """All of a file, which `pytest --update-golden` writes anew, to be read like code."""
    text = EXPRESSIONS.read_text(encoding="utf-8")
    written = ""
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        written += f"{line}\n"
        for wanted in (True, False):
            found = ways(
                line.removeprefix("$ "),
                wanted=wanted,
                bad="object.l.filter(i, i.a == 1).map(i, 'bad ' + i.name)",
                **{"is": "object.a == 1"},
            )
            written += f"  {wanted}: {_shown(found)}\n".replace("\0", "")
    if request.config.getoption("--update-golden"):
        EXPRESSIONS.write_text(written, encoding="utf-8")
    assert written == EXPRESSIONS.read_text(encoding="utf-8")
