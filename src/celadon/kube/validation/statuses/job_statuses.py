"""How a Job goes on, and how it ends: what its controller, whoever that is, may say when.

As k8s.io/kubernetes `pkg/apis/batch/validation` and `pkg/registry/batch/job/strategy.go`: most
rules are about what changes, so that what is wrong already may stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import OMITTED, FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import IMMUTABLE, Errors
from celadon.kube.validation.field_rules import broken_rules
from celadon.kube.validation.statuses.status_conditions import condition_is_true
from celadon.kube.validation.workloads.job_policies import IndexesError, count_indexes, intervals
from celadon.records import dataclass

COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
FAILURE_TARGET: Final = "FailureTarget"
CRITERIA_MET: Final = "SuccessCriteriaMet"
_STATUS: Final = FieldPath("status")
_CONDITIONS: Final = _STATUS.child("conditions")
_COMPLETED: Final = "completedIndexes"
_FAILED: Final = "failedIndexes"


@dataclass(frozen=True, slots=True)
class _Job:
    spec: JsonObject
    status: JsonObject

    def has(self, condition: str) -> bool:
        return condition_is_true(self.status, condition)

    @property
    def is_finished(self) -> bool:
        return self.has(COMPLETE) or self.has(FAILED)

    @property
    def is_indexed(self) -> bool:
        return self.spec.get("completionMode") == "Indexed"


def job_status(obj: JsonObject, old: JsonObject) -> Errors:
    """What is wrong with the status of a Job."""
    job, before = (_Job(one.get("spec") or {}, one.get("status") or {}) for one in (obj, old))
    yield from broken_rules("batch.v1.JobStatus", job.status, _STATUS)
    yield from _uncounted(job.status.get("uncountedTerminatedPods") or {})
    yield from _ends(job, before)
    yield from _finished(job, before)
    yield from _indexes(job, before)
    yield from _late_counts(job, before)
    yield from _criteria(job)
    yield from _lasting(job, before)


def _uncounted(pods: JsonObject) -> Errors:
    seen: set[str] = set()
    for field in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(field) or ()):
            at = _STATUS.child("uncountedTerminatedPods", field).index(index)
            if not uid:
                yield fieldpath.invalid(at, NamedText(uid), "must not be empty")
            elif uid in seen:
                yield fieldpath.duplicate(at, NamedText(uid))
            seen.add(uid)


def _changes(job: _Job, before: _Job, *what: str) -> bool:
    """Whether a condition (by a capital letter) or a field differs."""
    return any(
        job.has(one) != before.has(one)
        if one[0].isupper()
        else job.status.get(one) != before.status.get(one)
        for one in what
    )


def _wrong(detail: str) -> fieldpath.FieldError:
    return fieldpath.invalid(_CONDITIONS, OMITTED, detail)


def _ends(job: _Job, before: _Job) -> Errors:
    started, completed = job.status.get("startTime"), job.status.get("completionTime")
    at, is_complete = _STATUS.child("completionTime"), job.has(COMPLETE)
    if _changes(job, before, COMPLETE, FAILED) and is_complete and job.has(FAILED):
        yield _wrong("cannot set Complete=True and Failed=true conditions")
    if _changes(job, before, COMPLETE, FAILURE_TARGET) and is_complete and job.has(FAILURE_TARGET):
        yield _wrong("cannot set Complete=True and FailureTarget=true conditions")
    if _changes(job, before, COMPLETE, "completionTime"):
        if completed is not None and not is_complete:
            why = "cannot set completionTime when there is no Complete=True condition"
            yield fieldpath.invalid(at, completed, why)
        if completed is None and is_complete:
            yield fieldpath.required(at, "completionTime is required for Complete jobs")
    times = _changes(job, before, "startTime", "completionTime")
    if times and started is not None and completed is not None and completed < started:
        yield fieldpath.invalid(at, completed, "must be equal to or after `startTime`")
    fails = _changes(job, before, FAILED, FAILURE_TARGET) and job.has(FAILED)
    if fails and not job.has(FAILURE_TARGET):
        yield _wrong("cannot set Failed=True condition without the FailureTarget=true condition")
    if _changes(job, before, COMPLETE, CRITERIA_MET) and is_complete and not job.has(CRITERIA_MET):
        yield _wrong(
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        )


def _finished(job: _Job, before: _Job) -> Errors:
    if not job.is_finished:
        return
    ends, active = not before.is_finished, job.status.get("active") or 0
    if (ends or _changes(job, before, "active")) and active > 0:
        yield fieldpath.invalid(
            _STATUS.child("active"), active, "active>0 is invalid for finished job"
        )
    if (ends or _changes(job, before, "startTime")) and job.status.get("startTime") is None:
        yield fieldpath.required(
            _STATUS.child("startTime"), "startTime is required for finished job"
        )
    uncounted = job.status.get("uncountedTerminatedPods") or {}
    pods = {name: uncounted.get(name.lower()) for name in ("Succeeded", "Failed")}
    if (ends or _changes(job, before, "uncountedTerminatedPods")) and any(pods.values()):
        at = _STATUS.child("uncountedTerminatedPods")
        yield fieldpath.invalid(at, pods, "must be empty for finished job")


def _indexes(job: _Job, before: _Job) -> Errors:
    completed, failed = job.status.get(_COMPLETED) or "", job.status.get(_FAILED)
    completions, limit = job.spec.get("completions"), job.spec.get("backoffLimitPerIndex")
    completed_changes, failed_changes = (
        _changes(job, before, one) for one in (_COMPLETED, _FAILED)
    )
    at, at_failed = _STATUS.child(_COMPLETED), _STATUS.child(_FAILED)
    if completed_changes and completions is not None:
        yield from _well_formed(at, completed, completions)
    if failed_changes and failed is not None and completions is not None and limit is not None:
        yield from _well_formed(at_failed, failed, completions)
    if completed_changes and completed and not job.is_indexed:
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield fieldpath.invalid(at, completed, why)
    if failed_changes and limit is None and failed is not None:
        why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield fieldpath.invalid(at_failed, failed, why)
    if (completed_changes or failed_changes) and completions is not None and failed is not None:
        shared = _overlap(intervals(completed, completions), intervals(failed, completions))
        if shared is not None:
            why = f"failedIndexes and completedIndexes overlap at index: {shared}"
            yield fieldpath.invalid(at_failed, failed, why)


def _well_formed(path: FieldPath, text: str, completions: int) -> Errors:
    try:
        count_indexes(text, completions)
    except IndexesError as error:
        why = f"error parsing {path.steps[-1]}: {error}"
        yield fieldpath.invalid(path, text, why)


def _overlap(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int | None:
    """The first index that is in both."""
    shared = (
        max(one[0], other[0])
        for one in some
        for other in others
        if one[0] <= other[1] and other[0] <= one[1]
    )
    return min(shared, default=None)


def _late_counts(job: _Job, before: _Job) -> Errors:
    terminating, ready = job.status.get("terminating") or 0, job.status.get("ready")
    ends = job.is_finished != before.is_finished
    if (ends or _changes(job, before, "terminating")) and terminating > 0 and job.is_finished:
        why = "terminating>0 is invalid for finished job"
        yield fieldpath.invalid(_STATUS.child("terminating"), terminating, why)
    moved = _changes(job, before, "ready", "active")
    if moved and ready is not None and ready > (job.status.get("active") or 0):
        why = "cannot set more ready pods than active"
        yield fieldpath.invalid(_STATUS.child("ready"), ready, why)


def _criteria(job: _Job) -> Errors:
    met = job.has(CRITERIA_MET)
    for other in (FAILED, FAILURE_TARGET):
        if met and job.has(other):
            yield _wrong(f"cannot set SuccessCriteriaMet=True and {other}=true conditions")
    if job.spec.get("successPolicy") is not None and not met and job.has(COMPLETE):
        yield _wrong(
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        )


def _lasting(job: _Job, before: _Job) -> Errors:
    for condition in (FAILED, COMPLETE, FAILURE_TARGET):
        if before.has(condition) and not job.has(condition):
            yield _wrong(f"cannot disable the terminal {condition}=True condition")
    shrinks = job.is_indexed and job.spec.get("completions") == job.spec.get("parallelism")
    for field in ("failed", "succeeded"):
        number = job.status.get(field) or 0
        if number < (before.status.get(field) or 0) and not (field == "succeeded" and shrinks):
            why = f"cannot decrease the {field} counter"
            yield fieldpath.invalid(_STATUS.child(field), number, why)
    completed, was = (one.status.get("completionTime") for one in (job, before))
    if None not in (completed, was) and completed != was:
        yield fieldpath.invalid(_STATUS.child("completionTime"), completed, IMMUTABLE)
    started = before.status.get("startTime")
    moved = started is not None and started != job.status.get("startTime")
    if moved and not job.spec.get("suspend"):
        now = job.status.get("startTime")
        why = f"{IMMUTABLE} for unsuspended job once set"
        shown = None if now is None else NamedText(now)
        yield fieldpath.invalid(_STATUS.child("startTime"), shown, why)
    if before.has(CRITERIA_MET) and not job.has(CRITERIA_MET):
        yield _wrong("cannot disable the SuccessCriteriaMet=True condition")
    if before.has(COMPLETE) and not before.has(CRITERIA_MET) and job.has(CRITERIA_MET):
        yield _wrong(
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        )
