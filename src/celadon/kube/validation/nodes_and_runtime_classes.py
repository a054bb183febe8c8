"""Validation of Nodes and RuntimeClasses.

As k8s.io/kubernetes `pkg/apis/{core,node}/validation`. Taints are complained about below
`metadata`, where they stood as an annotation once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import fieldpath, metadata, name_rules
from celadon.kube.fieldpath import ErrorType, FieldError, FieldPath
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import (
    METADATA,
    NOT_POSITIVE,
    SPEC,
    Errors,
    changed_fields,
    dns_label,
    each,
    entries,
    items,
    required_choice,
    required_name,
)
from celadon.kube.validation.format_checks import labels
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.pods.pod_placement import EFFECTS, tolerations
from celadon.kube.validation.pods.resource_lists import quantity_value, requirements
from celadon.late_patterns import late_pattern

_STATUS: Final = FieldPath("status")
_RANGES: Final = SPEC.child("podCIDRs")
_ONE_SOURCE: Final = "exactly one reference subfield must be non-nil"
RANGES_STAY: Final = 'node updates may not change podCIDR except from "" to valid'
MAX_FEATURE_BYTES: Final = 253
_FEATURE: Final = late_pattern("[A-Z][a-zA-Z0-9]*+(/[a-zA-Z][a-zA-Z0-9]*+)*+")
PROVIDER_STAYS: Final = 'node updates may not change providerID except from "" to valid'


def node(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new Node, besides its metadata."""
    # As `ValidateNode` of `pkg/apis/core/validation`.
    spec = obj.get("spec") or {}
    status = obj.get("status") or {}
    yield from _node_annotations(metadata.annotations(obj))
    yield from _taints(spec)
    yield from _amounts(obj)
    swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None and swap <= 0:
        yield fieldpath.invalid(METADATA.child("nodeSwapStatus", "capacity"), swap, NOT_POSITIVE)
    yield from _features(status)
    yield from _ranges(spec.get("podCIDRs") or [])


def node_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield the changes of a Node that are not allowed, also by way of the status."""
    # As `ValidateNodeUpdate` of `pkg/apis/core/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _node_annotations(metadata.annotations(obj))
    yield from _amounts(obj)
    yield from _features(obj.get("status") or {})
    yield from _addresses(obj.get("status") or {})
    yield from _kept_ranges(spec.get("podCIDRs") or [], before.get("podCIDRs") or [])
    provider = before.get("providerID")
    if provider and spec.get("providerID") != provider:
        yield fieldpath.forbidden(SPEC.child("providerID"), PROVIDER_STAYS)
    if spec.get("configSource") is not None:
        path = SPEC.child("configSource")
        yield from _config_source(path, spec["configSource"], in_status=False)
    config = (obj.get("status") or {}).get("config") or {}
    for field in ("assigned", "active", "lastKnownGood"):
        if config.get(field) is not None:
            path = _STATUS.child("config", field)
            yield from _config_source(path, config[field], in_status=True)
    yield from _taints(spec)
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        yield fieldpath.forbidden(SPEC.child("externalID"), "may not be updated")


def _node_annotations(notes: Mapping[str, str]) -> Errors:
    # As `ValidateNodeSpecificAnnotations` of `pkg/apis/core/validation`.
    path = METADATA.child("annotations")
    try:
        yield from _taints(
            {format_checks.TAINTS: format_checks.annotated_taints(notes)},
            format_checks.TAINTS,
            path,
        )
    except format_checks.AnnotationError as error:
        yield fieldpath.invalid(path, format_checks.TAINTS, str(error))
    try:
        avoided = format_checks.avoided_pods(notes)
    except format_checks.AnnotationError as error:
        yield fieldpath.invalid(path.child("AvoidPods"), format_checks.AVOIDED_PODS, str(error))
        return
    for item_path, entry in items(
        {format_checks.AVOIDED_PODS: avoided}, format_checks.AVOIDED_PODS, path
    ):
        controller = (entry.get("podSignature") or {}).get("podController")
        where = item_path.child("PodSignature")
        if controller is None:
            yield fieldpath.required(where)
        elif not controller.get("controller"):
            where = where.child("PodController", "Controller")
            yield fieldpath.invalid(where, value=False, detail="must point to a controller")


def _taints(spec: JsonObject, field: str = "taints", path: FieldPath = METADATA) -> Errors:
    # As `validateNodeTaints` of `pkg/apis/core/validation`.
    seen: set[tuple[str, str]] = set()
    for item_path, taint in items(spec, field, path):
        key, value = taint.get("key") or "", taint.get("value") or ""
        effect = taint.get("effect") or ""
        yield from format_checks.label_name(item_path.child("key"), key)
        messages = name_rules.label_value(value)
        if messages:
            yield fieldpath.invalid(item_path.child("value"), value, ";".join(messages))
        yield from required_choice(item_path.child("effect"), effect, EFFECTS)
        if (key, effect) in seen:
            detail = "taints must be unique by key and effect pair"
            go_value = GoValue(internal_value(taint, "core.v1.Taint"), "core.Taint")
            yield FieldError(ErrorType.DUPLICATE, item_path, go_value, detail)
        seen.add((key, effect))


def _amounts(obj: JsonObject) -> Errors:
    for field in ("capacity", "allocatable"):
        for name, amount in entries(obj.get("status") or {}, field):
            yield from quantity_value(_STATUS.child(field, name), name, amount)


def _features(status: JsonObject) -> Errors:
    """Check the features that a kubelet declares: sorted, each once."""
    # As `validateNodeDeclaredFeatures` of `pkg/apis/core/validation`.
    last = None
    for path, name in items(status, "declaredFeatures", _STATUS):
        if last is not None and name == last:
            yield fieldpath.duplicate(path, name)
        elif last is not None and name < last:
            yield fieldpath.invalid(path, name, "list must be sorted alphabetically")
        detail = _feature_fault(name)
        if detail:
            yield fieldpath.invalid(path, name, f"invalid feature name {quote(name)}: {detail}")
        last = name


def _feature_fault(name: str) -> str:
    if len(name.encode()) > MAX_FEATURE_BYTES:
        return f"must be no more than {MAX_FEATURE_BYTES} characters"
    if _FEATURE.fullmatch(name) is None:
        return (
            "must start with an UpperCamelCase segment, with subsequent segments separated by '/' "
            "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters "
            "and slashes"
        )
    return ""


def _addresses(status: JsonObject) -> Errors:
    seen: set[tuple[str, str]] = set()
    for path, address in items(status, "addresses", _STATUS):
        key = address.get("type") or "", address.get("address") or ""
        if key in seen:
            printed = dict(zip(("Type", "Address"), key, strict=True))
            yield fieldpath.duplicate(path, GoValue(printed, "core.NodeAddress"))
        seen.add(key)


def _ranges(ranges: Sequence[str]) -> Errors:
    for index, cidr in enumerate(ranges):
        yield from format_checks.older_range(_RANGES.index(index), cidr)
    if len(ranges) < 2:
        return
    prefixes = [format_checks.network(word) for word in ranges]
    bad = next((index for index, network in enumerate(prefixes) if network is None), None)
    if bad is not None:
        detail = "invalid PodCIDRs. failed to check with dual stack with error:"
        cause = f"invalid CIDR[{bad}]: <nil> (invalid CIDR address: {ranges[bad]})"
        yield fieldpath.internal(_RANGES, f"{detail}{cause}")
    families = {network.addr.is_v4 for network in prefixes if network is not None}
    if bad is not None or len(families) < 2 or len(ranges) > 2:
        detail = "may specify no more than one CIDR for each IP family"
        yield fieldpath.invalid(_RANGES, ranges, detail)
    if is_since("1.33"):
        return
    for index, cidr in enumerate(ranges):
        if cidr in ranges[:index]:
            yield fieldpath.duplicate(_RANGES.index(index), cidr)


def _kept_ranges(new: Sequence[str], before: Sequence[str]) -> Errors:
    if before and len(new) != len(before):
        yield fieldpath.forbidden(_RANGES, RANGES_STAY)
    elif before:
        for text, was in zip(new, before, strict=True):
            if text != was:
                yield fieldpath.forbidden(_RANGES, RANGES_STAY)


def _config_source(path: FieldPath, source: JsonObject, *, in_status: bool) -> Errors:
    """Yield what is wrong with the source of a kubelet's configuration, from when a Node could name
    one."""
    # As `validateNodeConfigSourceSpec` of `pkg/apis/core/validation`.
    result = source.get("configMap")
    if result is None:
        yield fieldpath.invalid(path, {"ConfigMap": None}, _ONE_SOURCE)
        return
    config_map_path = path.child("configMap")
    for field in ("uid", "resourceVersion"):
        is_set = bool(result.get(field))
        if in_status and not is_set:
            detail = "" if is_since("1.34") else f"{field} must be set in status"
            yield fieldpath.required(config_map_path.child(field), detail)
        elif is_set and not in_status:
            yield fieldpath.forbidden(
                config_map_path.child(field), f"{field} must not be set in spec"
            )
    rules = {
        "namespace": name_rules.dns1123_label,
        "name": name_rules.dns1123_subdomain,
        "kubeletConfigKey": format_checks.config_key,
    }
    for field, rule in rules.items():
        value = result.get(field) or ""
        if value:
            yield from each(config_map_path.child(field), value, rule(value))
        else:
            detail = "" if is_since("1.34") else f"{field} must be set"
            yield fieldpath.required(config_map_path.child(field), detail)


_HANDLER: Final = FieldPath("handler")
_SCHEDULING: Final = FieldPath("scheduling")


def runtime_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a RuntimeClass, besides its metadata."""
    # As `ValidateRuntimeClass` of `pkg/apis/node/validation`.
    handler = obj.get("handler") or ""
    if handler or is_since("1.36"):
        yield from required_name(_HANDLER, handler, name_rules.dns1123_label)
    else:
        yield from dns_label(_HANDLER, handler)
    overhead, scheduling = obj.get("overhead"), obj.get("scheduling")
    if overhead is not None:
        fixed = {"limits": overhead.get("podFixed") or {}}
        yield from requirements(FieldPath("overhead"), fixed, ())
    if scheduling is not None:
        yield from labels(_SCHEDULING.child("nodeSelector"), scheduling.get("nodeSelector"))
        # Before 1.35, upstream named the field twice.
        path = _SCHEDULING if is_since("1.35") else _SCHEDULING.child("tolerations")
        yield from tolerations(path, scheduling)
        yield from _distinct(scheduling)


def _distinct(scheduling: JsonObject) -> Errors:
    """Tolerations differ in more than for how long they last."""
    seen: set[tuple[str, ...]] = set()
    for path, toleration in items(scheduling, "tolerations", _SCHEDULING):
        key = tuple(toleration.get(field) or "" for field in ("key", "operator", "value", "effect"))
        if key in seen:
            go_value = GoValue(internal_value(toleration, "core.v1.Toleration"), "core.Toleration")
            yield fieldpath.duplicate(path, go_value)
        seen.add(key)


def runtime_class_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a RuntimeClass: the handler stays."""
    # As `ValidateRuntimeClassUpdate` of `pkg/apis/node/validation`.
    yield from changed_fields("node.v1.RuntimeClass", obj, old, FieldPath())
