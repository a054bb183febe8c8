"""Jobs: pods that run to their end, counted, tried again, and how it all came out.

As k8s.io/kubernetes `pkg/controller/job` and `pkg/controller/ttlafterfinished`. A pod is counted in
two rounds, as upstream: its uid is noted in the status before it loses its finalizer, and becomes a
number in a counter after it has. How many pods failed since the last success is seen in the pods;
upstream remembers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from celadon.apiserver.simulation.planning import job_indexes, plans
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.apiserver.simulation.planning.replica_pods import pods_to_delete
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import CRITERIA_MET, FAILURE_TARGET
from celadon.kube.workload_controllers import JOB_CONTROLLER, JOB_TRACKING, job_pod
from celadon.records import dataclass

# --- Policies of failure and success -----------------------------------------
#
# What a Job's policies say: about a pod that has failed, and whether enough indexes succeeded.
#
# As k8s.io/kubernetes `pkg/controller/job/pod_failure_policy.go` and `success_policy.go`.


@dataclass(frozen=True, slots=True)
class FailureRuling:
    """Says what the failure policy of a Job does about a pod. `action` is that of the rule which
    matched; empty if none did. `message` is why the Job fails, if it does for this pod."""

    action: str = ""
    message: str = ""

    @property
    def is_counted(self) -> bool:
        """Tell whether the failure counts towards `backoffLimit` and its like."""
        return self.action != "Ignore"


# As `matchPodFailurePolicy`.
def failure_ruling(policy: JsonObject | None, pod: JsonObject) -> FailureRuling:
    """Return what the first rule that matches says of a failed pod; without one, the failure
    counts."""
    where = f"{metadata.namespace(pod)}/{metadata.name(pod)}"
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        action = rule.get("action") or ""
        end = f"matching {action} rule at index {number}"
        if rule.get("onExitCodes") is not None:
            container_with_code = _container_with_code(pod, rule["onExitCodes"])
            if container_with_code is None:
                continue
            code = container_with_code["state"]["terminated"]["exitCode"]
            name = container_with_code["name"]
            text = f"Container {name} for pod {where} failed with exit code {code} {end}"
        else:
            condition = _matching_condition(pod, rule.get("onPodConditions") or ())
            if condition is None:
                continue
            text = f"Pod {where} has condition {condition['type']} {end}"
        return FailureRuling(action, text if action == "FailJob" else "")
    return FailureRuling()


# As `getMatchingContainerFromList`: a container that has ended well never matches, not even
# `NotIn`.
def _container_with_code(pod: JsonObject, requirement: JsonObject) -> JsonObject | None:
    state = facts.status_of(pod)
    name, values = requirement.get("containerName"), requirement.get("values") or ()
    is_in = requirement.get("operator") == "In"
    containers: Iterable[JsonObject] = (
        *(state.get("containerStatuses") or ()),
        *(state.get("initContainerStatuses") or ()),
    )
    for container in containers:
        ended = (container.get("state") or {}).get("terminated")
        if ended is None or name not in (None, container["name"]) or not ended["exitCode"]:
            continue
        if (ended["exitCode"] in values) == is_in:
            return container
    return None


def _matching_condition(pod: JsonObject, patterns: Sequence[JsonObject]) -> JsonObject | None:
    expected = {(pattern.get("type"), pattern.get("status") or "True") for pattern in patterns}
    conditions: Iterable[JsonObject] = facts.status_of(pod).get("conditions") or ()
    return next(
        (
            condition
            for condition in conditions
            if (condition["type"], condition["status"]) in expected
        ),
        None,
    )


# As `matchSuccessPolicy`.
def success_message(
    policy: JsonObject | None, completions: int, succeeded: job_indexes.Intervals
) -> str:
    """Return the message about the rule by which the Job has succeeded, or an empty text if none is
    met."""
    if not succeeded:
        return ""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        indexes, least = rule.get("succeededIndexes"), rule.get("succeededCount")
        if indexes is not None:
            parsed = job_indexes.parsed(indexes, completions)
            both = job_indexes.overlap(parsed, succeeded)
            is_met = bool(parsed) and (
                both == job_indexes.count(parsed) or (least is not None and both >= least)
            )
        else:
            is_met = least is not None and job_indexes.count(succeeded) >= least
        if is_met:
            return f"Matched rules at index {number}"
    return ""


# Upstream: `DefaultJobPodFailureBackOff` and `MaxJobPodFailureBackOff` of `job_controller.go`; the
# two numbers after them are `MaxPodCreateDeletePerSync` and `MaxUncountedPods`, which are the same.
_FIRST_BACKOFF: Final = 10.0
_LONGEST_BACKOFF: Final = 600.0
"""Seconds after a failure until a pod is made again: after the first one, and at most."""
MOST_AT_ONCE: Final = 500
"""Pods that are made or deleted in one round, and uids that a status holds."""

COMPLETE: Final = "Complete"
FAILED: Final = "Failed"


def job_plan(job: JsonObject, pods: Sequence[JsonObject], now: datetime) -> plans.Plan:
    """Return the next steps of a Job whose own pods these are."""
    if facts.spec_of(job).get("managedBy") not in (None, JOB_CONTROLLER):
        return plans.NOTHING_TO_DO
    if is_finished(job):
        return _after_its_end(job, pods, now)
    return _Sync(job, pods, now).plan()


def released_pods(pods: Iterable[JsonObject]) -> plans.Plan:
    """Let go of pods whose Job is gone, or has ended."""
    tracked = (pod for pod in pods if JOB_TRACKING in metadata.finalizers(pod))
    return plans.Plan(tuple(map(_released, tracked)))


def finished_condition(job: JsonObject) -> JsonObject | None:
    """Return the condition that says that it has ended."""
    for condition in facts.status_of(job).get("conditions") or ():
        if condition.get("type") in {COMPLETE, FAILED} and condition.get("status") == "True":
            result: JsonObject = condition
            return result
    return None


def is_finished(job: JsonObject) -> bool:
    """Tell whether the Job is complete or has failed."""
    return finished_condition(job) is not None


def without_tracking(pod: JsonObject) -> JsonObject:
    """Return the pod without the finalizer by which it waits for being counted."""
    finalizers = [finalizer for finalizer in metadata.finalizers(pod) if finalizer != JOB_TRACKING]
    return {**pod, "metadata": {**metadata.metadata(pod), "finalizers": finalizers}}


def _released(pod: JsonObject) -> plans.Step:
    return plans.Step(plans.Verb.UPDATE, without_tracking(pod), follows_status=True)


# As `processTTL` of `ttlafterfinished_controller.go`. Dependents go first, so that no pod outlives
# its Job.
def _after_its_end(job: JsonObject, pods: Sequence[JsonObject], now: datetime) -> plans.Plan:
    steps = released_pods(pods).steps
    seconds = facts.spec_of(job).get("ttlSecondsAfterFinished")
    if seconds is None or facts.is_going(job):
        return plans.Plan(steps)
    ended = facts.read_time((finished_condition(job) or {})["lastTransitionTime"])
    left = (facts.later(ended, seconds) - now).total_seconds()
    if left > 0:
        return plans.Plan(steps, left)
    return plans.Plan((*steps, plans.Step(plans.Verb.DELETE, job, is_foreground=True)))


# As `syncJob`. Upstream's expectations, by which it does not make pods twice, are not needed: what
# is seen here is never older than what was written.
class _Sync:
    """Takes one look at one Job."""

    def __init__(self, job: JsonObject, pods: Sequence[JsonObject], now: datetime) -> None:
        self.job = job
        self.spec = facts.spec_of(job)
        self.pods = pods
        self.now = now
        self.steps: list[plans.Step] = []
        self.again: float | None = None
        self.status: JsonDict = dict(facts.status_of(job))
        self.conditions: list[Any] = list(self.status.get("conditions") or ())
        self.is_indexed = self.spec.get("completionMode") == "Indexed"
        self.is_suspended = bool(self.spec.get("suspend"))
        self.completions: int | None = self.spec.get("completions")
        self.limit: int = self._number("backoffLimit", 6)
        self.per_index: int | None = self.spec.get("backoffLimitPerIndex")
        self.policy: JsonObject | None = self.spec.get("podFailurePolicy")
        self.waits_for_end = (
            self.policy is not None or self.spec.get("podReplacementPolicy") == "Failed"
        )
        uncounted = self.status.get("uncountedTerminatedPods") or {}
        self.uncounted_succeeded: list[str] = list(uncounted.get("succeeded") or ())
        self.uncounted_failed: list[str] = list(uncounted.get("failed") or ())
        self.active_pods = [pod for pod in pods if facts.is_active(pod)]
        self.active = len(self.active_pods)
        self.created = 0
        self.ready = sum(map(facts.is_ready, self.active_pods))
        self.terminating = sum(map(facts.is_terminating, pods))
        self.succeeded_before: job_indexes.Intervals = ()
        self.succeeded_indexes: job_indexes.Intervals = ()
        self.failed_indexes: job_indexes.Intervals | None = None
        self.delayed: dict[int, JsonObject] = {}

    def _number(self, field: str, otherwise: int) -> int:
        spec = self.spec.get(field)
        return otherwise if spec is None else spec

    # --- the order of things ---

    def plan(self) -> plans.Plan:
        self._count()
        if not self.is_suspended:
            self._start()
        ending = self._ending()
        if ending is not None:
            self._delete_active()
        else:
            is_managed = not facts.is_going(self.job)
            if is_managed:
                self._manage()
            if self._is_complete():
                text = "Reached expected number of succeeded pods"
                ending = self._condition(CRITERIA_MET, "CompletionsReached", text)
            elif is_managed:
                self._tell_suspension()
        if ending is not None:
            # Whoever suspends a Job before its start is written may find that its pods have ended.
            # Upstream, where they take longer, leaves it so, and the server refuses such an end.
            self._start()
        self._track(ending)
        return plans.Plan(tuple(self.steps), self.again)

    def _start(self) -> None:
        if not self.status.get("startTime"):
            self.status["startTime"] = facts.time_text(self.now)

    def _count(self) -> None:
        """Count the pods that have succeeded and failed, with those that no counter of the status
        holds yet."""
        new_succeeded = self._new(
            self.uncounted_succeeded, lambda pod: facts.phase(pod) == "Succeeded"
        )
        new_failed = self._new(self.uncounted_failed, self._has_failed)
        counted = sum(failure_ruling(self.policy, item).is_counted for item in new_failed)
        self.succeeded: int = (
            (self.status.get("succeeded") or 0) + len(new_succeeded) + len(self.uncounted_succeeded)
        )
        self.failed: int = (self.status.get("failed") or 0) + counted + len(self.uncounted_failed)

    def _new(
        self, uncounted: Sequence[str], holds: Callable[[JsonObject], bool]
    ) -> list[JsonObject]:
        return [
            pod
            for pod in self.pods
            if _is_tracked(pod)
            and metadata.uid(pod) not in uncounted
            and (
                not self.is_indexed
                or job_indexes.valid_index(pod, self.completions or 0) is not None
            )
            and holds(pod)
        ]

    # As `isPodFailed`. With `podReplacementPolicy: Failed`, or a policy that has to see exit codes,
    # a pod that is being deleted may still succeed.
    def _has_failed(self, pod: JsonObject) -> bool:
        """One that is being deleted counts as failed, unless its end is waited for."""
        if facts.phase(pod) == "Failed":
            return True
        if self.waits_for_end:
            return False
        return facts.is_going(pod) and facts.phase(pod) != "Succeeded"

    # --- whether it is over ---

    # What has been decided in an earlier round stands, even if the counts would now say something
    # else; then policies come before limits, since they say more precisely why.
    def _ending(self) -> JsonDict | None:
        """Return the condition by which the Job ends, if it does."""
        present = self._present(CRITERIA_MET)
        if present is None:
            failure = self._present(FAILURE_TARGET)
            if failure is not None:
                present = self._condition(FAILED, failure["reason"], failure["message"])
            else:
                present = self._policy_failure() or self._limit_failure()
        return self._index_ending(present) if self.is_indexed else present

    def _present(self, kind: str) -> JsonDict | None:
        for condition in self.conditions:
            if condition["type"] == kind and condition["status"] == "True":
                return dict(condition)
        return None

    def _policy_failure(self) -> JsonDict | None:
        for pod in self.pods if self.policy is not None else ():
            message = failure_ruling(self.policy, pod).message if self._has_failed(pod) else ""
            if message:
                return self._condition(FAILURE_TARGET, "PodFailurePolicy", message)
        return None

    def _limit_failure(self) -> JsonDict | None:
        if self.failed > self.limit or self._restarts_exceed():
            text = "Job has reached the specified backoff limit"
            return self._condition(FAILURE_TARGET, "BackoffLimitExceeded", text)
        seconds, since = self.spec.get("activeDeadlineSeconds"), self.status.get("startTime")
        if seconds is None or since is None or self.is_suspended:
            return None
        left = seconds - (self.now - facts.read_time(since)).total_seconds()
        if left > 0:
            self.again = plans.sooner(self.again, left)
            return None
        text = "Job was active longer than specified deadline"
        return self._condition(FAILURE_TARGET, "DeadlineExceeded", text)

    # As `pastBackoffLimitOnFailure`. With `backoffLimit: 0`, the first restart is one too many.
    def _restarts_exceed(self) -> bool:
        """Containers that are started again in their pods count as well."""
        template = (self.spec.get("template") or {}).get("spec") or {}
        if template.get("restartPolicy") != "OnFailure":
            return False
        running = [pod for pod in self.pods if facts.phase(pod) in {"Running", "Pending"}]
        restarts = sum(
            item.get("restartCount") or 0
            for pod in running
            for field in ("initContainerStatuses", "containerStatuses")
            for item in facts.status_of(pod).get(field) or ()
        )
        return restarts >= max(self.limit, 1)

    # As `calculateSucceededIndexes` and `calculateFailedIndexes` of `indexed_job_utils.go`: pods of
    # an index that has succeeded already add nothing.
    def _index_ending(self, ending: JsonDict | None) -> JsonDict | None:
        total = self.completions or 0
        self.succeeded_before = job_indexes.parsed(self.status.get("completedIndexes") or "", total)
        new = (
            job_indexes.valid_index(pod, total)
            for pod in self.pods
            if facts.phase(pod) == "Succeeded" and _is_tracked(pod)
        )
        numbers = job_indexes.of_numbers(number for number in new if number is not None)
        self.succeeded_indexes = job_indexes.merged(self.succeeded_before, numbers)
        self.succeeded = job_indexes.count(self.succeeded_indexes)
        if self.per_index is not None:
            self.failed_indexes = self._failed_indexes(total)
            ending = ending or self._index_failure(self.failed_indexes, total)
            self.delayed = self._delayed(total)
        if ending is None:
            message = success_message(self.spec.get("successPolicy"), total, self.succeeded_indexes)
            if message:
                ending = self._condition(CRITERIA_MET, "SuccessPolicy", message)
        return ending

    def _failed_indexes(self, total: int) -> job_indexes.Intervals:
        former = job_indexes.parsed(self.status.get("failedIndexes") or "", total)
        new = (
            job_indexes.valid_index(pod, total)
            for pod in self.pods
            if _is_tracked(pod) and self._fails_index(pod)
        )
        return job_indexes.merged(
            former, job_indexes.of_numbers(number for number in new if number is not None)
        )

    def _fails_index(self, pod: JsonObject) -> bool:
        if not self._has_failed(pod):
            return False
        ruling = failure_ruling(self.policy, pod)
        if ruling.action == "FailIndex":
            return True
        return ruling.is_counted and job_indexes.failures_of(pod) >= (self.per_index or 0)

    def _index_failure(self, failed: job_indexes.Intervals, total: int) -> JsonDict | None:
        most = self.spec.get("maxFailedIndexes")
        if most is not None and job_indexes.count(failed) > most:
            text = "Job has exceeded the specified maximal number of failed indexes"
            return self._condition(FAILURE_TARGET, "MaxFailedIndexesExceeded", text)
        if (
            failed
            and job_indexes.count(failed) + job_indexes.count(self.succeeded_indexes) >= total
        ):
            return self._condition(FAILURE_TARGET, "FailedIndexes", "Job has failed indexes")
        return None

    # As `getPodsWithDelayedDeletionPerIndex`. The count of failures lives in annotations of pods
    # only, so the last failed pod must not be lost before it is handed on.
    def _delayed(self, total: int) -> dict[int, JsonObject]:
        """Return the last failed pod of each index that is to be tried again: it stays until there
        is another one, which takes over how often the index has failed."""
        settled = job_indexes.merged(
            self.succeeded_indexes,
            self.failed_indexes or (),
            job_indexes.indexes_of(self.active_pods),
        )
        result: dict[int, JsonObject] = {}
        for pod in self.pods:
            index = job_indexes.valid_index(pod, total)
            if index is None or not _is_tracked(pod) or not self._has_failed(pod):
                continue
            former = result.get(index)
            if not job_indexes.has(settled, index) and (
                former is None
                or (
                    job_indexes.all_failures_of(former) <= job_indexes.all_failures_of(pod)
                    and facts.finished_at(pod) >= facts.finished_at(former)
                )
            ):
                result[index] = pod
        return result

    def _is_complete(self) -> bool:
        if self.active:
            return False
        if self.completions is None:
            return self.succeeded > 0
        return self.succeeded >= self.completions

    def _condition(self, kind: str, reason: str, message: str) -> JsonDict:
        return self._condition_with(kind, "True", reason, message)

    def _condition_with(self, kind: str, value: str, reason: str, message: str) -> JsonDict:
        now = facts.time_text(self.now)
        return {
            "type": kind,
            "status": value,
            "lastProbeTime": now,
            "lastTransitionTime": now,
            "reason": reason,
            "message": message,
        }

    def _set_condition(self, wanted_condition: JsonDict) -> bool:
        """Set a condition, and return whether that changed anything. A condition that is false is
        only written over one that the Job has."""
        fields = ("status", "reason", "message")
        for number, condition in enumerate(self.conditions):
            if condition["type"] == wanted_condition["type"]:
                if all(condition.get(field) == wanted_condition[field] for field in fields):
                    return False
                self.conditions[number] = wanted_condition
                return True
        if wanted_condition["status"] == "False":
            return False
        self.conditions.append(wanted_condition)
        return True

    # `startTime` begins anew after a suspension, and `activeDeadlineSeconds` with it.
    def _tell_suspension(self) -> None:
        if self.is_suspended:
            text = "Job suspended"
            if self._set_condition(self._condition("Suspended", "JobSuspended", text)):
                self.steps.append(plans.told(text, self.job, "Suspended"))
                self.status.pop("startTime", None)
        else:
            text = "Job resumed"
            condition = self._condition_with("Suspended", "False", "JobResumed", text)
            if self._set_condition(condition):
                self.steps.append(plans.told(text, self.job, "Resumed"))
                self.status["startTime"] = facts.time_text(self.now)

    # --- pods that come and go ---

    def _delete_active(self) -> None:
        """Delete all active pods. They keep their finalizers until they are counted."""
        self.steps += map(plans.pod_deleted, self.active_pods)
        self.terminating += self.active
        self.active = self.ready = 0

    # As `manageJob`.
    def _manage(self) -> None:
        if self.is_suspended:
            self._remove(self._surplus(self.active))
            return
        parallelism = self._number("parallelism", 1)
        if self.completions is None:
            active = self.active if self.succeeded else parallelism
        else:
            active = max(min(self.completions - self.succeeded, parallelism), 0)
        surplus = self._surplus(max(self.active - active, 0))[:MOST_AT_ONCE]
        if surplus:
            self._remove(surplus)
            return
        ending = self.terminating if self.waits_for_end else 0
        missing = active - ending - self.active
        if missing > 0:
            self._create(min(missing, MOST_AT_ONCE))

    # As `activePodsForRemoval`: pods of indexes that are too many or twice there go before any
    # other.
    def _surplus(self, least: int) -> list[JsonObject]:
        surplus: list[JsonObject] = []
        left = self.active_pods
        if self.is_indexed:
            surplus, left = job_indexes.surplus_of_indexes(left, self.completions or 0, self.now)
        more = pods_to_delete(left, (), max(least - len(surplus), 0), self.now)
        return [*surplus, *more]

    def _remove(self, pods: Sequence[JsonObject]) -> None:
        """Delete pods without counting them as failures."""
        for pod in pods:
            if _is_tracked(pod):
                self.steps.append(plans.Step(plans.Verb.UPDATE, without_tracking(pod)))
            self.steps.append(plans.pod_deleted(pod))
        self.active -= len(pods)
        self.terminating += len(pods)
        self.ready -= sum(map(facts.is_ready, pods))

    def _create(self, missing: int) -> None:
        if self.per_index is None and self._must_wait(self._backoff()):
            return
        if not self.is_indexed:
            self.steps += (plans.pod_created(job_pod(self.job)) for _ in range(missing))
            self._count_created(missing)
            return
        merged = job_indexes.merged(
            self.succeeded_indexes,
            self.failed_indexes or (),
            job_indexes.indexes_of(self.active_pods),
        )
        if self.waits_for_end:
            merged = job_indexes.merged(
                merged, job_indexes.indexes_of(filter(facts.is_terminating, self.pods))
            )
        indexes = job_indexes.first_missing(merged, missing, self.completions or 0)
        if self.per_index is not None:
            waits = {index: self._index_backoff(index) for index in indexes}
            now = [index for index in indexes if not waits[index]]
            if not now and self._must_wait(plans.sooner(*waits.values()) or 0.0):
                return
            indexes = now
        for index in indexes:
            self.steps.append(plans.pod_created(job_pod(self.job, index, self._failures(index))))
        self._count_created(len(indexes))

    def _count_created(self, number: int) -> None:
        self.created += number
        self.active += number

    def _failures(self, index: int) -> dict[str, str]:
        replaced = self.delayed.get(index)
        is_counted = replaced is None or failure_ruling(self.policy, replaced).is_counted
        return job_indexes.next_failures(replaced, is_counted=is_counted)

    def _must_wait(self, seconds: float) -> bool:
        """Upstream says that no pod is active while it waits."""
        if seconds <= 0:
            return False
        self.again = plans.sooner(self.again, seconds)
        self.active = 0
        return True

    # As `newBackoffRecord` and `getRemainingTime` of `backoff_utils.go`, whose record is in memory:
    # here the same is read off the pods, so that it survives a restart.
    def _backoff(self) -> float:
        """Return the seconds that are left, after so many failures since the last success."""
        successes = [facts.finished_at(pod) for pod in self.pods if facts.phase(pod) == "Succeeded"]
        last = max(successes, default=None)
        failures = [
            facts.finished_at(pod)
            for pod in self.pods
            if self._has_failed(pod) and (last is None or facts.finished_at(pod) > last)
        ]
        return self._left_of_backoff(len(failures), max(failures, default=None))

    def _index_backoff(self, index: int) -> float:
        former = self.delayed.get(index)
        if former is None:
            return 0.0
        return self._left_of_backoff(
            job_indexes.all_failures_of(former) + 1, facts.finished_at(former)
        )

    def _left_of_backoff(self, failures: int, last: datetime | None) -> float:
        if not failures or last is None:
            return 0.0
        pause = min(_FIRST_BACKOFF * 2.0 ** min(failures - 1, 30), _LONGEST_BACKOFF)
        return max(pause - (self.now - last).total_seconds(), 0.0)

    # --- counting ---

    # As `trackJobStatusAndRemoveFinalizers`. Uids are noted in the status before finalizers go, and
    # become numbers only after that: whoever dies in between counts nothing twice and loses
    # nothing.
    def _track(self, ending: JsonObject | None) -> None:
        """Note pods that have ended, take their finalizers, and count them; the Job ends when all
        are counted."""
        tracked = {metadata.uid(pod) for pod in self.pods if _is_tracked(pod)}
        self._move_counted(tracked)
        is_success = ending is not None and ending["type"] == CRITERIA_MET
        indexes: list[int] = []
        released: list[JsonObject] = []
        pods = self.pods
        if self.is_indexed:
            pods = sorted(
                pods,
                key=lambda value: (
                    -1 if job_indexes.index_of(value) is None else job_indexes.index_of(value) or 0
                ),
            )
        for pod in pods:
            if not _is_tracked(pod) or not self._may_release(pod, ending):
                continue
            released.append(pod)
            self._note(pod, indexes, all_failed=ending is not None and not is_success)
            noted = len(indexes) + len(self.uncounted_succeeded) + len(self.uncounted_failed)
            if noted >= MOST_AT_ONCE:
                break
        if self.is_indexed:
            self._tell_indexes(indexes)
        is_new = ending is not None and ending["type"] in {FAILURE_TARGET, CRITERIA_MET}
        if ending is not None and is_new and self._present(ending["type"]) is None:
            self.conditions.append(dict(ending))
        else:
            is_new = False
        ended = None
        if ending is not None and not is_new and not released and not self._has_uncounted():
            ended = self._end(ending)
        self._write_status()
        self.steps += map(_released, released)
        if ended is not None:
            self._tell_end(ended)

    def _move_counted(self, tracked: set[str]) -> None:
        """Move pods that have lost their finalizers from the lists of uids into the counters."""
        for name, uids in (
            ("succeeded", self.uncounted_succeeded),
            ("failed", self.uncounted_failed),
        ):
            count = sum(uid not in tracked for uid in uids)
            self.status[name] = (self.status.get(name) or 0) + count
            uids[:] = [uid for uid in uids if uid in tracked]

    # As `canRemoveFinalizer`.
    def _may_release(self, pod: JsonObject, ending: JsonObject | None) -> bool:
        if facts.is_going(self.job) or ending is not None or facts.phase(pod) == "Succeeded":
            return True
        if not self._has_failed(pod):
            return False
        index = job_indexes.index_of(pod)
        delayed = None if index is None else self.delayed.get(index)
        return delayed is None or metadata.uid(delayed) != metadata.uid(pod)

    def _note(self, pod: JsonObject, indexes: list[int], *, all_failed: bool) -> None:
        uid, total = metadata.uid(pod), self.completions or 0
        index = job_indexes.valid_index(pod, total) if self.is_indexed else None
        if facts.phase(pod) == "Succeeded" and uid not in self.uncounted_failed:
            if index is not None and not job_indexes.has(self.succeeded_before, index):
                indexes.append(index)
            elif not self.is_indexed and uid not in self.uncounted_succeeded:
                self.uncounted_succeeded.append(uid)
        elif self._has_failed(pod) or all_failed:
            is_valid = index is not None or not self.is_indexed
            is_known = uid in self.uncounted_failed
            if is_valid and not is_known and failure_ruling(self.policy, pod).is_counted:
                self.uncounted_failed.append(uid)

    def _tell_indexes(self, new: Iterable[int]) -> None:
        self.succeeded_indexes = job_indexes.merged(
            self.succeeded_indexes, job_indexes.of_numbers(new)
        )
        self.status["succeeded"] = job_indexes.count(self.succeeded_indexes)
        self.status["completedIndexes"] = job_indexes.text_of(self.succeeded_indexes)
        if self.failed_indexes is not None:
            self.status["failedIndexes"] = job_indexes.text_of(self.failed_indexes)

    def _has_uncounted(self) -> bool:
        return bool(self.uncounted_succeeded or self.uncounted_failed)

    # As `enactJobFinished`; the condition waits until no pod runs any longer
    # (`delayTerminalCondition`).
    def _end(self, ending: JsonObject) -> JsonDict | None:
        """Return the last condition; None while pods are still ending."""
        if self.terminating:
            return None
        kind = FAILED if ending["type"] in {FAILED, FAILURE_TARGET} else COMPLETE
        condition = self._condition(kind, ending["reason"], ending["message"])
        self._set_condition(condition)
        if kind == COMPLETE:
            self.status["completionTime"] = condition["lastTransitionTime"]
        return condition

    def _write_status(self) -> None:
        uncounted = {"succeeded": self.uncounted_succeeded, "failed": self.uncounted_failed}
        result = self.status | {
            "active": self.active,
            "conditions": self.conditions,
            "ready": self.ready,
            "terminating": self.terminating,
            "uncountedTerminatedPods": {key: uids for key, uids in uncounted.items() if uids},
        }
        for field in ("active", "succeeded", "failed", "completedIndexes", "conditions"):
            if not result.get(field):
                result.pop(field, None)
        if result != facts.status_of(self.job):
            tentative = {**result, "active": self.active - self.created}
            whole, refused = {**self.job, "status": result}, {**self.job, "status": tentative}
            self.steps.append(plans.Step(plans.Verb.STATUS, whole, otherwise=lambda _: refused))

    def _tell_end(self, ended: JsonObject) -> None:
        if ended["type"] == FAILED:
            self.steps.append(
                plans.told(ended["message"], self.job, ended["reason"], plans.WARNING)
            )
            return
        total = self.completions
        if total is not None and (self.status.get("succeeded") or 0) > total:
            text = "Too many succeeded pods running after completion count reached"
            self.steps.append(plans.told(text, self.job, "TooManySucceededPods", plans.WARNING))
        self.steps.append(plans.told("Job completed", self.job, "Completed", plans.NORMAL))


def _is_tracked(pod: JsonObject) -> bool:
    return JOB_TRACKING in metadata.finalizers(pod)
