"""States: what is read, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from celadon.admission import Operation
from celadon.cli.playground.panes import MAX_CHARACTERS, Mode, Pane, State, StateError, state_of
from celadon.kube import Json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def test_all_members_are_read() -> None:
    given: dict[str, Json] = {
        "version": 1,
        "mode": "mutating",
        "release": "1.34",
        "compared": "1.31",
        "operation": "UPDATE",
        "subresource": "scale",
        "dryRun": True,
        "fieldValidation": "Warn",
        "panes": {"policy": "a", "oldObject": "b"},
    }
    assert state_of(given) == State(
        Mode.MUTATING,
        "1.34",
        "1.31",
        Operation.UPDATE,
        "scale",
        True,
        "Warn",
        {Pane.POLICY: "a", Pane.OLD_OBJECT: "b"},
    )


def test_what_is_left_out_has_its_default() -> None:
    assert state_of({"version": 1}) == State()
    assert state_of({"version": 1}).mode is Mode.VALIDATING
    assert state_of({"version": 1, "panes": {"user": "x"}}).text(Pane.USER) == "x"
    assert state_of({"version": 1}).text(Pane.USER) == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "is an object"),
        ({}, "version 1"),
        ({"version": 2}, "version 1"),
        ({"version": 1, "mode": "sideways"}, "`mode` is none of validating, "),
        ({"version": 1, "operation": 3}, "`operation` is none of CREATE, "),
        ({"version": 1, "release": "1.2"}, "`release` is no release from 1.30"),
        ({"version": 1, "compared": ["1.30"]}, "`compared` is no release"),
        ({"version": 1, "fieldValidation": "Never"}, "`fieldValidation` is none of Strict, "),
        ({"version": 1, "subresource": 1}, "`subresource` is no text"),
        ({"version": 1, "panes": []}, "`panes` is no object"),
        ({"version": 1, "panes": {"secret": ""}}, "no pane `secret`"),
        ({"version": 1, "panes": {"policy": 1}}, "pane `policy` is no text"),
        ({"version": 1, "panes": {"policy": "x" * (MAX_CHARACTERS + 1)}}, "more than 1,000,000"),
    ],
)
def test_what_is_no_state_is_refused_in_a_sentence(given: Any, said: str) -> None:
    with pytest.raises(StateError, match=said):
        state_of(given)


@drawn(st.dictionaries(st.sampled_from(["version", "mode", "release", "panes", "dryRun"]), JSON))
def test_nothing_else_ever_happens(given: dict[str, Any]) -> None:
    try:
        found = state_of({"version": 1, **given})
    except StateError:
        return
    assert isinstance(found, State)
