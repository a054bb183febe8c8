"""Which objects a quota is about."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.resource_quota import is_in_scope
from celadon.kube import GroupResource

POD = GroupResource("", "pods")
CLAIM = GroupResource("", "persistentvolumeclaims")
CPU = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
AWAY: dict[str, Any] = {"podAffinityTerm": {"namespaceSelector": {}}}


def scoped(*scopes: str) -> dict[str, Any]:
    return {"spec": {"scopes": list(scopes)}}


def selecting(scope: str, operator: str, *values: str) -> dict[str, Any]:
    one = {"scopeName": scope, "operator": operator, "values": list(values)}
    return {"spec": {"scopeSelector": {"matchExpressions": [one]}}}


@pytest.mark.parametrize(
    ("quota", "spec", "found"),
    [
        (scoped(), {}, True),
        (scoped("Terminating"), {"activeDeadlineSeconds": 0}, True),
        (scoped("Terminating"), {}, False),
        (scoped("NotTerminating"), {}, True),
        (scoped("BestEffort"), {}, True),
        (scoped("BestEffort"), CPU, False),
        (scoped("NotBestEffort"), CPU, True),
        (scoped("NotBestEffort", "Terminating"), CPU, False),
        (scoped("PriorityClass"), {"priorityClassName": "high"}, True),
        (scoped("PriorityClass"), {}, False),
        (selecting("PriorityClass", "In", "high"), {"priorityClassName": "high"}, True),
        (selecting("PriorityClass", "In", "high"), {"priorityClassName": "low"}, False),
        (selecting("PriorityClass", "NotIn", "high"), {"priorityClassName": "high"}, False),
        (selecting("PriorityClass", "NotIn", "high"), {}, True),
        (selecting("PriorityClass", "DoesNotExist"), {}, True),
        (
            scoped("CrossNamespacePodAffinity"),
            {
                "affinity": {
                    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [AWAY]}
                }
            },
            True,
        ),
        (
            scoped("CrossNamespacePodAffinity"),
            {
                "affinity": {
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k"}]
                    }
                }
            },
            False,
        ),
        (scoped("Unheard"), {}, False),
    ],
)
def test_pods(quota: dict[str, Any], spec: dict[str, Any], found: bool) -> None:
    assert is_in_scope(quota, POD, {"spec": spec}) == found


@pytest.mark.parametrize(
    ("quota", "found"),
    [
        (scoped(), True),
        (scoped("Terminating"), False),
        (selecting("VolumeAttributesClass", "In", "gold"), True),
        (selecting("VolumeAttributesClass", "In", "silver"), True),
        (selecting("VolumeAttributesClass", "In", "bronze"), False),
    ],
)
def test_claims(quota: dict[str, Any], found: bool) -> None:
    claim = {
        "spec": {"volumeAttributesClassName": "gold"},
        "status": {"currentVolumeAttributesClassName": "silver"},
    }
    assert is_in_scope(quota, CLAIM, claim) == found
