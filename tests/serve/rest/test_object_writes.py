"""Writes: what an update that creates has to be allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve.asking import ask, make, read, said
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


def _gauges() -> dict[str, Any]:
    """A definition whose v1 is stored, with fields of its own."""
    text = {"type": "string"}
    fields = {
        "v1": {"a": text, "kept": {**text, "default": "by v1"}},
        "v2": {"a": text, "b": text, "kept": text, "mine": {**text, "default": "by v2"}},
    }
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": spec}},
                }
            },
        }
        for name, spec in fields.items()
    ]
    names = {"plural": "gauges", "singular": "gauge", "kind": "Gauge", "listKind": "GaugeList"}
    spec = {"group": "stored.io", "names": names, "scope": "Cluster", "versions": versions}
    return {"metadata": {"name": "gauges.stored.io"}, "spec": spec}


def test_a_custom_resource_is_what_the_stored_version_keeps_of_it(running: Running) -> None:
    make(running, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _gauges())
    running.settle()
    first, second = "/apis/stored.io/v1/gauges", "/apis/stored.io/v2/gauges"
    body = {
        "apiVersion": "stored.io/v2",
        "kind": "Gauge",
        "metadata": {"name": "g"},
        "spec": {"a": "x", "b": "y"},
    }
    left = {"a": "x", "kept": "by v1"}
    tried = read(ask(running, "POST", f"{second}?dryRun=All", body))
    made = read(ask(running, "POST", second, body))
    assert (tried["apiVersion"], tried["spec"]) == ("stored.io/v2", left)
    assert (made["apiVersion"], made["spec"]) == ("stored.io/v2", left)
    shown = read(ask(running, "GET", f"{first}/g"))
    assert (shown["apiVersion"], shown["spec"]) == ("stored.io/v1", left)
    change = {"spec": {"b": "z", "kept": "w"}}
    for query in ("?dryRun=All", ""):
        merge = "application/merge-patch+json"
        path = f"{second}/g{query}"
        changed = read(ask(running, "PATCH", path, change, content_type=merge))
        assert changed["spec"] == {"a": "x", "kept": "w"}
    found = read(ask(running, "GET", first))["items"]
    assert [(one["apiVersion"], one["spec"]) for one in found] == [
        ("stored.io/v1", {"a": "x", "kept": "w"})
    ]
    other = {**body, "apiVersion": "stored.io/v1", "metadata": {"name": "h"}, "spec": {}}
    make(running, first, other)
    assert read(ask(running, "GET", f"{second}/h"))["spec"] == {"kept": "by v1"}


def test_a_refused_patch_prints_members_in_the_order_of_gos_structs(running: Running) -> None:
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    deployment = {
        "metadata": {"name": "printed"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template},
    }
    path = "/apis/apps/v1/namespaces/default/deployments"
    make(running, path, deployment)
    patch = [{"op": "replace", "path": "/spec/replicas", "value": "x"}]
    refused = ask(
        running, "PATCH", f"{path}/printed", patch, content_type="application/json-patch+json"
    )
    code, message = said(refused)
    assert code == 422
    assert r"\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"IfNotPresent\"" in message
