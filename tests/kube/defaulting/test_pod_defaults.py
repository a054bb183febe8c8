"""What happens to pods: resources, quality of service, affinity, profiles."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext, Run
from celadon.kube.defaulting.workload_defaults import (
    apparmor_from_annotations,
    match_label_keys,
    pod_cidrs,
    pod_ips,
    pod_level_resources,
    pod_status,
    requests_from_limits,
)
from celadon.kube.names import GroupVersionKind
from celadon.kube.quantity import qos_class
from celadon.kube.registry.create import admit_form
from celadon.kube.releases import answering_as
from celadon.kube.well_known_values import APPARMOR_OF_CONTAINER

BOTH = {"cpu": "1", "memory": "1Gi"}


def run(pod: dict[str, Any], *gates: str) -> Run:
    return Run(pod, DefaultingContext(now="NOW"), frozenset(gates))


def container(limits: Any = None, requests: Any = None, **more: Any) -> dict[str, Any]:
    resources = {"limits": limits, "requests": requests}
    return {"resources": {k: v for k, v in resources.items() if v is not None}, **more}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"containers": [container()]}, "BestEffort"),
        ({"containers": [container(requests={"cpu": "0"})]}, "BestEffort"),
        ({"containers": [container(requests={"example.com/x": "1"})]}, "BestEffort"),
        ({"containers": [container(requests={"cpu": "1"})]}, "Burstable"),
        ({"containers": [container(BOTH, BOTH)]}, "Guaranteed"),
        ({"containers": [container(BOTH, {"cpu": "1000m", "memory": "1024Mi"})]}, "Guaranteed"),
        ({"containers": [container(BOTH, {"cpu": "500m", "memory": "1Gi"})]}, "Burstable"),
        ({"containers": [container(BOTH, BOTH), container()]}, "Burstable"),
        (
            {"containers": [container(BOTH, BOTH)], "initContainers": [container(BOTH, BOTH)]},
            "Guaranteed",
        ),
        (
            {"containers": [container()], "resources": {"limits": BOTH, "requests": BOTH}},
            "Guaranteed",
        ),
        (
            {"containers": [container(BOTH, BOTH)], "resources": {"requests": {"cpu": "1"}}},
            "Burstable",
        ),
        ({}, "BestEffort"),
    ],
)
def test_qos(spec: dict[str, Any], want: str) -> None:
    assert qos_class(spec) == want


def test_status() -> None:
    pod: dict[str, Any] = {"spec": {"schedulingGates": [{"name": "g"}]}, "status": {"x": 1}}
    pod_status(pod["status"], run(pod))
    assert pod["status"]["phase"] == "Pending"
    assert pod["status"]["conditions"][0]["lastTransitionTime"] == "NOW"
    assert "x" not in pod["status"]
    pod = {"spec": {}, "status": {"qosClass": "Burstable"}}
    pod_status(pod["status"], run(pod))
    assert pod["status"] == {"phase": "Pending", "qosClass": "Burstable"}


def test_requests_from_limits() -> None:
    resources: dict[str, Any] = {"limits": {"cpu": "1", "memory": "2"}, "requests": {"cpu": "0"}}
    requests_from_limits(resources, run({}))
    assert resources["requests"] == {"cpu": "0", "memory": "2"}
    empty: dict[str, Any] = {}
    requests_from_limits(empty, run({}))
    assert empty == {}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"containers": [container(BOTH)]}, None),
        ({"resources": {}}, {}),
        (
            {"resources": {"limits": {"cpu": "2"}}},
            {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}},
        ),
        (
            {
                "resources": {"limits": {"cpu": "4"}},
                "containers": [container(None, {"cpu": "1"}), container(None, {"cpu": "500m"})],
                "initContainers": [
                    container(None, {"cpu": "250m"}, restartPolicy="Always"),
                    container(None, {"cpu": "2", "memory": "1Gi"}),
                ],
            },
            {"limits": {"cpu": "4"}, "requests": {"cpu": "2250m", "memory": "1Gi"}},
        ),
        (
            {
                "resources": {"requests": {"cpu": "1"}},
                "containers": [container({"hugepages-2Mi": "2Mi"})],
            },
            {
                "limits": {"hugepages-2Mi": "2Mi"},
                "requests": {"cpu": "1", "hugepages-2Mi": "2Mi"},
            },
        ),
    ],
)
def test_pod_level_resources(spec: dict[str, Any], want: Any) -> None:
    pod_level_resources(spec, run({}))
    assert spec.get("resources") == want


@pytest.mark.parametrize(
    ("status", "want"),
    [
        ({"podIP": "a"}, {"podIP": "a", "podIPs": [{"ip": "a"}]}),
        ({"podIPs": [{"ip": "b"}]}, {"podIP": "b", "podIPs": [{"ip": "b"}]}),
        ({"podIP": "a", "podIPs": [{"ip": "b"}]}, {"podIP": "a", "podIPs": [{"ip": "a"}]}),
        ({}, {}),
    ],
)
def test_ips(status: dict[str, Any], want: dict[str, Any]) -> None:
    pod_ips(status, run({}))
    assert status == want


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"podCIDR": "a"}, {"podCIDR": "a", "podCIDRs": ["a"]}),
        ({"podCIDRs": ["b", "c"]}, {"podCIDR": "b", "podCIDRs": ["b", "c"]}),
        ({"podCIDR": "a", "podCIDRs": ["b"]}, {"podCIDR": "a", "podCIDRs": ["a"]}),
        ({}, {}),
    ],
)
def test_cidrs(spec: dict[str, Any], want: dict[str, Any]) -> None:
    pod_cidrs(spec, run({}))
    assert spec == want


def test_match_label_keys() -> None:
    required = {"labelSelector": {}, "matchLabelKeys": ["a", "z"], "mismatchLabelKeys": ["b"]}
    preferred = {"podAffinityTerm": {"labelSelector": {}, "matchLabelKeys": ["a"]}}
    unselected = {"matchLabelKeys": ["a"]}
    spread = {"labelSelector": {}, "matchLabelKeys": ["b"]}
    pod: dict[str, Any] = {
        "metadata": {"labels": {"a": "1", "b": "2"}},
        "spec": {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [required, unselected]
                },
                "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]},
            },
            "topologySpreadConstraints": [spread],
        },
    }
    match_label_keys(pod["spec"], run(pod, "MatchLabelKeysInPodTopologySpreadSelectorMerge"))
    is_a = {"key": "a", "operator": "In", "values": ["1"]}
    assert required["labelSelector"] == {
        "matchExpressions": [is_a, {"key": "b", "operator": "NotIn", "values": ["2"]}]
    }
    assert preferred["podAffinityTerm"]["labelSelector"] == {"matchExpressions": [is_a]}
    assert "labelSelector" not in unselected
    assert spread["labelSelector"] == {
        "matchExpressions": [{"key": "b", "operator": "In", "values": ["2"]}]
    }


@pytest.mark.parametrize(
    ("text", "of_pod", "want"),
    [
        ("unconfined", None, {"type": "Unconfined"}),
        ("runtime/default", None, {"type": "RuntimeDefault"}),
        ("localhost/p", None, {"type": "Localhost", "localhostProfile": "p"}),
        ("nonsense", None, None),
        ("unconfined", {"type": "Unconfined"}, None),
    ],
)
def test_apparmor(text: str, of_pod: Any, want: Any) -> None:
    spec: dict[str, Any] = {"containers": [{"name": "c"}, {"name": "other"}]}
    if of_pod:
        spec["securityContext"] = {"appArmorProfile": of_pod}
    annotations = {"container.apparmor.security.beta.kubernetes.io/c": text}
    pod = {"metadata": {"annotations": annotations}, "spec": spec}
    apparmor_from_annotations(spec, run(pod))
    got = spec["containers"][0].get("securityContext", {}).get("appArmorProfile")
    assert got == want
    assert spec["containers"][1] == {"name": "other"}


@pytest.mark.parametrize("release", ["1.33", "1.34"])
def test_profiles_of_apparmor_become_annotations_before_1_34(release: str) -> None:
    own = {"appArmorProfile": {"type": "Localhost", "localhostProfile": "p"}}
    containers = [{"name": "c"}, {"name": "own", "securityContext": own}, {"name": "told"}]
    of_pod = {"appArmorProfile": {"type": "RuntimeDefault"}}
    told = {f"{APPARMOR_OF_CONTAINER}told": "unconfined"}
    pod = {
        "metadata": {"name": "p", "annotations": told},
        "spec": {"containers": containers, "securityContext": of_pod},
    }
    with answering_as(release):
        made = admit_form(pod, GroupVersionKind("", "v1", "Pod"))
    added = {
        f"{APPARMOR_OF_CONTAINER}c": "runtime/default",
        f"{APPARMOR_OF_CONTAINER}own": "localhost/p",
    }
    assert made["metadata"]["annotations"] == told | (added if release == "1.33" else {})


def test_apparmor_not_on_windows_and_not_over_fields() -> None:
    annotations = {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}
    own = {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}
    for spec in (
        {"containers": [{"name": "c"}], "os": {"name": "windows"}},
        {"containers": [{"name": "c", **own}]},
    ):
        before = str(spec)
        apparmor_from_annotations(spec, run({"metadata": {"annotations": annotations}}))
        assert str(spec) == before
