"""HorizontalPodAutoscalers: their conditions, and how many replicas there should be.

As k8s.io/kubernetes `pkg/controller/podautoscaler/{horizontal,replica_calculator}.go`. Nothing
measures pods here: what each running pod uses stands in an annotation, and metrics of other sorts
are not to be had, as in a cluster without an adapter for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.apiserver.simulation.planning.plans import WARNING, ObjectEvent, Plan, Step, Verb, told
from celadon.apiserver.simulation.planning.pod_predicates import spec_of, status_of, time_text
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import MILLI, Format, Quantity, QuantityError, parse, pod_needs
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

USAGE: Final = "simulation.celadon.dev/usage"
"""The annotation: what a pod uses on average, such as `cpu=80%,memory=200Mi`; a share is one of
what it requests."""
# Defaults of kube-controller-manager: `--horizontal-pod-autoscaler-sync-period`,
# `-downscale-stabilization`, `-tolerance`, `-cpu-initialization-period` and
# `-initial-readiness-delay`; the limit is `scaleUpLimitMinimum` of `horizontal.go`.
SYNC_SECONDS: Final = 15.0
"""Between two looks."""
_WINDOW: Final = 300.0
"""Seconds in which the highest recommendation counts, before fewer replicas are wanted."""
_TOLERANCE: Final = 0.1
_INITIAL: Final = timedelta(minutes=5)
"""In which a pod's processor time does not count while it is not ready."""
_FIRST_READINESS: Final = timedelta(seconds=30)
"""A pod that was last seen unready so soon after its start has never been ready."""
_LEAST_LIMIT: Final = 4
_NO_METRICS: Final = (
    "unable to fetch metrics from resource metrics API: the server could not find the requested "
    "resource (get pods.metrics.k8s.io)"
)


@dataclass(frozen=True, slots=True)
class Target:
    """Holds what is scaled: the object, how many replicas it has and is to have, whether it
    selects pods, and the pods of its namespace."""

    object: JsonObject
    replicas: int
    has_selector: bool = True
    pods: Sequence[JsonObject] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Holds the number of replicas that metrics asked for at a time."""

    time: datetime
    replicas: int


@dataclass(frozen=True, slots=True)
class Resizing:
    """Holds by how many replicas a target was scaled at a time, down if they are negative."""

    time: datetime
    replicas: int


@dataclass(frozen=True, slots=True)
class Past:
    """Holds what an autoscaler remembers."""

    recommendations: Sequence[Recommendation] = ()
    resizings: Sequence[Resizing] = ()


@dataclass(frozen=True, slots=True)
class Scaling:
    """The plan, what metrics ask for, if they ask for anything, and by how many replicas the target
    is scaled."""

    plan: Plan
    recommended: int | None = None
    resized: int = 0


def autoscaler_plan(
    autoscaler: JsonObject, target: Target | str, past: Past, now: datetime
) -> Scaling:
    """Return the next steps of an autoscaler; in place of a target that is not found stands why."""
    return _Sync(autoscaler, past, now).scaling(target)


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

    def __init__(self, autoscaler: JsonObject, past: Past, now: datetime) -> None:
        self.autoscaler = autoscaler
        self.spec = spec_of(autoscaler)
        self.past = past
        self.now = now
        behavior = self.spec.get("behavior")
        self.rules: _Rules | None = None
        if behavior is not None:
            self.rules = behavior.get("scaleUp") or {}, behavior.get("scaleDown") or {}
        self.status: JsonDict = dict(status_of(autoscaler))
        self.conditions: list[JsonDict] = [
            dict(condition) for condition in self.status.get("conditions") or ()
        ]
        self.steps: list[Step] = []
        self.refused: Callable[[str], JsonObject] | None = None
        """The status if the target cannot be scaled, of the error."""
        least = self.spec.get("minReplicas")
        self.least: int = 1 if least is None else least
        self.most: int = self.spec.get("maxReplicas") or 0

    # As `reconcileAutoscaler`.
    def scaling(self, target: Target | str) -> Scaling:
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
            size, reason = 0, ""
        elif current > self.most:
            size, reason = self.most, "Current number of replicas above Spec.MaxReplicas"
        elif current < self.least:
            size, reason = self.least, "Current number of replicas below Spec.MinReplicas"
        else:
            proposal = self._proposed(target)
            if proposal is None:
                self._tell(current, self.status.get("desiredReplicas") or 0)
                return Scaling(self._done())
            recommended = proposal.replicas
            reason = "All metrics below target"
            if recommended > current:
                reason = f"{proposal.name} above target"
            size = self._normalized(current, recommended)
        if size != current:
            self._rescale(target, size, reason)
        self._tell(current, size)
        return Scaling(self._done(), recommended, size - current)

    def _rescale(self, target: Target, size: int, reason: str) -> None:
        self.refused = self._refusal(target.replicas)
        obj = target.object
        scaled = {**obj, "spec": {**spec_of(obj), "replicas": size}}
        text = f"New size: {size}; reason: {reason}"
        failed = ObjectEvent(WARNING, "FailedRescale", f"{text}; error: ")
        done = ObjectEvent("Normal", "SuccessfulRescale", text)
        self.steps.append(Step(Verb.SCALE, scaled, done, failed))
        text = f"the HPA controller was able to update the target scale to {size}"
        self._set("AbleToScale", "True", "SucceededRescale", text)
        self.status["lastScaleTime"] = time_text(self.now)

    def _refusal(self, current: int) -> Callable[[str], JsonObject]:
        """Return what makes the status of an error: all is as it is now, but for that."""
        status, conditions = dict(self.status), [dict(condition) for condition in self.conditions]

        def refused(error: str) -> JsonObject:
            text = f"the HPA controller was unable to update the target scale: {error}"
            _set_condition(conditions, self.now, "AbleToScale", "False", "FailedUpdateScale", text)
            desired = status.get("desiredReplicas") or 0
            result = {**status, "currentReplicas": current, "desiredReplicas": desired}
            return {**self.autoscaler, "status": {**result, "conditions": conditions}}

        return refused

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
        current: list[JsonObject] = []
        for metric in metrics:
            try:
                proposals.append(self._of_metric(metric, target))
                current.append(proposals[-1].current)
            except _Unknown as error:
                failures.append((*_failure_of(metric), str(error)))
                current.append({"type": ""})  # as Go writes what nobody has filled in
        self.status["currentMetrics"] = current
        best = max(proposals, key=lambda proposal: proposal.replicas, default=None)
        for reason, _, detail in failures:
            self._warn(reason, detail)
        # A metric that is not known might ask for more, so that without it nothing is scaled down;
        # upwards, the others are good enough.
        if failures and (best is None or best.replicas < target.replicas):
            reason, prefix, detail = failures[0]
            text = f"the HPA was unable to compute the replica count: {detail}"
            self._set("ScalingActive", "False", reason, text)
            self._warn(
                "FailedComputeMetricsReplicas",
                f"invalid metrics ({len(failures)} invalid out of {len(metrics)}), first error "
                f"is: {prefix}: {detail}",
            )
            return None
        if best is None:
            return None
        text = f"the HPA was able to successfully calculate a replica count from {best.name}"
        self._set("ScalingActive", "True", "ValidMetricFound", text)
        return best

    def _of_metric(self, metric: JsonObject, target: Target) -> _Proposal:
        """Return what one metric asks for. Raises _Unknown."""
        if metric.get("type") != "Resource":
            raise _Unknown("no metrics of this type are simulated")
        source = metric["resource"]
        name, goal = source["name"], source.get("target") or {}
        used = _usage(metadata.annotations(self.autoscaler).get(USAGE, "")).get(name, "")
        is_share = goal.get("averageValue") is None
        try:
            replicas, value = self._of_pods(name, used, goal, target)
        except _Unknown as error:
            subject = "utilization" if is_share else "usage"
            raise _Unknown(f"failed to get {name} {subject}: {error}") from None
        label = f"{name} resource"
        if is_share:
            label += " utilization (percentage of request)"
        told_value = {"type": "Resource", "resource": {"name": name, "current": value}}
        return _Proposal(replicas, label, told_value)

    # As `GetResourceReplicas` and `calcPlainMetricReplicas`, whose numbers are thousandths.
    def _of_pods(
        self, name: str, used: str, goal: JsonObject, target: Target
    ) -> tuple[int, JsonDict]:
        """Return for how many replicas the use of a resource asks, and that use as a status tells
        it. Raises _Unknown."""
        if not used or used.endswith("%") != (goal.get("averageValue") is None):
            raise _Unknown(f"unable to get metrics for resource {name}: {_NO_METRICS}")
        selector = facts.selector_of(target.object)
        pods = [pod for pod in target.pods if selector.matches(metadata.labels(pod))]
        if not any(facts.phase(pod) == "Running" for pod in pods):
            reason = "no metrics returned from resource metrics API"
            raise _Unknown(f"unable to get metrics for resource {name}: {reason}")
        active = [pod for pod in pods if facts.is_active(pod)]
        counted = [pod for pod in active if not _is_unready(pod, name, self.now)]
        if not counted:
            raise _Unknown("did not receive metrics for targeted pods (pods might be unready)")
        if used.endswith("%"):
            requests = {metadata.name(pod): _request(pod, name) for pod in pods}
            percent, share = int(used.removesuffix("%")), goal.get("averageUtilization") or 1
            requested = sum(requests[metadata.name(pod)] for pod in counted)
            if not requested:
                raise _Unknown("no metrics returned matched known pods")
            value: JsonDict = {"averageUtilization": percent}
            average = requested * percent // 100 // len(counted)

            def ratio(pods: Sequence[JsonObject]) -> float:
                of_all = sum(requests[metadata.name(pod)] for pod in pods)
                return float(requested * percent // of_all) / share

        else:
            average = parse(used).int64_value(-MILLI)
            most = parse(goal["averageValue"]).int64_value(-MILLI) or 1
            value = {}

            def ratio(pods: Sequence[JsonObject]) -> float:
                return float(average * len(counted) // len(pods)) / most

        form = Format.BINARY_SI if name == "memory" else Format.DECIMAL_SI
        value["averageValue"] = str(Quantity(average, MILLI, form))
        return self._by_ratio(target.replicas, counted, active, ratio), value

    def _by_ratio(
        self,
        current: int,
        counted: Sequence[JsonObject],
        active: Sequence[JsonObject],
        ratio: Callable[[Sequence[JsonObject]], float],
    ) -> int:
        """Return for how many replicas the ratio of use to target asks. Where more are needed, pods
        that are not ready yet count as if they used nothing."""
        usage = ratio(counted)
        if usage <= 1 or len(counted) == len(active):
            return current if self._tolerates(usage) else math.ceil(usage * len(counted))
        usage = ratio(active)
        if self._tolerates(usage) or usage < 1:
            return current
        return max(current, math.ceil(usage * len(active)))

    def _tolerates(self, ratio: float) -> bool:
        """Return whether a change would be too small: every small change of a load would move a pod
        otherwise."""
        up, down = (_tolerance(rule) for rule in self.rules or ({}, {}))
        return 1.0 - down <= ratio <= 1.0 + up

    # --- limits ---

    def _normalized(self, current: int, recommended: int) -> int:
        """Return how many replicas there are to be, within all limits."""
        if self.rules is None:
            size, stable, reason = self._by_habit(current, recommended)
        else:
            size, stable, reason = self._by_rules(self.rules, current, recommended)
        self._set("ScalingLimited", "False" if size == stable else "True", reason, _LIMITS[reason])
        return size

    # As `normalizeDesiredReplicas` and `stabilizeRecommendation`: up at once, down only when
    # nothing in the window has asked for more.
    def _by_habit(self, current: int, recommended: int) -> tuple[int, int, str]:
        """Return, without `behavior`, the replicas, those without a limit, and which limit it
        is."""
        begin = self.now - timedelta(seconds=_WINDOW)
        recommendations = (
            recommendation.replicas
            for recommendation in self.past.recommendations
            if recommendation.time >= begin
        )
        stable = max([recommended, *recommendations])
        self._tell_stability(stable, recommended, is_up=False)
        # As `calculateScaleUpLimit`: a metric that has gone mad doubles the pods, but not more, in
        # a look.
        limit = max(2 * current, _LEAST_LIMIT)
        if stable < self.least:
            return self.least, stable, "TooFewReplicas"
        if stable > min(limit, self.most):
            reason = "ScaleUpLimit" if self.most > limit else "TooManyReplicas"
            return min(limit, self.most), stable, reason
        return stable, stable, "DesiredWithinRange"

    # As `normalizeDesiredReplicasWithBehaviors`.
    def _by_rules(self, rules: _Rules, current: int, recommended: int) -> tuple[int, int, str]:
        """Return, with `behavior`, what `_by_habit` returns without it."""
        up, down = rules
        lowest = min(self._recommended_since(_window(up, 0), recommended))
        highest = max(self._recommended_since(_window(down, _WINDOW), recommended))
        stable = min(max(current, lowest), highest)
        self._tell_stability(stable, recommended, is_up=recommended >= current)
        if stable > current:
            limit = max(current, self._limit(up, current, 1))
            if stable > min(limit, self.most):
                reason = "ScaleUpLimit" if self.most > limit else "TooManyReplicas"
                return min(limit, self.most), stable, reason
        elif stable < current:
            limit = min(current, self._limit(down, current, -1))
            if stable < max(limit, self.least):
                reason = "ScaleDownLimit" if self.least < limit else "TooFewReplicas"
                return max(limit, self.least), stable, reason
        return stable, stable, "DesiredWithinRange"

    def _recommended_since(self, seconds: float, recommended: int) -> list[int]:
        begin = self.now - timedelta(seconds=seconds)
        recommendations = [
            recommendation.replicas
            for recommendation in self.past.recommendations
            if recommendation.time > begin
        ]
        return [recommended, *recommendations]

    # As `calculateScaleUpLimitWithScalingRules` and `calculateScaleDownLimitWithBehaviors`.
    def _limit(self, rules: JsonObject, current: int, direction: int) -> int:
        """Return the number of replicas to which the policies allow to scale, up (1) or down
        (-1)."""
        choice = rules.get("selectPolicy")
        if choice == "Disabled":
            return current
        limits = []
        for policy in rules.get("policies") or ():
            begin = self.now - timedelta(seconds=policy["periodSeconds"])
            changed = sum(
                resizing.replicas for resizing in self.past.resizings if resizing.time > begin
            )
            before, step = current - changed, direction * policy["value"]
            if policy["type"] == "Pods":
                limits.append(before + step)
            else:
                share = before * (1 + step / 100)
                limits.append(math.ceil(share) if direction > 0 else math.trunc(share))
        widest, narrowest = (max, min) if direction > 0 else (min, max)
        return (narrowest if choice == "Min" else widest)(limits, default=current)

    def _tell_stability(self, stable: int, recommended: int, *, is_up: bool) -> None:
        reason, text = "ReadyForNewScale", "recommended size matches current size"
        if stable != recommended:
            reason = "ScaleUpStabilized" if is_up else "ScaleDownStabilized"
            than, extreme = ("lower", "lowest") if is_up else ("higher", "highest")
            text = (
                f"recent recommendations were {than} than current one, applying the {extreme} "
                "recent recommendation"
            )
        self._set("AbleToScale", "True", reason, text)

    # --- status ---

    def _warn(self, reason: str, text: str) -> None:
        self.steps.append(told(text, self.autoscaler, reason, WARNING))

    def _set(self, kind: str, value: str, reason: str, message: str) -> None:
        _set_condition(self.conditions, self.now, kind, value, reason, message)

    def _tell(self, current: int, desired: int) -> None:
        self.status |= {"currentReplicas": current, "desiredReplicas": desired}

    def _done(self) -> Plan:
        result = {"desiredReplicas": 0, **self.status, "conditions": self.conditions}
        for field in ("currentReplicas", "currentMetrics"):
            if not result.get(field):
                result.pop(field, None)
        if result != status_of(self.autoscaler):
            whole = {**self.autoscaler, "status": result}
            self.steps.append(Step(Verb.STATUS, whole, otherwise=self.refused))
        return Plan(tuple(self.steps), SYNC_SECONDS)


def _set_condition(
    conditions: list[JsonDict], now: datetime, kind: str, value: str, reason: str, message: str
) -> None:
    result = next((condition for condition in conditions if condition["type"] == kind), None)
    if result is None:
        result = {"type": kind}
        conditions.append(result)
    if result.get("status") != value:
        result["lastTransitionTime"] = time_text(now)
    result |= {"status": value, "reason": reason, "message": message}


# --- Behavior ----------------------------------------------------------------

_Rules: TypeAlias = tuple[JsonObject, JsonObject]
"""`scaleUp` and `scaleDown` of a `behavior`."""

_RATE: Final = "the desired replica count is {} faster than the maximum scale rate"
_LIMITS: Final = {
    "DesiredWithinRange": "the desired count is within the acceptable range",
    "ScaleDownLimit": _RATE.format("decreasing"),
    "ScaleUpLimit": _RATE.format("increasing"),
    "TooFewReplicas": "the desired replica count is less than the minimum replica count",
    "TooManyReplicas": "the desired replica count is more than the maximum replica count",
}
"""What keeps the number of replicas from being another one: the reason, and its text."""


def _window(rules: JsonObject, usual: float) -> float:
    seconds = rules.get("stabilizationWindowSeconds")
    return usual if seconds is None else float(seconds)


def _tolerance(rules: JsonObject) -> float:
    tolerance = rules.get("tolerance")
    return _TOLERANCE if tolerance is None else parse(tolerance).approximate_float()


# --- Use of resources --------------------------------------------------------


# As `groupPods`, but that each sample counts as if it were new.
def _is_unready(pod: JsonObject, name: str, now: datetime) -> bool:
    """Return whether what an active pod uses does not count yet: it does not run, or its start
    takes processor time."""
    if facts.phase(pod) != "Running":
        return True
    if name != "cpu" or facts.is_ready(pod):
        return False
    ready, started = facts.condition_of(pod, "Ready"), status_of(pod).get("startTime")
    if ready is None or not started:
        return True
    begin = facts.read_time(started)
    changed = facts.read_time(ready.get("lastTransitionTime") or started)
    return begin + _INITIAL > now or begin + _FIRST_READINESS > changed


# As `calculateRequests`.
def _request(pod: JsonObject, name: str) -> int:
    """Return thousandths of a resource that a pod requests. Raises _Unknown."""
    spec, of_pod = spec_of(pod), metadata.name(pod)
    if (spec.get("resources") or {}).get("requests"):
        needs = pod_needs(spec, "requests")
        if name not in needs:
            raise _Unknown(f"missing pod-level request for {name} in Pod {of_pod}")
        return needs[name].int64_value(-MILLI)
    total = 0
    sidecars = (
        init_container
        for init_container in spec.get("initContainers") or ()
        if init_container.get("restartPolicy")
    )
    for container in (*spec["containers"], *sidecars):
        request = ((container.get("resources") or {}).get("requests") or {}).get(name)
        if request is None:
            where = f"container {container['name']} of Pod {of_pod}"
            raise _Unknown(f"missing request for {name} in {where}")
        total += parse(request).int64_value(-MILLI)
    return total


def _failure_of(metric: JsonObject) -> tuple[str, str]:
    """Return the reason, and how the error of all metrics begins."""
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


_SHARE: Final = late_pattern("[0-9]{1,9}%")


def _usage(text: str) -> dict[str, str]:
    """Return the usage that an annotation tells, by resource. Parts that are neither a share nor an
    amount are left out."""
    result = {}
    for part in text.split(","):
        name, _, amount = (text.strip() for text in part.partition("="))
        if _SHARE.fullmatch(amount) or _is_amount(amount):
            result[name] = amount
    return result


def _is_amount(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True
