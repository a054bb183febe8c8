"""PodDisruptionBudgets: how many pods may be evicted now.

As k8s.io/kubernetes `pkg/controller/disruption` and k8s.io/component-helpers
`apps/poddisruptionbudget`. The eviction itself is the API server's: it takes from what is told
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.apiserver.simulation.planning.plans import NORMAL, WARNING, Plan, Step, Verb, told
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import DISRUPTION_ALLOWED
from celadon.records import dataclass

DELETION_TIMEOUT: Final = timedelta(minutes=2)
"""Within which an evicted pod is expected to be deleted."""


class _NoScale(Exception):
    """Says that it is not known how many pods the owner of a pod wants."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Says how many replicas an owner wants; the owners of several pods may come to the same
    scale."""

    uid: str
    replicas: int


def budget_plan(
    budget: JsonObject, pods: Sequence[JsonObject], scales: Mapping[str, Scale | str], now: datetime
) -> Plan:
    """Return the next steps of a budget that selects these pods. `scales` has what the owner of
    each wants, by the uid in the pod's reference; in place of one that is not known stands why."""
    return _Sync(budget, pods, now).plan(scales)


class _Sync:
    """Takes one look at one budget."""

    def __init__(self, budget: JsonObject, pods: Sequence[JsonObject], now: datetime) -> None:
        self.budget = budget
        self.spec = facts.spec_of(budget)
        self.pods = pods
        self.now = now
        self.steps: list[Step] = []
        self.again: float | None = None

    # As `trySync` of `disruption.go`.
    def plan(self, scales: Mapping[str, Scale | str]) -> Plan:
        if not self.pods:
            self.steps.append(told("No matching pods found", self.budget, "NoPods", NORMAL))
        try:
            expected, desired = self._expected(scales)
        except _NoScale as error:
            text = f"Failed to calculate the number of expected pods: {error}"
            reason = "CalculateExpectedPodCountFailed"
            self.steps.append(told(text, self.budget, reason, WARNING))
            # As `failSafe`: what cannot be counted must not be disrupted.
            self._write({**facts.status_of(self.budget), "disruptionsAllowed": 0}, str(error))
            return Plan(tuple(self.steps))
        disrupted = self._disrupted()
        healthy = sum(
            facts.is_ready(pod) and not facts.is_going(pod) and metadata.name(pod) not in disrupted
            for pod in self.pods
        )
        # Of a budget that expects no pods, upstream allows no disruption.
        allowed = max(healthy - desired, 0) if expected > 0 else 0
        result: JsonDict = {
            "observedGeneration": metadata.generation(self.budget),
            **({"disruptedPods": disrupted} if disrupted else {}),
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
        }
        self._write(result)
        return Plan(tuple(self.steps), self.again)

    # --- how many there should be ---

    # As `getExpectedPodCount`. A number of `minAvailable` needs no owners, so that pods without one
    # can only be protected by that.
    def _expected(self, scales: Mapping[str, Scale | str]) -> tuple[int, int]:
        """Return how many pods there should be, and how many of them have to be healthy. Raises
        _NoScale."""
        most, least = self.spec.get("maxUnavailable"), self.spec.get("minAvailable")
        if most is not None:
            total = self._total(scales)
            return total, max(total - facts.scaled(most, total, round_up=True), 0)
        if isinstance(least, str):
            total = self._total(scales)
            return total, facts.scaled(least, total, round_up=True)
        return (0, 0) if least is None else (len(self.pods), least)

    def _total(self, scales: Mapping[str, Scale | str]) -> int:
        """Return how many replicas all owners of the pods want together. Raises _NoScale."""
        unmanaged = [pod for pod in self.pods if not facts.controller_of(pod)]
        owners = {
            facts.controller_of(pod).get("uid") or ""
            for pod in self.pods
            if facts.controller_of(pod)
        }
        sizes: dict[str, int] = {}
        for uid in owners:
            scale = scales[uid]
            if isinstance(scale, str):
                raise _NoScale(scale)
            # Several references may lead to one owner, as those of ReplicaSets do to their
            # Deployment.
            sizes[scale.uid] = scale.replicas
        if unmanaged:
            text = (
                f"Pods selected by this PodDisruptionBudget (selector: "
                f"{_selector_text(self.spec.get('selector') or {})}) were found to be unmanaged. "
                "As a result, the status of the PDB cannot be calculated correctly, which may "
                "result in undefined behavior. To account for these pods please set "
                '".spec.minAvailable" field of the PDB to an integer value.'
            )
            self.steps.append(told(text, self.budget, "UnmanagedPods", WARNING))
        return sum(sizes.values())

    # As `buildDisruptedPodMap`: an eviction counts before the pod is seen to go, but not for ever,
    # since its deletion may have failed.
    def _disrupted(self) -> dict[str, str]:
        """Evicted pods that are still there, but not for long."""
        result: dict[str, str] = {}
        listed = facts.status_of(self.budget).get("disruptedPods") or {}
        for pod in self.pods:
            since = listed.get(metadata.name(pod))
            if since is None or facts.is_going(pod):
                continue
            left = (facts.read_time(since) + DELETION_TIMEOUT - self.now).total_seconds()
            if left < 0:
                namespace = metadata.namespace(self.budget)  # upstream names it twice
                text = (
                    f"Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
                )
                self.steps.append(told(text, pod, "NotDeleted", WARNING))
            else:
                result[metadata.name(pod)] = since
                self.again = left if self.again is None else min(self.again, left)
        return result

    # --- status ---

    def _write(self, status: JsonDict, failure: str = "") -> None:
        if failure:
            value, reason = "False", "SyncFailed"
        elif status["disruptionsAllowed"] > 0:
            value, reason = "True", "SufficientPods"
        else:
            value, reason = "False", "InsufficientPods"
        former = facts.status_of(self.budget)
        conditions: Sequence[JsonObject] = former.get("conditions") or ()
        present = next(
            (condition for condition in conditions if condition.get("type") == DISRUPTION_ALLOWED),
            None,
        )
        is_unchanged = present is not None and present.get("status") == value
        condition = {
            "type": DISRUPTION_ALLOWED,
            "status": value,
            "observedGeneration": status.get("observedGeneration"),
            "lastTransitionTime": present["lastTransitionTime"]
            if is_unchanged and present is not None
            else facts.time_text(self.now),
            "reason": reason,
            "message": failure,
        }
        result = {
            **status,
            "conditions": [
                *(
                    condition
                    for condition in conditions
                    if condition.get("type") != DISRUPTION_ALLOWED
                ),
                {key: value for key, value in condition.items() if value is not None},
            ],
        }
        if result != former:
            self.steps.append(Step(Verb.STATUS, {**self.budget, "status": result}))


def _selector_text(selector: JsonObject) -> str:
    """Return the selector as Go's `%v` prints a LabelSelector."""
    labels = "".join(
        f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items())
    )
    conditions = "".join(map(_requirement_text, selector.get("matchExpressions") or ()))
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{conditions}}},}}"
    )


def _requirement_text(condition: JsonObject) -> str:
    values: Iterable[str] = condition.get("values") or ()
    return (
        f"LabelSelectorRequirement{{Key:{condition['key']},Operator:{condition['operator']},"
        f"Values:[{' '.join(values)}],}},"
    )
