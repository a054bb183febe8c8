"""Chains: known lock-outs are told with the request that they begin with and what follows."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.exit_codes import Exit
from tests.cli.bootstrap.lock_outs import (
    GUARDED_PODS,
    LOCK_OUTS,
    NOT_KUBE_SYSTEM,
    SAFE,
    LockOut,
    policy,
    rules,
    simulated,
)


@pytest.mark.parametrize("one", LOCK_OUTS, ids=lambda one: one.name)
def test_lock_outs(one: LockOut) -> None:
    report = simulated(*one.given)
    assert (report.problems, report.policy_errors) == ((), ())
    assert (report.level.word, report.exit) == (one.level, Exit.DENIED)
    lock = report.locks[0]
    chain = lock.chain
    assert chain.culprit.name == one.culprit
    assert chain.request.title == one.request
    assert tuple(state.name for state in chain.states) == one.states
    assert one.message in chain.refusal.message
    assert (chain.cycle, chain.once, chain.refusal.breaks) == (one.cycle, one.once, one.breaks)


@pytest.mark.parametrize("name", SAFE)
def test_safe(name: str) -> None:
    report = simulated(*SAFE[name])
    assert (report.problems, report.policy_errors, report.locks) == ((), (), ())
    assert (report.level.word, report.exit) == ("safe", Exit.OK)


def test_each_culprit_has_its_chain() -> None:
    given = [
        *policy("team", rules("pods"), "'team' in object.metadata.labels"),
        *policy("leases", rules("leases"), "false"),
    ]
    found = {one.chain.culprit.name: one.chain.request.title for one in simulated(*given).locks}
    assert found == {
        "leases": "UPDATE Lease kube-system/kube-controller-manager",
        "team": "CREATE Pod kube-system/calico-node-xxxxx",
    }


def test_who_only_waits_for_others_is_not_to_blame() -> None:
    pods: dict[str, Any] = {
        "metadata": {"labels": {"app": "guard"}},
        "spec": {"containers": [{"name": "guard", "image": "registry.example.com/guard:1"}]},
    }
    behind = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "guard", "namespace": "guard"},
        "spec": {"selector": {"matchLabels": {"app": "guard"}}, "template": pods},
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "guard", "namespace": "guard"},
        "spec": {"selector": {"app": "guard"}, "ports": [{"port": 443}]},
    }
    hook = {**GUARDED_PODS[0]["webhooks"][0], "rules": rules("secrets")}
    asked = {**GUARDED_PODS[0], "webhooks": [hook]}
    team = policy("team", rules("pods"), "'team' in object.metadata.labels", match=NOT_KUBE_SYSTEM)
    report = simulated(asked, behind, service, *team)
    (lock,) = report.locks
    assert lock.chain.culprit.name == "team"
    assert lock.chain.request.title == "CREATE Pod guard/guard-5d78c9869d-xxxxx"
    assert [state.name for state in lock.chain.states] == [
        "webhook-guard-guard-runs",
        "webhook-guard-guard-answers",
    ]
    assert report.refused > 1, "the webhook refuses secrets meanwhile"
