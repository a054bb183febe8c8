"""Two releases side by side."""

from __future__ import annotations

from typing import Any

from celadon.cli.playground.judging import Desk
from tests.cli.playground.states import deployment, state, with_expression


def changes(release: str, compared: str, expression: str, mode: str = "validating") -> Any:
    policy = with_expression(expression)
    panes = {"policy": policy, "object": deployment(1), "expression": expression}
    asked = state(mode, panes=panes, release=release, compared=compared)
    return Desk().details(asked).get("changes")


def test_functions_that_one_release_lacks() -> None:
    found = changes("1.33", "1.32", "true")
    assert (found["from"], found["to"]) == ("1.33", "1.32")
    assert "isSemver" in found["functions"]["removed"]
    assert found["functions"]["added"] == []
    assert "isSemver" in changes("1.32", "1.33", "true")["functions"]["added"]


def test_policies_that_one_release_would_not_take() -> None:
    # A server takes only what the release before it could run.
    found = changes("1.34", "1.33", "isSemver('1.0.0')")
    (errors,) = (one for one in found["differences"] if one["what"] == "policyErrors")
    assert errors["before"] == []
    assert "isSemver" in errors["after"][0]


def test_what_both_say_is_no_difference() -> None:
    assert changes("1.36", "1.35", "object.spec.replicas <= 5")["differences"] == []
    assert changes("1.36", "1.36", "true") is None
    assert changes("1.36", "", "true") is None


def test_expressions() -> None:
    (value, *_) = changes("1.33", "1.32", "isSemver('1.0.0')", "expression")["differences"]
    assert value == {"what": "value", "before": "true", "after": None}
