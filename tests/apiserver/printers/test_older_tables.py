"""Tables as servers of older releases have shown them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.printers.tables import built_in_shape
from celadon.kube import GroupVersionResource
from celadon.kube.releases import answering_as
from celadon.kube.resources import columns_of
from tests.paths import shared

RECORDED = ("1.30", "1.33", "1.35")
PLACE = re.compile(r"/(?:api|apis/([^/?]+))/(v[^/?]+)/(?:namespaces/[^/?]+/)?([a-z]+)(?:[/?].*)?")


def tables(folder: Path) -> Iterator[tuple[str, Any]]:
    """The path of each request that was answered with a table, and the table."""
    for file in sorted(folder.glob("*.json")):
        for step in json.loads(file.read_text(encoding="utf-8"))["steps"]:
            body = step.get("want", {}).get("body")
            if isinstance(body, dict) and body.get("kind") == "Table":
                yield step["path"], body


@pytest.mark.parametrize("release", RECORDED)
def test_columns_are_those_of_the_release(release: str) -> None:
    folder = shared("releases", release, "conformance", "tables")
    with answering_as(release):
        for path, table in tables(folder):
            match = PLACE.fullmatch(path)
            if match is None or "example.com" in path:
                continue
            columns = columns_of(GroupVersionResource(match[1] or "", match[2], match[3]))
            ours = [
                (one.name, one.type, one.format, one.priority, one.description)
                for one in columns
                if not one.hidden
            ]
            keys = ("name", "type", "format", "priority", "description")
            theirs = [tuple(one[key] for key in keys) for one in table["columnDefinitions"]]
            if theirs:
                assert ours == theirs, path


FAILED = {
    "phase": "Running",
    "containerStatuses": [
        {"state": {"terminated": {"reason": "Completed"}}},
        {"state": {"terminated": {"reason": "Error", "exitCode": 1}}},
    ],
}
DELETED = {"metadata": {"name": "n", "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def marked(annotation: str) -> dict[str, Any]:
    return {"metadata": {"name": "n", "annotations": {annotation: "true"}}}


def on_condition(name: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": name, "status": "True"}]}}


INGRESS_CLASSES = ("networking.k8s.io", "v1", "ingressclasses")
ATTRIBUTES_CLASSES = ("storage.k8s.io", "v1beta1", "volumeattributesclasses")
CELLS: list[tuple[tuple[str, str, str], dict[str, Any], str, dict[str, Any]]] = [
    (("", "v1", "pods"), {"status": FAILED}, "Status", {"1.34": "Completed", "1.35": "Error"}),
    (
        ("", "v1", "pods"),
        {**DELETED, "status": {"phase": "Failed"}},
        "Status",
        {"1.30": "Terminating", "1.31": "Failed"},
    ),
    (
        ("batch", "v1", "jobs"),
        on_condition("SuccessCriteriaMet"),
        "Status",
        {"1.33": "Running", "1.34": "SuccessCriteriaMet"},
    ),
    (
        INGRESS_CLASSES,
        marked("ingressclass.kubernetes.io/is-default-class"),
        "Name",
        {"1.35": "n", "1.36": "n (default)"},
    ),
    (
        ATTRIBUTES_CLASSES,
        marked("volumeattributesclass.alpha.kubernetes.io/is-default-class"),
        "Name",
        {"1.33": "n (default)", "1.34": "n"},
    ),
    (("", "v1", "serviceaccounts"), {"secrets": [{}, {}]}, "Secrets", {"1.34": 2, "1.35": None}),
    (
        ("", "v1", "nodes"),
        {"status": {"nodeInfo": {"kernelVersion": "6", "architecture": "arm64"}}},
        "Kernel-Version",
        {"1.35": "6", "1.36": "6 (arm64)"},
    ),
    (
        ("resource.k8s.io", "v1alpha3", "podschedulingcontexts"),
        {"spec": {"selectedNode": "n"}},
        "SelectedNode",
        {"1.31": "n"},
    ),
    (
        ("resource.k8s.io", "v1alpha3", "resourceclaims"),
        {"status": {"allocation": {}, "deallocationRequested": True}},
        "State",
        {"1.31": "allocated,deallocating", "1.32": "allocated"},
    ),
    (
        ("resource.k8s.io", "v1alpha3", "resourceclaims"),
        {**DELETED, "status": {"allocation": {}}},
        "State",
        {"1.31": "deleted,allocated,deallocating", "1.32": "deleted,allocated"},
    ),
]


@pytest.mark.parametrize(("place", "obj", "column", "shown"), CELLS)
def test_cells_that_changed(
    place: tuple[str, str, str], obj: dict[str, Any], column: str, shown: dict[str, Any]
) -> None:
    for release, wanted in shown.items():
        with answering_as(release):
            gvr = GroupVersionResource(*place)
            names = [one.name for one in columns_of(gvr)]
            cells = built_in_shape(gvr).cells({"metadata": {"name": "n"}, **obj}, 5)
        assert dict(zip(names, cells, strict=True)).get(column) == wanted


def test_the_age_of_a_quota_stood_before_what_it_allows() -> None:
    with answering_as("1.32"):
        quotas = columns_of(GroupVersionResource("", "v1", "resourcequotas"))
    assert [one.name for one in quotas] == ["Name", "Age", "Request", "Limit"]
