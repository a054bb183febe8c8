"""What is told by a pod's status."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.simulation.planning.pod_facts import finished_at
from celadon.kube import JsonObject


def at(minute: int) -> str:
    return f"2026-01-01T00:{minute:02}:00Z"


def status(*ends: int | None, **ready: Any) -> JsonObject:
    """Of a pod whose containers ended at these minutes, or have not."""
    states: list[JsonObject] = [
        {"terminated": {"finishedAt": at(end)}} if end else {"running": {}} for end in ends
    ]
    return {
        "containerStatuses": [{"state": state} for state in states],
        "conditions": [{"type": "Ready", **ready}] if ready else [],
    }


GOING = {"deletionTimestamp": at(40), "deletionGracePeriodSeconds": 120}
UNREADY = {"status": "False", "lastTransitionTime": at(30)}


@pytest.mark.parametrize(
    ("meta", "state", "minute"),
    [
        (GOING, status(10, 20, **UNREADY), 20),
        (GOING, status(10, None, **UNREADY), 30),
        (GOING, status(10, None, status="True", lastTransitionTime=at(30)), 38),
        (GOING, {}, 38),
        ({"deletionTimestamp": at(40)}, {}, 40),
        ({}, {}, 1),
    ],
)
def test_when_a_pod_ended(meta: JsonObject, state: JsonObject, minute: int) -> None:
    pod = {"metadata": {"creationTimestamp": at(1), **meta}, "status": state}
    assert finished_at(pod).strftime("%M") == f"{minute:02}"
