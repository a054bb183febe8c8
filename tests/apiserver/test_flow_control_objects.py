"""The FlowSchemas and priority levels of every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.bootstrap_objects import flow_schemas, priority_levels
from celadon.kube import metadata
from celadon.kube.registry import create
from celadon.kube.validation import validate_create

LEVELS = list(priority_levels())
SCHEMAS = list(flow_schemas())


@pytest.mark.parametrize(
    "obj", [*LEVELS, *SCHEMAS], ids=lambda obj: f"{obj['kind']}-{metadata.name(obj)}"
)
def test_a_server_accepts_them_and_fills_in_nothing(obj: dict[str, Any]) -> None:
    gvk = metadata.gvk(obj)
    made = create.admit_form({**obj, "status": {}}, gvk)
    assert validate_create(made, gvk) == []
    assert made["spec"] == obj["spec"]


def test_all_are_there() -> None:
    named = [(metadata.name(one), one["spec"]["matchingPrecedence"]) for one in SCHEMAS]
    assert named == [
        ("exempt", 1),
        ("probes", 2),
        ("system-leader-election", 100),
        ("system-node-high", 400),
        ("system-nodes", 500),
        ("kube-controller-manager", 800),
        ("kube-scheduler", 800),
        ("kube-system-service-accounts", 900),
        ("service-accounts", 9000),
        ("global-default", 9900),
        ("catch-all", 10000),
    ]
    shares = {
        metadata.name(one): one["spec"].get("limited", {}).get("nominalConcurrencyShares")
        for one in LEVELS
    }
    assert shares == {
        "exempt": None,
        "catch-all": 5,
        "global-default": 20,
        "leader-election": 10,
        "node-high": 40,
        "system": 30,
        "workload-high": 40,
        "workload-low": 100,
    }


def test_every_level_that_is_named_exists() -> None:
    levels = {metadata.name(one) for one in LEVELS}
    named = {one["spec"]["priorityLevelConfiguration"]["name"] for one in SCHEMAS}
    assert named == levels
