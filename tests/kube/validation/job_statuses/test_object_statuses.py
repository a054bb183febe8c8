"""What is said against the status of namespaces, quotas, claims, and what is reached."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation import (
    namespaces_quotas_budgets,
    networking,
    persistent_volumes,
    services,
)
from celadon.kube.validation.object_meta import Update

Json = dict[str, Any]


def reached(*ingress: Json, kind: str = "LoadBalancer") -> Json:
    return {"spec": {"type": kind}, "status": {"loadBalancer": {"ingress": list(ingress)}}}


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        (namespaces_quotas_budgets.namespace_status, {"status": {"phase": "Active"}}, []),
        (
            namespaces_quotas_budgets.namespace_status,
            {"status": {"phase": "Terminating"}},
            [
                'status.Phase: Invalid value: "Terminating": may only be \'Active\' if '
                "`deletionTimestamp` is empty"
            ],
        ),
        (
            namespaces_quotas_budgets.namespace_status,
            {"metadata": {"deletionTimestamp": "x"}, "status": {"phase": "Active"}},
            [
                'status.Phase: Invalid value: "Active": may only be \'Terminating\' if '
                "`deletionTimestamp` is not empty"
            ],
        ),
        (
            namespaces_quotas_budgets.quota_status,
            {"status": {"hard": {"pods": "1.5"}, "used": {"cpu": "-1"}}},
            [
                'status.hard[pods]: Invalid value: "1500m": must be an integer',
                'status.used[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            ],
        ),
        (
            persistent_volumes.claim_status,
            {"spec": {}, "status": {"capacity": {"storage": "-1"}}},
            [
                "Spec.accessModes: Required value",
                "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
            ],
        ),
        (
            persistent_volumes.claim_status,
            {"spec": {"accessModes": ["ReadWriteOnce"]}, "status": {
                "allocatedResourceStatuses": {"storage": "Done", "cpu": "NodeResizePending"},
                "allocatedResources": {"memory": "1", "storage": "-1", "a.b/c": "1"}}},
            [
                'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: '
                '"storage"',
                'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: '
                '"ControllerResizeInProgress", "ControllerResizeInfeasible", '
                '"NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
                'status.allocatedResources: Unsupported value: "memory": supported values: '
                '"storage"',
                "status.allocatedResources[storage]: Invalid value: -1: must be a valid resource "
                "quantity",
            ],
        ),
        (services.service_status, reached({"ip": "10.0.0.1", "ipMode": "VIP"}), []),
        (
            services.service_status,
            reached({"ip": "10.0.0.1"}, kind="ClusterIP"),
            [
                "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "
                "'LoadBalancer'"
            ],
        ),
        (
            services.service_status,
            reached({"ip": "x"}, {"ipMode": "VIP"}, {"ip": "10.0.0.1", "ipMode": "x"},
                    {"hostname": "10.0.0.1"}),
            [
                'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP '
                "address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
                "status.loadBalancer.ingress[0].ipMode: Required value: must be specified when "
                "`ip` is set",
                "status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` "
                "is not set",
                'status.loadBalancer.ingress[2].ipMode: Unsupported value: "x": supported values: '
                '"Proxy", "VIP"',
                'status.loadBalancer.ingress[3].hostname: Invalid value: "10.0.0.1": must be a DNS '
                "name, not an IP address",
            ],
        ),
        (
            networking.ingress_status,
            reached({"ip": "x", "hostname": "a.example.com"}),
            [
                'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP '
                "address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            ],
        ),
    ],
)  # fmt: skip
def test_complaints(rule: Update, value: Json, expected: list[str]) -> None:
    assert list(map(str, rule(value, {}))) == expected


def test_addresses_that_were_there_may_stay() -> None:
    value = reached({"ip": "x"})
    assert list(networking.ingress_status(value, value)) == []
