"""Findings of lint and the status of policies."""

from __future__ import annotations

from typing import Any

from celadon.cli.playground.judging import Desk
from tests.cli.playground.states import POLICY, deployment, state

CARELESS = POLICY.replace("object.spec.replicas", "object.spec.replica")


def details(policy: str, replicas: int = 1, desk: Desk | None = None) -> Any:
    asked = state(panes={"policy": policy, "object": deployment(replicas)})
    return (desk or Desk()).details(asked)


def test_findings_stand_where_they_are() -> None:
    found = details(CARELESS)["lint"]
    assert {(one["file"], one["line"]) for one in found if "replica" in one["message"]} == {
        ("policy", 9)
    }
    column = CARELESS.split("\n")[8].index(".replica") + 1
    assert column in {one["column"] for one in found}


def test_the_status_says_what_the_controller_says() -> None:
    (status,) = details(CARELESS)["typeChecking"]
    (warning,) = status["status"]["typeChecking"]["expressionWarnings"]
    assert warning["fieldRef"] == "spec.validations[0].expression"
    assert "undefined field 'replica'" in warning["warning"]
    assert details(POLICY)["typeChecking"][0]["status"]["typeChecking"] == {}


def test_they_are_not_looked_for_again_while_only_the_object_changes() -> None:
    desk = Desk()
    first = details(CARELESS, 1, desk)
    assert details(CARELESS, 2, desk)["lint"] is first["lint"]
    assert details(POLICY, 2, desk)["lint"] != first["lint"]
