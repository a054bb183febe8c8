"""ResourceClaims, their templates, and the classes of devices that they ask for.

As k8s.io/kubernetes `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import functools
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.devices.device_parts import (
    MAX_ITEMS,
    class_name,
    configuration,
    distinct,
    fully_qualified,
    limited,
    name_of,
    selectors,
    tolerations,
)
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    NOT_POSITIVE,
    SPEC,
    Errors,
    dns_label,
    supported,
)
from celadon.kube.validation.label_rules import labels
from celadon.kube.validation.object_meta import validate_annotations
from celadon.kube.validation.pods.internal_pod_types import internal_value
from celadon.kube.validation.pods.resource_lists import is_extended
from celadon.kube.validation.validation_gates import CONSUMABLE_CAPACITY, only_with

MAX_ALTERNATIVES: Final = 8
ALLOCATION_MODES: Final = ("All", "ExactCount")
ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
NO_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)
OF_NO_TEMPLATE: Final = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("ownerReferences", "finalizers", "managedFields"),
)
"""Metadata that only an object can have, in upstream's order."""
ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are '
    "set"
)

_OF_ALL: Final = frozenset({"name", "firstAvailable", "exactly"})

RequestNames = dict[str, frozenset[str]]
"""The names of requests and, of those that have alternatives, of these."""


def claim(obj: JsonObject) -> Errors:
    """What is wrong with a ResourceClaim, besides its metadata."""
    return _claim_spec(SPEC, obj.get("spec") or {})


def claim_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What is asked for stays."""
    if obj.get("spec") != old.get("spec"):
        shown = internal_value(obj.get("spec") or {}, "resource.v1.ResourceClaimSpec")
        yield fieldpath.invalid(SPEC, shown, IMMUTABLE)


def claim_template_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The same of a template, whose metadata lies open inside; and it is judged as a new one."""
    yield from claim_template(obj)
    if obj.get("spec") != old.get("spec"):
        spec = obj.get("spec") or {}
        shown = internal_value(spec.get("spec") or {}, "resource.v1.ResourceClaimSpec")
        shown = {**(spec.get("metadata") or {}), "Spec": shown}
        yield fieldpath.invalid(SPEC, shown, IMMUTABLE)


def claim_template(obj: JsonObject) -> Errors:
    """What is wrong with a ResourceClaimTemplate, besides its metadata."""
    spec = obj.get("spec") or {}
    meta, at = spec.get("metadata") or {}, SPEC.child("metadata")
    yield from validate_annotations(at.child("annotations"), meta.get("annotations"))
    yield from labels(at.child("labels"), meta.get("labels"))
    for field in OF_NO_TEMPLATE:
        if meta.get(field) not in (None, "", 0):
            # Upstream has the field's name from the struct and makes its first letter small.
            shown = "uID" if field == "uid" else field
            yield fieldpath.forbidden(at.child(shown), "cannot be set")
    yield from _claim_spec(SPEC.child("spec"), spec.get("spec") or {})


def request_names(spec: JsonObject) -> RequestNames:
    """Of the spec of a claim."""
    requests = (spec.get("devices") or {}).get("requests") or ()
    return {
        name_of(one): frozenset(map(name_of, one.get("firstAvailable") or ())) for one in requests
    }


def request_reference(path: FieldPath, name: str, known: RequestNames) -> Errors:
    """The name of a request, or of one of its alternatives."""
    request, *rest = name.split("/")
    if len(rest) > 1:
        yield fieldpath.invalid(path, name, NO_REQUEST)
        return
    for part in (request, *rest):
        yield from dns_label(path, part)
    if request not in known or (rest and rest[0] not in known[request]):
        yield fieldpath.invalid(path, name, NO_REQUEST)


def _claim_spec(path: FieldPath, spec: JsonObject) -> Errors:
    devices, at, known = spec.get("devices") or {}, path.child("devices"), request_names(spec)
    yield from distinct(at.child("requests"), devices.get("requests"), MAX_ITEMS, _request, name_of)

    def references(path: FieldPath, given: JsonObject) -> Errors:
        return distinct(
            path.child("requests"),
            given.get("requests"),
            MAX_ITEMS,
            lambda where, name: request_reference(where, name, known),
        )

    def constraint(path: FieldPath, given: JsonObject) -> Errors:
        yield from references(path, given)
        yield from _attribute(path, given)

    def config(path: FieldPath, given: JsonObject) -> Errors:
        yield from references(path, given)
        yield from configuration(path, given)

    yield from limited(at.child("constraints"), devices.get("constraints"), MAX_ITEMS, constraint)
    yield from limited(at.child("config"), devices.get("config"), MAX_ITEMS, config)


def _attribute(path: FieldPath, constraint: JsonObject) -> Errors:
    for field in ("matchAttribute", "distinctAttribute"):
        if constraint.get(field) is not None:
            yield from fully_qualified(path.child(field), constraint[field])
            return
    gate, otherwise = CONSUMABLE_CAPACITY, fieldpath.required(path.child("matchAttribute"))
    yield from only_with(gate, [fieldpath.required(path, ONE_ATTRIBUTE)])
    yield from only_with(f"!{gate}", [otherwise])


def _request(path: FieldPath, request: JsonObject) -> Errors:
    yield from dns_label(path.child("name"), name_of(request))
    exactly, alternatives = _exactly(request), request.get("firstAvailable")
    if exactly is not None and alternatives:
        yield fieldpath.invalid(path, None, f"{ONE_OF}, but multiple fields are set")
    elif exactly is not None:
        yield from _wanted(path.child("exactly"), exactly)
    elif alternatives:
        at = path.child("firstAvailable")
        yield from distinct(at, alternatives, MAX_ALTERNATIVES, _alternative, name_of)
    else:
        yield fieldpath.required(path, ONE_OF)


def _exactly(request: JsonObject) -> JsonObject | None:
    """What is asked for without alternatives; in `v1beta1` it stands in the request itself."""
    if request.get("exactly") is not None:
        exactly: JsonObject = request["exactly"]
        return exactly
    return {one: value for one, value in request.items() if value and one not in _OF_ALL} or None


def _alternative(path: FieldPath, request: JsonObject) -> Errors:
    yield from dns_label(path.child("name"), name_of(request))
    yield from _wanted(path, request)


def _wanted(path: FieldPath, request: JsonObject) -> Errors:
    yield from class_name(path.child("deviceClassName"), request.get("deviceClassName") or "")
    yield from selectors(path.child("selectors"), request.get("selectors"))
    mode, count = request.get("allocationMode") or "", request.get("count") or 0
    at = path.child("count")
    if mode == "All":
        if count:
            why = "must not be specified when allocationMode is 'All'"
            yield fieldpath.invalid(at, count, why)
    elif mode == "ExactCount":
        if count <= 0:
            yield fieldpath.invalid(at, count, NOT_POSITIVE)
    else:
        yield from supported(path.child("allocationMode"), mode, ALLOCATION_MODES)
    yield from tolerations(path.child("tolerations"), request.get("tolerations"))


def device_class(obj: JsonObject) -> Errors:
    """What is wrong with a DeviceClass, besides its metadata."""
    return _device_class(obj.get("spec") or {}, None)


def device_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The same of a changed one: what is as it was may use what is new."""
    return _device_class(obj.get("spec") or {}, old.get("spec") or {})


def _device_class(spec: JsonObject, before: JsonObject | None) -> Errors:
    stored = {
        field: before is not None and (spec.get(field) or []) == (before.get(field) or [])
        for field in ("selectors", "config")
    }
    at = SPEC.child("selectors")
    yield from selectors(at, spec.get("selectors"), is_stored=stored["selectors"])
    rule = functools.partial(configuration, is_stored=stored["config"])
    yield from limited(SPEC.child("config"), spec.get("config"), MAX_ITEMS, rule)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        at = SPEC.child("extendedResourceName")
        yield fieldpath.invalid(at, name, "must be a valid extended resource name")
