"""Pods that run to their end, and what their Job says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from celadon.apiserver.simulation.planning.jobs import job_plan, released_pods
from celadon.apiserver.simulation.planning.plans import Plan, Verb
from celadon.kube import JsonObject, metadata
from tests.apiserver.simulation.planning.sample_objects import (
    at,
    going,
    made,
    of_condition,
    pod,
    shown,
    status_of_plan,
    stored,
    text_at,
    told,
)

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
REACHED = "Reached expected number of succeeded pods"


def job(status: JsonObject | None = None, **spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"job-name": "j"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}], **spec.pop("pod", {})},
    }
    given = {"parallelism": 1, "completions": 1, "backoffLimit": 6, "template": template, **spec}
    return {**stored("Job", "j", given, "batch/v1"), "status": dict(status or {})}


def indexed(status: JsonObject | None = None, **spec: Any) -> dict[str, Any]:
    return job(status, **{"completionMode": "Indexed", "completions": 3, "parallelism": 3, **spec})


def worker(
    given: JsonObject,
    name: str = "a",
    phase: str = "Running",
    *,
    counted: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """One of the Job's pods, which has its finalizer until it is counted."""
    index = more.pop("index", None)
    notes = {INDEX: str(index)} if index is not None else {}
    notes |= {FAILURES: str(more.pop("failures", 0))} if index is not None else {}
    finalizers = [] if counted else [TRACKING]
    return pod(name, given, phase=phase, finalizers=finalizers, annotations=notes, **more)


def plan_of(given: JsonObject, *pods: JsonObject, seconds: float = 1000.0) -> Plan:
    return job_plan(given, pods, at(seconds))


def settled(given: JsonObject, pods: Sequence[JsonObject], seconds: float = 1000.0) -> Any:
    """The status when all that is planned has been done to the Job and to pods that are there."""
    present = {metadata.name(one): one for one in pods}
    for _ in range(6):
        plan = job_plan(given, list(present.values()), at(seconds))
        for step in plan.steps:
            name = metadata.name(step.object)
            if step.verb is Verb.STATUS:
                given = step.object
            elif step.verb is Verb.UPDATE and name in present:
                present[name] = dict(step.object)
            elif step.verb is Verb.DELETE and name in present:
                gone = present.pop(name)
                if metadata.finalizers(gone):
                    present[name] = going({**gone, "status": {"phase": "Failed"}})
    return given["status"]


# --- Pods are made -----------------------------------------------------------


def test_the_first_pods() -> None:
    plan = plan_of(job(parallelism=2, completions=5))
    assert shown(plan) == ["create Pod j-", "create Pod j-"]
    assert made(plan, "Pod")[0]["metadata"]["finalizers"] == [TRACKING]
    assert status_of_plan(plan) == {
        "startTime": text_at(1000),
        "active": 2,
        "ready": 0,
        "terminating": 0,
        "uncountedTerminatedPods": {},
    }
    (status,) = [one for one in plan.steps if one.verb is Verb.STATUS]
    assert status.otherwise is not None
    assert status.otherwise("refused")["status"]["active"] == 0


@pytest.mark.parametrize(
    ("spec", "status", "active", "wanted"),
    [
        ({"parallelism": 2, "completions": 5}, {"succeeded": 4}, 0, 1),
        ({"parallelism": 3, "completions": 5}, {"succeeded": 1}, 1, 2),
        ({"parallelism": 2, "completions": None}, {}, 0, 2),
        ({"parallelism": 2, "completions": None}, {"succeeded": 1}, 1, 0),
        ({"parallelism": 0, "completions": 5}, {}, 0, 0),
        ({"parallelism": 2, "completions": 2, "suspend": True}, {}, 0, 0),
    ],
)
def test_how_many_are_made(
    spec: dict[str, Any], status: dict[str, Any], active: int, wanted: int
) -> None:
    given = job(status, **spec)
    pods = [worker(given, f"p{number}") for number in range(active)]
    assert len(made(plan_of(given, *pods), "Pod")) == wanted


def test_too_many_pods_go() -> None:
    given = job(parallelism=1, completions=5)
    pods = [worker(given, "a"), worker(given, "b", ready=False)]
    assert shown(plan_of(given, *pods)) == ["update Pod b", "delete Pod b"]


def test_each_index_has_its_pod() -> None:
    given = indexed({"completedIndexes": "0", "succeeded": 1})
    plan = plan_of(given, worker(given, index=2))
    (found,) = made(plan, "Pod")
    assert found["metadata"]["annotations"][INDEX] == "1"
    assert found["metadata"]["generateName"] == "j-1-"
    assert found["spec"]["hostname"] == "j-1"


def test_pods_that_are_ending_count_where_their_failure_is_waited_for() -> None:
    plain, waiting = job(), job(podReplacementPolicy="Failed")
    assert len(made(plan_of(plain, going(worker(plain))), "Pod")) == 1
    assert len(made(plan_of(waiting, going(worker(waiting))), "Pod")) == 0


@pytest.mark.parametrize(
    ("failures", "seconds", "left"),
    [(1, 4, 6), (1, 10, 0), (2, 4, 16), (3, 4, 36), (9, 4, 596), (9, 600, 0)],
)
def test_a_pause_after_failures_grows(failures: int, seconds: float, left: float) -> None:
    given = job({"failed": failures}, backoffLimit=99)
    pods = [worker(given, f"p{n}", "Failed", counted=True) for n in range(failures)]
    plan = plan_of(given, *pods, seconds=seconds)
    assert plan.requeue_after == (left or None)
    assert len(made(plan, "Pod")) == (not left)


def test_a_success_ends_the_pause() -> None:
    given = job({"failed": 1, "succeeded": 1}, completions=2)
    pods = [
        worker(given, "a", "Failed", counted=True),
        worker(given, "b", "Succeeded", counted=True, since=1),
    ]
    assert len(made(plan_of(given, *pods, seconds=2), "Pod")) == 1


# --- Pods are counted --------------------------------------------------------


def test_a_pod_is_counted_in_two_rounds() -> None:
    given = job(completions=2)
    first = plan_of(given, worker(given, "a", "Succeeded"))
    status = status_of_plan(first)
    assert status["uncountedTerminatedPods"] == {"succeeded": ["uid-a"]}
    assert "succeeded" not in status
    assert shown(first) == ["create Pod j-", "update Pod a"]
    assert metadata.finalizers(first.steps[-1].object) == ()
    again = {**given, "status": status}
    second = plan_of(again, worker(given, "a", "Succeeded", counted=True), worker(given, "b"))
    assert status_of_plan(second)["succeeded"] == 1
    assert status_of_plan(second)["uncountedTerminatedPods"] == {}


def test_a_job_completes() -> None:
    given = job()
    status = settled(given, [worker(given, "a", "Succeeded")])
    conditions = status.pop("conditions")
    assert of_condition(conditions, "SuccessCriteriaMet") == f"True CompletionsReached: {REACHED}"
    assert of_condition(conditions, "Complete") == f"True CompletionsReached: {REACHED}"
    assert status == {
        "startTime": text_at(1000),
        "completionTime": text_at(1000),
        "succeeded": 1,
        "ready": 0,
        "terminating": 0,
        "uncountedTerminatedPods": {},
    }


def test_the_end_is_told() -> None:
    met = {"type": "SuccessCriteriaMet", "status": "True", "reason": "r", "message": "m"}
    given = job({"succeeded": 1, "conditions": [met]})
    assert told(plan_of(given)) == ["Job completed"]
    target = {
        "type": "FailureTarget",
        "status": "True",
        "reason": "DeadlineExceeded",
        "message": "m",
    }
    given = job({"conditions": [target]})
    assert told(plan_of(given)) == ["m"]


def test_the_end_waits_for_pods_that_are_ending() -> None:
    met = {"type": "SuccessCriteriaMet", "status": "True", "reason": "r", "message": "m"}
    given = job({"succeeded": 1, "conditions": [met]})
    plan = plan_of(given, going(worker(given, "a", counted=True)))
    assert of_condition(status_of_plan(plan)["conditions"], "Complete") == ""


@pytest.mark.parametrize(
    ("given", "pods", "reason", "message"),
    [
        (
            job(backoffLimit=0),
            [("a", "Failed", {})],
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
        ),
        (
            job(pod={"restartPolicy": "OnFailure"}, backoffLimit=2),
            [("a", "Running", {"status": {"containerStatuses": [{"restartCount": 2}]}})],
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
        ),
        (
            job({"startTime": text_at()}, activeDeadlineSeconds=60),
            [("a", "Running", {})],
            "DeadlineExceeded",
            "Job was active longer than specified deadline",
        ),
        (
            indexed(backoffLimitPerIndex=0, maxFailedIndexes=0, backoffLimit=2**31 - 1),
            [("a", "Failed", {"index": 0})],
            "MaxFailedIndexesExceeded",
            "Job has exceeded the specified maximal number of failed indexes",
        ),
        (
            indexed(
                {"completedIndexes": "0,1", "succeeded": 2},
                backoffLimitPerIndex=1,
                backoffLimit=2**31 - 1,
            ),
            [("a", "Failed", {"index": 2, "failures": 1})],
            "FailedIndexes",
            "Job has failed indexes",
        ),
    ],
)
def test_a_job_fails(
    given: JsonObject, pods: list[tuple[str, str, dict[str, Any]]], reason: str, message: str
) -> None:
    workers = [worker(given, name, phase, **more) for name, phase, more in pods]
    status = settled(given, workers)
    for kind in ("FailureTarget", "Failed"):
        assert of_condition(status["conditions"], kind) == f"True {reason}: {message}"
    assert status["failed"] == 1


def test_active_pods_go_when_a_job_fails() -> None:
    given = job({"startTime": text_at()}, activeDeadlineSeconds=60)
    plan = plan_of(given, worker(given))
    assert shown(plan) == ["delete Pod a", "update Pod a"]
    assert status_of_plan(plan)["uncountedTerminatedPods"] == {"failed": ["uid-a"]}
    assert status_of_plan(plan)["terminating"] == 1


def test_a_deadline_is_waited_for() -> None:
    given = job({"startTime": text_at()}, activeDeadlineSeconds=60)
    assert plan_of(given, worker(given), seconds=15).requeue_after == 45


# --- Indexes -----------------------------------------------------------------


def test_indexes_are_told() -> None:
    given = indexed(backoffLimitPerIndex=1, backoffLimit=2**31 - 1)
    pods = [worker(given, f"p{n}", "Succeeded", index=n) for n in (0, 2)]
    status = status_of_plan(plan_of(given, *pods))
    assert (status["completedIndexes"], status["failedIndexes"]) == ("0,2", "")
    assert status["succeeded"] == 2


def test_a_failed_pod_waits_for_the_one_that_takes_its_place() -> None:
    given = indexed(completions=1, backoffLimitPerIndex=2, backoffLimit=2**31 - 1)
    failed = worker(given, "a", "Failed", index=0, failures=1)
    early = plan_of(given, failed, seconds=5)
    assert (shown(early), early.requeue_after) == ([], 15)
    later = plan_of(given, failed, seconds=20)
    assert shown(later) == ["create Pod j-0-"]
    assert made(later, "Pod")[0]["metadata"]["annotations"][FAILURES] == "2"
    replaced = plan_of(given, failed, worker(given, "b", index=0, failures=2))
    assert shown(replaced) == ["update Pod a"]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"succeededIndexes": "0,2"}], ""),
        ([{"succeededIndexes": "0"}], "Matched rules at index 0"),
        ([{"succeededIndexes": "1-2", "succeededCount": 1}], "Matched rules at index 0"),
        ([{"succeededCount": 3}, {"succeededCount": 2}], "Matched rules at index 1"),
    ],
)
def test_success_policies(rules: list[JsonObject], message: str) -> None:
    given = indexed(successPolicy={"rules": rules})
    pods = [worker(given, f"p{n}", "Succeeded", index=n) for n in (0, 1)]
    status = status_of_plan(plan_of(given, *pods))
    wanted = f"True SuccessPolicy: {message}" if message else ""
    assert of_condition(status.get("conditions", ()), "SuccessCriteriaMet") == wanted


# --- Failure policies --------------------------------------------------------

EXITED = {
    "containerStatuses": [
        {"name": "main", "state": {"terminated": {"exitCode": 42, "finishedAt": text_at()}}}
    ],
    "conditions": [{"type": "DisruptionTarget", "status": "True"}],
}


def on_codes(action: str, *values: int, operator: str = "In") -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(values)}}


ON_DISRUPTION = [{"type": "DisruptionTarget", "status": "True"}]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            on_codes("FailJob", 42),
            "Container main for pod default/a failed with exit code 42 matching FailJob rule at "
            "index 0",
        ),
        (on_codes("FailJob", 1), ""),
        (
            on_codes("FailJob", 1, operator="NotIn"),
            "Container main for pod default/a failed with exit code 42 matching FailJob rule at "
            "index 0",
        ),
        (
            {"action": "FailJob", "onPodConditions": ON_DISRUPTION},
            "Pod default/a has condition DisruptionTarget matching FailJob rule at index 0",
        ),
        (on_codes("Count", 42), ""),
        (on_codes("Ignore", 42), ""),
        (
            {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]},
            "Pod default/a has condition DisruptionTarget matching FailJob rule at index 0",
        ),
        ({"action": "FailJob", "onPodConditions": [{**ON_DISRUPTION[0], "status": "False"}]}, ""),
        ({"action": "FailJob", "onPodConditions": []}, ""),
    ],
)
def test_failure_policies(rule: JsonObject, message: str) -> None:
    given = job(podFailurePolicy={"rules": [rule]})
    status = status_of_plan(plan_of(given, worker(given, "a", "Failed", status=EXITED)))
    wanted = f"True PodFailurePolicy: {message}" if message else ""
    assert of_condition(status.get("conditions", ()), "FailureTarget") == wanted
    is_counted = rule["action"] != "Ignore"
    uncounted = {"failed": ["uid-a"]} if is_counted else {}
    assert status["uncountedTerminatedPods"] == uncounted


def test_a_rule_fails_an_index() -> None:
    given = indexed(
        backoffLimitPerIndex=5,
        backoffLimit=2**31 - 1,
        podFailurePolicy={"rules": [on_codes("FailIndex", 42)]},
    )
    status = status_of_plan(plan_of(given, worker(given, "a", "Failed", index=1, status=EXITED)))
    assert status["failedIndexes"] == "1"


# --- Suspension --------------------------------------------------------------


def test_a_suspended_job_has_no_pods() -> None:
    given = job({"startTime": text_at()}, suspend=True)
    plan = plan_of(given, worker(given))
    assert shown(plan) == ["update Pod a", "delete Pod a", "tell Suspended"]
    status = status_of_plan(plan)
    assert of_condition(status["conditions"], "Suspended") == "True JobSuspended: Job suspended"
    assert "startTime" not in status
    assert "failed" not in status


def test_a_job_that_was_done_before_it_was_suspended_has_begun() -> None:
    given = job(suspend=True)
    status = settled(given, [worker(given, phase="Succeeded")])
    assert of_condition(status["conditions"], "Complete") == f"True CompletionsReached: {REACHED}"
    assert status["startTime"] == status["completionTime"] == text_at(1000)


def test_a_resumed_job_begins_again() -> None:
    suspended = {
        "type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended",
    }  # fmt: skip
    plan = plan_of(job({"conditions": [suspended]}))
    status = status_of_plan(plan)
    assert of_condition(status["conditions"], "Suspended") == "False JobResumed: Job resumed"
    assert status["startTime"] == text_at(1000)
    assert "tell Resumed" in shown(plan)


# --- Afterwards --------------------------------------------------------------

COMPLETE = {"type": "Complete", "status": "True", "lastTransitionTime": text_at()}


def test_jobs_of_others_are_left_alone() -> None:
    assert plan_of(job(managedBy="example.com/mine")).steps == ()
    assert plan_of(job(managedBy="kubernetes.io/job-controller")).steps != ()


def test_a_finished_job_lets_go_of_its_pods() -> None:
    given = job({"conditions": [COMPLETE]})
    assert shown(plan_of(given, worker(given, "a", "Succeeded"))) == ["update Pod a"]
    assert shown(released_pods([worker(given), worker(given, "b", counted=True)])) == [
        "update Pod a"
    ]


def test_a_finished_job_lives_for_its_seconds() -> None:
    given = job({"conditions": [COMPLETE]}, ttlSecondsAfterFinished=60)
    early = plan_of(given, seconds=20)
    assert (early.steps, early.requeue_after) == ((), 40)
    (step,) = plan_of(given, seconds=60).steps
    assert (step.verb, step.is_foreground) == (Verb.DELETE, True)
