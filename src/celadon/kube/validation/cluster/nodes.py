"""Nodes: their taints, what they have, and the ranges of their pods' addresses.

As k8s.io/kubernetes `pkg/apis/core/validation`. Taints are complained about below `metadata`, where
they stood as an annotation once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import ErrorType, FieldError, FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.address_rules import older_range
from celadon.kube.validation.field_checks import (
    METADATA,
    NOT_POSITIVE,
    SPEC,
    Errors,
    each,
    entries,
    items,
    required_choice,
)
from celadon.kube.validation.label_rules import label_name
from celadon.kube.validation.pods.internal_pod_types import internal_value
from celadon.kube.validation.pods.resource_lists import quantity_value
from celadon.kube.validation.pods.scheduling import EFFECTS
from celadon.patterns import late_pattern

_STATUS: Final = FieldPath("status")
_RANGES: Final = SPEC.child("podCIDRs")
_ONE_SOURCE: Final = "exactly one reference subfield must be non-nil"
RANGES_STAY: Final = 'node updates may not change podCIDR except from "" to valid'
MAX_FEATURE_BYTES: Final = 253
_FEATURE: Final = late_pattern("[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
PROVIDER_STAYS: Final = 'node updates may not change providerID except from "" to valid'


def node(obj: JsonObject) -> Errors:
    """What is wrong with a new Node, besides its metadata."""
    spec = obj.get("spec") or {}
    status = obj.get("status") or {}
    yield from _taints(spec)
    yield from _amounts(obj)
    swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None and swap <= 0:
        yield fieldpath.invalid(METADATA.child("nodeSwapStatus", "capacity"), swap, NOT_POSITIVE)
    yield from _features(status)
    yield from _ranges(spec.get("podCIDRs") or [])


def node_update(obj: JsonObject, old: JsonObject) -> Errors:
    """All that is wrong with a changed Node."""
    yield from node(obj)
    yield from node_changes(obj, old)


def node_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """What may not change, also by way of the status."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _amounts(obj)
    yield from _features(obj.get("status") or {})
    yield from _addresses(obj.get("status") or {})
    yield from _kept_ranges(spec.get("podCIDRs") or [], before.get("podCIDRs") or [])
    provider = before.get("providerID")
    if provider and spec.get("providerID") != provider:
        yield fieldpath.forbidden(SPEC.child("providerID"), PROVIDER_STAYS)
    if spec.get("configSource") is not None:
        at = SPEC.child("configSource")
        yield from _config_source(at, spec["configSource"], in_status=False)
    config = (obj.get("status") or {}).get("config") or {}
    for field in ("assigned", "active", "lastKnownGood"):
        if config.get(field) is not None:
            at = _STATUS.child("config", field)
            yield from _config_source(at, config[field], in_status=True)
    yield from _taints(spec)
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        yield fieldpath.forbidden(SPEC.child("externalID"), "may not be updated")


def _taints(spec: JsonObject) -> Errors:
    seen: set[tuple[str, str]] = set()
    for at, taint in items(spec, "taints", METADATA):
        key, value = taint.get("key") or "", taint.get("value") or ""
        effect = taint.get("effect") or ""
        yield from label_name(at.child("key"), key)
        messages = name_rules.label_value(value)
        if messages:
            yield fieldpath.invalid(at.child("value"), value, ";".join(messages))
        yield from required_choice(at.child("effect"), effect, EFFECTS)
        if (key, effect) in seen:
            why = "taints must be unique by key and effect pair"
            shown = internal_value(taint, "core.v1.Taint")
            yield FieldError(ErrorType.DUPLICATE, at, shown, why)
        seen.add((key, effect))


def _amounts(obj: JsonObject) -> Errors:
    for field in ("capacity", "allocatable"):
        for name, text in entries(obj.get("status") or {}, field):
            yield from quantity_value(_STATUS.child(field, name), name, text)


def _features(status: JsonObject) -> Errors:
    """The features that a kubelet declares: sorted, each once."""
    last = None
    for at, name in items(status, "declaredFeatures", _STATUS):
        if last is not None and name == last:
            yield fieldpath.duplicate(at, name)
        elif last is not None and name < last:
            yield fieldpath.invalid(at, name, "list must be sorted alphabetically")
        why = _feature_fault(name)
        if why:
            yield fieldpath.invalid(at, name, f"invalid feature name {quote(name)}: {why}")
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
    seen: list[dict[str, Any]] = []
    for at, address in items(status, "addresses", _STATUS):
        shown = {field: address.get(field.lower()) or "" for field in ("Type", "Address")}
        if shown in seen:
            yield fieldpath.duplicate(at, shown)
        seen.append(shown)


def _ranges(ranges: Sequence[str]) -> Errors:
    for index, one in enumerate(ranges):
        yield from older_range(_RANGES.index(index), one)
    if len(ranges) < 2:
        return
    found = [text_rules.network(one) for one in ranges]
    bad = next((index for index, network in enumerate(found) if network is None), None)
    if bad is not None:
        why = "invalid PodCIDRs. failed to check with dual stack with error:"
        which = f"invalid CIDR[{bad}]: <nil> (invalid CIDR address: {ranges[bad]})"
        yield fieldpath.internal(_RANGES, f"{why}{which}")
    families = {network.addr.is_v4 for network in found if network is not None}
    if bad is not None or len(families) < 2 or len(ranges) > 2:
        why = "may specify no more than one CIDR for each IP family"
        yield fieldpath.invalid(_RANGES, ranges, why)
    seen = set[str]()
    for index, one in enumerate(ranges):
        if one in seen:
            yield fieldpath.duplicate(_RANGES.index(index), one)
        seen.add(one)


def _kept_ranges(new: Sequence[str], before: Sequence[str]) -> Errors:
    if before and len(new) != len(before):
        yield fieldpath.forbidden(_RANGES, RANGES_STAY)
    elif before:
        for one, was in zip(new, before, strict=True):
            if one != was:
                yield fieldpath.forbidden(_RANGES, RANGES_STAY)


def _config_source(path: FieldPath, source: JsonObject, *, in_status: bool) -> Errors:
    """Where a kubelet took its configuration from, when it still could."""
    found = source.get("configMap")
    if found is None:
        yield fieldpath.invalid(path, {"ConfigMap": None}, _ONE_SOURCE)
        return
    at = path.child("configMap")
    for field in ("uid", "resourceVersion"):
        given = bool(found.get(field))
        if in_status and not given:
            yield fieldpath.required(at.child(field), f"{field} must be set in status")
        elif given and not in_status:
            yield fieldpath.forbidden(at.child(field), f"{field} must not be set in spec")
    rules = {
        "namespace": name_rules.dns1123_label,
        "name": name_rules.dns1123_subdomain,
        "kubeletConfigKey": text_rules.config_key,
    }
    for field, rule in rules.items():
        value = found.get(field) or ""
        if value:
            yield from each(at.child(field), value, rule(value))
        else:
            yield fieldpath.required(at.child(field), f"{field} must be set")
