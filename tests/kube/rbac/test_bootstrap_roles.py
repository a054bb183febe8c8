"""The roles of a new server: readable, valid, and enough for what everybody may do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from celadon.kube import Attributes, Ruling, User, metadata
from celadon.kube.rbac import RbacAuthorizer, RoleIndex, bootstrap_roles, policy_rules
from celadon.kube.registry import create
from celadon.kube.validation import validate_create

OBJECTS = list(bootstrap_roles())
AGGREGATING = RbacAuthorizer(OBJECTS)
ALICE = User("alice", ("devs", "system:authenticated"))
ANYBODY = User("system:anonymous", ("system:unauthenticated",))


def found(kind: str, name: str) -> dict[str, Any]:
    (one,) = (obj for obj in OBJECTS if (obj["kind"], metadata.name(obj)) == (kind, name))
    return one


def title(obj: dict[str, Any]) -> str:
    return f"{obj['kind']} {metadata.namespace(obj)}/{metadata.name(obj)}"


@pytest.mark.parametrize("obj", OBJECTS, ids=title)
def test_a_server_accepts_them(obj: dict[str, Any]) -> None:
    gvk = metadata.gvk(obj)
    assert validate_create(create.admit_form(obj, gvk), gvk) == []


def test_names_are_there_once() -> None:
    assert [name for name, count in Counter(map(title, OBJECTS)).items() if count > 1] == []


def test_bindings_lead_to_roles() -> None:
    roles = {
        (obj["kind"], metadata.namespace(obj), metadata.name(obj))
        for obj in OBJECTS
        if obj["kind"].endswith("Role")
    }
    for obj in OBJECTS:
        if obj["kind"].endswith("Binding"):
            ref = obj["roleRef"]
            assert (ref["kind"], metadata.namespace(obj), ref["name"]) in roles


def test_how_they_look() -> None:
    edit = found("ClusterRole", "edit")
    assert edit["rules"] is None
    assert edit["metadata"]["labels"] == {
        "kubernetes.io/bootstrapping": "rbac-defaults",
        "rbac.authorization.k8s.io/aggregate-to-admin": "true",
    }
    assert found("ClusterRole", "system:basic-user")["rules"] == [
        {
            "verbs": ["create"],
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        },
        {
            "verbs": ["create"],
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["selfsubjectreviews"],
        },
    ]
    assert found("ClusterRoleBinding", "system:controller:job-controller")["subjects"] == [
        {"kind": "ServiceAccount", "name": "job-controller", "namespace": "kube-system"}
    ]


@pytest.mark.parametrize(
    ("user", "path", "allowed"),
    [
        (ALICE, "/apis/apps", True),
        (ALICE, "/metrics", False),
        (ANYBODY, "/version", True),
        (ANYBODY, "/apis", False),
        (User("m", ("system:monitoring",)), "/metrics", True),
        (User("s", ("system:serviceaccounts",)), "/openid/v1/jwks", True),
    ],
)
def test_paths(user: User, path: str, allowed: bool) -> None:
    ruling, _, _ = AGGREGATING.authorize(Attributes(user, "get", path=path))
    assert (ruling is Ruling.ALLOW) is allowed


@pytest.mark.parametrize(
    ("role", "verb", "group", "resource", "allowed"),
    [
        ("admin", "create", "rbac.authorization.k8s.io", "roles", True),
        ("admin", "update", "apps", "deployments", True),
        ("admin", "get", "", "secrets", True),
        ("admin", "update", "", "resourcequotas", False),
        ("edit", "update", "apps", "deployments", True),
        ("edit", "get", "rbac.authorization.k8s.io", "roles", False),
        ("view", "get", "apps", "deployments", True),
        ("view", "get", "", "secrets", False),
        ("view", "update", "apps", "deployments", False),
        ("cluster-admin", "anything", "any", "thing", True),
    ],
)
def test_what_the_roles_of_people_allow(
    role: str, verb: str, group: str, resource: str, allowed: bool
) -> None:
    binding = {
        "kind": "RoleBinding",
        "metadata": {"name": "b", "namespace": "ns"},
        "roleRef": {"kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": "alice"}],
    }
    asked = Attributes(
        ALICE, verb, resource_request=True, group=group, resource=resource, namespace="ns"
    )
    ruling, _, _ = RbacAuthorizer([*OBJECTS, binding]).authorize(asked)
    assert (ruling is Ruling.ALLOW) is allowed


def test_stored_as_they_are_the_aggregated_ones_allow_nothing_yet() -> None:
    assert policy_rules(found("ClusterRole", "admin")) == ()
    index = RoleIndex(OBJECTS)
    assert [grant.role.name for grant in index.grants(ALICE, "ns")] == [
        "system:basic-user",
        "system:discovery",
        "system:openshift:public-info-viewer",
        "system:public-info-viewer",
    ]
