"""Whether requests fit into quotas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.admission import Operation, Request
from celadon.admission.plugins.resource_quota import Fit, fit, given_back, is_counted
from celadon.kube import GroupVersionResource
from celadon.kube.releases import answering_as
from tests.admission.plugins.asking import asked, obj, pod, text

NOW = "2025-01-01T00:00:00Z"


def quota(
    hard: dict[str, str], used: dict[str, str] | None = None, name: str = "q", **spec: Any
) -> dict[str, Any]:
    """With a count of nothing, unless told what is used."""
    counted = dict.fromkeys(hard, "0") | (used or {})
    return obj("ResourceQuota", name, spec=spec, status={"hard": hard, "used": counted})


def fitting(*quotas: dict[str, Any], new: Any = None, old: Any = None) -> Fit:
    return fit(quotas, asked(new or obj("ConfigMap", "c"), old), NOW)


def used(found: Fit) -> dict[str, dict[str, str]]:
    return {name: dict(one.used) for name, one in found.charges.items()}


def test_what_fits_is_counted() -> None:
    found = fitting(quota({"configmaps": "2", "count/configmaps": "2", "pods": "1"}))
    assert found.refusal is None
    assert used(found) == {"q": {"configmaps": "1", "count/configmaps": "1", "pods": "0"}}
    assert found.charges["q"].charged_amounts == {"configmaps": "1", "count/configmaps": "1"}
    assert not fitting(quota({"secrets": "0"})).charges
    assert not fitting().charges


def test_what_does_not_fit() -> None:
    full = quota({"configmaps": "3", "count/configmaps": "1"}, {"count/configmaps": "1"})
    assert text(fitting(full).refusal) == (
        '403 configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, '
        "used: count/configmaps=1, limited: count/configmaps=1"
    )


def test_the_first_quota_that_is_full_refuses() -> None:
    roomy, full = quota({"configmaps": "9"}), quota({"configmaps": "0"}, name="r")
    assert "exceeded quota: r," in text(fitting(roomy, full).refusal)


def test_a_quota_that_nobody_has_counted() -> None:
    unknown = obj("ResourceQuota", "q", status={"hard": {"configmaps": "1", "pods": "1"}})
    assert text(fitting(unknown).refusal) == (
        '403 configmaps "c" is forbidden: status unknown for quota: q, resources: configmaps'
    )
    assert fitting(obj("ResourceQuota", "q", spec={"hard": {"configmaps": "0"}})) == Fit()


def test_pods_say_what_they_need() -> None:
    hard = {"requests.cpu": "1", "limits.memory": "1Gi"}
    assert text(fitting(quota(hard), new=pod()).refusal) == (
        '403 pods "p" is forbidden: failed quota: q: must specify limits.memory for: c; '
        "requests.cpu for: c"
    )


def test_scopes() -> None:
    ending = quota({"pods": "0"}, scopes=["Terminating"])
    assert fitting(ending, new=pod()).refusal is None
    assert fitting(ending, new=pod(activeDeadlineSeconds=5)).refusal is not None


def service(kind: str, ports: int) -> dict[str, Any]:
    numbers = [{"port": number} for number in range(ports)]
    return obj("Service", "s", spec={"type": kind, "ports": numbers})


@pytest.mark.parametrize(
    ("new", "old", "ports"),
    [
        (service("NodePort", 2), service("ClusterIP", 2), "2"),
        (service("NodePort", 3), service("NodePort", 1), "2"),
        (service("ClusterIP", 2), service("NodePort", 2), None),
    ],
)
def test_updates_count_for_what_they_add(new: Any, old: Any, ports: str | None) -> None:
    found = fitting(quota({"services.nodeports": "5", "services": "1"}), new=new, old=old)
    assert found.refusal is None
    counted = {"services": "0", "services.nodeports": ports}
    assert used(found) == ({} if ports is None else {"q": counted})


def test_a_pod_that_comes_into_scope_counts_in_full() -> None:
    ending = quota({"pods": "1"}, scopes=["Terminating"])
    found = fitting(ending, new=pod(activeDeadlineSeconds=5), old=pod())
    assert used(found) == {"q": {"pods": "1"}}


def test_charges_can_be_given_back() -> None:
    found = given_back({"pods": "3", "cpu": "1500m", "memory": "0"}, {"pods": "1", "cpu": "2"})
    assert found == {"pods": "2", "cpu": "0", "memory": "0"}


def test_negative_needs() -> None:
    needs = {"requests": {"cpu": "-1"}}
    value = pod(containers=[{"name": "c", "resources": needs}])
    assert text(fitting(quota({"pods": "1"}), new=value).refusal) == (
        '403 pods "p" is forbidden: quota usage is negative for resource(s): cpu,requests.cpu'
    )


MAP = obj("ConfigMap", "c")
ENDING = pod(activeDeadlineSeconds=1)


@pytest.mark.parametrize(
    ("request_", "counted"),
    [
        (asked(MAP), True),
        (asked(MAP, MAP), False),
        (asked(None, MAP, Operation.DELETE), False),
        (asked(obj("Node", "n")), False),
        (asked(obj("Namespace", "n")), False),
        (asked(obj("Event", "e")), False),
        (asked(service("NodePort", 1), service("NodePort", 1)), True),
        (asked(pod(), pod()), False),
        (asked(ENDING, pod()), True),
        (asked(pod(), pod(), subresource="resize"), True),
        (asked(pod(), pod(), subresource="status"), False),
    ],
)
def test_requests_that_count(request_: Request, counted: bool) -> None:
    assert is_counted(request_) == counted


@pytest.mark.parametrize(("release", "counted"), [("1.32", False), ("1.33", True)])
def test_pods_that_come_to_end_count_since_1_33(release: str, counted: bool) -> None:
    with answering_as(release):
        assert is_counted(asked(ENDING, pod())) == counted


@pytest.mark.parametrize(
    ("group", "name", "counted"),
    [
        ("", "configmaps", True),
        ("", "bindings", False),
        ("", "events", False),
        ("events.k8s.io", "events", False),
        ("authorization.k8s.io", "localsubjectaccessreviews", False),
        ("authorization.k8s.io", "selfsubjectaccessreviews", True),
        ("x.io", "events", True),
    ],
)
def test_what_is_never_counted(group: str, name: str, counted: bool) -> None:
    resource = GroupVersionResource(group, "v1", name)
    assert is_counted(replace(asked(obj("ConfigMap", "c")), resource=resource)) is counted
