"""ResourceSlices: the devices of a pool, and who can reach them. Taints that others put on devices.

As k8s.io/kubernetes `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import Quantity, parse_amounts
from celadon.kube.releases import is_since, until, wording
from celadon.kube.validation import resource_claims
from celadon.kube.validation.field_checks import (
    DRIVER_NAME_MAX_BYTES,
    IMMUTABLE,
    NO_ERRORS,
    SPEC,
    Errors,
    at_most,
    broken_rules,
    changed_fields,
    conditions,
    dns_label,
    dns_subdomain,
    driver_name,
    entries,
    items,
    long_name,
    not_negative,
    printed_condition,
    required_name,
)
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.pods.pod_placement import node_selector
from celadon.kube.validation.pods.resource_lists import is_native
from celadon.late_patterns import late_pattern

# --- Device capacities -------------------------------------------------------
#
# How much of a device a claim can ask for.
#
# As k8s.io/kubernetes `pkg/apis/resource/validation`.

MAX_OPTIONS: Final = 10


def capacity(path: FieldPath, value: JsonObject, *, shared: bool) -> Errors:
    """Yield what is wrong with a capacity of a device; `shared`: more than one claim may have a
    part of it."""
    # As `validateMultiAllocatableDeviceCapacity` of `pkg/apis/resource/validation`.
    policy, request_policy_path = value.get("requestPolicy"), path.child("requestPolicy")
    if policy is None:
        return
    if not shared:
        yield fieldpath.forbidden(request_policy_path, "allowMultipleAllocations must be true")
        return
    values, bounds = policy.get("validValues") or (), policy.get("validRange")
    if values and bounds is not None:
        detail = (
            'exactly one policy can be specified, cannot specify "validValues" and "validRange" at '
            "the same time"
        )
        yield fieldpath.forbidden(request_policy_path, detail)
        return
    kind = "validValues" if values else "validRange" if bounds is not None else ""
    if kind and policy.get("default") is None:
        yield fieldpath.required(
            request_policy_path.child("default"), f"required when {kind} is defined"
        )
    elif kind:
        rule = _valid_values if values else _valid_range
        whole = parse_amounts(value.get("value") or "0")
        yield from rule(
            request_policy_path.child(kind), policy, parse_amounts(policy["default"]), whole
        )


def _valid_values(
    path: FieldPath, policy: JsonObject, default: Quantity, whole: Quantity
) -> Errors:
    # As `validateRequestPolicyValidValues` of `pkg/apis/resource/validation`.
    values = [parse_amounts(valid_value) for valid_value in policy["validValues"]]
    for index, (quantity, following) in enumerate(itertools.pairwise(values)):
        if quantity.compare(following) > 0:
            detail = "values must be sorted in ascending order"
            yield fieldpath.invalid(path.index(index + 1), str(following), detail)

    def fits(path: FieldPath, quantity: Quantity) -> Errors:
        if quantity.compare(whole) > 0:
            reason = f"option is larger than capacity value: {whole}"
            yield fieldpath.invalid(path, str(quantity), reason)

    yield from resource_claims.distinct(
        path, values, MAX_OPTIONS, fits, lambda value: str(value.int64_value())
    )
    if all(value.compare(default) for value in values):
        detail = "default value is not valid according to the requestPolicy"
        yield fieldpath.invalid(path, str(default), detail)


def _valid_range(path: FieldPath, policy: JsonObject, default: Quantity, whole: Quantity) -> Errors:
    # As `validateRequestPolicyRange` of `pkg/apis/resource/validation`.
    bounds: Any = policy["validRange"]
    if bounds.get("min") is None:
        yield fieldpath.required(path.child("min"), "required when validRange is defined")
        return
    low = parse_amounts(bounds["min"])
    high = None if bounds.get("max") is None else parse_amounts(bounds["max"])
    if low.compare(whole) > 0:
        detail = f"min is larger than capacity value: {whole}"
        yield fieldpath.invalid(path.child("min"), str(low), detail)
    if default.compare(low) < 0:
        yield fieldpath.invalid(path.child("min"), str(default), f"default is less than min: {low}")
    if high is not None:
        max_path = path.child("max")
        if low.compare(high) > 0:
            yield fieldpath.invalid(max_path, str(low), f"min is larger than max: {high}")
        if high.compare(whole) > 0:
            yield fieldpath.invalid(
                max_path, str(high), f"max is larger than capacity value: {whole}"
            )
        if default.compare(high) > 0:
            yield fieldpath.invalid(max_path, str(default), f"default is more than max: {high}")
    if bounds.get("step") is not None:
        ends = [default] if high is None else [default, high]
        yield from _steps(path.child("step"), parse_amounts(bounds["step"]), low, ends, whole)


def _steps(
    path: FieldPath, step: Quantity, low: Quantity, ends: list[Quantity], whole: Quantity
) -> Errors:
    first = low.add(step)
    if first.compare(whole) > 0:
        detail = f"one step {first} is larger than capacity value: {whole}"
        yield fieldpath.invalid(path, str(step), detail)
    size = step.int64_value()
    for end in ends:
        if size and (end.int64_value() - low.int64_value()) % size:
            detail = f"value is not a multiple of a given step ({step}) from ({low})"
            yield fieldpath.invalid(path, str(end), detail)


MAX_DEVICES: Final = 128
MAX_SPECIAL_DEVICES: Final = 64
"""Where one has taints, consumes counters or has lists as attributes."""
MAX_PROPERTIES: Final = 32
MAX_VALUES: Final = 48
"""Of attributes, the items of lists one by one."""
MAX_TAINTS: Final = 16
OLDER_MAX_TAINTS: Final = 4
"""Before 1.35."""
MAX_COUNTER_SETS: Final = 8
MAX_COUNTERS: Final = 32
OLDER_MAX_USED_COUNTERS: Final = 1024
"""Of all devices, before 1.35."""
LABEL_BYTES: Final = 63
MAX_CONSUMPTIONS: Final = 2
MAX_RULE_CONDITIONS: Final = 8
VALUE_BYTES: Final = 64
PROPERTY_NAME_BYTES: Final = DRIVER_NAME_MAX_BYTES + 1 + resource_claims.IDENTIFIER_BYTES
ONE_PLACE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
OLDER_PLACE: Final = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required"
ONE_PLACE_EACH: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
NO_PLACE_EACH: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
    "to true in the ResourceSlice spec"
)
TRUE_OR_UNSET: Final = "must be either unset or set to true"
ONE_VALUE: Final = "exactly one value must be specified"
KINDS_OF_LISTS: Final = ("bools", "ints", "strings", "versions")
KINDS_OF_VALUES: Final = ("bool", "int", "string", "version", *KINDS_OF_LISTS)
_NUMBER: Final = "(0|[1-9][0-9]*)"
_PRERELEASE: Final = "((?:0|[1-9][0-9]*+)(?![0-9a-zA-Z-])|[0-9]*+[a-zA-Z-][0-9a-zA-Z-]*+)"
_SEMVER: Final = late_pattern(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*+)?"
    r"(\+[0-9a-zA-Z-]++(\.[0-9a-zA-Z-]++)*+)?"
)
NO_VERSION: Final = "must be a string compatible with semver.org spec 2.0.0"
_STATUS: Final = FieldPath("status")


def resource_slice(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new ResourceSlice, besides its metadata."""
    # As `ValidateResourceSlice` of `pkg/apis/resource/validation`.
    return _slice(obj.get("spec") or {}, None)


def resource_slice_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a slice: its driver, pool and node stay."""
    # As `ValidateResourceSliceUpdate` of `pkg/apis/resource/validation`.
    return _slice(obj.get("spec") or {}, old.get("spec") or {})


def _slice(spec: JsonObject, before: JsonObject | None) -> Errors:
    # As `validateResourceSliceSpec` of `pkg/apis/resource/validation`.
    pool, path = spec.get("pool") or {}, SPEC.child("pool")
    yield from driver_name(SPEC.child("driver"), spec.get("driver") or "")
    yield from resource_claims.pool_name(path.child("name"), resource_claims.name_of(pool))
    yield from broken_rules("resource.v1.ResourcePool", pool, path)
    if before is not None:
        yield from changed_fields("resource.v1.ResourcePool", pool, before.get("pool") or {}, path)
        new, old = _with_node(spec), _with_node(before)
        yield from changed_fields("resource.v1.ResourceSliceSpec", new, old, SPEC)
    yield from _place(spec)
    is_exclusive = is_since("1.35") and spec.get("sharedCounters") is not None
    if is_exclusive and spec.get("devices") is not None:
        yield fieldpath.invalid(SPEC, "", "only one of `sharedCounters` or `devices` is allowed")
    yield from _devices(spec, before or {})
    yield from _older_totals(spec)
    yield from resource_claims.distinct(
        SPEC.child("sharedCounters"),
        spec.get("sharedCounters"),
        MAX_COUNTER_SETS if is_since("1.35") else resource_claims.UNLIMITED,
        _counter_set,
        resource_claims.name_of,
        "name",
    )


def _with_node(spec: JsonObject) -> JsonObject:
    """Return a spec with the name of its node, which before 1.33 was a text that may be empty."""
    return spec if is_since("1.33") else {**spec, "nodeName": spec.get("nodeName") or ""}


def _older_place(spec: JsonObject) -> Errors:
    """Yield what is wrong with the place of the devices, before 1.33: what is false or empty counts
    as absent."""
    name, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if name:
        yield from dns_subdomain(SPEC.child("nodeName"), name)
    if selector is not None:
        yield from _chosen_nodes(SPEC.child("nodeSelector"), selector)
    places = sum((bool(name), selector is not None, bool(spec.get("allNodes"))))
    if not places:
        yield fieldpath.required(SPEC, OLDER_PLACE)
    elif places > 1:
        printed = None if is_since("1.32") else GoValue(spec, "resource.ResourceSliceSpec")
        yield fieldpath.invalid(SPEC, printed, OLDER_PLACE)


def _chosen_nodes(path: FieldPath, selector: JsonObject) -> Errors:
    yield from node_selector(path, selector)
    node_selector_terms = selector.get("nodeSelectorTerms")
    terms = [internal_value(term, "core.v1.NodeSelectorTerm") for term in node_selector_terms or ()]
    if len(terms) != 1:
        of_go = GoValue(None if node_selector_terms is None else terms, "[]core.NodeSelectorTerm")
        yield fieldpath.invalid(path.child("nodeSelectorTerms"), of_go, _ONE_TERM.text)


_ONE_TERM: Final = wording(
    "must have exactly one node selector term", v1_32="must have exactly one selector term"
)


def _place(spec: JsonObject) -> Errors:
    if not is_since("1.33"):
        yield from _older_place(spec)
        return
    places: list[str] = []
    name = spec.get("nodeName")
    if name == "":
        detail = "must be either unset or set to a non-empty string"
        yield fieldpath.invalid(SPEC.child("nodeName"), name, detail)
    elif name is not None:
        places.append("`nodeName`")
        yield from dns_subdomain(SPEC.child("nodeName"), name)
    selector, path = spec.get("nodeSelector"), SPEC.child("nodeSelector")
    if selector is not None:
        places.append("`nodeSelector`")
        yield from _chosen_nodes(path, selector)
    for field in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(field):
            places.append(f"`{field}`")
        elif spec.get(field) is not None:
            yield fieldpath.invalid(SPEC.child(field), spec[field], TRUE_OR_UNSET)
    if not places:
        yield fieldpath.required(SPEC, ONE_PLACE)
    elif len(places) > 1:
        shown_places = f"{{{', '.join(places)}}}"
        yield fieldpath.invalid(SPEC, shown_places, f"{ONE_PLACE}, but multiple fields are set")


def _devices(spec: JsonObject, before: JsonObject) -> Errors:
    devices = [_flat(device) for device in spec.get("devices") or ()]
    if not is_since("1.33"):
        devices_path, value = SPEC.child("devices"), spec.get("devices")
        yield from resource_claims.distinct(
            devices_path, value, MAX_DEVICES, _older_device, resource_claims.name_of, "name"
        )
        return
    special = any(map(_is_special, devices)) and is_since("1.35")
    old = {resource_claims.name_of(device): _flat(device) for device in before.get("devices") or ()}
    placed = bool(spec.get("perDeviceNodeSelection"))

    shared = {
        resource_claims.name_of(shared_counter): shared_counter.get("counters") or {}
        for shared_counter in spec.get("sharedCounters") or ()
    }

    def device(path: FieldPath, data: JsonObject) -> Errors:
        yield from _device(path, data, old.get(resource_claims.name_of(data)))
        yield from _older_consumptions(path, data, shared)
        yield from _device_place(path, data, placed=placed)
        yield from resource_claims.binding_conditions(path, data)
        yield from _node_resources(path, data)

    limit = MAX_SPECIAL_DEVICES if special else MAX_DEVICES
    yield from resource_claims.distinct(
        SPEC.child("devices"), devices, limit, device, resource_claims.name_of, "name"
    )


def _node_resources(path: FieldPath, device: JsonObject) -> Errors:
    """Resources of a node that a device takes, which is told in multiples or as a capacity."""
    # As `validateNodeAllocatableResourceMappings` of `pkg/apis/resource/validation`.
    capacities = device.get("capacity") or {}
    for name, mapping in entries(device, "nodeAllocatableResourceMappings"):
        field_path = path.child("nodeAllocatableResourceMappings").key(name)
        if not is_native(name):
            detail = "must be a node allocatable resource name"
            yield fieldpath.invalid(field_path, NamedText(name), detail)
        times, key = mapping.get("allocationMultiplier"), mapping.get("capacityKey")
        if times is None and key is None:
            detail = "at least one of allocationMultiplier or capacityKey must be set"
            yield fieldpath.invalid(field_path, "", detail)
        if times is not None and parse_amounts(times).sign <= 0:
            allocation_multiplier_path = field_path.child("allocationMultiplier")
            yield fieldpath.invalid(
                allocation_multiplier_path, str(parse_amounts(times)), "must be positive"
            )
        if key == "":
            detail = "capacityKey must not be an empty string"
            yield fieldpath.invalid(field_path.child("capacityKey"), "", detail)
        elif key is not None and key not in capacities:
            yield fieldpath.not_found(field_path.child("capacityKey"), NamedText(key))


def _older_device(path: FieldPath, device: JsonObject) -> Errors:
    """Check a device before 1.33, whose properties stand in `basic`."""
    yield from dns_label(path.child("name"), resource_claims.name_of(device))
    basic, basic_path = device.get("basic"), path.child("basic")
    if basic is None:
        yield fieldpath.required(basic_path)
        return
    yield from _properties(basic_path, basic, lambda _where, _value: NO_ERRORS)
    yield from _property_count(basic_path, basic)


def _is_special(device: JsonObject) -> bool:
    lists = (
        attribute.get(kind) is not None
        for attribute in (device.get("attributes") or {}).values()
        for kind in KINDS_OF_LISTS
    )
    return bool(device.get("taints") or device.get("consumesCounters")) or any(lists)


def _flat(device: JsonObject) -> JsonObject:
    """Return a device with its properties, which in `v1beta1` stand in `basic`."""
    return {**device, **device["basic"]} if device.get("basic") is not None else device


def _device(path: FieldPath, device: JsonObject, before: JsonObject | None) -> Errors:
    # As `validateDevice` of `pkg/apis/resource/validation`.
    yield from dns_label(path.child("name"), resource_claims.name_of(device))
    yield from _property_count(path, device)
    values = sum(map(_value_count, (device.get("attributes") or {}).values()))
    if values > MAX_VALUES:
        detail = f"the total number of attribute values must not exceed {MAX_VALUES}"
        yield fieldpath.invalid(path, values, detail)
    shared = bool(device.get("allowMultipleAllocations"))

    def amount(path: FieldPath, value: JsonObject | str) -> Errors:
        if isinstance(value, str):  # in v1alpha3
            return NO_ERRORS
        return capacity(path, value, shared=shared)

    yield from _properties(path, device, amount)
    if before is None or before.get("taints") != device.get("taints") or not is_since("1.35"):
        limit = MAX_TAINTS if is_since("1.35") else OLDER_MAX_TAINTS
        yield from resource_claims.limited(
            path.child("taints"), device.get("taints"), limit, resource_claims.taint
        )
    yield from resource_claims.distinct(
        path.child("consumesCounters"),
        device.get("consumesCounters"),
        MAX_CONSUMPTIONS if is_since("1.35") else resource_claims.UNLIMITED,
        _consumption,
        lambda value: value.get("counterSet") or "",
        "counterSet",
    )


def _property_count(path: FieldPath, device: JsonObject) -> Errors:
    count = len(device.get("attributes") or ()) + len(device.get("capacity") or ())
    if count > MAX_PROPERTIES:
        detail = f"the total number of attributes and capacities must not exceed {MAX_PROPERTIES}"
        yield fieldpath.invalid(path, count, detail)


def _properties(path: FieldPath, device: JsonObject, amount: resource_claims.Item) -> Errors:
    """Attributes and capacities. Where a bad name stands was said from 1.32 to 1.35."""
    for field, rule in (("attributes", _attribute), ("capacity", amount)):
        for name, value in entries(device, field):
            text = shortened(name, PROPERTY_NAME_BYTES) if is_since("1.32") else name
            field_path = path.child(field).key(text)
            is_named = is_since("1.32") and not is_since("1.36")
            yield from resource_claims.qualified_identifier(
                field_path if is_named else path.child(field), name
            )
            yield from rule(field_path, value)


def _value_count(attribute: JsonObject) -> int:
    """Count the values of an attribute. One with nothing in its lists counts as one value."""
    return sum(len(attribute.get(kind) or ()) for kind in KINDS_OF_LISTS) or 1


def shortened(name: str, limit: int) -> str:
    """Return the key of a map in a path: without its middle if it is too long."""
    if len(name) <= limit:
        return name
    left = limit - len("...")
    return f"{name[: (left + 1) // 2]}...{name[len(name) - left // 2 :]}"


def _attribute(path: FieldPath, attribute: JsonObject) -> Errors:
    # As `validateDeviceAttribute` of `pkg/apis/resource/validation`.
    kinds_of_values = [kind for kind in KINDS_OF_VALUES if attribute.get(kind) is not None]
    for kind in kinds_of_values:
        if kind in KINDS_OF_LISTS and not attribute[kind]:
            detail = "must not be empty if specified"
            yield fieldpath.invalid(path.child(kind), attribute[kind], detail)
        values = attribute[kind] if kind.endswith("s") else [attribute[kind]]
        for index, value in enumerate(values):
            field_path = path.child(kind).index(index) if kind.endswith("s") else path.child(kind)
            yield from _text(field_path, value, is_version=kind.startswith("version"))
    if not kinds_of_values and not is_since("1.35"):
        yield fieldpath.required(path, ONE_VALUE)
    elif len(kinds_of_values) != 1:
        printed = GoValue(
            internal_value(attribute, "resource.v1.DeviceAttribute"), "resource.DeviceAttribute"
        )
        yield fieldpath.invalid(
            path,
            printed if kinds_of_values else "",
            _ONE_OF_SEVERAL.text if kinds_of_values else ONE_VALUE,
        )


_ONE_OF_SEVERAL: Final = wording(ONE_VALUE, v1_32="exactly one field must be specified")


def is_semver(text: str) -> bool:
    """Return whether an attribute can have it as its version."""
    return _SEMVER.fullmatch(text) is not None


def _text(path: FieldPath, value: object, *, is_version: bool) -> Errors:
    if not isinstance(value, str):
        return
    if is_version and not is_semver(value):
        yield fieldpath.invalid(path, value, NO_VERSION)
    if len(value.encode()) > VALUE_BYTES:
        yield fieldpath.too_long(path, VALUE_BYTES, is_bare=True)


def _counters(path: FieldPath, value: JsonObject) -> Errors:
    counters, counters_path = value.get("counters") or {}, path.child("counters")
    if not counters:
        yield fieldpath.required(counters_path)
    elif len(counters) > MAX_COUNTERS and is_since("1.35"):
        yield from at_most(counters_path, counters, MAX_COUNTERS)
    else:
        for name in sorted(counters):
            named = (
                counters_path
                if is_since("1.36")
                else counters_path.key(shortened(name, LABEL_BYTES))
            )
            yield from dns_label(named, name)


def _named_counters(field: str) -> resource_claims.Item:
    # As `validateCounterSet` of `pkg/apis/resource/validation`.
    def rule(path: FieldPath, value: JsonObject) -> Errors:
        name = value.get(field) or ""
        if not name:
            yield fieldpath.required(path.child(field))
        elif field == "name" or is_since("1.35"):
            yield from dns_label(path.child(field), name)
        yield from _counters(path, value)

    return rule


@until("1.35")
def _older_totals(spec: JsonObject) -> Errors:
    """Yield an error for too many counters in a slice; since then each set of them has a limit of
    its own."""
    used = sum(map(_counted, map(_flat, spec.get("devices") or ())))
    if used > OLDER_MAX_USED_COUNTERS:
        detail = (
            f"the total number of counters in devices must not exceed {OLDER_MAX_USED_COUNTERS}"
        )
        yield fieldpath.invalid(SPEC.child("devices"), used, detail)
    shared = sum(
        len(shared_counter.get("counters") or ())
        for shared_counter in spec.get("sharedCounters") or ()
    )
    if shared > MAX_COUNTERS:
        detail = f"the total number of shared counters must not exceed {MAX_COUNTERS}"
        yield fieldpath.invalid(SPEC.child("sharedCounters"), shared, detail)


def _counted(device: JsonObject) -> int:
    return sum(
        len(consumes_counter.get("counters") or ())
        for consumes_counter in device.get("consumesCounters") or ()
    )


@until("1.35")
def _older_consumptions(
    path: FieldPath, device: JsonObject, shared: Mapping[str, JsonObject]
) -> Errors:
    """Yield what is wrong with what a device consumes, as long as that stood in the same slice;
    since then it is in another one."""
    count = _counted(device)
    if count > MAX_COUNTERS:
        detail = f"the total number of counters must not exceed {MAX_COUNTERS}"
        yield fieldpath.invalid(path, count, detail)
    for index, consumes_counter in enumerate(device.get("consumesCounters") or ()):
        field_path, name = (
            path.child("consumesCounters").index(index),
            consumes_counter.get("counterSet") or "",
        )
        if name not in shared:
            detail = "must reference a counterSet defined in the ResourceSlice sharedCounters"
            yield fieldpath.invalid(field_path.child("counterSet"), name, detail)
            continue
        for counter in sorted(set(consumes_counter.get("counters") or ()) - set(shared[name])):
            detail = "must reference a counter defined in the ResourceSlice sharedCounters"
            yield fieldpath.invalid(field_path.child("counters"), counter, detail)


_counter_set: Final = _named_counters("name")
_consumption: Final = _named_counters("counterSet")


def _device_place(path: FieldPath, device: JsonObject, *, placed: bool) -> Errors:
    fields = ("nodeName", "nodeSelector", "allNodes")
    present = [field for field in fields if device.get(field) is not None]
    if not placed:
        if present:
            yield fieldpath.invalid(path, None, NO_PLACE_EACH)
        return
    places: list[str] = []
    for field in present:
        value, field_path = device[field], path.child(field)
        if value == "":
            yield fieldpath.invalid(field_path, value, "must not be empty")
            continue
        if value is False:
            yield fieldpath.invalid(field_path, value, TRUE_OR_UNSET)
            continue
        places.append(f"`{field}`")
        if field == "nodeName":
            yield from dns_subdomain(field_path, value)
        elif field == "nodeSelector":
            yield from node_selector(field_path, value)
    if not places:
        yield fieldpath.required(path, ONE_PLACE_EACH)
    elif len(places) > 1:
        yield fieldpath.invalid(path, f"{{{', '.join(places)}}}", ONE_PLACE_EACH)


def taint_rule(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new DeviceTaintRule, besides its metadata."""
    # As `ValidateDeviceTaintRule` of `pkg/apis/resource/validation`.
    return _taint_rule(obj.get("spec") or {}, None)


def taint_rule_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a changed DeviceTaintRule."""
    # As `ValidateDeviceTaintRuleUpdate` of `pkg/apis/resource/validation`.
    return _taint_rule(obj.get("spec") or {}, (old.get("spec") or {}).get("taint") or {})


def _taint_rule(spec: JsonObject, before: JsonObject | None) -> Errors:
    chosen, path = spec.get("deviceSelector") or {}, SPEC.child("deviceSelector")
    for field, rule in (
        ("deviceClassName", dns_subdomain),  # this one and the selectors until 1.34
        ("driver", driver_name),
        ("pool", resource_claims.pool_name),
        ("device", dns_label),
    ):
        if chosen.get(field) is not None:
            yield from rule(path.child(field), chosen[field])
    yield from resource_claims.selectors(path.child("selectors"), chosen.get("selectors"))
    yield from resource_claims.taint(SPEC.child("taint"), spec.get("taint") or {}, before)


def taint_rule_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Validate the status of a rule, which has a handful of conditions."""
    # As `ValidateDeviceTaintRuleStatusUpdate` of `pkg/apis/resource/validation`.
    status = obj.get("status") or {}
    yield from conditions(_STATUS, status)
    yield from at_most(_STATUS.child("conditions"), status.get("conditions"), MAX_RULE_CONDITIONS)


# --- Status of pools ----------------------------------------------------------
#
# What is asked about the pools of a driver, and the answer, which is given once.
#
# Most is said by the declarative rules of `pkg/apis/resource/v1alpha3`, which look at what changed.

POOL_BOUNDS: Final = {
    "resourceSliceCount": 1,
    "totalDevices": 0,
    "allocatedDevices": 0,
    "availableDevices": 0,
    "unavailableDevices": 0,
}
"""The smallest numbers that may be told of a pool."""
MAX_POOLS: Final = 1000
MAX_POOL_CONDITIONS: Final = 10
MAX_POOL_ERROR_BYTES: Final = 256


def pool_status_request(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourcePoolStatusRequest, besides its metadata."""
    spec = obj.get("spec") or {}
    yield from required_name(SPEC.child("driver"), spec.get("driver") or "", _any_case)
    if spec.get("poolName") is not None:
        yield from _segments(SPEC.child("poolName"), spec["poolName"])
    limit, path = spec.get("limit"), SPEC.child("limit")
    if limit is not None and limit > MAX_POOLS:
        yield fieldpath.invalid(path, limit, f"must be less than or equal to {MAX_POOLS}")
    if limit is not None and limit < 1:
        yield fieldpath.invalid(path, limit, "must be greater than or equal to 1")


def pool_status_request_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if what is asked for has changed."""
    if obj.get("spec") != old.get("spec"):
        yield fieldpath.invalid(SPEC, None, IMMUTABLE)


def pool_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with an answer, which stays as it is once it is there."""
    # As `ValidateResourcePoolStatusRequestStatusUpdate` of `pkg/apis/resource/validation`.
    status, before = obj.get("status"), old.get("status")
    if status is not None and before is None:
        yield from conditions(_STATUS, status)
    elif status != before:
        yield fieldpath.invalid(_STATUS, None if status is None else _shown(status), IMMUTABLE)
    if status is not None:
        yield from _answer(status, before or {})


def _answer(status: JsonObject, before: JsonObject) -> Errors:
    count, path = status.get("poolCount"), _STATUS.child("poolCount")
    if count is None:
        yield fieldpath.required(path)
    elif count != before.get("poolCount"):
        yield from not_negative(status, _STATUS, "poolCount")
    for field, limit in (("pools", MAX_POOLS), ("conditions", MAX_POOL_CONDITIONS)):
        values = status.get(field)
        if not values or values == before.get(field):
            continue
        if len(values) > limit:
            yield fieldpath.too_many(_STATUS.child(field), len(values), limit)
        elif field == "pools":
            for pool_path, pool in items(status, field, _STATUS):
                yield from _pool(pool_path, pool)
        else:
            yield from _repeated(values)


def _pool(path: FieldPath, pool: JsonObject) -> Errors:
    yield from required_name(path.child("driver"), pool.get("driver") or "", _any_case)
    name, pool_name_path = pool.get("poolName") or "", path.child("poolName")
    yield from _segments(pool_name_path, name) if name else (fieldpath.required(pool_name_path),)
    generation, pool_name_path = pool.get("generation") or 0, path.child("generation")
    if not generation:
        yield fieldpath.required(pool_name_path)
    yield from not_negative(pool, path, "generation")
    for field, low in POOL_BOUNDS.items():
        if pool.get(field) is not None and pool[field] < low:
            detail = f"must be greater than or equal to {low}"
            yield fieldpath.invalid(path.child(field), pool[field], detail)
    if pool.get("nodeName") is not None:
        yield from long_name(path.child("nodeName"), pool["nodeName"])
    if len((pool.get("validationError") or "").encode()) > MAX_POOL_ERROR_BYTES:
        yield fieldpath.too_long(path.child("validationError"), MAX_POOL_ERROR_BYTES)


def _any_case(name: str) -> list[str]:
    """Return what is wrong with it, in words that say that capitals are fine."""
    return [
        detail.replace("a lowercase RFC", "an RFC")
        .replace("lower case alphanumeric", "alphanumeric")
        .replace("'example.com'", "'Example.com'")
        for detail in name_rules.long_name(name.lower())
    ]


def _segments(path: FieldPath, name: str) -> Errors:
    # As `ResourcePoolName` of k8s.io/apimachinery `pkg/api/validate`.
    if len(name.encode()) > resource_claims.POOL_NAME_BYTES:
        yield fieldpath.too_long(path, resource_claims.POOL_NAME_BYTES)
    for index, part in enumerate(name.split("/")):
        whys = name_rules.long_name(part) if part else ["must not be empty"]
        for detail in whys:
            yield fieldpath.invalid(path, part or name, f"segment {index}: {detail}")


def _repeated(conditions: Sequence[JsonObject]) -> Errors:
    """Yield an error for each condition of a type that was there before, shown as a whole."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind = condition.get("type") or ""
        if kind in seen:
            yield fieldpath.duplicate(
                _STATUS.child("conditions").index(index), printed_condition(condition)
            )
        seen.add(kind)


def _shown(status: JsonObject) -> JsonObject:
    """Return it as it is inside of a server."""
    pools, conditions = status.get("pools"), status.get("conditions")
    return {
        "PoolCount": status.get("poolCount"),
        "Pools": None if pools is None else list(map(_shown_pool, pools)),
        "Conditions": None if conditions is None else list(map(printed_condition, conditions)),
    }


def _shown_pool(pool: JsonObject) -> JsonObject:
    texts = {field: pool.get(field) or "" for field in ("driver", "poolName")}
    generation = {"generation": pool.get("generation") or 0}
    more = {field: pool.get(field) for field in (*POOL_BOUNDS, "nodeName", "validationError")}
    return {
        name[0].upper() + name[1:]: value for name, value in {**texts, **generation, **more}.items()
    }
