"""HorizontalPodAutoscalers: their conditions, and how many replicas there should be.

As k8s.io/kubernetes `pkg/controller/podautoscaler/horizontal.go`. Nothing measures pods here: the
use of resources stands in an annotation, and metrics of other sorts are not to be had, as in a
cluster without an adapter for them. Of `behavior` only the window for scaling down is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from celadon.apiserver.simulation.planning.plans import WARNING, Plan, Step, Told, Verb, told
from celadon.apiserver.simulation.planning.pod_facts import spec_of, status_of, time_text
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import QuantityError, parse
from celadon.records import dataclass

USAGE: Final = "simulation.celadon.dev/usage"
"""The annotation: what a pod uses on average, such as `cpu=80%,memory=200Mi`; a share is one of
what it requests."""
# Defaults of kube-controller-manager: `--horizontal-pod-autoscaler-sync-period`,
# `-downscale-stabilization` and `-tolerance`; the limit is `scaleUpLimitMinimum` of
# `horizontal.go`.
SYNC_SECONDS: Final = 15.0
"""Between two looks."""
_WINDOW: Final = 300.0
"""Seconds in which the highest recommendation counts, before fewer replicas are wanted."""
_TOLERANCE: Final = Decimal("0.1")
_LEAST_LIMIT: Final = 4
_NO_METRICS: Final = (
    "unable to fetch metrics from resource metrics API: the server could not find the requested "
    "resource (get pods.metrics.k8s.io)"
)


@dataclass(frozen=True, slots=True)
class Target:
    """This is what is scaled: the object, how many replicas it has and is to have, and whether it
    selects pods."""

    object: JsonObject
    replicas: int
    has_selector: bool = True


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Holds the number of replicas that metrics asked for at a time."""

    at: datetime
    replicas: int


@dataclass(frozen=True, slots=True)
class Scaling:
    """The plan, and what metrics ask for, if they ask for anything."""

    plan: Plan
    recommended: int | None = None


def autoscaler_plan(
    autoscaler: JsonObject,
    target: Target | str,
    recent: Iterable[Recommendation],
    now: datetime,
) -> Scaling:
    """The next steps of an autoscaler; in place of a target that is not found stands why."""
    return _Sync(autoscaler, now).scaling(target, recent)


class _Unknown(Exception):
    """Says why a metric cannot be had."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    """Holds the number of replicas that a metric asks for, its name, and its value as a status
    tells it."""

    replicas: int
    name: str
    current: JsonObject


class _Sync:
    """Takes one look at one autoscaler."""

    def __init__(self, autoscaler: JsonObject, now: datetime) -> None:
        self.autoscaler = autoscaler
        self.spec = spec_of(autoscaler)
        self.now = now
        self.status: JsonDict = dict(status_of(autoscaler))
        self.conditions: list[JsonDict] = [
            dict(condition) for condition in self.status.get("conditions") or ()
        ]
        self.steps: list[Step] = []
        least = self.spec.get("minReplicas")
        self.least: int = 1 if least is None else least
        self.most: int = self.spec.get("maxReplicas") or 0

    # As `reconcileAutoscaler`.
    def scaling(self, target: Target | str, recent: Iterable[Recommendation]) -> Scaling:
        if isinstance(target, str):
            self._warn("FailedGetScale", target)
            text = f"the HPA controller was unable to get the target's current scale: {target}"
            self._set("AbleToScale", "False", "FailedGetScale", text)
            return Scaling(self._done())
        text = "the HPA controller was able to get the target's current scale"
        self._set("AbleToScale", "True", "SucceededGetScale", text)
        current = target.replicas
        recommended: int | None = None
        # Zero replicas are a user's way to switch an autoscaler off.
        if current == 0 and self.least:
            text = "scaling is disabled since the replica count of the target is zero"
            self._set("ScalingActive", "False", "ScalingDisabled", text)
            wanted, reason = 0, ""
        elif current > self.most:
            wanted, reason = self.most, "Current number of replicas above Spec.MaxReplicas"
        elif current < self.least:
            wanted, reason = self.least, "Current number of replicas below Spec.MinReplicas"
        else:
            found = self._proposed(target)
            if found is None:
                self._tell(current, self.status.get("desiredReplicas") or 0)
                return Scaling(self._done())
            recommended = found.replicas
            reason = "All metrics below target"
            if recommended > current:
                reason = f"{found.name} above target"
            wanted = self._normalized(current, recommended, recent)
        if wanted != current:
            self._rescale(target, wanted, reason)
        self._tell(current, wanted)
        return Scaling(self._done(), recommended)

    def _rescale(self, target: Target, wanted: int, reason: str) -> None:
        obj = target.object
        scaled = {**obj, "spec": {**spec_of(obj), "replicas": wanted}}
        text = f"New size: {wanted}; reason: {reason}"
        failed = Told(WARNING, "FailedRescale", f"{text}; error: ")
        done = Told("Normal", "SuccessfulRescale", text)
        self.steps.append(Step(Verb.SCALE, scaled, done, failed))
        text = f"the HPA controller was able to update the target scale to {wanted}"
        self._set("AbleToScale", "True", "SucceededRescale", text)
        self.status["lastScaleTime"] = time_text(self.now)

    # --- metrics ---

    def _proposed(self, target: Target) -> _Proposal | None:
        """Return what the metric asks for that asks for the most replicas, or None if nothing can
        be said. Conditions and Events say why."""
        if not target.has_selector:
            self._warn("SelectorRequired", "selector is required")
            text = "the HPA target's scale is missing a selector"
            self._set("ScalingActive", "False", "InvalidSelector", text)
            return None
        metrics: Sequence[JsonObject] = self.spec.get("metrics") or ()
        proposals: list[_Proposal] = []
        failures: list[tuple[str, str, str]] = []
        current: list[JsonDict] = []
        for metric in metrics:
            try:
                proposals.append(self._of_metric(metric, target.replicas))
                current.append(proposals[-1].current)
            except _Unknown as error:
                failures.append((*_failure_of(metric), str(error)))
                current.append({"type": ""})  # as Go writes what nobody has filled in
        self.status["currentMetrics"] = current
        best = max(proposals, key=lambda one: one.replicas, default=None)
        for reason, _, why in failures:
            self._warn(reason, why)
        # A metric that is not known might ask for more, so that without it nothing is scaled down;
        # upwards, the others are good enough.
        if failures and (best is None or best.replicas < target.replicas):
            reason, prefix, why = failures[0]
            text = f"the HPA was unable to compute the replica count: {why}"
            self._set("ScalingActive", "False", reason, text)
            self._warn(
                "FailedComputeMetricsReplicas",
                f"invalid metrics ({len(failures)} invalid out of {len(metrics)}), first error "
                f"is: {prefix}: {why}",
            )
            return None
        if best is None:
            return None
        text = f"the HPA was able to successfully calculate a replica count from {best.name}"
        self._set("ScalingActive", "True", "ValidMetricFound", text)
        return best

    def _of_metric(self, metric: JsonObject, current: int) -> _Proposal:
        """Return what one metric asks for. Raises _Unknown."""
        if metric.get("type") != "Resource":
            raise _Unknown("no metrics of this type are simulated")
        source = metric["resource"]
        name, target = source["name"], source.get("target") or {}
        used = _usage(metadata.annotations(self.autoscaler).get(USAGE, "")).get(name, "")
        average, share = target.get("averageValue"), target.get("averageUtilization")
        what = "usage" if average is not None else "utilization"
        if not used or used.endswith("%") != (average is None):
            why = f"unable to get metrics for resource {name}: {_NO_METRICS}"
            raise _Unknown(f"failed to get {name} {what}: {why}")
        if average is not None:
            ratio = parse(used).as_decimal() / (parse(average).as_decimal() or 1)
            value: JsonDict = {"averageValue": used}
            label = f"{name} resource"
        else:
            percent = int(used.removesuffix("%"))
            ratio, value = Decimal(percent) / (share or 1), {"averageUtilization": percent}
            label = f"{name} resource utilization (percentage of request)"
        told_value = {"type": "Resource", "resource": {"name": name, "current": value}}
        # Without the tolerance, every small change of a load would move a pod.
        if abs(1 - ratio) <= _TOLERANCE:
            return _Proposal(current, label, told_value)
        return _Proposal(math.ceil(ratio * current), label, told_value)

    # --- limits ---

    # As `normalizeDesiredReplicas` and `stabilizeRecommendation`: up at once, down only when
    # nothing in the window has asked for more.
    def _normalized(self, current: int, recommended: int, recent: Iterable[Recommendation]) -> int:
        down = (self.spec.get("behavior") or {}).get("scaleDown") or {}
        seconds = down.get("stabilizationWindowSeconds")
        begin = self.now - timedelta(seconds=_WINDOW if seconds is None else seconds)
        highest = max((one.replicas for one in recent if one.at >= begin), default=recommended)
        stable = max(recommended, highest)
        if stable != recommended:
            text = (
                "recent recommendations were higher than current one, applying the highest recent "
                "recommendation"
            )
            self._set("AbleToScale", "True", "ScaleDownStabilized", text)
        else:
            text = "recommended size matches current size"
            self._set("AbleToScale", "True", "ReadyForNewScale", text)
        # As `calculateScaleUpLimit`: a metric that has gone mad doubles the pods, but not more, in
        # a look.
        limit = max(2 * current, _LEAST_LIMIT)
        top = min(limit, self.most)
        reason, text = "DesiredWithinRange", "the desired count is within the acceptable range"
        if stable < self.least:
            reason = "TooFewReplicas"
            text = "the desired replica count is less than the minimum replica count"
        elif stable > top and self.most > limit:
            reason = "ScaleUpLimit"
            text = "the desired replica count is increasing faster than the maximum scale rate"
        elif stable > top:
            reason = "TooManyReplicas"
            text = "the desired replica count is more than the maximum replica count"
        wanted = min(max(stable, self.least), top)
        self._set("ScalingLimited", "False" if wanted == stable else "True", reason, text)
        return wanted

    # --- status ---

    def _warn(self, reason: str, text: str) -> None:
        self.steps.append(told(text, self.autoscaler, reason, WARNING))

    def _set(self, kind: str, value: str, reason: str, message: str) -> None:
        found = next(
            (condition for condition in self.conditions if condition["type"] == kind), None
        )
        if found is None:
            found = {"type": kind}
            self.conditions.append(found)
        if found.get("status") != value:
            found["lastTransitionTime"] = time_text(self.now)
        found |= {"status": value, "reason": reason, "message": message}

    def _tell(self, current: int, desired: int) -> None:
        self.status |= {"currentReplicas": current, "desiredReplicas": desired}

    def _done(self) -> Plan:
        made = {"desiredReplicas": 0, **self.status, "conditions": self.conditions}
        for field in ("currentReplicas", "currentMetrics"):
            if not made.get(field):
                made.pop(field, None)
        if made != status_of(self.autoscaler):
            self.steps.append(Step(Verb.STATUS, {**self.autoscaler, "status": made}))
        return Plan(tuple(self.steps), SYNC_SECONDS)


def _failure_of(metric: JsonObject) -> tuple[str, str]:
    """The reason, and how the error of all metrics begins."""
    kind = metric.get("type") or ""
    if kind == "Resource":
        name = metric["resource"]["name"]
        return "FailedGetResourceMetric", f"failed to get {name} resource metric value"
    if kind == "ContainerResource":
        name = metric["containerResource"]["container"]
        return "FailedGetContainerResourceMetric", f"failed to get {name} container metric value"
    if kind == "External":
        name = ((metric.get("external") or {}).get("metric") or {}).get("name")
        return "FailedGetExternalMetric", f"failed to get {name} external metric value"
    return f"FailedGet{kind}Metric", f"failed to get {kind.lower()} metric value"


def _usage(text: str) -> dict[str, str]:
    """Return the usage that an annotation tells, by resource. Parts that are neither a share nor an
    amount are left out."""
    found = {}
    for part in text.split(","):
        name, _, amount = (one.strip() for one in part.partition("="))
        if amount.removesuffix("%").isdigit() or _is_amount(amount):
            found[name] = amount
    return found


def _is_amount(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True
