"""What a simulation reports besides chains: numbers, notices, exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from celadon.cli.bootstrap.bootstrap_report import simulate
from celadon.cli.bootstrap.cluster_startup import Level
from celadon.cli.check.check_report import NoticeReason
from celadon.cli.check.manifests import Parts, gather
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Document
from tests.cli.bootstrap.lock_outs import (
    GUARDED_PODS,
    NOT_KUBE_SYSTEM,
    manifests_of,
    policy,
    rules,
    simulated,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
EVENTS = policy("events", rules("events"), "false")


def test_numbers() -> None:
    report = simulated(*EVENTS, *GUARDED_PODS)
    assert (report.policies, report.bindings, report.webhooks) == (1, 1, 1)
    assert 0 < report.refused < report.requests


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [(Level.DEGRADED, Exit.DENIED), (Level.DEADLOCKED, Exit.OK), (Level.LOCKED_OUT, Exit.OK)],
)
def test_what_fails(fail_on: Level, code: Exit) -> None:
    assert simulate(manifests_of(*EVENTS), "1.36", fail_on=fail_on).exit is code


def test_nothing_given_is_said() -> None:
    report = simulated()
    assert [one.reason for one in report.notices] == [NoticeReason.NO_POLICY]
    assert report.exit is Exit.OK
    assert simulate(manifests_of(), "1.36", strict=True).exit is Exit.POLICY


def test_policies_that_do_nothing_are_said() -> None:
    report = simulated(EVENTS[0])
    assert [one.reason for one in report.notices] == [NoticeReason.POLICY_UNBOUND]
    report = simulated(EVENTS[1])
    assert NoticeReason.BINDING_WITHOUT_POLICY in {one.reason for one in report.notices}


def test_broken_policies_come_before_chains() -> None:
    report = simulated(*policy("broken", rules("pods"), "object.("))
    assert report.policy_errors
    assert report.exit is Exit.POLICY


def test_what_is_supposed_is_said() -> None:
    (notice,) = simulated(*GUARDED_PODS).notices
    assert "nothing given says what is behind Service `guard/guard`" in notice.message
    outside = {**GUARDED_PODS[0]["webhooks"][0], "clientConfig": {"url": "https://example.com/a"}}
    report = simulated({**GUARDED_PODS[0], "webhooks": [outside]})
    (notice,) = report.notices
    assert notice.message.endswith("is outside of the cluster: it is taken to answer")
    assert report.level is Level.SAFE


def test_params_are_judged_as_they_are_created() -> None:
    """Roles and namespaces of the files are there from the beginning."""
    labelled = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "kube-system", "labels": {"policies": "off"}},
    }
    left_out = {"matchExpressions": [{"key": "policies", "operator": "DoesNotExist"}]}
    closed = policy("closed", rules("pods"), "false", match=left_out)
    assert simulated(*closed).level is Level.DEADLOCKED
    assert simulated(*closed, labelled).level is Level.SAFE


@pytest.mark.parametrize(
    "folder", sorted(one.name for one in EXAMPLES.iterdir() if one.is_dir()), ids=str
)
def test_examples_lock_nothing_without_kube_system(folder: str) -> None:
    manifests = gather([str(EXAMPLES / folder)], (), (), Parts(), lambda _: None)
    for part in (manifests.bindings, manifests.mutating_bindings):
        for one in part:
            _leave_out(one)
    for one in manifests.looked_up:
        if re.search("WebhookConfiguration$", one.value["kind"]):
            for hook in one.value["webhooks"]:
                _narrow(hook)
    report = simulate(manifests, "1.36")
    worst = [one for one in report.locks if not one.chain.once]
    assert worst == [], "besides what must be made anew"


def _leave_out(binding: Document) -> None:
    _narrow(binding.value["spec"].setdefault("matchResources", {}))


def _narrow(match: dict[str, object]) -> None:
    selector = match.setdefault("namespaceSelector", {})
    assert isinstance(selector, dict)
    rows = selector.setdefault("matchExpressions", [])
    rows += NOT_KUBE_SYSTEM["matchExpressions"]
