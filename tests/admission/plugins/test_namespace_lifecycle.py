"""NamespaceLifecycle and NamespaceExists."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import ObjectWorld, Operation
from celadon.admission.plugins.namespace_lifecycle import lifecycle_refusal
from celadon.kube import GroupVersionKind
from tests.admission.plugins.asking import asked, obj, refusal, text


def namespace(**status: Any) -> dict[str, Any]:
    return obj("Namespace", "ns", status=status)


MAP = obj("ConfigMap", "a")
LIVE = ObjectWorld([namespace(phase="Active")])
ENDING = ObjectWorld([namespace(phase="Terminating")])


@pytest.mark.parametrize(
    ("operation", "cluster", "message"),
    [
        (Operation.CREATE, LIVE, ""),
        (Operation.CREATE, ObjectWorld(), '404 namespaces "ns" not found'),
        (Operation.DELETE, ObjectWorld(), '404 namespaces "ns" not found'),
        (
            Operation.CREATE,
            ENDING,
            '403 configmaps "a" is forbidden: unable to create new content in namespace ns because '
            "it is being terminated",
        ),
        (Operation.UPDATE, ENDING, ""),
    ],
)
def test_namespaces_of_objects(operation: Operation, cluster: ObjectWorld, message: str) -> None:
    assert text(lifecycle_refusal(asked(MAP, None, operation), cluster)) == message


def test_the_cause_of_a_terminating_namespace() -> None:
    found = lifecycle_refusal(asked(MAP), ENDING)
    assert found is not None
    assert found.status.to_json()["details"] == {
        "name": "a",
        "kind": "configmaps",
        "causes": [
            {
                "reason": "NamespaceTerminating",
                "message": "namespace ns is being terminated",
                "field": "metadata.namespace",
            }
        ],
    }


def test_permanent_namespaces() -> None:
    gone = asked(None, obj("Namespace", "kube-system"), Operation.DELETE)
    message = '403 namespaces "kube-system" is forbidden: this namespace may not be deleted'
    assert text(lifecycle_refusal(gone, ObjectWorld())) == message
    other = asked(None, obj("Namespace", "other"), Operation.DELETE)
    assert lifecycle_refusal(other, ObjectWorld()) is None
    assert lifecycle_refusal(asked(obj("Node", "n")), ObjectWorld()) is None


def test_reviews_need_no_namespace() -> None:
    kind = GroupVersionKind("authorization.k8s.io", "v1", "LocalSubjectAccessReview")
    review = obj("LocalSubjectAccessReview", "", "authorization.k8s.io/v1", spec={})
    assert lifecycle_refusal(asked(review, kind=kind), ObjectWorld()) is None


@pytest.mark.parametrize(
    ("cluster", "message"), [(LIVE, ""), (ObjectWorld(), '404 namespaces "ns" not found')]
)
def test_namespace_exists(cluster: ObjectWorld, message: str) -> None:
    assert refusal("NamespaceExists", asked(MAP, MAP), cluster) == message


def test_namespaces_and_what_is_in_none_need_no_namespace() -> None:
    nowhere = ObjectWorld()
    assert refusal("NamespaceExists", asked(namespace()), nowhere) == ""
    assert refusal("NamespaceExists", asked(obj("Node", "n")), nowhere) == ""


def test_a_namespace_that_is_marked_takes_nothing_new() -> None:
    marked = namespace(phase="Active")
    marked["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    found = text(lifecycle_refusal(asked(MAP), ObjectWorld([marked])))
    assert found.endswith("in namespace ns because it is being terminated")
