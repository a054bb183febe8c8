"""OwnerReferencesPermissionEnforcement."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import ObjectWorld
from celadon.kube import Attributes, Ruling
from tests.admission.plugins.asking import asked, obj, refusal, world

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1"}


def owned(*owners: dict[str, Any]) -> dict[str, Any]:
    made = obj("ConfigMap", "c")
    made["metadata"]["ownerReferences"] = list(owners)
    return made


def allowing(*rules: tuple[str, str, str]) -> ObjectWorld:
    """Alice may do these: a verb, a group, a resource."""
    role = obj("ClusterRole", "r", "rbac.authorization.k8s.io/v1")
    role["rules"] = [
        {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
        for verb, group, resource in rules
    ]
    return bound(role)


def bound(role: dict[str, Any]) -> ObjectWorld:
    """A world in which Alice has the role."""
    binding = obj("ClusterRoleBinding", "b", "rbac.authorization.k8s.io/v1")
    binding["roleRef"] = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "r",
    }
    binding["subjects"] = [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}
    ]
    return world(role, binding)


DELETE = ("delete", "", "configmaps")
FINALIZE = ("update", "apps", "replicasets/finalizers")
BLOCKING = {**OWNER, "blockOwnerDeletion": True}
NO_DELETE = "cannot set an ownerRef on a resource you can't delete: "
NO_FINALIZERS = (
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "
    "finalizers on: "
)


@pytest.mark.parametrize(
    ("new", "old", "around", "text"),
    [
        (owned(), None, allowing(), ""),
        (owned(OWNER), owned(OWNER), allowing(), ""),
        (owned(OWNER), None, allowing(), NO_DELETE),
        (owned(OWNER), owned(), allowing(), NO_DELETE),
        (owned(OWNER), None, allowing(DELETE), ""),
        (owned(BLOCKING), None, allowing(DELETE), NO_FINALIZERS),
        (owned(BLOCKING), owned(OWNER), allowing(DELETE), NO_FINALIZERS),
        (owned(BLOCKING), None, allowing(DELETE, FINALIZE), ""),
        (
            owned({**BLOCKING, "kind": "Nope"}),
            None,
            allowing(DELETE),
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "
            'APIVersion apps/v1 Kind Nope: no matches for kind "Nope" in version "apps/v1"',
        ),
    ],
)
def test_owners(new: Any, old: Any, around: ObjectWorld, text: str) -> None:
    found = refusal("OwnerReferencesPermissionEnforcement", asked(new, old), around)
    before = '403 configmaps "c" is forbidden: '
    assert found.startswith(before + text) if text else found == ""


OTHER = {**BLOCKING, "name": "s", "uid": "2"}
MAY_NOT_FINALIZE = f'403 configmaps "c" is forbidden: {NO_FINALIZERS}, <nil>'


@pytest.mark.parametrize(
    ("new", "old", "around", "text"),
    [
        (owned(OWNER), None, allowing(), f'403 configmaps "c" is forbidden: {NO_DELETE}, <nil>'),
        (owned(BLOCKING), None, allowing(DELETE), MAY_NOT_FINALIZE),
        (owned(BLOCKING, OTHER), owned(BLOCKING), allowing(DELETE), MAY_NOT_FINALIZE),
        (owned(BLOCKING, OTHER), owned(BLOCKING, OTHER), allowing(), ""),
        (owned(OTHER), owned(OTHER, OWNER), allowing(DELETE), ""),
        (owned({**OTHER, "apiVersion": "a/b/c"}), None, allowing(DELETE), ""),
    ],
)
def test_who_blocks_anew(new: Any, old: Any, around: ObjectWorld, text: str) -> None:
    assert refusal("OwnerReferencesPermissionEnforcement", asked(new, old), around) == text


class Noted(ObjectWorld):
    """Allows everything, and notes what it was asked."""

    def authorize(self, attributes: Attributes) -> tuple[Ruling, str, str]:
        QUESTIONS.append(attributes)
        return Ruling.ALLOW, "", ""


QUESTIONS: list[Attributes] = []


def test_what_an_authorizer_is_asked() -> None:
    QUESTIONS.clear()
    node = {**BLOCKING, "apiVersion": "v1", "kind": "Node", "name": "n", "uid": "3"}
    question = asked(owned(BLOCKING, node))
    assert refusal("OwnerReferencesPermissionEnforcement", question, Noted([])) == ""
    assert [
        (one.verb, one.group, one.version, one.resource, one.subresource, one.namespace, one.name)
        for one in QUESTIONS
    ] == [
        ("delete", "", "v1", "configmaps", "", question.namespace, "c"),
        ("update", "apps", "v1", "replicasets", "finalizers", question.namespace, "r"),
        ("update", "", "v1", "nodes", "finalizers", "", "n"),
    ]
    assert all(one.resource_request and one.user == question.user for one in QUESTIONS)
