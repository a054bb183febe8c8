"""Writes: what an update that creates has to be allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve.asking import ask, make, said
from tests.serve.in_process import Running

HERE = "/api/v1/namespaces/may-not-create"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/may-not-create"


@pytest.fixture(scope="module")
def alice(running: Running) -> Running:
    """May change what there is."""
    make(running, "/api/v1/namespaces", {"metadata": {"name": "may-not-create"}})
    rule = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "update", "patch"]}
    make(running, f"{ROLES}/roles", {"metadata": {"name": "r"}, "rules": [rule]})
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    make(running, f"{ROLES}/rolebindings", binding)
    return running


CREATING: list[tuple[str, str, dict[str, Any], str, str]] = [
    (
        "PATCH",
        f"{HERE}/configmaps/a?fieldManager=m",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        "application/apply-patch+yaml",
        'configmaps "a" is forbidden: User "alice" cannot create resource "configmaps" in API '
        'group "" in the namespace "may-not-create"',
    ),
    (
        "PUT",
        f"{HERE}/limitranges/a",
        {"metadata": {"name": "a"}, "spec": {"limits": []}},
        "application/json",
        'limitranges "a" is forbidden: User "alice" cannot create resource "limitranges" in API '
        'group "" in the namespace "may-not-create"',
    ),
]


@pytest.mark.parametrize(("method", "path", "body", "content_type", "message"), CREATING)
def test_an_update_that_creates_has_to_be_allowed_as_a_create(
    alice: Running, method: str, path: str, body: Any, content_type: str, message: str
) -> None:
    refused = ask(alice, method, path, body, token="alice-token", content_type=content_type)
    assert said(refused) == (403, message)
    assert ask(alice, method, path, body, content_type=content_type).code == 201
    changed = {**body, "metadata": {"name": "a", "labels": {"x": "1"}}}
    again = ask(alice, method, path, changed, token="alice-token", content_type=content_type)
    assert again.code == 200
