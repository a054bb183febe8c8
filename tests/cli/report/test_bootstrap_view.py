"""Simulations for people and for programs."""

from __future__ import annotations

import json

from celadon.cli.report.bootstrap_view import BootstrapView
from celadon.cli.report.report_model import ReportStyle, as_json
from tests.cli.bootstrap.lock_outs import GUARDED_PODS, mutation, policy, rules, simulated

EVENTS = policy("events", rules("events"), "false", message="no events")


def test_safe() -> None:
    text = BootstrapView(simulated(*EVENTS[:1])).text(ReportStyle(verbosity=-1))
    assert text.startswith("safe: none of the requests that were simulated locks the cluster\n")


def test_a_chain() -> None:
    assert BootstrapView(simulated(*EVENTS)).text(ReportStyle()) == (
        "given.yaml:1: degraded: ValidatingAdmissionPolicy `events` with binding `events`\n"
        "  it refuses CREATE Event kube-system/kube-scheduler.188f0a4f5b1c2d3e\n"
        "    by the scheduler (system:kube-scheduler)\n"
        '    events.events.k8s.io "kube-scheduler.188f0a4f5b1c2d3e" is forbidden: '
        "ValidatingAdmissionPolicy 'events' with binding 'events' denied request: no events\n"
        "  hence components cannot say what goes wrong, for want of events\n"
        "  1 more request (-v)\n"
        "  repair: `kubectl delete validatingadmissionpolicybinding events` (admitted)\n"
        "\n"
        "degraded: parts of the cluster would not work\n"
        f"{simulated().requests} requests, 2 refused or broken (1 policy, 1 binding)\n"
    )


def test_a_cycle() -> None:
    text = BootstrapView(simulated(*GUARDED_PODS)).text(ReportStyle())
    assert "  hence nobody answers at Service `guard/guard`, which webhooks wait for\n" in text
    assert "  which the request itself waits for\n" in text
    assert "  help" not in text
    assert "\nnotice: nothing given says what is behind Service `guard/guard`" in text


def test_everything() -> None:
    text = BootstrapView(simulated(*EVENTS)).text(ReportStyle(verbosity=1))
    assert "  it refuses CREATE Event default/worker-1.188f0a4f5b1c2d3f, too" in text


def test_a_mutation_breaks() -> None:
    given = mutation("net", rules("pods"), "Object{spec: Object.spec{hostNetwork: false}}")
    text = BootstrapView(simulated(*given)).text(ReportStyle())
    assert "  it breaks CREATE Pod kube-system/calico-node-xxxxx\n" in text


def test_no_repair() -> None:
    given = policy("a.static.k8s.io", rules("leases"), "false")
    text = BootstrapView(simulated(*given)).text(ReportStyle())
    assert "  repair: none through the API\n" in text
    assert "locked out: the cluster would not come up, and nobody could repair that" in text


def test_once() -> None:
    given = policy("classes", rules("priorityclasses"), "false")
    text = BootstrapView(simulated(*given)).text(ReportStyle())
    assert "  only where it has to be made anew: what runs has it already\n" in text


EVENTS = policy("events", rules("events"), "false", message="no events")


def test_document() -> None:
    report = simulated(*EVENTS)
    found = BootstrapView(report).data()
    assert json.loads(as_json(BootstrapView(report))) == found
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
