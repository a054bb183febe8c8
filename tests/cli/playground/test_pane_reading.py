"""Panes as documents, as maps, as the user."""

from __future__ import annotations

import pytest

from celadon.admission import ADMIN
from celadon.cli.playground.panes import Pane, PaneReader
from celadon.cli.reading.documents import Problem
from celadon.kube import User
from tests.cli.playground.states import state

SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"


def test_a_pane_that_has_not_changed_is_not_read_again() -> None:
    reader = PaneReader()
    first = reader.read(state(panes={"cluster": SETTINGS, "object": "a: 1"}), Pane.CLUSTER)
    again = reader.read(state(panes={"cluster": SETTINGS, "object": "a: 2"}), Pane.CLUSTER)
    changed = reader.read(state(panes={"cluster": SETTINGS + "#"}), Pane.CLUSTER)
    assert again is first
    assert changed.documents[0].value == first.documents[0].value
    assert changed.documents[0] is not first.documents[0]


def test_what_is_wrong_is_said_at_its_place_and_the_rest_is_read() -> None:
    text = f"{SETTINGS}---\nkind: [\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: 1\n"
    found = PaneReader().read(state(panes={"cluster": text}), Pane.CLUSTER)
    assert [one.value["metadata"] for one in found.documents] == [{"name": "one"}]
    assert [one.file for one in found.problems] == ["cluster", "cluster"]
    assert all(one.line > 4 for one in found.problems)


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("", ADMIN),
        ("username: alice", User("alice", ("system:authenticated",))),
        (
            "{username: bob, groups: [ops], uid: b, extra: {scopes: [x]}}",
            User("bob", ("ops", "system:authenticated"), "b", {"scopes": ("x",)}),
        ),
        ("groups: [ops]", User(ADMIN.name, ("ops",), ADMIN.uid, ADMIN.extra)),
    ],
)
def test_users(text: str, user: User) -> None:
    assert PaneReader().user(state(panes={"user": text})) == user


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- alice", "one map is expected here"),
        ("a: 1\n---\nb: 2", "one map is expected here"),
        ("user: alice", "`user` is none of username, groups, uid, extra"),
        ("username: [alice]", "`username` and `uid` must be text"),
        ("groups: ops", "`groups` must be a list of texts"),
        ("extra: {scopes: x}", "`extra` must have lists of texts"),
        ("a: [", "did not find"),
    ],
)
def test_users_that_are_none(text: str, said: str) -> None:
    found = PaneReader().user(state(panes={"user": text}))
    assert isinstance(found, Problem)
    assert said in found.message
    assert found.file == "user"
