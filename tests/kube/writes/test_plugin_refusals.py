"""NamespaceLifecycle and LimitRanger, as far as they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.catalogue.lookups import ObjectIndex
from celadon.kube.status import StatusError
from celadon.kube.writes.plugin_refusals import lifecycle_refusal, limits_refusal
from tests.kube.writes.targets import target


def namespace(name: str, **status: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": status}


MAPS = target("v1/configmaps")
SPACES = target("v1/namespaces", "default")
LIVE = ObjectIndex([namespace("ns", phase="Active")])
ENDING = ObjectIndex([namespace("ns", phase="Terminating")])


def message(found: StatusError | None) -> str:
    return "" if found is None else f"{found.code} {found}"


@pytest.mark.parametrize(
    ("operation", "cluster", "text"),
    [
        ("CREATE", LIVE, ""),
        ("CREATE", ObjectIndex(), '404 namespaces "ns" not found'),
        ("DELETE", ObjectIndex(), '404 namespaces "ns" not found'),
        (
            "CREATE",
            ENDING,
            '403 configmaps "a" is forbidden: unable to create new content in namespace ns because '
            "it is being terminated",
        ),
        ("UPDATE", ENDING, ""),
    ],
)
def test_namespaces_of_objects(operation: str, cluster: ObjectIndex, text: str) -> None:
    assert message(lifecycle_refusal(MAPS, operation, "a", cluster)) == text


def test_the_cause_of_a_terminating_namespace() -> None:
    found = lifecycle_refusal(MAPS, "CREATE", "a", ENDING)
    assert found is not None
    assert found.status.to_json()["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace ns is being terminated",
            "field": "metadata.namespace",
        }
    ]


def test_permanent_namespaces() -> None:
    found = lifecycle_refusal(SPACES, "DELETE", "default", ObjectIndex())
    text = '403 namespaces "default" is forbidden: this namespace may not be deleted'
    assert message(found) == text
    assert lifecycle_refusal(SPACES, "DELETE", "other", ObjectIndex()) is None
    assert lifecycle_refusal(target("v1/nodes", "n"), "CREATE", "n", ObjectIndex()) is None


def test_limits() -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "ns"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]},
    }
    big = {"name": "c", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}}
    pod = {"kind": "Pod", "spec": {"containers": [big]}}
    cluster = ObjectIndex([limits])
    found = limits_refusal(target("v1/pods"), pod, "p", cluster)
    text = '403 pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    assert message(found) == text
    assert limits_refusal(target("v1/pods", namespace="other"), pod, "p", cluster) is None
    assert limits_refusal(target("v1/pods", "p", "resize"), pod, "p", cluster) is None
