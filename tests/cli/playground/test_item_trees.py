"""Explanations as pieces."""

from __future__ import annotations

from typing import Any

from celadon.cli.playground.judging import Desk
from tests.cli.playground.states import deployment, state, with_expression


def text_of(pieces: list[Any]) -> str:
    return "".join(one if isinstance(one, str) else text_of(one["pieces"]) for one in pieces)


def walk(item: Any) -> Any:
    yield item
    for one in item.get("items", ()):
        yield from walk(one)


def explanation(expression: str) -> Any:
    policy = with_expression(expression)
    asked = state(panes={"policy": policy, "object": deployment(6)})
    (tree,) = Desk().details(asked)["explanation"]
    (found,) = (one for one in walk(tree) if one["label"] == "validations[0]")
    return found


def test_pieces_put_together_are_the_expression() -> None:
    for text in ("'😀' != 'é' && object.spec.replicas <= 5", "[1, 2].all(x, x < 2) || 1/0 > 1"):
        assert text_of(explanation(text)["expression"]["pieces"]) == text


def test_loops_have_rounds_with_their_variables() -> None:
    (loop,) = explanation("[1, 3, 5].all(x, x < 4)")["expression"]["loops"]
    assert loop["macro"] == "[1, 3, 5].all(x, x < 4)"
    assert loop["count"] == 3
    assert [one["variables"] for one in loop["rounds"]] == [{"x": "1"}, {"x": "3"}, {"x": "5"}]
    assert loop["rounds"][2]["pieces"][0]["state"] == "false"


def test_states_of_parts() -> None:
    whole = explanation("false && (1 / (object.spec.replicas - 6) > 1)")["expression"]["pieces"][0]
    assert whole["state"] == "false"
    assert whole["pieces"][-1] == ")" or whole["pieces"][1]["state"] == "skipped"
