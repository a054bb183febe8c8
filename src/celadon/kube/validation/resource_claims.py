"""ResourceClaims, their templates, and the classes of devices that they ask for.

As k8s.io/kubernetes `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

from celadon.cel import Environment, ProgramError
from celadon.cel.extend import ObjectType, Range, types
from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_json import json_with_raw, unreadable_number
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.library.costs import QUANTITY
from celadon.kube.library.environments import environment
from celadon.kube.releases import current_release, is_since, per_release, previous_minor, wording
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import (
    CONSUMABLE_CAPACITY,
    HIDDEN_VALUE,
    IMMUTABLE,
    NO_ERRORS,
    NOT_POSITIVE,
    SPEC,
    Errors,
    at_most,
    dns_label,
    dns_subdomain,
    driver_name,
    each,
    only_with,
    required_choice,
    supported,
)
from celadon.kube.validation.object_meta import inherited_metadata
from celadon.kube.validation.pods.internal_types import internal_metadata, internal_value
from celadon.kube.validation.pods.pod_placement import node_selector
from celadon.kube.validation.pods.resource_lists import is_extended
from celadon.records import dataclass

# --- Device expressions ------------------------------------------------------
#
# Expressions that choose devices: which CEL they are written in, and what is wrong with one.
#
# As k8s.io/dynamic-resource-allocation `cel/compile.go`. An expression knows one variable,
# `device`; what an attribute of a device is, nobody knows before it is looked at.

DEVICE: Final = "device"
TYPE_NAME: Final = "kubernetes.DRADevice"
MAX_COST: Final = 1_000_000
SHARED: Final = "allowMultipleAllocations"
"""The field that comes with the gate."""

_ATTRIBUTES: Final = types.map_of(types.STRING, types.map_of(types.STRING, types.ANY))
_CAPACITY: Final = types.map_of(types.STRING, types.map_of(types.STRING, QUANTITY))
_FIELDS: Final = {"driver": types.STRING, "attributes": _ATTRIBUTES, "capacity": _CAPACITY}


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The sizes that the parts of a device can have: upstream's limits for slices."""

    def size(self, path: tuple[str, ...], _: types.Type) -> Range | None:
        if not path or path[0] != DEVICE:
            return None
        most = _most(path[1:])
        return None if most is None else Range(0, most)


def _most(path: tuple[str, ...]) -> int | None:
    if len(path) < 2:
        return {(): 0, ("driver",): 63, (SHARED,): 1, ("attributes",): 32, ("capacity",): 32}.get(
            path
        )
    part, step, *more = path
    if part not in ("attributes", "capacity"):
        return None
    if step == "@keys":
        return None if more else 63
    if step not in ("@items", "@values"):
        return None
    if not more:
        return 32
    last = more.pop(0)
    if more:
        return None
    if last == "@keys":
        return 32
    if part == "attributes":
        return 64
    return 0 if last in ("@items", "@values") else None


@per_release()
def device_environment(*, is_stored: bool, has_shared: bool = True) -> Environment:
    """Return the environment of selectors: a new one may only use what the release before knew."""
    fields = {**_FIELDS, SHARED: types.BOOL} if has_shared else _FIELDS
    version = current_release() if is_stored else previous_minor(current_release())
    base = environment(version, has_bindings=True)
    return base.extend({DEVICE: types.object_type(TYPE_NAME)}, [ObjectType(TYPE_NAME, fields)])


def selector_errors(path: FieldPath, text: str, *, is_stored: bool) -> Errors:
    """Yield why an expression is no selector: it must compile to a bool, or to what nobody knows,
    and be cheap enough."""
    error = _fault(text, is_stored=is_stored, has_shared=True)
    if error:
        return iter((_error(path, text, error),))
    if SHARED not in text:
        return NO_ERRORS
    error = _fault(text, is_stored=is_stored, has_shared=False)
    return only_with(f"!{CONSUMABLE_CAPACITY}", [_error(path, text, error)] if error else ())


_TOO_COSTLY: Final = "too complex, exceeds cost limit"
_NO_PROGRAM: Final = "program instantiation failed: "


def _error(path: FieldPath, text: str, detail: str) -> fieldpath.FieldError:
    if detail == _TOO_COSTLY:
        return fieldpath.forbidden(path, detail)
    if detail.startswith(_NO_PROGRAM):
        return fieldpath.internal(path, detail)
    return fieldpath.invalid(path, text, detail)


@per_release(maxsize=256)
def _fault(text: str, *, is_stored: bool, has_shared: bool) -> str:
    """Return what is wrong; empty for what is fine."""
    used = device_environment(is_stored=is_stored, has_shared=has_shared)
    compilation = used.compile(text)
    checked = compilation.ast
    if checked is None:
        return f"compilation failed: {compilation.issues.display()}"
    if checked.type not in (types.BOOL, types.ANY):
        return f"must evaluate to bool or the unknown type, not {checked.type}"
    try:
        used.program(checked, "device selector")
    except ProgramError as error:
        return f"{_NO_PROGRAM}{error}"
    is_costly = is_since("1.32") and used.estimate(checked, _Sizes()).max > MAX_COST
    return _TOO_COSTLY if is_costly else ""


# --- Device parts ------------------------------------------------------------
#
# What claims, classes and slices share: names of devices, selectors, taints, configuration.
#
# As k8s.io/kubernetes `pkg/apis/resource/validation`.

POOL_NAME_BYTES: Final = 253
IDENTIFIER_BYTES: Final = 32
EXPRESSION_BYTES: Final = 10 * 1024
PARAMETER_BYTES: Final = 10 * 1024
MAX_ITEMS: Final = 32
"""Of requests, constraints, selectors and configurations each."""
UNLIMITED: Final = 1 << 31
MAX_BINDING_CONDITIONS: Final = 4
TAINT_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
TOLERATION_OPERATORS: Final = ("Equal", "Exists")
_NEED: Final = "are required to use"

Item = Callable[[FieldPath, Any], Errors]


def limited(path: FieldPath, items: Sequence[Any] | None, limit: int, rule: Item) -> Errors:
    """Apply the rule to each item, unless there are too many of them; before 1.35 in any case."""
    count = len(items or ())
    if count > limit and is_since("1.35"):
        yield from at_most(path, items, limit)
        return
    for index, item in enumerate(items or ()):
        yield from rule(path.index(index), item)
    if count > limit:
        yield from at_most(path, items, limit) if is_since("1.32") else _too_long(path, limit)


def _too_long(path: FieldPath, limit: int) -> Errors:
    yield fieldpath.too_long(path, limit, is_bare=True)


def distinct(
    path: FieldPath,
    items: Sequence[Any] | None,
    limit: int,
    rule: Item,
    key: Callable[[Any], Hashable] = lambda item: item,
    member: str = "",
) -> Errors:
    """Apply the rule to each of items that must not repeat what they are told apart by; `member` is
    where errors before 1.35 said that it stands."""
    yield from limited(path, items, limit, rule)
    if len(items or ()) <= limit or not is_since("1.35"):
        yield from repeated(path, map(key, items or ()), "" if is_since("1.35") else member)


def repeated(path: FieldPath, keys: Iterable[Hashable], member: str = "") -> Errors:
    """Yield each but the first of equal keys."""
    seen: set[Hashable] = set()
    for index, key in enumerate(keys):
        if key in seen:
            field_path = path.index(index)
            hashable = shown_device(key) if isinstance(key, tuple) else key
            yield fieldpath.duplicate(field_path.child(member) if member else field_path, hashable)
        seen.add(key)


def shown_device(key: tuple[str, ...]) -> GoValue:
    """Return the identity of a device as it is shown: in 1.34, when errors became JSON, its parts
    had no form in JSON yet."""
    parts = zip(("Driver", "Pool", "Device", "ShareID"), key, strict=True)
    hidden = is_since("1.34") and not is_since("1.35")
    members = {name: {} if hidden else part for name, part in parts}
    return GoValue(members, "structured.SharedDeviceID")


def name_of(item: JsonObject) -> str:
    """Return the name of an item, by which most items are told apart."""
    name: str = item.get("name") or ""
    return name


def pool_name(path: FieldPath, name: str) -> Errors:
    """Validate the name of a pool: subdomains with slashes between them."""
    if not name:
        yield fieldpath.required(path)
        return
    if len(name.encode()) > POOL_NAME_BYTES:
        yield fieldpath.too_long(path, POOL_NAME_BYTES, is_bare=True)
    for part in name.split("/"):
        yield from dns_subdomain(path, part)


def qualified_identifier(path: FieldPath, name: str) -> Errors:
    """Yield what is wrong with the name of an attribute or a capacity: an identifier, with a domain
    or without. Upstream has nothing to say about several slashes."""
    domain, slash, rest = name.partition("/")
    if not name and not is_since("1.35"):
        yield fieldpath.required(path, "name required")
    elif not slash:
        yield from _identifier(path, name)
    elif "/" not in rest:
        if domain:
            yield from driver_name(path, domain)
        else:
            yield _empty_part(path, _NO_DOMAIN.text)
        if rest:
            yield from _identifier(path, rest)
        else:
            yield _empty_part(path, "the name must not be empty")


_NO_DOMAIN: Final = wording("the domain must not be empty", v1_32="the prefix must not be empty")


def _empty_part(path: FieldPath, detail: str) -> fieldpath.FieldError:
    if is_since("1.35"):
        return fieldpath.invalid(path, "", detail)
    return fieldpath.required(path, detail)


def fully_qualified(path: FieldPath, name: str) -> Errors:
    """Yield what is wrong with a qualified name that must have a domain."""
    yield from qualified_identifier(path, name)
    if "/" in name:
        return
    if not is_since("1.32"):
        yield fieldpath.required(path.child("domain"), "must include a prefix")
    elif name or is_since("1.35"):
        yield fieldpath.invalid(path, name, _NOT_QUALIFIED.text)


_NOT_QUALIFIED: Final = wording(
    "a fully qualified name must be a domain and a name separated by a slash",
    v1_35="must include a domain",
)


def _identifier(path: FieldPath, name: str) -> Errors:
    if len(name.encode()) > IDENTIFIER_BYTES:
        yield fieldpath.too_long(path, IDENTIFIER_BYTES, is_bare=True)
    for message in format_checks.c_identifier(name):
        if is_since("1.34"):
            yield fieldpath.invalid(path, name, message)
        else:
            yield fieldpath.type_invalid(path, name, message)


def class_name(path: FieldPath, name: str) -> Errors:
    """Yield what is wrong with the name of a DeviceClass."""
    if name:
        yield from dns_subdomain(path, name)
    else:
        yield fieldpath.required(path)


def selectors(
    path: FieldPath, items: Sequence[JsonObject] | None, *, is_stored: bool = False
) -> Errors:
    """Validate expressions that choose devices; `is_stored`: all of them were there before."""
    return limited(path, items, MAX_ITEMS, functools.partial(_selector, is_stored=is_stored))


def _selector(path: FieldPath, selector: JsonObject, *, is_stored: bool) -> Errors:
    cel_path, cel = path.child("cel"), selector.get("cel")
    if cel is None:
        yield fieldpath.required(cel_path)
        return
    text, cel_path = cel.get("expression") or "", cel_path.child("expression")
    if len(text.encode()) > EXPRESSION_BYTES and is_since("1.32"):
        yield fieldpath.too_long(cel_path, EXPRESSION_BYTES)
    else:
        yield from selector_errors(cel_path, text, is_stored=is_stored)


def configuration(path: FieldPath, value: JsonObject, *, is_stored: bool = False) -> Errors:
    """Yield what is wrong with the text for a driver, which is passed on as it stands; one that was
    there before may be longer."""
    # As `validateOpaqueConfiguration` of `pkg/apis/resource/validation`.
    opaque, opaque_path = value.get("opaque"), path.child("opaque")
    if opaque is None:
        yield fieldpath.required(opaque_path)
        return
    yield from driver_name(opaque_path.child("driver"), opaque.get("driver") or "")
    yield from raw_object(
        opaque_path.child("parameters"), opaque.get("parameters"), is_stored=is_stored
    )


def raw_object(path: FieldPath, value: object, *, is_stored: bool = False) -> Errors:
    """Validate any JSON object that is not too long."""
    if value is None:
        yield fieldpath.required(path)
    elif (
        not is_stored
        and is_since("1.32")
        and len(json_with_raw(value, attrgetter("text")).encode("utf-8", "replace"))
        > PARAMETER_BYTES
    ):
        yield fieldpath.too_long(path, PARAMETER_BYTES)
    elif complaint := unreadable_number(value):
        yield fieldpath.invalid(path, HIDDEN_VALUE, f"error parsing data as JSON: {complaint}")
    elif not isinstance(value, dict):
        yield fieldpath.invalid(path, HIDDEN_VALUE, _NO_OBJECT.text)


_NO_OBJECT: Final = wording(
    "must be a valid JSON object", v1_34="parameters must be a valid JSON object"
)


def taint_effects() -> tuple[str, ...]:
    """Return the effects that a taint can have: since 1.35 also none."""
    return TAINT_EFFECTS if is_since("1.35") else TAINT_EFFECTS[:-1]


def tolerations(path: FieldPath, items: Sequence[JsonObject] | None) -> Errors:
    """Validate taints that are tolerated, any number of them."""
    for index, item in enumerate(items or ()):
        yield from _toleration(path.index(index), item)


def _toleration(path: FieldPath, toleration: JsonObject) -> Errors:
    if toleration.get("key"):
        yield from format_checks.label_name(path.child("key"), toleration["key"])
    operator, value = toleration.get("operator") or "", toleration.get("value") or ""
    if operator == "Exists":
        if value:
            yield fieldpath.invalid(
                path.child("value"), value, "must be empty for operator `Exists`"
            )
    elif operator == "Equal":
        yield from each(path.child("value"), value, name_rules.label_value(value))
    else:
        yield from required_choice(path.child("operator"), operator, TOLERATION_OPERATORS)
    if toleration.get("effect"):
        yield from supported(path.child("effect"), toleration["effect"], taint_effects())


def taint(path: FieldPath, value: JsonObject, before: JsonObject | None = None) -> Errors:
    """Yield what is wrong with the taint of a device; an effect that stays is not looked at
    again."""
    yield from format_checks.label_name(path.child("key"), value.get("key") or "")
    if value.get("value"):
        yield from each(path.child("value"), value["value"], name_rules.label_value(value["value"]))
    if before is None or value.get("effect") != before.get("effect"):
        yield from required_choice(path.child("effect"), value.get("effect"), taint_effects())


def binding_conditions(path: FieldPath, value: JsonObject) -> Errors:
    """Yield what is wrong with the conditions for binding a device, those that must become true and
    those that must not: there are both or neither."""
    good, bad = (list(value.get(field) or ()) for field in _BINDING)
    for field, item in zip(_BINDING, (good, bad), strict=True):
        yield from limited(
            path.child(field), item, MAX_BINDING_CONDITIONS, format_checks.label_name
        )
    yield from repeated(path.child(_BINDING[0]), good)
    field_path = path.child(_BINDING[1])
    seen, expected = set[str](), set(good)
    for index, element in enumerate(bad):
        if element in seen:
            yield fieldpath.duplicate(field_path.index(index), element)
        seen.add(element)
        if element in expected:
            detail = "bindingFailureConditions must not overlap with bindingConditions"
            yield fieldpath.invalid(field_path.index(index), element, detail)
    for missing, other in (_BINDING, _BINDING[::-1]):
        if value.get(other) and not value.get(missing):
            detail = f"{missing} {_NEED} {other}"
            yield fieldpath.invalid(path.child(missing), value.get(missing), detail)


_BINDING: Final = ("bindingConditions", "bindingFailureConditions")
"""Conditions for and against binding."""

MAX_ALTERNATIVES: Final = 8
ALLOCATION_MODES: Final = ("All", "ExactCount")
ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
NO_REQUEST: Final = wording(
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'",
    v1_33="must be the name of a request in the claim",
)
ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are '
    "set"
)

_OF_ALL: Final = frozenset({"name", "firstAvailable", "exactly"})

RequestNames = dict[str, frozenset[str]]
"""The names of requests and, of those that have alternatives, of these."""


def claim(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourceClaim, besides its metadata."""
    return _claim_spec(SPEC, obj.get("spec") or {}, is_stored=False)


def claim_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if what is asked for has changed. Before 1.35 it was judged again, as new and
    as stored."""
    # As `ValidateResourceClaimUpdate` of `pkg/apis/resource/validation`.
    if not is_since("1.35"):
        yield from claim(obj)
    if obj.get("spec") != old.get("spec"):
        go_value = GoValue(_internal_spec(obj.get("spec") or {}), "resource.ResourceClaimSpec")
        yield fieldpath.invalid(SPEC, go_value, IMMUTABLE)
    if not is_since("1.35"):
        yield from _claim_spec(SPEC, obj.get("spec") or {}, is_stored=True)


def claim_template_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a template, whose metadata lies open inside."""
    if obj.get("spec") != old.get("spec"):
        spec = obj.get("spec") or {}
        inner = _internal_spec(spec.get("spec") or {})
        printed = GoValue(
            {**internal_metadata(spec), "Spec": inner},
            "resource.ResourceClaimTemplateSpec",
            whole={"ObjectMeta": spec.get("metadata"), "Spec": inner},
        )
        yield fieldpath.invalid(SPEC, printed, IMMUTABLE)
    if not is_since("1.35"):
        yield from _claim_template(obj, is_stored=True)


def _internal_spec(spec: JsonObject) -> JsonDict:
    """Return a spec as it is inside, where what `v1beta1` asks for in a request itself lies
    deeper, since 1.33."""
    if not is_since("1.33"):
        return _older_internal_spec(spec)
    devices = spec.get("devices") or {}
    value = devices.get("requests")
    requests = value and [{**request, "exactly": _exactly(request)} for request in value]
    nested = {**spec, "devices": {**devices, "requests": requests}}
    return internal_value(nested, "resource.v1.ResourceClaimSpec")


def _older_internal_spec(spec: JsonObject) -> JsonDict:
    devices = spec.get("devices") or {}
    value = devices.get("requests")
    configs = internal_value(spec, "resource.v1.ResourceClaimSpec")
    devices = {**configs["Devices"], "Requests": value}
    return {**spec, "Devices": devices}


def claim_template(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourceClaimTemplate, besides its metadata."""
    return _claim_template(obj, is_stored=False)


def _claim_template(obj: JsonObject, *, is_stored: bool) -> Errors:
    spec = obj.get("spec") or {}
    yield from inherited_metadata(SPEC.child("metadata"), spec.get("metadata") or {})
    yield from _claim_spec(SPEC.child("spec"), spec.get("spec") or {}, is_stored=is_stored)


def request_names(spec: JsonObject) -> RequestNames:
    """Return the requests of the spec of a claim, each with those it offers instead."""
    requests = (spec.get("devices") or {}).get("requests") or ()
    return {
        name_of(request): frozenset(map(name_of, request.get("firstAvailable") or ()))
        for request in requests
    }


def request_reference(path: FieldPath, name: str, requests: RequestNames) -> Errors:
    """Validate the name of a request, or of one of its alternatives."""
    request, *rest = name.split("/") if is_since("1.33") else [name]
    if len(rest) > 1:
        yield fieldpath.invalid(path, name, NO_REQUEST.text)
        return
    for part in (request, *rest):
        yield from dns_label(path, part)
    if request not in requests or (rest and rest[0] not in requests[request]):
        yield fieldpath.invalid(path, name, NO_REQUEST.text)


def _claim_spec(path: FieldPath, spec: JsonObject, *, is_stored: bool) -> Errors:
    devices, devices_path, requests = (
        spec.get("devices") or {},
        path.child("devices"),
        request_names(spec),
    )
    request = functools.partial(_request, is_stored=is_stored)
    yield from distinct(
        devices_path.child("requests"), devices.get("requests"), MAX_ITEMS, request, name_of, "name"
    )

    def references(path: FieldPath, value: JsonObject) -> Errors:
        return distinct(
            path.child("requests"),
            value.get("requests"),
            MAX_ITEMS,
            lambda where, name: request_reference(where, name, requests),
        )

    def constraint(path: FieldPath, value: JsonObject) -> Errors:
        yield from references(path, value)
        yield from _attribute(path, value)

    def config(path: FieldPath, value: JsonObject) -> Errors:
        yield from references(path, value)
        yield from configuration(path, value, is_stored=is_stored)

    yield from limited(
        devices_path.child("constraints"), devices.get("constraints"), MAX_ITEMS, constraint
    )
    yield from limited(devices_path.child("config"), devices.get("config"), MAX_ITEMS, config)
    if spec.get("controller"):
        yield from driver_name(path.child("controller"), spec["controller"])


def _attribute(path: FieldPath, constraint: JsonObject) -> Errors:
    for field in ("matchAttribute", "distinctAttribute"):
        if constraint.get(field) is not None:
            yield from fully_qualified(path.child(field), constraint[field])
            return
    gate, otherwise = CONSUMABLE_CAPACITY, fieldpath.required(path.child("matchAttribute"))
    yield from only_with(gate, [fieldpath.required(path, ONE_ATTRIBUTE)])
    yield from only_with(f"!{gate}", [otherwise])


def _request(path: FieldPath, request: JsonObject, *, is_stored: bool) -> Errors:
    yield from dns_label(path.child("name"), name_of(request))
    if not is_since("1.33"):
        yield from _wanted(path, request, is_stored=is_stored)
        return
    exactly, alternatives = _exactly(request), request.get("firstAvailable")
    is_both = exactly is not None and bool(alternatives)
    if is_both and is_since("1.35"):
        yield _several_ways(path)
        return
    if alternatives:
        first_available_path, rule = (
            path.child("firstAvailable"),
            functools.partial(_alternative, is_stored=is_stored),
        )
        yield from distinct(
            first_available_path, alternatives, MAX_ALTERNATIVES, rule, name_of, "name"
        )
    if exactly is not None:
        yield from _wanted(path.child("exactly"), exactly, is_stored=is_stored)
    elif not alternatives:
        yield fieldpath.required(path, ONE_OF)
    if is_both:
        yield _several_ways(path)


def _several_ways(path: FieldPath) -> fieldpath.FieldError:
    return fieldpath.invalid(path, None, f"{ONE_OF}, but multiple fields are set")


def _exactly(request: JsonObject) -> JsonObject | None:
    """Return what a request asks for without alternatives; in `v1beta1` it stands in the request
    itself."""
    if request.get("exactly") is not None:
        exactly: JsonObject = request["exactly"]
        return exactly
    data = {
        key: value
        for key, value in request.items()
        # `false`, an empty list or an empty struct is something that is asked for.
        if key not in _OF_ALL and (value or isinstance(value, bool | list | dict))
    }
    return data or None


def _alternative(path: FieldPath, request: JsonObject, *, is_stored: bool) -> Errors:
    yield from dns_label(path.child("name"), name_of(request))
    yield from _wanted(path, request, is_stored=is_stored)


def _wanted(path: FieldPath, request: JsonObject, *, is_stored: bool) -> Errors:
    yield from class_name(path.child("deviceClassName"), request.get("deviceClassName") or "")
    selectors_path = path.child("selectors")
    yield from selectors(selectors_path, request.get("selectors"), is_stored=is_stored)
    mode, count = request.get("allocationMode") or "", request.get("count") or 0
    selectors_path = path.child("count")
    if mode == "All":
        if count:
            detail = "must not be specified when allocationMode is 'All'"
            yield fieldpath.invalid(selectors_path, count, detail)
    elif mode == "ExactCount":
        if count <= 0:
            yield fieldpath.invalid(selectors_path, count, NOT_POSITIVE)
    else:
        yield from supported(path.child("allocationMode"), mode, ALLOCATION_MODES)
    yield from tolerations(path.child("tolerations"), request.get("tolerations"))


def device_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a DeviceClass, besides its metadata."""
    return _device_class(obj.get("spec") or {}, None)


def device_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a class: what is as it was may use what is new."""
    return _device_class(obj.get("spec") or {}, old.get("spec") or {})


def _device_class(spec: JsonObject, before: JsonObject | None) -> Errors:
    stored = {
        field: before is not None and (spec.get(field) or []) == (before.get(field) or [])
        for field in ("selectors", "config")
    }
    path = SPEC.child("selectors")
    yield from selectors(path, spec.get("selectors"), is_stored=stored["selectors"])
    rule = functools.partial(configuration, is_stored=stored["config"])
    yield from limited(SPEC.child("config"), spec.get("config"), MAX_ITEMS, rule)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        path = SPEC.child("extendedResourceName")
        yield fieldpath.invalid(path, name, "must be a valid extended resource name")
    if spec.get("suitableNodes") is not None:
        yield from node_selector(FieldPath("suitableNodes"), spec["suitableNodes"])
