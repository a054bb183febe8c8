"""Which cells each resource has; rows of kinds that recordings show seldom or never."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.printers.tables import built_in_shape, custom_shape, scale_shape
from celadon.kube import GroupVersionResource
from celadon.kube.resources import columns_of, custom_resources, known_resources

NOW = 100.0
BORN = "1970-01-01T00:00:00Z"
AGE = "100s"
METRIC = {"metric": {"name": "m"}, "target": {"averageValue": "10"}}

EVENT = {"type": "Normal", "reason": "Started"}


def obj(**members: Any) -> dict[str, Any]:
    meta = {"name": "n", "creationTimestamp": BORN, **members.pop("metadata", {})}
    return {"metadata": meta, **members}


ROWS: list[tuple[str, dict[str, Any], list[Any]]] = [
    (
        "v1/nodes",
        obj(
            metadata={
                "labels": {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "master"}
            },
            spec={"unschedulable": True},
            status={
                "conditions": [{"type": "Ready", "status": "Unknown"}],
                "addresses": [{"type": "InternalIP", "address": "10.1.1.1"}],
                "nodeInfo": {
                    "kubeletVersion": "v1",
                    "osImage": "os",
                    "kernelVersion": "6.1",
                    "architecture": "amd64",
                },
            },
        ),
        [
            *("n", "NotReady,SchedulingDisabled", "master,worker", AGE, "v1", "10.1.1.1"),
            *("<none>", "os", "6.1 (amd64)", "<unknown>"),
        ],
    ),
    ("v1/componentstatuses", obj(), ["n", "Unknown", "", ""]),
    (
        "v1/events",
        obj(
            **EVENT,
            involvedObject={"kind": "Pod", "name": "web", "fieldPath": "spec.containers{a}"},
            source={"component": "kubelet", "host": "node-1"},
            firstTimestamp=BORN,
            lastTimestamp="1970-01-01T00:01:00Z",
            count=3,
            message=" said ",
        ),
        [
            *("40s", "Normal", "Started", "pod/web", "spec.containers{a}", "kubelet, node-1"),
            *("said", "100s", 3, "n"),
        ],
    ),
    (
        "events.k8s.io/v1/events",
        obj(
            **EVENT,
            apiVersion="events.k8s.io/v1",
            kind="Event",
            regarding={"kind": "Node"},
            reportingController="scheduler",
            eventTime="1970-01-01T00:00:40.000000Z",
            note="said",
        ),
        ["60s", "Normal", "Started", "node", "", "scheduler", "said", "60s", 1, "n"],
    ),
    (
        "v1/endpoints",
        obj(
            subsets=[
                {"addresses": [{"ip": "::1"}, {"ip": "10.0.0.1"}], "ports": [{"port": 80}]},
                {"addresses": [{"ip": "10.0.0.2"}, {"ip": "10.0.0.3"}]},
            ]
        ),
        ["n", "[::1]:80,10.0.0.1:80,10.0.0.2 + 1 more...", AGE],
    ),
    (
        "v1/resourcequotas",
        obj(status={"hard": {"limits.cpu": "2", "pods": "10"}, "used": {"pods": "3"}}),
        ["n", "pods: 3/10", "limits.cpu: 0/2", AGE],
    ),
    (
        "networking.k8s.io/v1/ingresses",
        obj(spec={"rules": [{"host": one} for one in ("a", "b", "c")] + [{}, {}], "tls": [{}]}),
        ["n", "<none>", "a,b,c + 2 more...", "", "80, 443", AGE],
    ),
    (
        "networking.k8s.io/v1/ipaddresses",
        obj(spec={"parentRef": {"resource": "Services", "namespace": "x", "name": "s"}}),
        ["n", "services/x/s", AGE],
    ),
    (
        "autoscaling/v2/horizontalpodautoscalers",
        obj(
            spec={
                "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                "maxReplicas": 3,
                "metrics": [{"type": "External", "external": METRIC}, {"type": "New"}, {}],
            },
            status={"currentMetrics": [{"external": {"current": {"averageValue": "500m"}}}]},
        ),
        ["n", "Deployment/d", "500m/10 (avg), <unknown type> + 1 more...", "<unset>", 3, 0, AGE],
    ),
    (
        "autoscaling/v1/horizontalpodautoscalers",
        obj(
            kind="HorizontalPodAutoscaler",
            apiVersion="autoscaling/v1",
            spec={
                "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                "maxReplicas": 3,
                "targetCPUUtilizationPercentage": 70,
            },
        ),
        ["n", "Deployment/d", "cpu: <unknown>/70%", "<unset>", 3, 0, AGE],
    ),
    (
        "rbac.authorization.k8s.io/v1/clusterrolebindings",
        obj(
            roleRef={"kind": "ClusterRole", "name": "r"},
            subjects=[
                {"kind": "User", "name": "u"},
                {"kind": "ServiceAccount", "name": "s", "namespace": "x"},
                {"kind": "ServiceAccount", "name": "t"},
            ],
        ),
        ["n", "ClusterRole/r", AGE, "u", "", "x/s, /t"],
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
        obj(spec={"type": "Limited", "limited": {"nominalConcurrencyShares": 5}}),
        ["n", "Limited", 5, "<none>", "<none>", "<none>", AGE],
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1/flowschemas",
        obj(spec={"priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 9}),
        ["n", "p", 9, "<none>", AGE, "?"],
    ),
    (
        "apiregistration.k8s.io/v1/apiservices",
        obj(
            spec={"service": {"namespace": "x", "name": "s"}},
            status={"conditions": [{"type": "Available", "status": "False", "reason": "Why"}]},
        ),
        ["n", "x/s", "False (Why)", AGE],
    ),
    (
        "resource.k8s.io/v1/resourceclaims",
        obj(
            metadata={"deletionTimestamp": BORN},
            status={"allocation": {}, "reservedFor": [{}]},
        ),
        ["n", "deleted,allocated,reserved", AGE],
    ),
    (
        "internal.apiserver.k8s.io/v1alpha1/storageversions",
        obj(status={"storageVersions": [{"apiServerID": "a", "encodingVersion": "v1"}]}),
        ["n", "<unset>", "a=v1", AGE],
    ),
    (
        "storagemigration.k8s.io/v1beta1/storageversionmigrations",
        obj(
            spec={"resource": {"resource": "pods", "group": ""}},
            status={"conditions": [{"type": "Succeeded", "status": "True"}]},
        ),
        ["n", "pods", "Succeeded"],
    ),
    (
        "apps/v1/controllerrevisions",
        obj(
            metadata={
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}
                ]
            },
            revision=4,
        ),
        ["n", "daemonset.apps/d", 4, AGE],
    ),
    ("apps/v1/deployments", obj(spec={}), ["n", "0/0", 0, 0, AGE, "", "", ""]),
    ("v1/limitranges", obj(), ["n", BORN]),
    ("nobody.example.com/v1/things", {"metadata": {"name": "n"}}, ["n", "0001-01-01T00:00:00Z"]),
]


def gvr(text: str) -> GroupVersionResource:
    group_version, _, resource = text.rpartition("/")
    group, _, version = group_version.rpartition("/")
    return GroupVersionResource(group, version, resource)


@pytest.mark.parametrize(("resource", "given", "cells"), ROWS, ids=[row[0] for row in ROWS])
def test_cells(resource: str, given: dict[str, Any], cells: list[Any]) -> None:
    assert built_in_shape(gvr(resource)).cells(given, NOW) == cells


def test_every_resource_fills_its_columns_even_for_an_empty_object() -> None:
    """A bookmark's object has nothing but metadata."""
    for resource in known_resources(all_versions=True):
        shape = built_in_shape(resource.gvr)
        cells = shape.cells({"metadata": {}}, NOW)
        assert len(cells) == (len(columns_of(resource.gvr)) or 2), resource.gvr
        assert len(shape.headers) <= len(cells)


def test_every_column_served_by_default_is_described() -> None:
    missing = [
        (str(resource.gvr), header["name"])
        for resource in known_resources()
        for header in built_in_shape(resource.gvr).headers
        if not header["description"]
    ]
    assert missing == [("node.k8s.io/v1, Resource=runtimeclasses", "Handler")]


def test_a_scale() -> None:
    shape = scale_shape()
    given = obj(spec={"replicas": 3}, status={"replicas": 2})
    assert shape.cells(given, NOW) == ["n", 3, 2, AGE]
    assert [one["name"] for one in shape.headers] == ["Name", "Desired", "Available", "Age"]


def test_custom_columns_are_those_of_the_version() -> None:
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    definition = {
        "spec": {
            "group": "g.example.com",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "additionalPrinterColumns": [column]}, {"name": "v2"}],
        }
    }
    first, second = custom_resources(definition)
    given = obj(spec={"size": 2})
    assert custom_shape(first, definition).cells(given, NOW) == ["n", 2]
    assert custom_shape(second, definition).cells(given, NOW) == ["n", AGE]
