"""Validation of the statuses of Jobs: what a controller, whoever that is, may say of how a Job goes
on and how it ends, and when.

As k8s.io/kubernetes `pkg/apis/batch/validation` and `pkg/registry/batch/job/strategy.go`: most
rules are about what changes, so that what is wrong already may stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import OMITTED, FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since, since, wording
from celadon.kube.validation import field_checks
from celadon.kube.validation.jobs import IndexesError, count_indexes, intervals
from celadon.kube.well_known_values import CRITERIA_MET, FAILURE_TARGET
from celadon.records import dataclass

_STATUS: Final = FieldPath("status")
COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
SUSPENDED: Final = "Suspended"
_TOO_EARLY: Final = wording(
    "must be equal to or after `startTime`", v1_34="completionTime cannot be set before startTime"
)
_STILL_COUNTED: Final = wording(
    "must be empty for finished job",
    v1_34="uncountedTerminatedPods needs to be empty for finished job",
)
_COMPLETED_FOR_GOOD: Final = wording(
    field_checks.IMMUTABLE, v1_34="completionTime cannot be mutated"
)
_CONDITIONS: Final = _STATUS.child("conditions")
_COMPLETED: Final = "completedIndexes"
_FAILED: Final = "failedIndexes"


@dataclass(frozen=True, slots=True)
class _Job:
    spec: JsonObject
    status: JsonObject

    def has(self, condition: str) -> bool:
        return field_checks.condition_is_true(self.status, condition)

    @property
    def is_finished(self) -> bool:
        return self.has(COMPLETE) or self.has(FAILED)

    @property
    def is_indexed(self) -> bool:
        return self.spec.get("completionMode") == "Indexed"


def job_status(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with the status of a Job. Transitions are looked at since others than the
    controller may manage a job."""
    # As `ValidateJobUpdateStatus` of `pkg/apis/batch/validation`.
    job, before = (_Job(item.get("spec") or {}, item.get("status") or {}) for item in (obj, old))
    yield from field_checks.broken_rules("batch.v1.JobStatus", job.status, _STATUS)
    yield from _uncounted(job.status.get("uncountedTerminatedPods") or {})
    for rule in (_ends, _finished, _indexes, _late_counts):
        yield from field_checks.only_with(field_checks.MANAGED_JOBS, rule(job, before))
    yield from _criteria(job)
    yield from field_checks.only_with(field_checks.MANAGED_JOBS, _lasting(job, before))
    yield from _lasting_criteria(job, before)


def _uncounted(pods: JsonObject) -> field_checks.Errors:
    seen: set[str] = set()
    for field in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(field) or ()):
            path = _STATUS.child("uncountedTerminatedPods", field).index(index)
            if not uid:
                yield fieldpath.invalid(path, NamedText(uid), "must not be empty")
            elif uid in seen:
                yield fieldpath.duplicate(path, NamedText(uid))
            seen.add(uid)


def _changes(job: _Job, before: _Job, *fields: str) -> bool:
    """Return whether a condition (by a capital letter) or a field differs."""
    return any(
        job.has(field) != before.has(field)
        if field[0].isupper()
        else job.status.get(field) != before.status.get(field)
        for field in fields
    )


def _wrong(detail: str) -> fieldpath.FieldError:
    return fieldpath.invalid(_CONDITIONS, OMITTED, detail)


def _ends(job: _Job, before: _Job) -> field_checks.Errors:
    started, completed = job.status.get("startTime"), job.status.get("completionTime")
    path, is_complete = _STATUS.child("completionTime"), job.has(COMPLETE)
    if _changes(job, before, COMPLETE, FAILED) and is_complete and job.has(FAILED):
        yield _wrong("cannot set Complete=True and Failed=true conditions")
    if _changes(job, before, COMPLETE, FAILURE_TARGET) and is_complete and job.has(FAILURE_TARGET):
        yield _wrong("cannot set Complete=True and FailureTarget=true conditions")
    if _changes(job, before, COMPLETE, "completionTime"):
        if completed is not None and not is_complete:
            detail = "cannot set completionTime when there is no Complete=True condition"
            yield fieldpath.invalid(path, _shown_time(completed), detail)
        if completed is None and is_complete:
            yield fieldpath.required(path, "completionTime is required for Complete jobs")
    times = _changes(job, before, "startTime", "completionTime")
    if times and started is not None and completed is not None and completed < started:
        yield fieldpath.invalid(path, _shown_time(completed), _TOO_EARLY.text)
    if not is_since("1.31"):
        return
    fails = _changes(job, before, FAILED, FAILURE_TARGET) and job.has(FAILED)
    if fails and not job.has(FAILURE_TARGET):
        yield _wrong("cannot set Failed=True condition without the FailureTarget=true condition")
    if _changes(job, before, COMPLETE, CRITERIA_MET) and is_complete and not job.has(CRITERIA_MET):
        yield _wrong(
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        )


def _shown_time(time: str) -> GoValue:
    return GoValue(time, "v1.Time")


def _finished(job: _Job, before: _Job) -> field_checks.Errors:
    if not job.is_finished:
        return
    ends, active = not before.is_finished, job.status.get("active") or 0
    if (ends or _changes(job, before, "active")) and active > 0:
        yield fieldpath.invalid(
            _STATUS.child("active"), active, "active>0 is invalid for finished job"
        )
    waits = job.spec.get("suspend") and job.spec.get("completions") == 0 and is_since("1.32")
    starts = ends or _changes(job, before, "startTime")
    if starts and job.status.get("startTime") is None and not waits:
        yield fieldpath.required(
            _STATUS.child("startTime"), "startTime is required for finished job"
        )
    uncounted = job.status.get("uncountedTerminatedPods") or {}
    pods = {name: uncounted.get(name.lower()) for name in ("Succeeded", "Failed")}
    if (ends or _changes(job, before, "uncountedTerminatedPods")) and any(pods.values()):
        path = _STATUS.child("uncountedTerminatedPods")
        go_value = GoValue(pods, "batch.UncountedTerminatedPods")
        yield fieldpath.invalid(path, go_value, _STILL_COUNTED.text)


def _indexes(job: _Job, before: _Job) -> field_checks.Errors:
    completed, failed = job.status.get(_COMPLETED) or "", job.status.get(_FAILED)
    completions, limit = job.spec.get("completions"), job.spec.get("backoffLimitPerIndex")
    completed_changes, failed_changes = (
        _changes(job, before, condition) for condition in (_COMPLETED, _FAILED)
    )
    path, at_failed = _STATUS.child(_COMPLETED), _STATUS.child(_FAILED)
    if completed_changes and completions is not None:
        yield from _well_formed(path, completed, completions)
    if failed_changes and failed is not None and completions is not None and limit is not None:
        yield from _well_formed(at_failed, failed, completions)
    if completed_changes and completed and not job.is_indexed:
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield fieldpath.invalid(path, completed, detail)
    if failed_changes and limit is None and failed is not None:
        detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield fieldpath.invalid(at_failed, failed, detail)
    if (completed_changes or failed_changes) and completions is not None and failed is not None:
        shared = _overlap(intervals(completed, completions), intervals(failed, completions))
        if shared is not None:
            detail = f"failedIndexes and completedIndexes overlap at index: {shared}"
            yield fieldpath.invalid(at_failed, failed, detail)


def _well_formed(path: FieldPath, text: str, completions: int) -> field_checks.Errors:
    try:
        count_indexes(text, completions)
    except IndexesError as error:
        detail = f"error parsing {path.steps[-1]}: {error}"
        yield fieldpath.invalid(path, text, detail)


def _overlap(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int | None:
    """Return the first index that is in both lists of intervals."""
    # As `validateFailedIndexesNotOverlapCompleted` of `pkg/apis/batch/validation`.
    shared = (
        max(left[0], right[0])
        for left in some
        for right in others
        if left[0] <= right[1] and right[0] <= left[1]
    )
    return min(shared, default=None)


@since("1.31")
def _late_counts(job: _Job, before: _Job) -> field_checks.Errors:
    terminating, ready = job.status.get("terminating") or 0, job.status.get("ready")
    ends = job.is_finished != before.is_finished
    if (ends or _changes(job, before, "terminating")) and terminating > 0 and job.is_finished:
        detail = "terminating>0 is invalid for finished job"
        yield fieldpath.invalid(_STATUS.child("terminating"), terminating, detail)
    moved = _changes(job, before, "ready", "active")
    if moved and ready is not None and ready > (job.status.get("active") or 0):
        detail = "cannot set more ready pods than active"
        yield fieldpath.invalid(_STATUS.child("ready"), ready, detail)


def _criteria(job: _Job) -> field_checks.Errors:
    has = job.has(CRITERIA_MET)
    if has and not job.is_indexed and not is_since("1.31"):
        yield _wrong("cannot set SuccessCriteriaMet to NonIndexed Job")
    for other in (FAILED, FAILURE_TARGET):
        if has and job.has(other):
            yield _wrong(f"cannot set SuccessCriteriaMet=True and {other}=true conditions")
    has_policy = job.spec.get("successPolicy") is not None
    if has and not has_policy and not is_since("1.31"):
        yield _wrong("cannot set SuccessCriteriaMet=True for Job without SuccessPolicy")
    if has_policy and not has and job.has(COMPLETE):
        yield _wrong(
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        )


def _lasting(job: _Job, before: _Job) -> field_checks.Errors:
    for condition in (FAILED, COMPLETE, FAILURE_TARGET):
        if before.has(condition) and not job.has(condition):
            yield _wrong(f"cannot disable the terminal {condition}=True condition")
    shrinks = job.is_indexed and job.spec.get("completions") == job.spec.get("parallelism")
    for field in ("failed", "succeeded"):
        number = job.status.get(field) or 0
        if number < (before.status.get(field) or 0) and not (field == "succeeded" and shrinks):
            detail = f"cannot decrease the {field} counter"
            yield fieldpath.invalid(_STATUS.child(field), number, detail)
    completed, was = (job.status.get("completionTime") for job in (job, before))
    if completed is not None and was is not None and completed != was:
        path = _STATUS.child("completionTime")
        yield fieldpath.invalid(path, _shown_time(completed), _COMPLETED_FOR_GOOD.text)
    started = before.status.get("startTime")
    moved = started is not None and started != job.status.get("startTime")
    resumes = before.has(SUSPENDED) and is_since("1.32") and _is_false(job.status, SUSPENDED)
    if not moved or job.spec.get("suspend") or resumes:
        return
    if is_since("1.36"):
        now = job.status.get("startTime")
        detail = f"{field_checks.IMMUTABLE} for unsuspended job once set"
        text = None if now is None else NamedText(now)
        yield fieldpath.invalid(_STATUS.child("startTime"), text, detail)
    else:
        detail = "startTime cannot be removed for unsuspended job"
        yield fieldpath.required(_STATUS.child("startTime"), detail)


def _is_false(status: JsonObject, kind: str) -> bool:
    return any(
        condition.get("type") == kind and condition.get("status") == "False"
        for condition in status.get("conditions") or ()
    )


def _lasting_criteria(job: _Job, before: _Job) -> field_checks.Errors:
    if before.has(CRITERIA_MET) and not job.has(CRITERIA_MET):
        yield _wrong("cannot disable the SuccessCriteriaMet=True condition")
    if before.has(COMPLETE) and not before.has(CRITERIA_MET) and job.has(CRITERIA_MET):
        yield _wrong(
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        )
