"""What is said against what controllers count."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation import apps, autoscaling, namespaces_quotas_budgets
from celadon.kube.validation.object_meta import Update

Json = dict[str, Any]
DEPLOYMENT = apps.deployment_status
REPLICA_SET = apps.replica_set_status
DAEMON_SET = apps.daemon_set_status
FULL = {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1}


@pytest.mark.parametrize(
    ("rule", "status", "old", "expected"),
    [
        (DEPLOYMENT, {**FULL, "updatedReplicas": 3, "collisionCount": 1}, {}, []),
        (
            DEPLOYMENT,
            {"replicas": 1, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 3},
            {"collisionCount": 1},
            [
                "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas",
                "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
                "status.availableReplicas: Invalid value: 3: cannot be greater than "
                "status.replicas",
                "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
                "status.collisionCount: Invalid value: 0: cannot be decremented",
            ],
        ),
        (
            REPLICA_SET,
            {"fullyLabeledReplicas": 1, "observedGeneration": -1},
            {},
            [
                "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
                "status.fullyLabeledReplicas: Invalid value: 1: cannot be greater than "
                "status.replicas",
            ],
        ),
        (apps.replication_controller_status, FULL, {}, []),
        (
            apps.stateful_set_counts,
            {"replicas": 1, "availableReplicas": 1},
            {},
            [
                "status.availableReplicas: Invalid value: 1: cannot be greater than "
                "status.readyReplicas",
            ],
        ),
        (
            apps.stateful_set_status,
            {"collisionCount": 0},
            {"collisionCount": 1},
            ["status.collisionCount: Invalid value: 0: cannot be decremented"],
        ),
        (
            DAEMON_SET,
            {"numberReady": -1},
            {},
            ["status.numberReady: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            autoscaling.autoscaler_status,
            {"desiredReplicas": -1},
            {},
            ["status.desiredReplicas: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            namespaces_quotas_budgets.budget_status,
            {"expectedPods": -1, "conditions": [{"type": "A", "status": "True", "reason": "R"}]},
            {},
            [
                "status.conditions[0].lastTransitionTime: Required value",
                "status.expectedPods: Invalid value: -1: must be greater than or equal to 0",
            ],
        ),
    ],
)
def test_counts(rule: Update, status: Json, old: Json, expected: list[str]) -> None:
    assert list(map(str, rule({"status": status}, {"status": old}))) == expected
