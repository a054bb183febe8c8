"""Claims, classes and slices of devices as release 1.30 has them, in `resource.k8s.io/v1alpha2`.

A driver's controller allocates what a claim asks for, or the scheduler does, from the parameters
and slices that are here. Later releases have other fields behind the same names.
PodSchedulingContexts were there until 1.31.

As k8s.io/kubernetes `pkg/apis/resource/validation` and `structured/namedresources/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.cel import Environment, ProgramError
from celadon.cel.extend import types
from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.library.costs import QUANTITY, SEMVER
from celadon.kube.library.environments import environment
from celadon.kube.releases import current_release, is_since, per_release, previous_minor
from celadon.kube.validation import resource_claim_statuses
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    SPEC,
    Errors,
    dns_label,
    dns_subdomain,
    driver_name,
    immutable,
    items,
    present,
    supported,
)
from celadon.kube.validation.object_meta import CLUSTER, Validation, inherited_metadata
from celadon.kube.validation.pods.pod_placement import node_selector
from celadon.kube.validation.resource_claims import distinct
from celadon.kube.validation.resource_slices import NO_VERSION, is_semver
from celadon.kube.validation.storage import BINDING_MODES

MAX_CONSUMERS: Final = 32
MAX_HANDLES: Final = 32
MAX_HANDLE_BYTES: Final = 16 * 1024
MAX_NODES: Final = 128
NO_DRIVER: Final = "must be specified when `allocation` is set"

_STATUS: Final = FieldPath("status")
_ROOT: Final = FieldPath()
_ONE_MODEL: Final = "exactly one structured model field must be set"
_VALUES: Final = ("bool", "int", "intSlice", "quantity", "string", "stringSlice", "version")

Item = Callable[[FieldPath, Any], Errors]


# --- Claims and templates ----------------------------------------------------


def claim(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourceClaim, besides its metadata."""
    return _claim_spec(SPEC, obj.get("spec") or {})


def claim_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a changed ResourceClaim: what it asks for must stay."""
    if obj.get("spec") != old.get("spec"):
        printed = GoValue(obj.get("spec"), "resource.ResourceClaimSpec")
        yield fieldpath.invalid(SPEC, printed, IMMUTABLE)
    yield from claim(obj)


def claim_template(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourceClaimTemplate, besides its metadata."""
    spec = obj.get("spec") or {}
    yield from inherited_metadata(SPEC.child("metadata"), spec.get("metadata") or {})
    yield from _claim_spec(SPEC.child("spec"), spec.get("spec") or {})


def claim_template_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error when the spec changes, and what is wrong with the template."""
    spec = obj.get("spec") or {}
    if spec != (old.get("spec") or {}):
        whole = {"ObjectMeta": spec.get("metadata"), "Spec": spec.get("spec")}
        printed = GoValue(spec, "resource.ResourceClaimTemplateSpec", whole=whole)
        yield fieldpath.invalid(SPEC, printed, IMMUTABLE)
    yield from claim_template(obj)


def _claim_spec(path: FieldPath, spec: JsonObject) -> Errors:
    name = spec.get("resourceClassName") or ""
    for message in name_rules.dns1123_subdomain(name):
        yield fieldpath.invalid(path.child("resourceClassName"), name, message)
    yield from _reference(path.child("parametersRef"), spec.get("parametersRef"))
    allocation_mode_path = path.child("allocationMode")
    yield from supported(allocation_mode_path, spec.get("allocationMode") or "", BINDING_MODES)


def _reference(path: FieldPath, value: JsonObject | None) -> Errors:
    if value is None:
        return
    yield from present(value, path, "kind", "name")
    if value.get("namespace"):
        yield from dns_label(path.child("namespace"), value["namespace"])


def claim_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with the status of a ResourceClaim."""
    status, before = obj.get("status") or {}, old.get("status") or {}
    allocation, was = status.get("allocation"), before.get("allocation")
    if status.get("driverName"):
        yield from driver_name(_STATUS.child("driverName"), status["driverName"])
    elif allocation is not None:
        yield fieldpath.required(_STATUS.child("driverName"), NO_DRIVER)
    path = _STATUS.child("allocation")
    if allocation is not None:
        yield from _allocation(path, allocation)
    reserved = status.get("reservedFor") or []
    yield from _reserved(_STATUS.child("reservedFor"), reserved)
    if reserved:
        yield from _may_reserve(obj, before)
    if allocation is not None and was is not None and allocation != was:
        printed = GoValue(allocation, "resource.AllocationResult")
        yield fieldpath.invalid(path, printed, IMMUTABLE)
    yield from resource_claim_statuses.deallocated(status, before)


def _may_reserve(obj: JsonObject, before: JsonObject) -> Errors:
    status, path = obj["status"], _STATUS.child("reservedFor")
    reserved, allocation = status["reservedFor"], status.get("allocation")
    if allocation is None:
        yield fieldpath.forbidden(path, "may not be specified when `allocated` is not set")
        return
    if not allocation.get("shareable") and len(reserved) > 1:
        yield fieldpath.forbidden(path, "may not be reserved more than once")
    is_ending = (obj.get("metadata") or {}).get("deletionTimestamp")
    if is_ending or status.get("deallocationRequested"):
        reserved_for = before.get("reservedFor") or ()
        if any(consumer not in reserved_for for consumer in reserved):
            yield fieldpath.forbidden(path, resource_claim_statuses.NO_NEW)


def _reserved(path: FieldPath, consumers: Sequence[JsonObject]) -> Errors:
    def consumer(path: FieldPath, value: JsonObject) -> Errors:
        return present(value, path, "resource", "name", "uid")

    yield from _set(path, consumers, MAX_CONSUMERS, consumer, "uid")


def _set(
    path: FieldPath, items: Sequence[Any] | None, limit: int, rule: Item, key: str = ""
) -> Errors:
    """Items that are told apart by themselves, or by a field; a repeated one is not looked at."""
    seen: set[str] = set()
    for index, item in enumerate(items or ()):
        field_path, name = path.index(index), (item.get(key) or "") if key else item
        if name in seen:
            yield fieldpath.duplicate(
                field_path.child(key) if key else field_path, NamedText(name) if key else name
            )
        else:
            yield from rule(field_path, item)
        seen.add(name)
    if len(items or ()) > limit:
        yield fieldpath.too_long(path, limit, is_bare=True)


def _allocation(path: FieldPath, allocation: JsonObject) -> Errors:
    for resource_handle_path, handle in items(allocation, "resourceHandles", path):
        yield from _handle(resource_handle_path, handle)
    if len(allocation.get("resourceHandles") or ()) > MAX_HANDLES:
        yield fieldpath.too_long(path.child("resourceHandles"), MAX_HANDLES, is_bare=True)
    nodes = allocation.get("availableOnNodes")
    if nodes is not None:
        yield from node_selector(path.child("availableOnNodes"), nodes)


def _handle(path: FieldPath, handle: JsonObject) -> Errors:
    data, structured = handle.get("data") or "", handle.get("structuredData")
    yield from driver_name(path.child("driverName"), handle.get("driverName") or "")
    if len(data.encode()) > MAX_HANDLE_BYTES:
        yield fieldpath.too_long(path.child("data"), MAX_HANDLE_BYTES, is_bare=True)
    if structured is None:
        return
    structured_data_path = path.child("structuredData")
    if structured.get("nodeName"):
        yield from dns_subdomain(structured_data_path.child("nodeName"), structured["nodeName"])
    for result_path, result in items(structured, "results", structured_data_path):
        yield from _model(result_path, result, _instance_name)
    if data:
        yield fieldpath.invalid(path, None, "data and structuredData are mutually exclusive")


def _instance_name(path: FieldPath, value: JsonObject) -> Errors:
    return dns_subdomain(path.child("name"), value.get("name") or "")


def _model(path: FieldPath, value: JsonObject, rule: Item) -> Errors:
    """Check the only model that there was: instances with names and attributes."""
    named = value.get("namedResources")
    if named is None:
        yield fieldpath.required(path, _ONE_MODEL)
    else:
        yield from rule(path.child("namedResources"), named)


# --- Classes and parameters --------------------------------------------------


def resource_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourceClass, besides its metadata."""
    yield from driver_name(FieldPath("driverName"), obj.get("driverName") or "")
    yield from _reference(FieldPath("parametersRef"), obj.get("parametersRef"))
    nodes = obj.get("suitableNodes")
    if nodes is not None:
        yield from node_selector(FieldPath("suitableNodes"), nodes)


def claim_parameters(obj: JsonObject) -> Errors:
    """Yield what is wrong with new ResourceClaimParameters, besides their metadata."""
    return _claim_parameters(obj, is_stored=False)


def claim_parameters_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of parameters; expressions that were there may use more of the
    language."""
    is_stored = (obj.get("driverRequests") or []) == (old.get("driverRequests") or [])
    return _claim_parameters(obj, is_stored=is_stored)


def _claim_parameters(obj: JsonObject, *, is_stored: bool) -> Errors:
    def requests(path: FieldPath, value: JsonObject) -> Errors:
        for request_path, request in items(value, "requests", path):
            yield from _model(request_path, request, _selector(is_stored=is_stored))
        if not value.get("requests"):
            detail = "empty entries with no requests are not allowed"
            yield fieldpath.required(path.child("requests"), detail)

    yield from _reference(FieldPath("generatedFrom"), obj.get("generatedFrom"))
    yield from _by_driver(obj, "driverRequests", requests)


def class_parameters(obj: JsonObject) -> Errors:
    """Yield what is wrong with ResourceClassParameters, besides their metadata."""

    def chosen(path: FieldPath, value: JsonObject) -> Errors:
        return _model(path, value, _selector(is_stored=False))

    yield from _reference(FieldPath("generatedFrom"), obj.get("generatedFrom"))
    yield from _by_driver(obj, "filters", chosen)
    yield from _by_driver(obj, "vendorParameters", lambda _, __: iter(()))


def _by_driver(obj: JsonObject, field: str, rule: Item) -> Errors:
    seen: set[str] = set()
    for path, item in items(obj, field, _ROOT):
        driver_name_path, name = path.child("driverName"), item.get("driverName") or ""
        yield from driver_name(driver_name_path, name)
        if name in seen:
            yield fieldpath.duplicate(driver_name_path, name)
        seen.add(name)
        yield from rule(path, item)


def _selector(*, is_stored: bool) -> Item:
    def selector(path: FieldPath, value: JsonObject) -> Errors:
        selector_path, text = path.child("selector"), value.get("selector") or ""
        if not text:
            yield fieldpath.required(selector_path)
            return
        detail = _fault(text, is_stored=is_stored)
        if detail:
            yield fieldpath.invalid(selector_path, text, detail)

    return selector


@per_release()
def selector_environment(*, is_stored: bool) -> Environment:
    """Return the environment of selectors: the attributes of an instance, by type. A new selector
    may only use what the release before knew."""
    base = environment(
        current_release() if is_stored else previous_minor(current_release()), has_versions=True
    )
    values = {
        "bool": types.BOOL,
        "int": types.INT,
        "intslice": types.list_of(types.INT),
        "quantity": QUANTITY,
        "string": types.STRING,
        "stringslice": types.list_of(types.STRING),
        "version": SEMVER,
    }
    return base.extend(
        {f"attributes.{name}": types.map_of(types.STRING, value) for name, value in values.items()}
    )


@per_release(maxsize=256)
def _fault(text: str, *, is_stored: bool) -> str:
    """Return what is wrong; empty for what is fine."""
    used = selector_environment(is_stored=is_stored)
    compilation = used.compile(text)
    checked = compilation.ast
    if checked is None:
        return f"compilation failed: {compilation.issues.display()}"
    if checked.type != types.BOOL:
        return "must evaluate to bool"
    try:
        used.program(checked, "selector")
    except ProgramError as error:
        return f"program instantiation failed: {error}"
    return ""


# --- Slices ------------------------------------------------------------------


def resource_slice(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourceSlice, besides its metadata."""
    if obj.get("nodeName"):
        yield from dns_subdomain(FieldPath("nodeName"), obj["nodeName"])
    yield from driver_name(FieldPath("driverName"), obj.get("driverName") or "")
    yield from _model(_ROOT, obj, _instances)


def resource_slice_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a slice: its node and its driver stay."""
    yield from resource_slice(obj)
    for field in ("nodeName", "driverName"):
        yield from immutable(FieldPath(field), obj.get(field) or "", old.get(field) or "")


def _instances(path: FieldPath, value: JsonObject) -> Errors:
    seen: set[str] = set()
    for instance_path, instance in items(value, "instances", path):
        yield from _own_name(instance_path, instance, seen)
        names: set[str] = set()
        for attribute_path, attribute in items(instance, "attributes", instance_path):
            yield from _own_name(attribute_path, attribute, names)
            yield from _value(attribute_path, attribute)


def _own_name(path: FieldPath, value: JsonObject, seen: set[str]) -> Errors:
    name_path, name = path.child("name"), value.get("name") or ""
    yield from dns_subdomain(name_path, name)
    if name in seen:
        yield fieldpath.duplicate(name_path, name)
    seen.add(name)


def _value(path: FieldPath, attribute: JsonObject) -> Errors:
    version = attribute.get("version")
    if version is not None and not is_semver(version):
        yield fieldpath.invalid(path.child("version"), version, NO_VERSION)
    values = [field for field in _VALUES if attribute.get(field) is not None]
    if not values:
        yield fieldpath.required(path, "exactly one value must be set")
    elif len(values) > 1:
        yield fieldpath.invalid(path, values, "exactly one field must be set, not several")


# --- Contexts of scheduling, until 1.31 --------------------------------------


def scheduling_context(obj: JsonObject) -> Errors:
    """Yield what is wrong with a PodSchedulingContext, besides its metadata."""
    nodes = (obj.get("spec") or {}).get("potentialNodes")
    yield from _nodes(SPEC.child("potentialNodes"), nodes)


def scheduling_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Yield what is wrong with the status of a PodSchedulingContext."""
    seen: set[str] = set()
    claims_path = _STATUS.child("claims")
    for index, resource_claim in enumerate((obj.get("status") or {}).get("resourceClaims") or ()):
        path, name = claims_path.index(index), resource_claim.get("name") or ""
        yield from _nodes(path.child("unsuitableNodes"), resource_claim.get("unsuitableNodes"))
        if name in seen:
            yield fieldpath.duplicate(path, name)
        seen.add(name)


def _nodes(path: FieldPath, names: Sequence[str] | None) -> Errors:
    if is_since("1.31"):
        return distinct(path, names, MAX_NODES, dns_subdomain)
    return _set(path, names, MAX_NODES, dns_subdomain)


_CONTEXT: Final = Validation(scheduling_context, status=scheduling_status, repeated_until="1.32")
_OF_1_30: Final[Mapping[str, Validation]] = {
    "PodSchedulingContext": _CONTEXT,
    "ResourceClaim": Validation(
        claim, update=claim_update, status=claim_status, repeated_until="1.31"
    ),
    "ResourceClaimParameters": Validation(claim_parameters, update=claim_parameters_update),
    "ResourceClaimTemplate": Validation(
        claim_template, update=claim_template_update, repeated_until="1.31"
    ),
    "ResourceClass": Validation(resource_class, CLUSTER, repeated_until="1.31"),
    "ResourceClassParameters": Validation(class_parameters),
    "ResourceSlice": Validation(resource_slice, CLUSTER, resource_slice_update),
}


def validation_of(kind: str) -> Validation | None:
    """Return the rules that a kind has before 1.32; None for those of later releases."""
    if not is_since("1.31"):
        return _OF_1_30.get(kind)
    return _CONTEXT if kind == "PodSchedulingContext" else None
