"""What a Job's policies say: about a pod that has failed, and whether enough indexes succeeded.

As k8s.io/kubernetes `pkg/controller/job/pod_failure_policy.go` and `success_policy.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celadon.apiserver.simulation.planning.job_indexes import Intervals, count, overlap, parsed
from celadon.apiserver.simulation.planning.pod_facts import status_of
from celadon.kube import JsonObject, metadata
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class FailureRuling:
    """`action` is that of the rule which matched; empty if none did. `message` is why the Job
    fails, if it does for this pod."""

    action: str = ""
    message: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether the failure counts towards the limits."""
        return self.action != "Ignore"


def failure_ruling(policy: JsonObject | None, pod: JsonObject) -> FailureRuling:
    """By the first rule that matches."""
    where = f"{metadata.namespace(pod)}/{metadata.name(pod)}"
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        action = rule.get("action") or ""
        end = f"matching {action} rule at index {number}"
        if rule.get("onExitCodes") is not None:
            found = _container_with_code(pod, rule["onExitCodes"])
            if found is None:
                continue
            code = found["state"]["terminated"]["exitCode"]
            text = f"Container {found['name']} for pod {where} failed with exit code {code} {end}"
        else:
            condition = _matching_condition(pod, rule.get("onPodConditions") or ())
            if condition is None:
                continue
            text = f"Pod {where} has condition {condition['type']} {end}"
        return FailureRuling(action, text if action == "FailJob" else "")
    return FailureRuling()


def _container_with_code(pod: JsonObject, requirement: JsonObject) -> JsonObject | None:
    state = status_of(pod)
    name, values = requirement.get("containerName"), requirement.get("values") or ()
    is_in = requirement.get("operator") == "In"
    containers: Iterable[JsonObject] = (
        *(state.get("containerStatuses") or ()),
        *(state.get("initContainerStatuses") or ()),
    )
    for one in containers:
        ended = (one.get("state") or {}).get("terminated")
        if ended is None or name not in (None, one["name"]) or not ended["exitCode"]:
            continue
        if (ended["exitCode"] in values) == is_in:
            return one
    return None


def _matching_condition(pod: JsonObject, patterns: Sequence[JsonObject]) -> JsonObject | None:
    wanted = {(one.get("type"), one.get("status") or "True") for one in patterns}
    found: Iterable[JsonObject] = status_of(pod).get("conditions") or ()
    return next((one for one in found if (one["type"], one["status"]) in wanted), None)


def success_message(policy: JsonObject | None, completions: int, succeeded: Intervals) -> str:
    """Which rule says that the Job has succeeded; empty if none does."""
    if not succeeded:
        return ""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        indexes, least = rule.get("succeededIndexes"), rule.get("succeededCount")
        if indexes is not None:
            wanted = parsed(indexes, completions)
            both = overlap(wanted, succeeded)
            is_met = bool(wanted) and (
                both == count(wanted) or (least is not None and both >= least)
            )
        else:
            is_met = least is not None and count(succeeded) >= least
        if is_met:
            return f"Matched rules at index {number}"
    return ""
