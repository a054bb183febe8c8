"""What tables show of policies, bindings and webhook configurations."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.printers.cell_texts import CellsOf
from celadon.apiserver.printers.tables import built_in_shape
from celadon.kube import GroupVersionResource

VAP = "validatingadmissionpolicies"
VAPB = "validatingadmissionpolicybindings"
VWC = "validatingwebhookconfigurations"
SELECTOR = {
    "matchLabels": {"z": "1", "a": "2"},
    "matchExpressions": [{"key": "e", "operator": "In", "values": ["a", "b"]}],
}


def cells_of(resource: str) -> CellsOf:
    return built_in_shape(
        GroupVersionResource("admissionregistration.k8s.io", "v1", resource)
    ).cells


CELLS: list[tuple[str, dict[str, Any], list[str | int]]] = [
    (VAP, {"validations": [{}, {}]}, [2, "<unset>"]),
    ("mutatingadmissionpolicies", {"paramKind": {"apiVersion": "v1", "kind": "K"}}, [0, "v1/K"]),
    (VAPB, {"policyName": "p"}, ["p", "<unset>"]),
    (VAPB, {"paramRef": {"name": "n"}}, ["", "*/n"]),
    (VAPB, {"paramRef": {"name": "n", "namespace": "s"}}, ["", "s/n"]),
    (
        "mutatingadmissionpolicybindings",
        {"paramRef": {"selector": SELECTOR}},
        [
            "",
            "&LabelSelector{MatchLabels:map[string]string{a: 2,z: 1,},"
            "MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:e,"
            "Operator:In,Values:[a b],},},}",
        ],
    ),
]


@pytest.mark.parametrize(("resource", "spec", "own"), CELLS)
def test_cells(resource: str, spec: dict[str, Any], own: list[str | int]) -> None:
    meta = {"name": "n", "creationTimestamp": "1970-01-01T00:00:00Z"}
    assert cells_of(resource)({"metadata": meta, "spec": spec}, 5) == ["n", *own, "5s"]


def test_cells_of_webhooks() -> None:
    obj = {"metadata": {"name": "n"}, "webhooks": [{"name": "a.b.c"}]}
    assert cells_of(VWC)(obj, 5) == ["n", 1, "<unknown>"]


START, END = "1970-01-01T00:00:10Z", "1970-01-01T00:00:40Z"
JOBS: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    # Spec, status; what the job is, how much of it is complete, how long it has taken.
    ({}, {}, ["Running", "0/1", ""]),
    ({"parallelism": 1}, {"startTime": START}, ["Running", "0/1", "90s"]),
    ({"parallelism": 3}, {"startTime": START, "succeeded": 1}, ["Running", "1/1 of 3", "90s"]),
    (
        {"completions": 2},
        {
            "startTime": START,
            "completionTime": END,
            "succeeded": 2,
            "conditions": [{"type": "Complete", "status": "True"}],
        },
        ["Complete", "2/2", "30s"],
    ),
    (
        {"completions": 2},
        {"conditions": [{"type": "Failed", "status": "True"}]},
        ["Failed", "0/2", ""],
    ),
]


@pytest.mark.parametrize(("spec", "status", "wanted"), JOBS)
def test_cells_of_jobs(spec: dict[str, Any], status: dict[str, Any], wanted: list[str]) -> None:
    cells = built_in_shape(GroupVersionResource("batch", "v1", "jobs")).cells
    job = {"metadata": {"name": "j"}, "spec": spec, "status": status}
    assert cells(job, 100)[1:4] == wanted


POOLS: list[tuple[dict[str, Any], list[str | int]]] = [
    ({}, ["-", "-", "-", "-", "-", 0, "Pending"]),
    (
        {"status": {"poolCount": 2, "pools": [{"totalDevices": 3, "validationError": "x"}]}},
        ["3", "0", "0", "0", "1", 2, "Pending"],
    ),
    (
        {"status": {"conditions": [{"type": "Failed", "status": "True"}], "poolCount": 1}},
        ["-", "-", "-", "-", "-", 1, "Failed"],
    ),
]


@pytest.mark.parametrize(("told", "cells"), POOLS)
def test_cells_of_requests_for_pools(told: dict[str, Any], cells: list[str | int]) -> None:
    kind = GroupVersionResource("resource.k8s.io", "v1alpha3", "resourcepoolstatusrequests")
    obj = {"metadata": {"name": "n"}, "spec": {"driver": "d"}, **told}
    assert built_in_shape(kind).cells(obj, 5) == ["n", "d", *cells, "<none>"]
