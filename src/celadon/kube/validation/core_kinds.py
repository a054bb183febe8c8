"""Validation of Nodes, ConfigMaps, Secrets and Events.

As k8s.io/kubernetes `pkg/apis/core/validation`. Taints are complained about below `metadata`, where
they stood as an annotation once.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import fieldpath, metadata, name_rules
from celadon.kube.fieldpath import ErrorType, FieldError, FieldPath
from celadon.kube.go.go_json import JsonSyntaxError, check_syntax, without_double
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation import object_meta, text_rules
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    METADATA,
    NOT_POSITIVE,
    SPEC,
    Errors,
    changed_fields,
    each,
    entries,
    items,
    qualified_name,
    required_choice,
)
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.pods.pod_placement import EFFECTS
from celadon.kube.validation.pods.resource_lists import quantity_value
from celadon.kube.well_known_values import TLS_SECRET
from celadon.late_patterns import late_pattern

_STATUS: Final = FieldPath("status")
_RANGES: Final = SPEC.child("podCIDRs")
_ONE_SOURCE: Final = "exactly one reference subfield must be non-nil"
RANGES_STAY: Final = 'node updates may not change podCIDR except from "" to valid'
MAX_FEATURE_BYTES: Final = 253
_FEATURE: Final = late_pattern("[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
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
            {text_rules.TAINTS: text_rules.annotated_taints(notes)}, text_rules.TAINTS, path
        )
    except text_rules.AnnotationError as error:
        yield fieldpath.invalid(path, text_rules.TAINTS, str(error))
    try:
        avoided = text_rules.avoided_pods(notes)
    except text_rules.AnnotationError as error:
        yield fieldpath.invalid(path.child("AvoidPods"), text_rules.AVOIDED_PODS, str(error))
        return
    for item_path, entry in items(
        {text_rules.AVOIDED_PODS: avoided}, text_rules.AVOIDED_PODS, path
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
        yield from text_rules.label_name(item_path.child("key"), key)
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
    """The features that a kubelet declares: sorted, each once."""
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
        yield from text_rules.older_range(_RANGES.index(index), cidr)
    if len(ranges) < 2:
        return
    prefixes = [text_rules.network(word) for word in ranges]
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
        "kubeletConfigKey": text_rules.config_key,
    }
    for field, rule in rules.items():
        value = result.get(field) or ""
        if value:
            yield from each(config_map_path.child(field), value, rule(value))
        else:
            detail = "" if is_since("1.34") else f"{field} must be set"
            yield fieldpath.required(config_map_path.child(field), detail)


# --- Config data -------------------------------------------------------------
#
# ConfigMaps and Secrets.


MAX_BYTES: Final = 1024 * 1024
"""All values of one object together."""

FIXED: Final = "field is immutable when `immutable` is set"
ACCOUNT: Final = "kubernetes.io/service-account.name"
REDACTED: Final = "<secret contents redacted>"
JSON_STARTS: Final = {"[": "array", '"': "string", "tf": "bool", "-0123456789": "number"}
"""What a JSON value is that begins so, where an object is wanted."""

_DATA: Final = FieldPath("data")
_BINARY: Final = FieldPath("binaryData")


def _decoded(value: str) -> bytes:
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return b""


def config_map(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ConfigMap, besides its metadata."""
    # As `ValidateConfigMap` of `pkg/apis/core/validation`.
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    total = len("".join(data.values()).encode("utf-8", "surrogatepass"))
    if binary or not text_rules.are_config_keys(data):
        for key in sorted(data):
            yield from each(_DATA.key(key), key, text_rules.config_key(key))
            if key in binary:
                reason = "duplicate of key present in binaryData"
                yield fieldpath.invalid(_DATA.key(key), key, reason)
    for key, value in entries(obj, "binaryData"):
        if wrong := text_rules.config_key(key):
            yield from each(_BINARY.key(key), key, wrong)
        total += len(_decoded(value))
    if total > MAX_BYTES:
        yield fieldpath.too_long(FieldPath(""), MAX_BYTES)


def config_map_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update: an immutable ConfigMap may not change, nor become mutable."""
    # As `ValidateConfigMapUpdate` of `pkg/apis/core/validation`.
    yield from _frozen(obj, old, "data", "binaryData")
    yield from config_map(obj)


def _frozen(obj: JsonObject, old: JsonObject, *fields: str) -> Errors:
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        yield fieldpath.forbidden(FieldPath("immutable"), FIXED)
    for field in fields:
        if (obj.get(field) or {}) != (old.get(field) or {}):
            yield fieldpath.forbidden(FieldPath(field), FIXED)


def secret(obj: JsonObject) -> Errors:
    """Yield what is wrong with a Secret, besides its metadata."""
    # As `ValidateSecret` of `pkg/apis/core/validation`.
    data = obj.get("data") or {}
    if not text_rules.are_config_keys(data):
        for key in sorted(data):
            yield from each(_DATA.key(key), key, text_rules.config_key(key))
    if sum(len(_decoded(value)) for value in data.values()) > MAX_BYTES:
        yield fieldpath.too_long(_DATA, MAX_BYTES)
    yield from _typed(obj)


def _typed(obj: JsonObject) -> Errors:
    kind, data = obj.get("type") or "", obj.get("data") or {}
    if kind == "kubernetes.io/service-account-token":
        notes = (obj.get("metadata") or {}).get("annotations") or {}
        if not notes.get(ACCOUNT):
            yield fieldpath.required(FieldPath("metadata", "annotations").key(ACCOUNT))
    elif kind in DOCKER_KEYS:
        yield from _docker(data, DOCKER_KEYS[kind])
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            yield from (fieldpath.required(_DATA.key(key)) for key in ("username", "password"))
    elif kind == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            yield fieldpath.required(_DATA.key("ssh-privatekey"))
    elif kind == TLS_SECRET:
        missing = [key for key in ("tls.crt", "tls.key") if key not in data]
        yield from (fieldpath.required(_DATA.key(key)) for key in missing)


DOCKER_KEYS: Final = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


def _docker(data: JsonObject, key: str) -> Errors:
    path = _DATA.key(key)
    if key not in data:
        yield fieldpath.required(path)
        return
    try:
        yield from _json_object(path, _decoded(data[key]).decode("utf-8", "surrogateescape"))
    except JsonSyntaxError as error:
        yield fieldpath.invalid(path, REDACTED, str(error))


def _json_object(path: FieldPath, text: str) -> Errors:
    check_syntax(text)
    json_starts = next(
        (name for start, name in JSON_STARTS.items() if text.strip()[:1] in start), ""
    )
    if json_starts:
        detail = (
            f"json: cannot unmarshal {json_starts} into Go value of type map[string]interface {{}}"
        )
        yield fieldpath.invalid(path, REDACTED, detail)
    elif number := without_double(text):
        detail = f"json: cannot unmarshal number {number} into Go value of type float64"
        yield fieldpath.invalid(path, REDACTED, detail)


def secret_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update: an immutable Secret may not change, nor become mutable; the type
    never."""
    # As `ValidateSecretUpdate` of `pkg/apis/core/validation`.
    yield from changed_fields("core.v1.Secret", obj, old, FieldPath())
    yield from _frozen(obj, old, "data")
    yield from secret(obj)


# --- Events ------------------------------------------------------------------
#
# Events: of the core group, and of their own, which has names of its own for most fields.
#
# As k8s.io/kubernetes `pkg/apis/core/validation/events.go`: inside there is one kind of Event,
# and both are complained about by the names it has there.


MAX_WORD: Final = 128
MAX_MESSAGE: Final = 1024
TYPES: Final = ("Normal", "Warning")
CORE_NAMES: Final = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "deprecatedSource": "source",
}
"""Fields of `events.k8s.io` and what they are called in the core group, and inside."""
_NAMING: Final = object_meta.Naming()
_ROOT: Final = FieldPath()
_UNSET: Final = "needs to be unset"


def core_event(obj: JsonObject) -> Errors:
    """Yield what is wrong with an Event of the core group, which keeps the old rules for events
    without a time of their own."""
    return _event(obj, "reportingComponent", obj.get("reportingComponent") or "")


def _event(obj: JsonObject, reporter_field: str, reporter: str) -> Errors:
    namespace = (obj.get("metadata") or {}).get("namespace") or ""
    involved = (obj.get("involvedObject") or {}).get("namespace") or ""
    if obj.get("eventTime"):
        fits = bool(involved) or namespace in {"default", "kube-system"}
    elif involved:
        fits = involved == namespace
    else:
        fits = namespace in {"", "default"}
    if not fits:
        path = FieldPath("involvedObject", "namespace")
        yield fieldpath.invalid(path, involved, "does not match event.namespace")
    if obj.get("eventTime"):
        yield from _timed_event(obj, _ROOT.child(reporter_field), reporter)


def _timed_event(obj: JsonObject, reporter_path: FieldPath, reporter: str) -> Errors:
    if not reporter:
        yield fieldpath.required(reporter_path)
    yield from qualified_name(reporter_path, reporter)
    for field in ("reportingInstance", "action", "reason"):
        value = obj.get(field) or ""
        if not value:
            yield fieldpath.required(_ROOT.child(field))
        if len(value.encode()) > MAX_WORD:
            detail = f"can have at most {MAX_WORD} characters"
            yield fieldpath.invalid(_ROOT.child(field), "", detail)
    if len((obj.get("message") or "").encode()) > MAX_MESSAGE:
        detail = f"can have at most {MAX_MESSAGE} characters"
        yield fieldpath.invalid(_ROOT.child("message"), "", detail)


def _inside(obj: JsonObject) -> JsonDict:
    """An Event of `events.k8s.io` by the names of the core group."""
    return {CORE_NAMES.get(field, field): value for field, value in obj.items()}


def event(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new Event of `events.k8s.io`, its metadata included."""
    inside = _inside(obj)
    yield from _event(inside, "reportingController", obj.get("reportingController") or "")
    yield from object_meta.validate_object_meta(obj.get("metadata") or {}, _NAMING)
    yield from object_meta.standard_finalizers(obj.get("metadata") or {}, _NAMING)
    yield from _series(inside)
    if not inside.get("eventTime"):
        yield fieldpath.required(_ROOT.child("eventTime"))
    kind = inside.get("type") or ""
    if kind not in TYPES:
        yield fieldpath.invalid(_ROOT.child("type"), "", f"has invalid value: {kind}")
    for field in ("firstTimestamp", "lastTimestamp", "count"):
        if inside.get(field):
            yield fieldpath.invalid(_ROOT.child(field), "", _UNSET)
    source = inside.get("source") or {}
    if source.get("component") or source.get("host"):
        yield fieldpath.invalid(_ROOT.child("source"), "", _UNSET)


def _series(inside: JsonObject) -> Errors:
    # As `validateV1EventSeries` of `pkg/apis/core/validation`.
    series = inside.get("series")
    if series is None:
        return
    if (series.get("count") or 0) < 2:
        yield fieldpath.invalid(FieldPath("series.count"), "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield fieldpath.required(FieldPath("series.lastObservedTime"))


def event_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a changed Event: only its series may change."""
    # As `ValidateEventUpdate` of `pkg/apis/core/validation`.
    inside, before = _inside(obj), _inside(old)
    yield from _event(inside, "reportingController", obj.get("reportingController") or "")
    yield from object_meta.validate_object_meta_update(
        obj.get("metadata") or {}, old.get("metadata") or {}
    )
    yield from object_meta.standard_finalizers(obj.get("metadata") or {}, _NAMING)
    if inside.get("series") != before.get("series"):
        yield from _series(inside)
    for field in LASTING:
        zero = ZEROS.get(field, "")
        new, was = (item.get(field) or zero for item in (inside, before))
        if field == "related":  # the only pointer: an empty reference is one
            new, was = inside.get(field), before.get(field)
        if new != was:
            printed = _printed_reference(new) if isinstance(new, dict) else new
            yield fieldpath.invalid(_ROOT.child(field), printed, IMMUTABLE)


LASTING: Final = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count"),
    *("reason", "type", "eventTime", "action", "related", "reportingController"),
    "reportingInstance",
)
"""What may not change, in upstream's order: a reason is looked at twice."""
ZEROS: Final[JsonObject] = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "count": 0,
    "eventTime": None,
    "related": None,
}
"""What such a field is when it is not there, where that is no empty text."""


def _printed_reference(value: JsonObject) -> JsonDict:
    """Return what Go prints of the structs, whose fields have no JSON names."""
    if "component" in value or "host" in value:
        return {field: value.get(field.lower()) or "" for field in ("Component", "Host")}
    names = {
        "Kind": "kind",
        "Namespace": "namespace",
        "Name": "name",
        "UID": "uid",
        "APIVersion": "apiVersion",
        "ResourceVersion": "resourceVersion",
        "FieldPath": "fieldPath",
    }
    return {key: value.get(field) or "" for key, field in names.items()}
