"""Each function of cells on its own, with what is there, what is missing, and what is odd.

As k8s.io/kubernetes `pkg/printers/internalversion/printers.go` prints them.
"""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.printers.cell_texts import Row
from celadon.apiserver.printers.printer_cells import CALLS
from celadon.kube.releases import answering_as

BEGUN = "1970-01-01T00:00:10Z"
ENDED = "1970-01-01T00:01:15Z"
NOW = 130.0


def with_conditions(*types: str, **fields: Any) -> dict[str, Any]:
    conditions = [{"type": name, "status": "True"} for name in types]
    return {"status": {"conditions": conditions, **fields.pop("status", {})}, **fields}


def hpa(metric: dict[str, Any] | None, current: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "spec": {"metrics": [] if metric is None else [metric]},
        "status": {"currentMetrics": [] if current is None else [current]},
    }


def metric(kind: str, member: str, target: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, member: {"target": target, **more}}


def current(kind: str, member: str, **values: Any) -> dict[str, Any]:
    return {"type": kind, member: {"current": values}}


def event(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, **fields}


def service(kind: str, **spec: Any) -> dict[str, Any]:
    return {"spec": {"type": kind, **spec}}


def balanced(*entries: dict[str, Any], **spec: Any) -> dict[str, Any]:
    status = {"loadBalancer": {"ingress": list(entries)}}
    return {**service("LoadBalancer", **spec), "status": status}


POOLS = [
    {"totalDevices": 3, "allocatedDevices": 1, "availableDevices": 2, "unavailableDevices": 4},
    {"totalDevices": 5, "validationError": "odd"},
    {"validationError": ""},
]

ROWS: list[tuple[str, Any, Any]] = [
    ("controllerOwner", None, "<none>"),
    ("controllerOwner", [{"kind": "A", "name": "x"}], "<none>"),
    (
        "controllerOwner",
        [{"kind": "A"}, {"apiVersion": "apps/v1", "kind": "Set", "name": "x", "controller": True}],
        "set.apps/x",
    ),
    (
        "controllerOwner",
        [{"apiVersion": "v1", "kind": "Node", "name": "N", "controller": True}],
        "node/N",
    ),
    ("jobStatus", {}, "Running"),
    ("jobStatus", with_conditions("Complete", "Failed"), "Complete"),
    ("jobStatus", with_conditions("Failed", "Suspended"), "Failed"),
    ("jobStatus", with_conditions("Suspended", "FailureTarget"), "Suspended"),
    ("jobStatus", with_conditions("FailureTarget", "SuccessCriteriaMet"), "FailureTarget"),
    ("jobStatus", with_conditions("SuccessCriteriaMet"), "SuccessCriteriaMet"),
    (
        "jobStatus",
        with_conditions("Suspended", metadata={"deletionTimestamp": BEGUN}),
        "Terminating",
    ),
    ("jobCompletions", {"spec": {"completions": 3}, "status": {"succeeded": 2}}, "2/3"),
    ("jobCompletions", {"spec": {"completions": 0}}, "0/0"),
    ("jobCompletions", {"spec": {"parallelism": 2}}, "0/1 of 2"),
    ("jobCompletions", {"spec": {"parallelism": 1}}, "0/1"),
    ("jobCompletions", {}, "0/1"),
    ("jobDuration", {}, ""),
    ("jobDuration", {"status": {"startTime": BEGUN}}, "2m"),
    ("jobDuration", {"status": {"startTime": BEGUN, "completionTime": ENDED}}, "65s"),
    ("jobDuration", {"status": {"startTime": None}}, "292y"),
    ("jobDuration", {"status": {"startTime": BEGUN, "completionTime": None}}, "<invalid>"),
    ("nodeStatus", {}, "Unknown"),
    ("nodeStatus", with_conditions("Ready"), "Ready"),
    ("nodeStatus", with_conditions("DiskPressure"), "Unknown"),
    (
        "nodeStatus",
        with_conditions("Ready", spec={"unschedulable": True}),
        "Ready,SchedulingDisabled",
    ),
    ("nodeStatus", {"spec": {"unschedulable": True}}, "Unknown,SchedulingDisabled"),
    (
        "nodeStatus",
        {
            "status": {
                "conditions": [
                    {"type": "Ready", "status": "True"},
                    {"type": "Ready", "status": "Unknown"},
                ]
            }
        },
        "NotReady",
    ),
    ("nodeRoles", None, "<none>"),
    ("nodeRoles", {"node-role.kubernetes.io/": "", "kubernetes.io/role": ""}, "<none>"),
    (
        "nodeRoles",
        {
            "node-role.kubernetes.io/b": "",
            "node-role.kubernetes.io/a": "x",
            "kubernetes.io/role": "c",
        },
        "a,b,c",
    ),
    ("quotaLimits", None, ""),
    (
        "quotaLimits",
        {"hard": {"limits.cpu": "2000m", "pods": "3"}, "used": {"limits.cpu": "500m"}},
        "limits.cpu: 500m/2",
    ),
    (
        "quotaRequests",
        {"hard": {"limits.cpu": "2", "pods": "3", "a": "1"}, "used": {"pods": "1"}},
        "a: 0/1, pods: 1/3",
    ),
    ("health", {"status": "True"}, "Healthy"),
    ("health", {"status": "False"}, "Unhealthy"),
    ("health", {}, "Unhealthy"),
    ("eventLastSeen", event(), "<unknown>"),
    ("eventLastSeen", event(firstTimestamp=BEGUN), "2m"),
    ("eventLastSeen", event(eventTime=ENDED), "55s"),
    ("eventLastSeen", event(firstTimestamp=BEGUN, lastTimestamp=ENDED), "55s"),
    (
        "eventLastSeen",
        event(lastTimestamp=BEGUN, series={"lastObservedTime": ENDED, "count": 3}),
        "55s",
    ),
    ("eventFirstSeen", event(firstTimestamp=BEGUN, eventTime=ENDED), "2m"),
    ("eventFirstSeen", event(eventTime=ENDED), "55s"),
    ("eventCount", event(), 1),
    ("eventCount", event(count=3), 3),
    ("eventCount", event(count=3, series={"count": 5}), 5),
    ("eventCount", event(series={}), 0),
    ("eventObject", None, ""),
    ("eventObject", {"kind": "Pod"}, "pod"),
    ("eventObject", {"kind": "Pod", "name": "A"}, "pod/A"),
    ("eventSource", event(), ""),
    ("eventSource", event(source={"component": "a", "host": "b"}), "a, b"),
    ("eventSource", event(source={"component": "a"}, reportingComponent="c"), "a"),
    ("eventSource", event(reportingComponent="c", reportingInstance="d"), "c, d"),
    ("serviceExternalIP", service("ClusterIP"), "<none>"),
    (
        "serviceExternalIP",
        service("ClusterIP", externalIPs=["1.1.1.1", "2.2.2.2"]),
        "1.1.1.1,2.2.2.2",
    ),
    ("serviceExternalIP", service("NodePort"), "<none>"),
    ("serviceExternalIP", service("NodePort", externalIPs=["1.1.1.1"]), "1.1.1.1"),
    ("serviceExternalIP", service("LoadBalancer"), "<pending>"),
    ("serviceExternalIP", service("LoadBalancer", externalIPs=["1.1.1.1"]), "1.1.1.1"),
    ("serviceExternalIP", balanced({"hostname": "h"}, {"ip": "2.2.2.2"}, {}), "2.2.2.2,h"),
    (
        "serviceExternalIP",
        balanced({"ip": "2.2.2.2", "hostname": "h"}, {"ip": "2.2.2.2"}, externalIPs=["1.1.1.1"]),
        "2.2.2.2,1.1.1.1",
    ),
    ("serviceExternalIP", service("ExternalName", externalName="a.b"), "a.b"),
    ("serviceExternalIP", service("Other"), "<unknown>"),
    ("servicePort", {"port": 80, "protocol": "TCP"}, "80/TCP"),
    ("servicePort", {"port": 80, "nodePort": 30080, "protocol": "UDP"}, "80:30080/UDP"),
    ("servicePort", {"port": 80, "nodePort": 0, "protocol": "UDP"}, "80/UDP"),
    ("endpoints", None, "<none>"),
    ("endpoints", [], "<none>"),
    ("endpoints", [{"addresses": [{"ip": "1.1.1.1"}]}], "1.1.1.1"),
    (
        "endpoints",
        [
            {
                "addresses": [{"ip": "1.1.1.1"}, {"ip": "::1"}],
                "ports": [{"port": 80}, {"port": 81}],
            }
        ],
        "1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...",
    ),
    ("sliceAddresses", None, "<unset>"),
    (
        "sliceAddresses",
        [{"addresses": ["a", "b"]}, {}, {"addresses": ["c", "d"]}],
        "a,b,c + 1 more...",
    ),
    ("slicePort", {"port": 80, "name": "n"}, "80"),
    ("slicePort", {"name": "n"}, "n"),
    ("slicePort", {"name": ""}, ""),
    ("slicePort", {}, "*"),
    ("ingressHosts", None, "*"),
    ("ingressHosts", [{}], "*"),
    ("ingressHosts", [{"host": "a"}, {}, {"host": "b"}], "a,b"),
    (
        "ingressHosts",
        [{"host": "a"}, {"host": "b"}, {"host": "c"}, {}, {"host": "d"}],
        "a,b,c + 2 more...",
    ),
    (
        "parentReference",
        {"group": "Apps", "resource": "sets", "namespace": "n", "name": "X"},
        "sets.apps/n/X",
    ),
    ("parentReference", {"resource": "nodes", "name": "x"}, "nodes/x"),
    ("accessModes", None, ""),
    (
        "accessModes",
        ["ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce", "Other"],
        "RWO,ROX,RWX,RWOP",
    ),
    ("accessModes", ["ReadWriteMany", "ReadWriteMany"], "RWX"),
    ("storageClassName", {}, ""),
    ("storageClassName", {"spec": {"storageClassName": "a"}}, "a"),
    (
        "storageClassName",
        {
            "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "b"}},
            "spec": {"storageClassName": "a"},
        },
        "b",
    ),
    ("defaultMark", None, ""),
    ("defaultMark", {"storageclass.kubernetes.io/is-default-class": "true"}, " (default)"),
    ("defaultMark", {"storageclass.beta.kubernetes.io/is-default-class": "true"}, " (default)"),
    ("defaultMark", {"storageclass.kubernetes.io/is-default-class": "false"}, ""),
    ("defaultIngressMark", {"ingressclass.kubernetes.io/is-default-class": "true"}, " (default)"),
    ("defaultIngressMark", {"storageclass.kubernetes.io/is-default-class": "true"}, ""),
    (
        "defaultAttributesMark",
        {"volumeattributesclass.alpha.kubernetes.io/is-default-class": "true"},
        " (default)",
    ),
    ("claimState", {}, "pending"),
    ("claimState", {"metadata": {"deletionTimestamp": BEGUN}}, "deleted"),
    ("claimState", {"status": {"allocation": {}}}, "allocated"),
    ("claimState", {"status": {"allocation": {}, "reservedFor": [1]}}, "allocated,reserved"),
    (
        "claimState",
        {"metadata": {"deletionTimestamp": BEGUN}, "status": {"allocation": {}}},
        "deleted,allocated",
    ),
    ("poolTotal", {}, "-"),
    ("poolTotal", with_conditions("Failed", status={"pools": POOLS}), "-"),
    ("poolTotal", {"status": {"pools": POOLS}}, "8"),
    ("poolAllocated", {"status": {"pools": POOLS}}, "1"),
    ("poolAvailable", {"status": {"pools": POOLS}}, "2"),
    ("poolUnavailable", {"status": {"pools": POOLS}}, "4"),
    ("poolErrors", {}, "-"),
    ("poolErrors", with_conditions("Failed"), "-"),
    ("poolErrors", {"status": {"pools": POOLS}}, "2"),
    ("poolState", {}, "Pending"),
    ("poolState", with_conditions("Failed", "Complete"), "Failed"),
    ("poolState", with_conditions("Complete", "Failed"), "Complete"),
    ("poolCompleted", {}, "<none>"),
    ("poolCompleted", with_conditions("Failed"), "<none>"),
    ("poolCompleted", with_conditions("Complete"), "<unknown>"),
    (
        "poolCompleted",
        {
            "status": {
                "conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": BEGUN}]
            }
        },
        "2m",
    ),
    (
        "poolCompleted",
        {"status": {"conditions": [{"type": "Complete", "lastTransitionTime": BEGUN}]}},
        "<none>",
    ),
    ("poolState", with_conditions("Complete", status={"pools": POOLS}), "Complete"),
    (
        "poolState",
        with_conditions("Complete", status={"pools": POOLS, "poolCount": 4}),
        "Complete (3/4 pools)",
    ),
    ("poolState", with_conditions("Complete", status={"pools": POOLS, "poolCount": 3}), "Complete"),
    ("groupResource", {"group": "apps", "resource": "sets"}, "sets.apps"),
    ("groupResource", None, ""),
    ("migrationState", {}, "Unknown"),
    ("migrationState", with_conditions("Running"), "Running"),
    ("migrationState", with_conditions("Succeeded", "Running", "Failed"), "Succeeded"),
    ("migrationState", with_conditions("Failed", "Running"), "Failed"),
    ("podGroupState", None, "Pending"),
    ("podGroupState", [{"type": "PodGroupScheduled", "status": "True"}], "Scheduled"),
    ("podGroupState", [{"type": "PodGroupScheduled", "status": "False"}], "Unschedulable"),
    (
        "podGroupState",
        [
            {"type": "DisruptionTarget", "reason": "old"},
            {"type": "DisruptionTarget", "reason": "new"},
            {"type": "PodGroupScheduled", "status": "True"},
        ],
        "new",
    ),
    ("requestCondition", {}, "Pending"),
    ("requestCondition", with_conditions("Approved"), "Approved"),
    ("requestCondition", with_conditions("Approved", "Denied"), "Denied"),
    (
        "requestCondition",
        with_conditions("Approved", "Failed", status={"certificate": "x"}),
        "Approved,Failed,Issued",
    ),
    ("certificateState", {}, "Pending"),
    ("certificateState", with_conditions("Other"), "Pending"),
    ("certificateState", with_conditions("Issued", "Denied", "Other"), "Denied"),
    ("certificateState", with_conditions("Failed"), "Failed"),
    ("availability", {"status": "True", "reason": "Passed"}, "True"),
    ("availability", {"status": "False", "reason": "Gone"}, "False (Gone)"),
    ("availability", {"status": "False"}, "False"),
    ("paramRef", None, "<unset>"),
    ("paramRef", {"name": "p"}, "*/p"),
    ("paramRef", {"name": "p", "namespace": "n", "selector": {}}, "n/p"),
    (
        "paramRef",
        {"selector": {}},
        "&LabelSelector{MatchLabels:map[string]string{},"
        "MatchExpressions:[]LabelSelectorRequirement{},}",
    ),
    (
        "paramRef",
        {
            "selector": {
                "matchLabels": {"b": "2", "a": "1"},
                "matchExpressions": [
                    {"key": "k", "operator": "In", "values": ["x", "y"]},
                    {"key": "l", "operator": "Exists"},
                ],
            }
        },
        "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},"
        "MatchExpressions:[]LabelSelectorRequirement{"
        "LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},"
        "LabelSelectorRequirement{Key:l,Operator:Exists,Values:[],},},}",
    ),
    ("loadBalancerAddresses", None, ""),
    ("loadBalancerAddresses", [{"ip": "2.2.2.2"}, {"ip": "1.1.1.1"}], "1.1.1.1,2.2.2.2"),
    ("autoscalerTargets", hpa(None), "<none>"),
    ("autoscalerTargets", hpa({"type": "Other"}), "<unknown type>"),
    (
        "autoscalerTargets",
        hpa(metric("Pods", "pods", {"averageValue": "100m"})),
        "<unknown>/100m",
    ),
    (
        "autoscalerTargets",
        hpa(
            metric("Pods", "pods", {"averageValue": "100m"}),
            current("Pods", "pods", averageValue="50m"),
        ),
        "50m/100m",
    ),
    (
        "autoscalerTargets",
        hpa(metric("Pods", "pods", {}), current("Pods", "pods")),
        "<nil>/<nil>",
    ),
    *(
        (
            "autoscalerTargets",
            hpa(metric(kind, kind.lower(), target), current(kind, kind.lower(), **now)),
            shown,
        )
        for kind in ("External", "Object")
        for target, now, shown in (
            ({"value": "2k"}, {"value": "1500"}, "1500/2k"),
            ({"averageValue": "2"}, {"averageValue": "1"}, "1/2 (avg)"),
            ({"averageValue": "2"}, {"value": "1"}, "<unknown>/2 (avg)"),
            ({}, {}, "<nil>/<nil>"),
        )
    ),
    (
        "autoscalerTargets",
        hpa(metric("Resource", "resource", {"averageUtilization": 80}, name="cpu")),
        "cpu: <unknown>/80%",
    ),
    (
        "autoscalerTargets",
        hpa(
            metric("Resource", "resource", {}, name="cpu"),
            current("Resource", "resource", averageUtilization=0),
        ),
        "cpu: 0%/<auto>",
    ),
    (
        "autoscalerTargets",
        hpa(
            metric("ContainerResource", "containerResource", {"averageValue": "1Gi"}, name="m"),
            current("ContainerResource", "containerResource", averageValue="1Mi"),
        ),
        "m: 1Mi/1Gi",
    ),
    (
        "autoscalerTargets",
        {
            **hpa(None),
            "spec": {
                "metrics": [
                    metric("Resource", "resource", {"averageUtilization": 1}, name=name)
                    for name in "abc"
                ]
            },
        },
        "a: <unknown>/1%, b: <unknown>/1% + 1 more...",
    ),
]


@pytest.mark.parametrize(
    ("name", "value", "shown"), ROWS, ids=[f"{row[0]} {n}" for n, row in enumerate(ROWS)]
)
def test_functions(name: str, value: Any, shown: Any) -> None:
    assert CALLS[name](value, Row({}, NOW, {})) == shown


@pytest.mark.parametrize(
    ("release", "name", "value", "shown"),
    [
        ("1.33", "jobStatus", with_conditions("SuccessCriteriaMet"), "Running"),
        ("1.34", "jobStatus", with_conditions("SuccessCriteriaMet"), "SuccessCriteriaMet"),
        (
            "1.31",
            "claimState",
            {"status": {"allocation": {}, "deallocationRequested": True}},
            "allocated,deallocating",
        ),
        (
            "1.31",
            "claimState",
            {"metadata": {"deletionTimestamp": BEGUN}, "status": {"allocation": {}}},
            "deleted,allocated,deallocating",
        ),
        ("1.31", "claimState", {"status": {"allocation": {}}}, "allocated"),
        (
            "1.32",
            "claimState",
            {"status": {"allocation": {}, "deallocationRequested": True}},
            "allocated",
        ),
    ],
)
def test_functions_of_releases(release: str, name: str, value: Any, shown: Any) -> None:
    with answering_as(release):
        assert CALLS[name](value, Row({}, NOW, {})) == shown


def test_every_function_has_rows() -> None:
    """Those of pods have tests of their own (`test_pod_cells`)."""
    others = {name for name in CALLS if name.startswith("pod") and name != "podGroupState"}
    assert {row[0] for row in ROWS} == set(CALLS) - others
