"""Dropped files: every document in its pane."""

from __future__ import annotations

import pytest

from celadon.cli.playground.judging import imported
from tests.cli.playground.states import DEFINITION, POLICY, PROPERTIES, WEBHOOK, deployment, lamp
from tests.cli.playground.test_request_details import MUTATING

UNBOUND = POLICY.partition("---")[0]
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\n"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: most}\n"
WITH_PARAMS = POLICY.replace(
    "spec:\n", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n", 1
)


def test_each_kind_has_its_pane() -> None:
    files = {"a.yaml": f"{WITH_PARAMS}---\n{ROLE}", "b.yaml": f"{NAMESPACE}---\n{SETTINGS}"}
    found = imported({**files, "c.yaml": deployment(1), "d.yaml": f"# mine\n{deployment(2)}"})
    policy, binding = WITH_PARAMS.split("---\n")
    assert found == {
        "mode": "validating",
        "panes": {
            "policy": policy,
            "binding": binding,
            "authorizer": ROLE,
            "namespace": NAMESPACE,
            "params": SETTINGS,
            "object": deployment(1),
            "cluster": f"# mine\n{deployment(2)}",
        },
        "problems": [],
    }


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (POLICY, "validating"),
        (MUTATING, "mutating"),
        (WEBHOOK, "webhook"),
        (f"{DEFINITION}---\n{lamp(1)}", "rules"),
        (f"{POLICY}---\n{DEFINITION}", "validating"),
        (deployment(1), "validating"),
    ],
)
def test_the_mode_follows(text: str, mode: str) -> None:
    assert imported({"a.yaml": text})["mode"] == mode


def test_lists_and_what_cannot_be_read() -> None:
    items = '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}]}'
    found = imported({"list.json": items, "bad.yaml": "a: ["})
    assert found["panes"] == {"object": "apiVersion: v1\nkind: Pod\n"}
    problems = found["problems"]
    assert isinstance(problems, list)
    assert str(problems[0]).startswith("bad.yaml:2: ")


def test_properties_have_a_pane_of_their_own() -> None:
    assert imported({"a.yaml": UNBOUND, "b.yaml": PROPERTIES}) == {
        "mode": "validating",
        "panes": {"policy": UNBOUND, "properties": PROPERTIES},
        "problems": [],
    }
