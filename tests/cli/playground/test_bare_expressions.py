"""The mode of expressions."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.playground.judging import Desk
from tests.cli.playground.states import state


def asked(expression: str, **panes: str) -> Any:
    members: Any = {"release": panes.pop("release", "1.36")}
    return state("expression", panes={"expression": expression, **panes}, **members)


def test_a_value_its_type_and_what_it_cost() -> None:
    found = Desk().verdict(asked("[1, 2].map(i, i * factor)", variables="factor: 3"))
    assert found["value"] == "[3, 6]"
    assert found["type"] == "list(int)"
    assert 0 < found["cost"]["spent"] < found["cost"]["limit"]


def test_objects_are_variables_too() -> None:
    found = Desk().verdict(asked("object.a + params.b", object="a: 1", params="b: 2"))
    assert found["value"] == "3"


@pytest.mark.parametrize(
    ("expression", "panes", "said", "offset"),
    [
        ("1 +", {}, "Syntax error", 3),
        ("1 + nothing", {}, "undeclared reference to 'nothing'", 4),
        ("1 / zero", {"variables": "zero: 0"}, "division by zero", 2),
        ("semver('1.0.0')", {"release": "1.32"}, "undeclared reference to 'semver'", 6),
    ],
)
def test_what_is_wrong_and_where(
    expression: str, panes: dict[str, str], said: str, offset: int
) -> None:
    (issue,) = Desk().verdict(asked(expression, **panes))["issues"]
    assert said in issue["message"]
    assert issue["offset"] == offset


@pytest.mark.parametrize(
    ("pane", "text"), [("variables", "- 1"), ("variables", "a-b: 1"), ("object", "[")]
)
def test_variables_that_are_none(pane: str, text: str) -> None:
    desk, bad = Desk(), asked("1", **{pane: text})
    (problem,) = desk.verdict(bad)["problems"]
    assert problem["file"] == pane
    assert desk.details(bad) == {}


def test_nothing_to_evaluate() -> None:
    desk = Desk()
    assert desk.verdict(asked(" ")) == {"problems": []}
    assert desk.details(asked(" ")) == {}
    assert desk.details(asked("1 +")) == {}


def test_every_part_has_its_value() -> None:
    (tree,) = Desk().details(asked("a > 1 && b", variables="{a: 1, b: true}"))["explanation"]
    (whole,) = tree["expression"]["pieces"]
    left, _, right = whole["pieces"]
    assert (whole["state"], left["state"], right["state"]) == ("false", "false", "skipped")
    assert left["pieces"][0] == {"pieces": ["a"], "state": "value", "value": "1", "cost": 1}
    (failed,) = Desk().details(asked("1 / a", variables="a: 0"))["explanation"]
    assert failed["style"] == "bad"
