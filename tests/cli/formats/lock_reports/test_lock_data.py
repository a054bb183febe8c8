"""Chains for programs."""

from __future__ import annotations

import json

from celadon.cli.formats.lock_reports.lock_data import document, render_json
from tests.cli.bootstrapping.lock_outs import policy, rules, simulated

EVENTS = policy("events", rules("events"), "false", message="no events")


def test_document() -> None:
    report = simulated(*EVENTS)
    assert json.loads(render_json(report)) == document(report)
    found = document(report)
    assert found["summary"] == {
        "verdict": "degraded",
        "requests": report.requests,
        "refused": 2,
        "policies": 1,
        "bindings": 1,
        "webhooks": 0,
        "exitCode": 1,
    }
    (lock,) = found["locks"]
    assert lock["culprit"]["name"] == "events"
    assert lock["request"]["user"] == "system:kube-scheduler"
    assert lock["request"]["message"].endswith("denied request: no events")
    assert [one["name"] for one in lock["states"]] == ["events-are-written"]
    assert lock["repair"] == {
        "open": True,
        "steps": [
            {
                "command": "kubectl delete validatingadmissionpolicybinding events",
                "admitted": True,
            }
        ],
    }
    assert [one["step"] for one in lock["otherRequests"]] == ["old-event"]
