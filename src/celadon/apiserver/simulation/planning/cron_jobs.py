"""CronJobs: a Job at each time of a schedule.

As k8s.io/kubernetes `pkg/controller/cronjob`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from celadon.apiserver.simulation.planning import plans
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.apiserver.simulation.planning.jobs import (
    COMPLETE,
    FAILED,
    finished_condition,
    is_finished,
)
from celadon.kube import JsonObject, metadata
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.validation.cron_schedule import Schedule, ScheduleError, parse_schedule
from celadon.kube.workload_controllers import scheduled_job
from celadon.records import dataclass

# --- Schedules ---------------------------------------------------------------
#
# When a schedule is due: the next time after another one.
#
# As github.com/robfig/cron `spec.go` and `constantdelay.go`, hour by hour where clocks are
# changed: a time that a day does not have is left out, and one that it has twice comes twice.

_YEARS: Final = 5
"""After so many years without a time there is none."""
_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_NOON: Final = 12
_DAY_HOURS: Final = 24


class UnknownZone(Exception):
    """Says that there is no time zone of this name."""


def time_zone(name: str) -> tzinfo:
    """UTC where there is no name. Raises UnknownZone."""
    if name in {"", "UTC"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZone(f"unknown time zone {name}") from error


def next_time(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first time of the schedule after another time, or None if there is none in the
    years to come. Raises UnknownZone."""
    if schedule.every:
        return after.replace(microsecond=0) + timedelta(seconds=schedule.every)
    moment = _Search(schedule, after.astimezone(time_zone(schedule.zone))).found()
    return None if moment is None else moment.astimezone(UTC)


class _Search:
    """Looks for the next time from one onward. Whatever moves to a later month, day or hour begins
    at its start."""

    def __init__(self, schedule: Schedule, after: datetime) -> None:
        minutes, hours, self._days, months, self._weekdays = schedule.fields
        self._minutes, self._hours, self._months = minutes.numbers, hours.numbers, months.numbers
        self._zone = after.tzinfo
        self._time = self._moved(after.replace(microsecond=0), _SECOND)
        self._last_year = self._time.year + _YEARS

    def found(self) -> datetime | None:
        if self._time.second:
            self._time = self._moved(self._time.replace(second=0), _MINUTE)
        while self._time.year <= self._last_year:
            if self._time.month not in self._months:
                self._to_next_month()
            elif not self._day_fits():
                self._to_next_day()
            elif self._time.hour not in self._hours:
                self._time = self._moved(self._time.replace(minute=0), _HOUR)
            elif self._time.minute not in self._minutes:
                self._time = self._moved(self._time, _MINUTE)
            else:
                return self._time
        return None

    def _moved(self, moment: datetime, by: timedelta) -> datetime:
        """Return the time that is later by a span of real time, whatever clocks show in between."""
        return (moment.astimezone(UTC) + by).astimezone(self._zone)

    def _day_fits(self) -> bool:
        of_month = self._time.day in self._days.numbers
        of_week = self._time.isoweekday() % 7 in self._weekdays.numbers
        if self._days.is_open or self._weekdays.is_open:
            return of_month and of_week
        return of_month or of_week

    def _to_next_month(self) -> None:
        year, month = divmod(self._time.year * 12 + self._time.month, 12)
        self._time = datetime(year, month + 1, 1, tzinfo=self._zone)

    def _to_next_day(self) -> None:
        """Go on to the first hour of the next day, which is another one where a change of clocks
        leaves out midnight."""
        day = datetime(self._time.year, self._time.month, self._time.day, tzinfo=self._zone)
        following = (day + timedelta(days=1)).astimezone(UTC).astimezone(self._zone)
        if following.hour:
            hours = following.hour
            back = _DAY_HOURS - hours if hours > _NOON else -hours
            following = self._moved(following, timedelta(hours=back))
        self._time = following


PADDING: Final = 0.1
"""Seconds after a time at which a CronJob is looked at, for clocks that differ."""
MANY: Final = 100
"""Missed times, of which more are told."""


def cron_job_plan(cron_job: JsonObject, jobs: Sequence[JsonObject], now: datetime) -> plans.Plan:
    """Return the next steps of a CronJob, whose Jobs these are."""
    return _Sync(cron_job, jobs, now).plan()


def job_name(cron_job: JsonObject, scheduled: datetime) -> str:
    """Return the name of the Job for a time, which ends with the minutes since 1970."""
    return f"{metadata.name(cron_job)}-{int(scheduled.timestamp()) // 60}"


class _InvalidSchedule(Exception):
    """Says that a schedule is never due."""


@dataclass(frozen=True, slots=True)
class _Missed:
    """The times that have passed: the latest, and about how many. They are counted since
    `earliest`."""

    earliest: datetime
    latest: datetime | None
    count: int = 0


class _Sync:
    """Takes one look at one CronJob."""

    def __init__(self, value: JsonObject, jobs: Sequence[JsonObject], now: datetime) -> None:
        self.cron_job = value
        self.spec = facts.spec_of(value)
        self.jobs = jobs
        self.now = now
        self.steps: list[plans.Step] = []
        self.requeue_after: float | None = None
        self.status: JsonDict = dict(facts.status_of(value))
        self.active: list[Any] = list(self.status.get("active") or ())
        self.started: plans.Step | None = None

    # --- the order of things ---

    def plan(self) -> plans.Plan:
        self._clean_up()
        self._look_at_jobs()
        if not facts.is_going(self.cron_job):
            self._schedule()
        if self.started is not None:
            self.steps.append(self.started)
        elif self._made_status() != facts.status_of(self.cron_job):
            self.steps.append(self._status_step())
        return plans.Plan(tuple(self.steps), self.requeue_after)

    def _tell(self, reason: str, text: str, *, warning: bool = False) -> None:
        self.steps.append(
            plans.told(text, self.cron_job, reason, plans.WARNING if warning else plans.NORMAL)
        )

    def _made_status(self) -> JsonDict:
        result = {**self.status, "active": self.active}
        return {key: value for key, value in result.items() if value}

    def _status_step(self) -> plans.Step:
        return plans.Step(plans.Verb.STATUS, {**self.cron_job, "status": self._made_status()})

    # --- Jobs that are there ---

    def _clean_up(self) -> None:
        """Delete the oldest of the Jobs that have ended, so that as many stay as the limits say."""
        for field, kind in _LIMITS.items():
            limit = self.spec.get(field)
            if limit is None:
                continue
            ended = [job for job in self.jobs if _end(job) == kind]
            ordered = sorted(ended, key=_start)
            self._delete(ordered[: max(len(ordered) - limit, 0)])

    def _delete(self, jobs: Iterable[JsonObject]) -> None:
        for job in jobs:
            done = plans.ObjectEvent(
                plans.NORMAL, "SuccessfulDelete", f"Deleted job {metadata.name(job)}"
            )
            failed = plans.ObjectEvent(plans.WARNING, "FailedDelete", "Deleted job: ")
            self.steps.append(plans.Step(plans.Verb.DELETE, job, done, failed))
            self._forget(metadata.uid(job))

    def _forget(self, uid: str) -> None:
        self.active = [item for item in self.active if item.get("uid") != uid]

    def _look_at_jobs(self) -> None:
        for job in self.jobs:
            name, uid = metadata.name(job), metadata.uid(job)
            is_known = any(element.get("uid") == uid for element in self.active)
            condition = finished_condition(job)
            if condition is None:
                if not is_known:
                    text = f"Saw a job that the controller did not create or forgot: {name}"
                    self._tell("UnexpectedJob", text, warning=True)
                continue
            if is_known:
                self._forget(uid)
                text = f"Saw completed job: {name}, condition: {condition['type']}"
                self._tell("SawCompletedJob", text)
            ended = facts.status_of(job).get("completionTime")
            if condition["type"] == COMPLETE and ended:
                former = self.status.get("lastSuccessfulTime") or ""
                self.status["lastSuccessfulTime"] = max(ended, former)
        present = {metadata.uid(job) for job in self.jobs}
        for element in [element for element in self.active if element.get("uid") not in present]:
            self._tell("MissingJob", f"Active job went missing: {element.get('name')}")
            self._forget(element.get("uid"))

    # --- the next Job ---

    def _schedule(self) -> None:
        named = self.spec.get("timeZone") or ""
        try:
            time_zone(named)
        except UnknownZone as error:
            text = f"invalid timeZone: {quote(named)}: {error}"
            self._tell("UnknownTimeZone", text, warning=True)
            return
        if self.spec.get("suspend"):
            return
        text = self.spec.get("schedule") or ""
        try:
            schedule = parse_schedule(self._zoned(text, named))
        except ScheduleError as error:
            message = f"unparseable schedule: {quote(text)} : {error}"
            self._tell("UnparseableSchedule", message, warning=True)
            return
        try:
            missed = self._missed(schedule, with_deadline=True)
        except (_InvalidSchedule, UnknownZone) as error:
            self._tell("InvalidSchedule", f"invalid schedule: {text} : {error}", warning=True)
            return
        if missed.latest is not None and missed.count > MANY:
            message = (
                "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or "
                "check clock skew"
            )
            self._tell("TooManyMissedTimes", message, warning=True)
        if missed.latest is not None:
            self._start_at(missed.latest)
        self.requeue_after = self._seconds_to_next(schedule)

    def _zoned(self, text: str, named: str) -> str:
        if "TZ" in text:
            message = (
                f"CRON_TZ or TZ used in schedule {quote(text)} is not officially supported, see "
                "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more "
                "details"
            )
            self._tell("UnsupportedSchedule", message, warning=True)
            return text
        return f"TZ={named} {text}" if named else text

    def _missed(self, schedule: Schedule, *, with_deadline: bool) -> _Missed:
        """Return the times since the last Job. Raises _InvalidSchedule, UnknownZone."""
        began = self.status.get("lastScheduleTime") or metadata.creation_timestamp(self.cron_job)
        earliest = facts.read_time(began)
        deadline = self.spec.get("startingDeadlineSeconds")
        if with_deadline and deadline is not None:
            earliest = max(earliest, facts.later(self.now, -deadline))
        first = next_time(schedule, earliest)
        second = None if first is None else next_time(schedule, first)
        if first is None or second is None:
            raise _InvalidSchedule("time difference between two schedules is less than 1 second")
        if self.now < first:
            return _Missed(earliest, None)
        if self.now < second:
            return _Missed(earliest, first)
        between = round((second - first).total_seconds())
        count = int((self.now - first).total_seconds()) // between + 1
        latest = None
        begin = next_time(schedule, first + timedelta(seconds=(count - 2) * between))
        if begin is not None and begin <= self.now:
            latest = self._latest(schedule, begin)
        return _Missed(earliest, latest, count)

    def _latest(self, schedule: Schedule, found: datetime) -> datetime:
        """Return the latest time of the schedule, of which one is known, up to now. Between two of
        them may be tens of thousands; but not of those that come every so many seconds."""
        end = self.now
        if schedule.every:
            return found + (end - found) // timedelta(seconds=schedule.every) * timedelta(
                seconds=schedule.every
            )
        while end - found > _SECOND:
            middle = found + (end - found) / 2
            following = next_time(schedule, middle)
            if following is None or following > self.now:
                end = middle
            else:
                found = following
        return found

    def _seconds_to_next(self, schedule: Schedule) -> float | None:
        try:
            missed = self._missed(schedule, with_deadline=False)
        except _InvalidSchedule:
            base = self.now
        else:
            base = missed.latest or (self.now if missed.count else missed.earliest)
        following = next_time(schedule, base)
        if following is None:
            return None
        return max((following - self.now).total_seconds(), 0.0) + PADDING

    def _start_at(self, scheduled: datetime) -> None:
        deadline = self.spec.get("startingDeadlineSeconds")
        if deadline is not None and facts.later(scheduled, deadline) < self.now:
            text = f"Missed scheduled time to start a job: {_rfc1123(scheduled)}"
            self._tell("MissSchedule", text, warning=True)
            return
        name = job_name(self.cron_job, scheduled)
        is_started = any(item.get("name") == name for item in self.active)
        if is_started or self.status.get("lastScheduleTime") == facts.time_text(scheduled):
            return
        policy = self.spec.get("concurrencyPolicy")
        if policy == "Forbid" and self.active:
            text = (
                "Not starting job because prior execution is running and concurrency policy is "
                "Forbid"
            )
            self._tell("JobAlreadyActive", text)
            return
        if policy == "Replace":
            running = {item.get("uid") for item in self.active}
            self._delete(job for job in self.jobs if metadata.uid(job) in running)
        self._start(name, scheduled)

    def _start(self, name: str, scheduled: datetime) -> None:
        self.status["lastScheduleTime"] = facts.time_text(scheduled)
        present = next((job for job in self.jobs if metadata.name(job) == name), None)
        if present is not None:  # it was made, but not noted
            self._note(present)
            return
        zone = time_zone(self.spec.get("timeZone") or "")
        local = scheduled.astimezone(zone).isoformat(timespec="seconds")
        job = scheduled_job(self.cron_job, name, local.replace("+00:00", "Z"))
        self.started = plans.Step(
            plans.Verb.CREATE,
            job,
            plans.ObjectEvent(plans.NORMAL, "SuccessfulCreate", f"Created job {name}"),
            plans.ObjectEvent(plans.WARNING, "FailedCreate", "Error creating job: "),
            follow=self._noted,
        )

    def _noted(self, job: JsonObject) -> plans.Step:
        self._note(job)
        return self._status_step()

    def _note(self, job: JsonObject) -> None:
        reference = {
            "kind": "Job",
            "namespace": metadata.namespace(job),
            "name": metadata.name(job),
            "uid": metadata.uid(job),
            "apiVersion": "batch/v1",
            "resourceVersion": metadata.resource_version(job),
        }
        if not is_finished(job):
            self.active.append(reference)


_LIMITS: Final = {"successfulJobsHistoryLimit": COMPLETE, "failedJobsHistoryLimit": FAILED}
"""Which Jobs a field limits."""


def _end(job: JsonObject) -> str:
    """Return the type of its last condition; empty if it has not ended."""
    return str((finished_condition(job) or {}).get("type", ""))


def _start(job: JsonObject) -> tuple[bool, str, str]:
    began = facts.status_of(job).get("startTime") or ""
    return not began, began, metadata.name(job)


_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def _rfc1123(moment: datetime) -> str:
    """Return the time in English, wherever this runs."""
    month = _MONTHS[moment.month - 1]
    return f"{_DAYS[moment.weekday()]}, {moment.day:02} {month} {moment.year} {moment:%H:%M:%S} UTC"
