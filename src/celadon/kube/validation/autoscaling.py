"""HorizontalPodAutoscalers, in their old and their new version."""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import parse_amounts
from celadon.kube.releases import is_since
from celadon.kube.resources.autoscaler_conversion import to_v2
from celadon.kube.validation import field_checks
from celadon.kube.validation.pods.resource_lists import container_resource_name

METRICS: Final = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""The kinds of metrics and the fields that describe them, in the order of validation."""

TARGETS: Final = ("Utilization", "Value", "AverageValue")
PRESENT: Final = "must populate information for the given metric source"
EITHER: Final = "must set either a target raw value or a target utilization"
NOT_BOTH: Final = "may not set both a target raw value and a target utilization"


def autoscaler(obj: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a HorizontalPodAutoscaler."""
    yield from _autoscaler(obj, _Tolerated())


class _Tolerated(NamedTuple):
    """Faults that nobody complains about, since the stored object had them: the lowest number of
    replicas, the version of the target, and versions of objects that metrics are about."""

    lowest: int = 1
    target: bool = False
    objects: bool = False


def autoscaler_update(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a changed HorizontalPodAutoscaler. Where upstream came to ask for
    more, what was wrong before may stay."""
    # As `ValidateHorizontalPodAutoscalerUpdate` of `pkg/apis/autoscaling/validation`.
    obj, old = _newer(obj), _newer(old)
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    target, was = (item.get("scaleTargetRef") or {} for item in (spec, before))
    bad = any(
        metric.get("type") == "Object"
        and _version_fault(metric["object"].get("describedObject") or {})
        for metric in before.get("metrics") or ()
        if metric.get("object") is not None
    )
    tolerated = _Tolerated(
        lowest=0 if before.get("minReplicas") == 0 else 1,
        target=all(target.get(field) == was.get(field) for field in ("apiVersion", "kind")),
        objects=bad,
    )
    yield from _autoscaler(obj, tolerated)


def _autoscaler(obj: JsonObject, tolerated: _Tolerated) -> field_checks.Errors:
    # As `validateHorizontalPodAutoscalerSpec` of `pkg/apis/autoscaling/validation`.
    obj = _newer(obj)
    spec, lowest = obj.get("spec") or {}, tolerated.lowest
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < lowest:
        yield from field_checks.by_gate(
            field_checks.SCALED_TO_ZERO, _too_few(least, 0), _too_few(least, lowest)
        )
    path = field_checks.SPEC.child("maxReplicas")
    if most <= 0 and not is_since("1.36"):
        yield fieldpath.invalid(path, most, "must be greater than 0")
    elif most == 0:
        yield fieldpath.required(path, "must be set and greater than 0")
    elif most < 0:
        yield fieldpath.invalid(path, most, "must be greater than or equal to 1")
    if least is not None and most < least:
        detail = "must be greater than or equal to `minReplicas`"
        yield fieldpath.invalid(path, most, detail)
    target, path = spec.get("scaleTargetRef") or {}, field_checks.SPEC.child("scaleTargetRef")
    yield from _reference(path, target)
    if not tolerated.target:
        # Of the core group, these alone can be scaled.
        needs_group = target.get("kind") != "ReplicationController"
        yield from _version(path, target, needs_group=needs_group)
    yield from _metrics(spec, least, lax=tolerated.objects)
    behavior = spec.get("behavior") or {}
    for direction in ("scaleUp", "scaleDown"):
        if behavior.get(direction) is not None:
            yield from _rules(field_checks.SPEC.child("behavior", direction), behavior[direction])


def _newer(obj: JsonObject) -> JsonObject:
    """Faults are told of the fields of autoscaling/v2, whatever the version: in v1, metrics and
    behavior are annotations."""
    if obj.get("apiVersion") != "autoscaling/v1":
        return obj
    return {**to_v2(obj), "apiVersion": "autoscaling/v2"}


def _too_few(least: int, lowest: int) -> field_checks.Errors:
    if least < lowest:
        detail = f"must be greater than or equal to {lowest}"
        yield fieldpath.invalid(field_checks.SPEC.child("minReplicas"), least, detail)


def _version(path: FieldPath, reference: JsonObject, *, needs_group: bool) -> field_checks.Errors:
    """Check the `apiVersion` of a reference."""
    # As `ValidateAPIVersion` of `pkg/apis/autoscaling/validation`.
    version = reference.get("apiVersion") or ""
    fault = _version_fault(reference)
    if not fault and needs_group and is_since("1.34") and not version.rpartition("/")[0]:
        fault = "apiVersion must specify API group"
    if fault:
        yield fieldpath.invalid(path.child("apiVersion"), version, fault)


def _version_fault(reference: JsonObject) -> str:
    version = reference.get("apiVersion") or ""
    is_wrong = version.count("/") > 1 and is_since("1.34")
    return f"unexpected GroupVersion string: {version}" if is_wrong else ""


def _reference(path: FieldPath, reference: JsonObject) -> field_checks.Errors:
    # As `ValidateCrossVersionObjectReference` of `pkg/apis/autoscaling/validation`.
    yield from field_checks.broken_rules(
        "autoscaling.v2.CrossVersionObjectReference", reference, path
    )


def _metrics(spec: JsonObject, least: int | None, *, lax: bool) -> field_checks.Errors:
    """`lax`: the versions of objects that metrics are about may be anything."""
    # As `validateMetrics` of `pkg/apis/autoscaling/validation`.
    for path, metric in field_checks.items(spec, "metrics", field_checks.SPEC):
        yield from _metric(path, metric, lax=lax)
    scalable = any(
        metric.get("type") in {"Object", "External"} for metric in spec.get("metrics") or ()
    )
    if least == 0 and not scalable:
        detail = (
            "must specify at least one Object or External metric to support scaling to zero "
            "replicas"
        )
        yield fieldpath.forbidden(field_checks.SPEC.child("metrics"), detail)


def _metric(path: FieldPath, metric: JsonObject, *, lax: bool) -> field_checks.Errors:
    # As `validateMetricSpec` of `pkg/apis/autoscaling/validation`.
    kind = metric.get("type") or ""
    if not kind:
        yield fieldpath.required(path.child("type"), "must specify a metric source type")
    yield from field_checks.supported(path.child("type"), kind, sorted(METRICS))
    metrics = [field for field in METRICS.values() if metric.get(field) is not None]
    if metrics:
        yield from _source(path.child(metrics[0]), metric[metrics[0]], metrics[0], lax=lax)
    expected = METRICS.get(kind)
    if expected is None:
        yield from field_checks.supported(path.child("type"), kind, sorted(METRICS))
    elif expected not in metrics:
        yield fieldpath.required(path.child(expected), PRESENT)
    if len(metrics) != 1:
        for field in sorted(set(metrics) - {expected}):
            yield fieldpath.forbidden(
                path.child(field), "must populate the given metric source only"
            )


def _source(path: FieldPath, source: JsonObject, field: str, *, lax: bool) -> field_checks.Errors:
    target, target_path = source.get("target") or {}, path.child("target")
    if field == "object":
        described, object_path = source.get("describedObject") or {}, path.child("describedObject")
        yield from _reference(object_path, described)
        if not lax:
            yield from _version(object_path, described, needs_group=False)
    if field in {"object", "external", "pods"}:
        yield from _identifier(path.child("metric"), source.get("metric") or {})
        yield from _target(target_path, target)
        yield from _value_target(target_path, target, field)
        return
    name = source.get("name") or ""
    if not name:
        yield fieldpath.required(path.child("name"), "must specify a resource name")
    if field == "containerResource":
        if name:
            yield from container_resource_name(path.child("name"), name)
        if source.get("container"):
            yield from field_checks.dns_label(path.child("container"), source["container"])
        else:
            yield fieldpath.required(path.child("container"), "must specify a container")
    yield from _target(target_path, target)
    utilization, value = target.get("averageUtilization"), target.get("averageValue")
    if utilization is None and value is None:
        yield fieldpath.required(target_path.child("averageUtilization"), EITHER)
    if utilization is not None and value is not None:
        yield fieldpath.forbidden(target_path.child("averageValue"), NOT_BOTH)


def _value_target(path: FieldPath, target: JsonObject, field: str) -> field_checks.Errors:
    value, average = target.get("value"), target.get("averageValue")
    average_value_path = path.child("averageValue")
    if field == "pods":
        if average is None:
            yield fieldpath.required(
                average_value_path, "must specify a positive target averageValue"
            )
        return
    if value is None and average is None:
        detail = (
            "must set either a target value or averageValue"
            if field == "object"
            else "must set either a target value for metric or a per-pod target"
        )
        yield fieldpath.required(average_value_path, detail)
    if field == "external" and value is not None and average is not None:
        detail = "may not set both a target value for metric and a per-pod target"
        yield fieldpath.forbidden(path.child("value"), detail)


def _identifier(path: FieldPath, value: JsonObject) -> field_checks.Errors:
    # As `validateMetricIdentifier` of `pkg/apis/autoscaling/validation`.
    name = value.get("name") or ""
    if name:
        yield from field_checks.required_name(
            path.child("name"), name, name_rules.path_segment_name
        )
    else:
        yield fieldpath.required(path.child("name"), "must specify a metric name")


def _target(path: FieldPath, target: JsonObject) -> field_checks.Errors:
    # As `validateMetricTarget` of `pkg/apis/autoscaling/validation`.
    kind = target.get("type") or ""
    if not kind:
        yield fieldpath.required(path.child("type"), "must specify a metric target type")
    if kind not in TARGETS:
        detail = "must be either Utilization, Value, or AverageValue"
        yield fieldpath.invalid(path.child("type"), NamedText(kind), detail)
    for field in ("value", "averageValue"):
        text = target.get(field)
        if text is not None and parse_amounts(text).sign <= 0:
            value = GoValue(text, "resource.Quantity")
            yield fieldpath.invalid(path.child(field), value, "must be positive")
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        average_utilization_path = path.child("averageUtilization")
        yield fieldpath.invalid(average_utilization_path, utilization, "must be greater than 0")


def _rules(path: FieldPath, rules: JsonObject) -> field_checks.Errors:
    # As `validateScalingRules` of `pkg/apis/autoscaling/validation`.
    yield from field_checks.broken_rules("autoscaling.v2.HPAScalingRules", rules, path)
    tolerance = rules.get("tolerance")
    if tolerance is not None and parse_amounts(tolerance).sign < 0:
        yield fieldpath.invalid(
            path.child("tolerance"), str(parse_amounts(tolerance)), field_checks.NEGATIVE
        )


def autoscaler_status(obj: JsonObject, _: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with the status of a HorizontalPodAutoscaler."""
    obj = _newer(obj)
    yield from field_checks.broken_rules(
        "autoscaling.v2.HorizontalPodAutoscalerStatus", obj.get("status") or {}, FieldPath("status")
    )
