"""What is said against the ways in which a Job goes on."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as, previous_minor
from celadon.kube.validation.field_checks import holding
from celadon.kube.validation.job_statuses import job_status

Json = dict[str, Any]
START, LATER = "2024-01-01T00:00:00Z", "2024-01-01T01:00:00Z"
INDEXED = {"completionMode": "Indexed", "completions": 5, "parallelism": 5}
AT = "status.conditions: Invalid value: "


def true(*kinds: str) -> list[Json]:
    return [{"type": kind, "status": "True"} for kind in kinds]


def status(*kinds: str, **fields: Any) -> Json:
    return {"conditions": true(*kinds), **fields}


COMPLETED = status("SuccessCriteriaMet", "Complete", startTime=START, completionTime=LATER)
FAILED = status("FailureTarget", "Failed", startTime=START)


@pytest.mark.parametrize(
    ("spec", "new", "old", "expected"),
    [
        ({}, {"active": 1, "ready": 1, "startTime": START}, {}, []),
        ({}, COMPLETED, {"startTime": START}, []),
        ({}, FAILED, {"startTime": START}, []),
        (INDEXED, {"completedIndexes": "0,2-3", "succeeded": 3}, {"succeeded": 4}, []),
        (
            {},
            {"active": -1, "uncountedTerminatedPods": {"succeeded": ["", "a"], "failed": ["a"]}},
            {},
            [
                "status.active: Invalid value: -1: must be greater than or equal to 0",
                'status.uncountedTerminatedPods.succeeded[0]: Invalid value: "": must not be empty',
                'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
            ],
        ),
        (
            {},
            status("Complete", "Failed", active=1, terminating=1),
            {},
            [
                "status.conditions: Invalid value: cannot set Complete=True and Failed=true "
                "conditions",
                "status.completionTime: Required value: completionTime is required for Complete "
                "jobs",
                "status.conditions: Invalid value: cannot set Failed=True condition without the "
                "FailureTarget=true condition",
                "status.conditions: Invalid value: cannot set Complete=True condition without the "
                "SuccessCriteriaMet=true condition",
                "status.active: Invalid value: 1: active>0 is invalid for finished job",
                "status.startTime: Required value: startTime is required for finished job",
                "status.terminating: Invalid value: 1: terminating>0 is invalid for finished job",
            ],
        ),
        (
            {},
            {"startTime": LATER, "completionTime": START, "ready": 2},
            {},
            [
                f'status.completionTime: Invalid value: "{START}": cannot set completionTime when '
                "there is no Complete=True condition",
                f'status.completionTime: Invalid value: "{START}": must be equal to or after '
                "`startTime`",
                "status.ready: Invalid value: 2: cannot set more ready pods than active",
            ],
        ),
        (
            {},
            {**COMPLETED, "uncountedTerminatedPods": {"failed": ["a"]}},
            COMPLETED,
            [
                'status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: '
                "must be empty for finished job"
            ],
        ),
        (
            {**INDEXED, "backoffLimitPerIndex": 1},
            {"completedIndexes": "0-2,9", "failedIndexes": "2,1"},
            {},
            [
                'status.completedIndexes: Invalid value: "0-2,9": error parsing completedIndexes: '
                'too large index: "9"',
                'status.failedIndexes: Invalid value: "2,1": error parsing failedIndexes: '
                "non-increasing order, previous: 2, current: 1",
                'status.failedIndexes: Invalid value: "2,1": failedIndexes and completedIndexes '
                "overlap at index: 1",
            ],
        ),
        (
            {},
            {"completedIndexes": "0", "failedIndexes": "1"},
            {},
            [
                'status.completedIndexes: Invalid value: "0": cannot set non-empty '
                "completedIndexes when non-indexed completion mode",
                'status.failedIndexes: Invalid value: "1": cannot set non-null failedIndexes when '
                "backoffLimitPerIndex is null",
            ],
        ),
        (
            {"successPolicy": {}},
            status("SuccessCriteriaMet", "FailureTarget", "Failed", startTime=START),
            {"startTime": START},
            [
                f"{AT}cannot set SuccessCriteriaMet=True and Failed=true conditions",
                f"{AT}cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
            ],
        ),
        (
            {},
            {"startTime": LATER},
            {**COMPLETED, "failed": 1, "succeeded": 1},
            [
                f"{AT}cannot disable the terminal Complete=True condition",
                "status.failed: Invalid value: 0: cannot decrease the failed counter",
                "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter",
                f'status.startTime: Invalid value: "{LATER}": field is immutable for unsuspended '
                "job once set",
                f"{AT}cannot disable the SuccessCriteriaMet=True condition",
            ],
        ),
        (
            {},
            {},
            {"startTime": START},
            [
                "status.startTime: Invalid value: null: field is immutable for unsuspended job "
                "once set",
            ],
        ),
        (
            {"suspend": True},
            {**COMPLETED, "completionTime": "2025-01-01T00:00:00Z"},
            {**COMPLETED, "conditions": true("Complete")},
            [
                'status.completionTime: Invalid value: "2025-01-01T00:00:00Z": field is immutable',
                f"{AT}cannot set SuccessCriteriaMet=True for Job already has Complete=true "
                "conditions",
            ],
        ),
        (
            {"successPolicy": {}},
            status("Complete", startTime=START, completionTime=LATER),
            status("Complete", startTime=START, completionTime=LATER),
            [
                f"{AT}cannot set Complete=True for Job with SuccessPolicy unless "
                "SuccessCriteriaMet=True"
            ],
        ),
    ],
)
def test_changes(spec: Json, new: Json, old: Json, expected: list[str]) -> None:
    found = job_status({"spec": spec, "status": new}, {"spec": spec, "status": old})
    assert list(map(str, found)) == expected


@pytest.mark.parametrize(
    ("release", "texts"),
    [
        (
            "1.30",
            [
                "cannot set SuccessCriteriaMet to NonIndexed Job",
                "cannot set SuccessCriteriaMet=True for Job without SuccessPolicy",
            ],
        ),
        ("1.31", []),
        (
            "1.32",
            [
                "completionTime is required for Complete jobs",
                "startTime is required for finished job",
            ],
        ),
    ],
)
def test_older_releases_ask_for_a_policy_and_not_for_transitions(
    release: str, texts: list[str]
) -> None:
    done = {"spec": {}, "status": status("SuccessCriteriaMet", "Complete")}
    with answering_as(release):
        errors = holding(job_status(done, {"spec": {}, "status": {}}), None)
    assert [error.detail for error in errors] == texts


def said(spec: Json, new: Json, old: Json) -> list[str]:
    obj, before = ({"spec": spec, "status": one} for one in (new, old))
    return [str(error) for error in holding(job_status(obj, before), None)]


LATE = {"startTime": LATER, "completionTime": START}
GO_TIME = "2024-01-01 00:00:00 +0000 UTC"
SINCE_1_32 = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
CHANGES: list[tuple[str, Json, Json, Json, list[str], list[str]]] = [
    (
        "1.31",
        {},
        status("SuccessCriteriaMet"),
        {},
        [
            f"{AT}cannot set SuccessCriteriaMet to NonIndexed Job",
            f"{AT}cannot set SuccessCriteriaMet=True for Job without SuccessPolicy",
        ],
        [],
    ),
    (
        "1.32",
        {},
        status("Complete", startTime=START, completionTime=LATER),
        {"startTime": START},
        [],
        [f"{AT}{SINCE_1_32}"],
    ),
    (
        "1.34",
        {},
        {**COMPLETED, **LATE},
        {"startTime": LATER},
        [
            f"status.completionTime: Invalid value: {GO_TIME}: completionTime cannot be set before "
            "startTime"
        ],
        [f'status.completionTime: Invalid value: "{START}": must be equal to or after `startTime`'],
    ),
    (
        "1.34",
        {},
        {**COMPLETED, "uncountedTerminatedPods": {"failed": ["u"]}},
        {"startTime": START},
        [
            "status.uncountedTerminatedPods: Invalid value: "
            'batch.UncountedTerminatedPods{Succeeded:[]types.UID(nil), Failed:[]types.UID{"u"}}: '
            "uncountedTerminatedPods needs to be empty for finished job"
        ],
        [
            "status.uncountedTerminatedPods: Invalid value: "
            '{"Succeeded":null,"Failed":["u"]}: must be empty for finished job'
        ],
    ),
    (
        "1.34",
        {},
        COMPLETED,
        {**COMPLETED, "completionTime": START},
        ["status.completionTime: Invalid value: 2024-01-01 01:00:00 +0000 UTC: completionTime "
         "cannot be mutated"],
        [f'status.completionTime: Invalid value: "{LATER}": field is immutable'],
    ),
    (
        "1.36",
        {},
        {"startTime": LATER},
        {"startTime": START},
        ["status.startTime: Required value: startTime cannot be removed for unsuspended job"],
        [
            f'status.startTime: Invalid value: "{LATER}": field is immutable for unsuspended job '
            "once set"
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("since", "spec", "new", "old", "before", "after"), CHANGES)
def test_the_release_decides(
    since: str, spec: Json, new: Json, old: Json, before: list[str], after: list[str]
) -> None:
    with answering_as(previous_minor(since)):
        first = said(spec, new, old)
    with answering_as(since):
        then = said(spec, new, old)
    assert [text for text in first if text not in then] == before
    assert [text for text in then if text not in first] == after


def test_suspended_jobs_may_end_or_go_on_without_a_start() -> None:
    nothing = {"suspend": True, "completions": 0}
    ended = status("SuccessCriteriaMet", "Complete", completionTime=LATER)
    assert said(nothing, ended, {}) == []
    resumed = {"startTime": LATER, "conditions": [{"type": "Suspended", "status": "False"}]}
    assert said({}, resumed, {"startTime": START, "conditions": true("Suspended")}) == []
