"""Texts in, texts out, and never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.cli.playground import judging
from celadon.cli.playground.browser_api import answer
from tests.cli.playground.states import POLICY, deployment, given

STATE = given(panes={"policy": POLICY, "object": deployment(6)})


def asked(question: str, value: object) -> Any:
    return json.loads(answer(question, json.dumps(value)))


def test_every_question_has_its_answer() -> None:
    assert asked("verdict", STATE)["report"]["objects"][0]["code"] == 422
    assert asked("details", STATE)["explanation"][0]["text"] == "denied"
    assert "policy.policytest.yaml" in asked("files", STATE)["files"]
    assert asked("import", {"a.yaml": POLICY})["mode"] == "validating"
    place = {"state": STATE, "pane": "object", "line": 0, "character": 0}
    among = {"apiVersion": "v1", "kind": "Pod", "path": ["metadata"]}
    assert {"label": "name", "detail": "string"} in asked("complete", {**place, **among})["fields"]
    bare = {"mode": "expression", "version": 1, "panes": {"expression": "o"}}
    cel = {"state": bare, "pane": "expression", "line": 0, "character": 1}
    assert asked("complete", cel)["typed"] == 1


def test_a_state_that_is_none_is_said() -> None:
    said = "this playground reads states of version 1"
    assert asked("verdict", {"version": 9}) == asked("state", {"version": 9}) == {"error": said}
    assert asked("state", STATE) == {}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[" * 100_000 + "]" * 100_000, "this is no question: exceeded max depth"),
        ("{", "this is no question: unexpected end of JSON input"),
        ("9" * 5_000, "the state of a playground is an object"),
    ],
)
def test_what_a_link_can_hold_is_no_error_of_our_own(text: str, error: str) -> None:
    assert error in json.loads(answer("state", text))["error"]


def test_half_a_character_is_replaced() -> None:
    state = {"version": 1, "panes": {"policy": POLICY, "object": deployment(6) + "# \ud800"}}
    for question in ("verdict", "details", "files"):
        said = answer(question, json.dumps(state))
        assert "error" not in json.loads(said)
        said.encode()


def test_errors_of_our_own_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("oh")

    monkeypatch.setattr(judging, "described", broken)
    assert asked("verdict", STATE)["error"].startswith("internal error: RuntimeError: oh")
