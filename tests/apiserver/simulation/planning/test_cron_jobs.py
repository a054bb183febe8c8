"""Schedules, and the Jobs that are made by them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from celadon.apiserver.simulation.planning import cron_jobs
from celadon.apiserver.simulation.planning.cron_jobs import cron_job_plan, next_time
from celadon.apiserver.simulation.planning.plans import Plan
from celadon.kube import JsonObject, metadata
from celadon.kube.validation.cron_schedule import parse_schedule
from tests.apiserver.simulation.planning.sample_objects import (
    at,
    made,
    owned_by,
    shown,
    status_of_plan,
    stored,
    text_at,
    told,
)
from tests.growth.counted_steps import steps_of


def due(schedule: str, after: str) -> str:
    """The next time, in UTC; empty if there is none."""
    found = next_time(parse_schedule(schedule), datetime.fromisoformat(after))
    return "" if found is None else f"{found:%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize(
    ("schedule", "after", "wanted"),
    [
        ("* * * * *", "2026-03-01T12:00:00Z", "2026-03-01T12:01"),
        ("* * * * *", "2026-03-01T12:00:30Z", "2026-03-01T12:01"),
        ("*/15 * * * *", "2026-03-01T12:00:00Z", "2026-03-01T12:15"),
        ("5/20 8-10 * * *", "2026-03-01T10:45:00Z", "2026-03-02T08:05"),
        ("0 0 1 * *", "2026-12-31T00:00:00Z", "2027-01-01T00:00"),
        ("0 0 29 2 *", "2026-03-01T00:00:00Z", "2028-02-29T00:00"),
        ("0 0 30 2 *", "2026-03-01T00:00:00Z", ""),
        ("0 0 * * mon-fri", "2026-03-06T12:00:00Z", "2026-03-09T00:00"),
        ("0 0 13 * 5", "2026-03-01T00:00:00Z", "2026-03-06T00:00"),  # either day
        ("0 0 13 */1 5", "2026-03-07T00:00:00Z", "2026-03-13T00:00"),
        ("0 0 */2 * 1", "2026-03-01T00:00:00Z", "2026-03-02T00:00"),  # a step is not open
        ("0 0 ? jan *", "2026-03-01T00:00:00Z", "2027-01-01T00:00"),
        ("@hourly", "2026-03-01T12:10:00Z", "2026-03-01T13:00"),
        ("@weekly", "2026-03-02T12:10:00Z", "2026-03-08T00:00"),
        ("@yearly", "2026-03-02T12:10:00Z", "2027-01-01T00:00"),
        ("@every 90m", "2026-03-01T12:10:00Z", "2026-03-01T13:40"),
        ("TZ=Europe/Berlin 0 9 * * *", "2026-01-15T00:00:00Z", "2026-01-15T08:00"),
        ("CRON_TZ=America/New_York 0 9 * * *", "2026-07-15T00:00:00Z", "2026-07-15T13:00"),
        # Clocks go from 2:00 to 3:00 on March 29, and back on October 25.
        ("TZ=Europe/Berlin 30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-30T00:30"),
        ("TZ=Europe/Berlin 0 0 * * *", "2026-03-29T12:00:00Z", "2026-03-29T22:00"),
        ("TZ=Europe/Berlin 30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30"),
        ("TZ=Europe/Berlin 30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30"),
    ],
)
def test_the_next_time(schedule: str, after: str, wanted: str) -> None:
    assert due(schedule, after) == wanted


FIELD = st.sampled_from(["*", "*/7", "3", "1-4", "2,5"])
MOMENT = st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)).map(
    lambda t: t.replace(tzinfo=UTC)
)


@examples(st.tuples(FIELD, FIELD, FIELD, FIELD, FIELD), MOMENT)
def test_no_time_is_left_out(fields: Sequence[str], after: datetime) -> None:
    schedule = parse_schedule(" ".join(fields))
    found = next_time(schedule, after)
    assert found is not None
    assert found > after
    before = found - timedelta(minutes=1)
    if before > after:
        again = next_time(schedule, max(after, found - timedelta(hours=30)))
        assert again is not None
        assert again <= found


# --- Jobs --------------------------------------------------------------------


def cron_job(status: JsonObject | None = None, **spec: Any) -> dict[str, Any]:
    """Made at 12:00."""
    template = {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}
    given = {
        "schedule": "*/5 * * * *",
        "concurrencyPolicy": "Allow",
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": template,
        **spec,
    }
    return {**stored("CronJob", "cj", given, "batch/v1"), "status": dict(status or {})}


def job(given: JsonObject, name: str, ended: str = "", began: float = 0.0) -> dict[str, Any]:
    status: dict[str, Any] = {"startTime": text_at(began)}
    if ended:
        status["conditions"] = [{"type": ended, "status": "True"}]
    if ended == "Complete":
        status["completionTime"] = text_at(began + 1)
    meta = {"ownerReferences": owned_by(given)}
    return {**stored("Job", name, {}, "batch/v1", **meta), "status": status}


def reference(name: str) -> dict[str, str]:
    return {"kind": "Job", "namespace": "default", "name": name, "uid": f"uid-{name}"}


def plan_of(given: JsonObject, *jobs: JsonObject, seconds: float) -> Plan:
    return cron_job_plan(given, jobs, at(seconds))


MINUTES = int(at().timestamp()) // 60


def test_before_its_time_nothing_happens() -> None:
    plan = plan_of(cron_job(), seconds=60)
    assert (plan.steps, plan.requeue_after) == ((), 240.1)


def test_a_job_is_made() -> None:
    plan = plan_of(cron_job(), seconds=301)
    (step,) = plan.steps
    assert step.object["metadata"] == {
        "name": f"cj-{MINUTES + 5}",
        "namespace": "default",
        "annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-01T12:05:00Z"},
        "ownerReferences": owned_by(cron_job()),
    }
    assert step.done is not None
    assert step.done.message == f"Created job cj-{MINUTES + 5}"
    assert step.follow is not None
    status = step.follow({**step.object, "metadata": {"name": "n", "uid": "u"}}).object["status"]
    assert status["lastScheduleTime"] == "2026-03-01T12:05:00Z"
    assert [(one["name"], one["uid"]) for one in status["active"]] == [("n", "u")]
    assert round(plan.requeue_after or 0, 3) == 299.1


def test_the_time_is_told_in_the_zone() -> None:
    (found,) = made(plan_of(cron_job(timeZone="Asia/Kolkata"), seconds=301), "Job")
    scheduled = "batch.kubernetes.io/cronjob-scheduled-timestamp"
    assert metadata.annotations(found)[scheduled] == "2026-03-01T17:35:00+05:30"


@pytest.mark.parametrize("status", [{"lastScheduleTime": text_at(300)}])
def test_a_time_is_used_once(status: JsonObject) -> None:
    assert made(plan_of(cron_job(status), seconds=310), "Job") == []


def test_of_missed_times_the_last_counts() -> None:
    plan = plan_of(cron_job(), seconds=1510)
    assert metadata.name(made(plan, "Job")[0]) == f"cj-{MINUTES + 25}"
    assert told(plan) == []
    text = (
        "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check "
        "clock skew"
    )
    assert told(plan_of(cron_job(), seconds=300 * 150)) == [text]


def test_too_late_is_too_late() -> None:
    given = cron_job({"lastScheduleTime": text_at()}, startingDeadlineSeconds=400)
    assert len(made(plan_of(given, seconds=350), "Job")) == 1
    late = cron_job({"lastScheduleTime": text_at()}, startingDeadlineSeconds=10)
    assert made(plan_of(late, seconds=350), "Job") == []


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("Allow", [f"create Job cj-{MINUTES + 5}"]),
        ("Forbid", ["tell JobAlreadyActive"]),
        ("Replace", ["delete Job old", f"create Job cj-{MINUTES + 5}"]),
    ],
)
def test_while_another_one_runs(policy: str, wanted: list[str]) -> None:
    given = cron_job({"active": [reference("old")]}, concurrencyPolicy=policy)
    assert shown(plan_of(given, job(given, "old"), seconds=301)) == wanted


def test_jobs_that_have_ended_are_told() -> None:
    given = cron_job({"active": [reference("a"), reference("gone")]})
    plan = plan_of(given, job(given, "a", "Complete", 10), seconds=60)
    assert told(plan) == [
        "Saw completed job: a, condition: Complete",
        "Active job went missing: gone",
    ]
    assert status_of_plan(plan) == {"lastSuccessfulTime": text_at(11)}


def test_jobs_that_nobody_made_are_told() -> None:
    given = cron_job()
    text = "Saw a job that the controller did not create or forgot: strange"
    assert told(plan_of(given, job(given, "strange"), seconds=60)) == [text]


def test_old_jobs_go() -> None:
    given = cron_job({"lastSuccessfulTime": text_at(41)})
    jobs = [job(given, f"ok{n}", "Complete", n * 10) for n in range(5)]
    jobs += [job(given, f"bad{n}", "Failed", n * 10) for n in range(2)]
    assert shown(plan_of(given, *jobs, seconds=60)) == [
        "delete Job ok0", "delete Job ok1", "delete Job bad0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        ({"suspend": True}, []),
        (
            {"timeZone": "Nowhere/At"},
            ['invalid timeZone: "Nowhere/At": unknown time zone Nowhere/At'],
        ),
        (
            {"schedule": "x"},
            ['unparseable schedule: "x" : expected exactly 5 fields, found 1: [x]'],
        ),
        (
            {"schedule": "59 23 31 2 *"},
            [
                "invalid schedule: 59 23 31 2 * : time difference between two schedules is less "
                "than 1 second"
            ],
        ),
    ],
)
def test_nothing_is_made(spec: dict[str, Any], texts: list[str]) -> None:
    plan = plan_of(cron_job(**spec), seconds=301)
    assert (told(plan), plan.requeue_after, made(plan, "Job")) == (texts, None, [])


def test_a_zone_within_the_schedule_is_not_supported() -> None:
    (text,) = told(plan_of(cron_job(schedule="TZ=UTC 0 0 * * *"), seconds=60))
    assert text.startswith('CRON_TZ or TZ used in schedule "TZ=UTC 0 0 * * *" is not officially')


# --- Strange values ----------------------------------------------------------

AGES = ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]


@pytest.mark.parametrize("last", [*AGES, None])
@pytest.mark.parametrize("seconds", [0, (1 << 63) - 1])
@pytest.mark.parametrize("schedule", ["0 0 30 2 *", "0 0 29 2 *", "@every 2540400h", "* * * * *"])
def test_any_time_and_any_deadline(last: str | None, seconds: int, schedule: str) -> None:
    """Whoever may write a status may write that."""
    spec = {"timeZone": "America/New_York", "startingDeadlineSeconds": seconds}
    given = cron_job({"lastScheduleTime": last}, schedule=schedule, **spec)
    cron_jobs.cron_job_plan(given, (), at(60))


def test_of_tens_of_thousands_of_missed_times_few_are_looked_at() -> None:
    """Before the last time of a month come those of eleven months, beside which one is a day."""

    def steps(day: int) -> int:
        status = {"lastScheduleTime": "2020-01-31T23:58:00Z"}
        given, now = cron_job(status, schedule="* * * 1 *"), datetime(2026, 1, day, tzinfo=UTC)
        return steps_of(lambda: cron_jobs.cron_job_plan(given, (), now))

    steps(1)
    assert steps(31) < 2 * steps(2)


@examples(st.tuples(FIELD, FIELD, FIELD, FIELD, FIELD), MOMENT, st.integers(0, 10**8))
def test_the_latest_time_is_the_last_that_has_passed(
    fields: Sequence[str], last: datetime, seconds: int
) -> None:
    text, now = " ".join(fields), last + timedelta(seconds=seconds)
    given = cron_job({"lastScheduleTime": f"{last:%Y-%m-%dT%H:%M:%SZ}"}, schedule=text)
    status = status_of_plan(cron_job_plan(given, (), now))
    if status.get("lastScheduleTime", "") > f"{last:%Y-%m-%dT%H:%M:%SZ}":
        after = next_time(parse_schedule(text), datetime.fromisoformat(status["lastScheduleTime"]))
        assert after is None or after > now
