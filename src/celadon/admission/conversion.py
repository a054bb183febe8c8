"""Objects in another version of their API.

Custom resources without a conversion webhook only change their `apiVersion`; nothing is pruned.
So do built-in kinds whose versions have the same fields. The others have functions here: Events
(core and events.k8s.io name the same things differently) and HorizontalPodAutoscalers (v1 knows
one metric and keeps the rest in annotations), after k8s.io/kubernetes `pkg/apis/core/conversion`
and `pkg/apis/autoscaling/v1/conversion.go`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from celadon.kube import GroupKind, GroupVersionKind, Json, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Catalog

EVENTS_GROUP: Final = "events.k8s.io"
HPA: Final = GroupKind("autoscaling", "HorizontalPodAutoscaler")
METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
CURRENT_METRICS: Final = "autoscaling.alpha.kubernetes.io/current-metrics"
CONDITIONS: Final = "autoscaling.alpha.kubernetes.io/conditions"
BEHAVIOR: Final = "autoscaling.alpha.kubernetes.io/behavior"

_EVENT_FIELDS: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_ALWAYS_IN_CORE: Final = ("reportingComponent", "reportingInstance")
_CORE_FIELDS: Final = {new: old for old, new in _EVENT_FIELDS.items()}


class ConversionError(Exception):
    """The object cannot be shown in that version."""

    def __init__(self, text: str) -> None:
        super().__init__(f"failed to convert object version: {text}")


class WebhookNotCalled(ConversionError):
    """A conversion webhook would know, and nobody here calls it, or it is out of reach from here:
    what the object looks like in that version is not known, whatever a server would say."""

    def __init__(
        self, source: GroupVersionKind, target: GroupVersionKind, why: str = "is not called"
    ) -> None:
        super().__init__(
            f"the conversion webhook for {source} {why}, so the object is not known as "
            f"{target.api_version}"
        )


class Converter(Protocol):
    """Asks the conversion webhook about objects of one kind. Raises ConversionError;
    WebhookNotCalled for a webhook that is out of reach."""

    def converted(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind
    ) -> Sequence[JsonObject]:
        """Objects in a version, just as the webhook gives them."""
        ...

    def shown(self, objects: Sequence[JsonObject], kind: GroupVersionKind) -> Sequence[JsonObject]:
        """Stored objects in a version, as a server shows them."""
        ...


def convert(obj: JsonObject, kind: GroupVersionKind, catalog: Catalog | None = None) -> JsonObject:
    """The object as `kind`, a version of its own kind. Raises ConversionError; WebhookNotCalled for
    what a webhook converts, as the catalogue says, of whoever calls none."""
    if obj.get("kind") == kind.kind and obj.get("apiVersion") == kind.api_version:
        return obj
    have = metadata.gvk(obj)
    resource = None if catalog is None else catalog.by_gvk(kind)
    if resource is not None and resource.by_webhook:
        raise WebhookNotCalled(have, kind)
    renamed = {**obj, "apiVersion": kind.api_version, "kind": kind.kind}
    if kind.kind == "Event" and have.group != kind.group:
        return _event(renamed, to_core=kind.group != EVENTS_GROUP)
    if kind.group_kind == HPA and have.kind == kind.kind:
        change = _HPA_CHANGES.get((have.version, kind.version))
        return renamed if change is None else _changed(change, renamed)
    return renamed


def _event(obj: JsonObject, *, to_core: bool) -> dict[str, Json]:
    """The core version always says who reports, if only with an empty text; the other leaves out
    what is empty."""
    fields = _CORE_FIELDS if to_core else _EVENT_FIELDS
    shown = {fields.get(key, key): value for key, value in obj.items()}
    if to_core:
        return {**shown, **{one: shown.get(one, "") for one in _ALWAYS_IN_CORE}}
    absent = {_EVENT_FIELDS.get(one, one) for one in _ALWAYS_IN_CORE if not obj.get(one)}
    return {key: value for key, value in shown.items() if key not in absent}


def _changed(
    change: Callable[[dict[str, object]], dict[str, object]], obj: dict[str, object]
) -> dict[str, object]:
    """Whoever sends reviews may send anything: what lacks the shape of its kind stays as it is."""
    try:
        return change(obj)
    except (AttributeError, TypeError, ValueError):
        raise ConversionError("the object does not have the fields of its kind") from None


def _hpa_to_v2(obj: JsonDict) -> JsonDict:
    annotations = dict(metadata.annotations(obj))
    spec = _part(obj, "spec")
    target = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = [_v2_metric(one) for one in _listed(annotations.pop(METRICS, ""))]
    if target is not None:
        cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": target}}
        metrics.append({"type": "Resource", "resource": cpu})
    if metrics:
        spec["metrics"] = metrics
    behavior = _loaded(annotations.pop(BEHAVIOR, ""))
    if isinstance(behavior, dict):
        spec["behavior"] = behavior
    status = _part(obj, "status")
    current = status.pop("currentCPUUtilizationPercentage", None)
    annotations.pop(CURRENT_METRICS, None)
    conditions = _listed(annotations.pop(CONDITIONS, ""))
    if conditions:
        status["conditions"] = conditions
    if current is not None:
        usage = {"name": "cpu", "current": {"averageUtilization": current}}
        status["currentMetrics"] = [{"type": "Resource", "resource": usage}]
    status.setdefault("currentMetrics", None)
    status.setdefault("desiredReplicas", 0)
    return {**obj, "metadata": _annotated(obj, annotations), "spec": spec, "status": status}


def _hpa_to_v1(obj: JsonDict) -> JsonDict:
    annotations = dict(metadata.annotations(obj))
    spec = _part(obj, "spec")
    others = []
    for metric in spec.pop("metrics", ()):
        target = _cpu_target(metric)
        if target is not None and "targetCPUUtilizationPercentage" not in spec:
            spec["targetCPUUtilizationPercentage"] = target
        else:
            others.append(_v1_metric(metric))
    if others:
        annotations[METRICS] = json.dumps(others, separators=(",", ":"))
    behavior = spec.pop("behavior", None)
    if behavior is not None:
        annotations[BEHAVIOR] = json.dumps(behavior, separators=(",", ":"))
    status = _part(obj, "status")
    for metric in status.pop("currentMetrics", None) or ():
        usage = (metric.get("resource") or {}).get("current") or {}
        if (metric.get("resource") or {}).get("name") == "cpu" and "averageUtilization" in usage:
            status["currentCPUUtilizationPercentage"] = usage["averageUtilization"]
    conditions = status.pop("conditions", None)
    if conditions:
        annotations[CONDITIONS] = json.dumps(conditions, separators=(",", ":"))
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    return {**obj, "metadata": _annotated(obj, annotations), "spec": spec, "status": status}


_HPA_CHANGES: Final[Mapping[tuple[str, str], Callable[[dict[str, object]], dict[str, object]]]] = {
    ("v1", "v2"): _hpa_to_v2,
    ("v2", "v1"): _hpa_to_v1,
}


def _part(obj: JsonObject, name: str) -> JsonDict:
    """A copy to change. TypeError for what is no object."""
    found = obj.get(name) or {}
    if not isinstance(found, dict):
        raise TypeError(name)
    return dict(found)


def _annotated(obj: JsonObject, annotations: Mapping[str, str]) -> JsonObject:
    given = {key: value for key, value in metadata.metadata(obj).items() if key != "annotations"}
    return {**given, "annotations": dict(annotations)} if annotations else given


def _cpu_target(metric: JsonObject) -> Json:
    resource = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    return (resource.get("target") or {}).get("averageUtilization")


def _v1_metric(metric: JsonObject) -> JsonObject:
    """A metric as the v1 annotation spells it; only resource metrics differ in shape we know."""
    resource = metric.get("resource")
    if resource is None:
        return dict(metric)
    target = resource.get("target") or {}
    shown = {"name": resource.get("name", "")}
    if "averageUtilization" in target:
        shown["targetAverageUtilization"] = target["averageUtilization"]
    if "averageValue" in target:
        shown["targetAverageValue"] = target["averageValue"]
    return {"type": metric.get("type", ""), "resource": shown}


def _v2_metric(metric: JsonObject) -> JsonDict:
    resource = metric.get("resource")
    if resource is None:
        return dict(metric)
    target: dict[str, Json] = {}
    if "targetAverageUtilization" in resource:
        target = {
            "type": "Utilization",
            "averageUtilization": resource["targetAverageUtilization"],
        }
    if "targetAverageValue" in resource:
        target = {"type": "AverageValue", "averageValue": resource["targetAverageValue"]}
    shown = {"name": resource.get("name", ""), "target": target}
    return {"type": metric.get("type", ""), "resource": shown}


def _loaded(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(text)
    except ValueError:
        return None


def _listed(text: str) -> list[Any]:
    found = _loaded(text) if text else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
