"""Validation of Namespaces, and of the ResourceQuotas, LimitRanges and PodDisruptionBudgets in
them.

As k8s.io/kubernetes `pkg/apis/{core,policy}/validation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import SHOWN_QUANTITY, GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.quantity import Quantity, parse_amounts
from celadon.kube.releases import is_since, wording
from celadon.kube.validation.apps import at_most_100_percent, int_or_percent
from celadon.kube.validation.field_checks import (
    SPEC,
    Errors,
    broken_rules,
    conditions,
    entries,
    items,
    qualified_name,
    supported,
)
from celadon.kube.validation.format_checks import printed_selector, selector
from celadon.kube.validation.object_meta import standard_finalizer
from celadon.kube.validation.pods import resource_lists
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.pods.resource_lists import quantity_value, quota_resource_name

_REQUEST: Final = "defaultRequest"
LIMIT_TYPES: Final = ("Container", "Pod", "PersistentVolumeClaim")
SCOPES: Final = frozenset(
    {
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    }
)
_SCOPES_SINCE: Final = {"VolumeAttributesClass": "1.33"}
"""The release that brought a scope."""
CONFLICTING: Final = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_POD_RESOURCES: Final = frozenset(
    {"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
)
COUNTED_IN: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        (
            *("Terminating", "NotTerminating", "NotBestEffort", "PriorityClass"),
            "CrossNamespacePodAffinity",
        ),
        _POD_RESOURCES,
    ),
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
"""Which of the standard resources can be limited within a scope."""
UNFIT: Final = "unsupported scope applied to resource"
EXISTS_ONLY: Final = SCOPES - {"PriorityClass", "VolumeAttributesClass"}


def namespace(obj: JsonObject) -> Errors:
    """Yield what is wrong with a Namespace, besides its metadata."""
    # As `ValidateNamespace` of `pkg/apis/core/validation`.
    path = SPEC.child("finalizers")
    for finalizer in (obj.get("spec") or {}).get("finalizers") or ():
        yield from qualified_name(path, finalizer)
        yield from standard_finalizer(path, finalizer)


def namespace_finalize(obj: JsonObject, _: JsonObject) -> Errors:
    """Yield what is wrong with a write through `namespaces/finalize`. Unlike other writes, it says
    which finalizer it is."""
    # As `ValidateNamespaceFinalizeUpdate` of `pkg/apis/core/validation`.
    for path, finalizer in items(obj.get("spec") or {}, "finalizers", SPEC):
        yield from qualified_name(path, finalizer)
        yield from standard_finalizer(path, finalizer)


def resource_quota(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ResourceQuota, besides its metadata."""
    # As `ValidateResourceQuotaSpec` of `pkg/apis/core/validation`.
    spec = obj.get("spec") or {}
    for name, amount in entries(spec, "hard"):
        path = SPEC.child("hard").key(name)
        yield from resource_lists.quota_resource_name(path, name)
        yield from resource_lists.quantity_value(path, name, amount)
    scopes, path = list(spec.get("scopes") or ()), SPEC.child("scopes")
    for scope in scopes:
        if not _is_scope(scope):
            yield fieldpath.invalid(path, _shown_scopes(scopes), "unsupported scope")
        for _ in _unfit(spec, scope):
            yield fieldpath.invalid(path, _shown_scopes(scopes), UNFIT)
    yield from _conflicting(path, spec, scopes)
    selector, scopes_path = (
        spec.get("scopeSelector"),
        SPEC.child("scopeSelector", "matchExpressions"),
    )
    if selector is None:
        return
    chosen = selector.get("matchExpressions") or ()
    for item in chosen:
        yield from _scope(
            scopes_path, item, list(_unfit(spec, item.get("scopeName") or "")), selector
        )
    yield from _conflicting(
        scopes_path, spec, [expression.get("scopeName") or "" for expression in chosen]
    )


def _is_scope(scope: str) -> bool:
    return scope in SCOPES and is_since(_SCOPES_SINCE.get(scope, "1.30"))


def _conflicting(path: FieldPath, spec: JsonObject, scopes: Sequence[str]) -> Errors:
    """Upstream shows the `scopes` of the spec, wherever the conflicting ones stand."""
    for pair in CONFLICTING:
        if set(pair) <= set(scopes):
            yield fieldpath.invalid(path, _shown_scopes(spec.get("scopes")), "conflicting scopes")


def _shown_scopes(scopes: Sequence[str] | None) -> GoValue:
    return GoValue(scopes, "[]core.ResourceQuotaScope")


def _unfit(spec: JsonObject, scope: str) -> Iterator[str]:
    """Yield the resources that are limited, and that a scope has nothing to do with."""
    fitting = COUNTED_IN.get(scope) if _is_scope(scope) else None
    for name, _ in entries(spec, "hard"):
        if fitting is not None and resource_lists.is_of_quota(name) and name not in fitting:
            yield name


_EXISTS: Final = wording("Exists", v1_31="Exist")


def _scope(
    path: FieldPath, value: JsonObject, unfit: Sequence[str], selector: JsonObject
) -> Errors:
    # As `validateScopedResourceSelectorRequirement` of `pkg/apis/core/validation`.
    scope, operator = value.get("scopeName") or "", value.get("operator") or ""
    values, operator_path = value.get("values") or [], path.child("operator")
    if not _is_scope(scope):
        yield fieldpath.invalid(path.child("scopeName"), NamedText(scope), "unsupported scope")
    for _ in unfit:
        go_value = GoValue(internal_value(selector, "core.v1.ScopeSelector"), "core.ScopeSelector")
        yield fieldpath.invalid(path, go_value, UNFIT)
    if scope in EXISTS_ONLY and operator != "Exists":
        detail = (
            f"must be '{_EXISTS.text}' when scope is any of ResourceQuotaScopeTerminating, "
            "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
            "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
        )
        yield fieldpath.invalid(operator_path, NamedText(operator), detail)
    if operator in {"In", "NotIn"}:
        if not values:
            detail = (
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
            yield fieldpath.required(path.child("values"), detail)
    elif operator not in {"Exists", "DoesNotExist"}:
        yield fieldpath.invalid(operator_path, NamedText(operator), "not a valid selector operator")
    elif values:
        detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        yield fieldpath.invalid(path.child("values"), values, detail)


def resource_quota_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update: the scopes may not change."""
    # As `ValidateResourceQuotaUpdate` of `pkg/apis/core/validation`.
    yield from resource_quota(obj)
    new, before = ((item.get("spec") or {}).get("scopes") for item in (obj, old))
    if set(new or ()) != set(before or ()):
        yield fieldpath.invalid(SPEC.child("scopes"), _shown_scopes(new), "field is immutable")


def limit_range(obj: JsonObject) -> Errors:
    """Yield what is wrong with a LimitRange, besides its metadata."""
    # As `ValidateLimitRange` of `pkg/apis/core/validation`.
    types: set[str] = set()
    for path, limit in items(obj.get("spec") or {}, "limits", SPEC):
        kind = limit.get("type") or ""
        errors = list(qualified_name(path.child("type"), kind))
        yield from errors
        if not errors and "/" not in kind and kind not in LIMIT_TYPES:
            detail = "must be a standard limit type or fully qualified"
            yield fieldpath.invalid(path.child("type"), NamedText(kind), detail)
        if kind in types:
            yield fieldpath.duplicate(path.child("type"), NamedText(kind))
        types.add(kind)
        yield from _limit_fields(path, limit, kind)
        yield from _limit_amounts(path, limit, kind)


def _limit_fields(path: FieldPath, limit: JsonObject, kind: str) -> Errors:
    name_rule = (
        resource_lists.container_resource_name
        if kind in {"Container", "Pod"}
        else resource_lists.resource_name
    )
    for field in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
        field_path = path.child(field)
        if field == "maxLimitRequestRatio":
            yield from _storage_limits(path, limit, kind)
        if field.startswith("default") and kind == "Pod":
            if limit.get(field):
                yield fieldpath.forbidden(field_path, "may not be specified when `type` is 'Pod'")
            continue
        for name, _ in entries(limit, field):
            yield from name_rule(field_path.key(name), name)


def _storage_limits(path: FieldPath, limit: JsonObject, kind: str) -> Errors:
    named = any("storage" in (limit.get(item) or {}) for item in ("min", "max"))
    if kind == "PersistentVolumeClaim" and not named:
        detail = "either minimum or maximum storage value is required, but neither was provided"
        yield fieldpath.required(path.child("limits"), detail)


class Order(NamedTuple):
    """Two fields of which the first may not be greater; `blamed` is the field complained about,
    `shown_field` the one whose value is printed there."""

    low: str
    high: str
    blamed: str
    shown_field: str
    names: str


ORDERS: Final = (
    Order("min", "max", "min", "min", "min value|max value"),
    Order("min", _REQUEST, _REQUEST, _REQUEST, "min value|default request value"),
    Order(_REQUEST, "max", _REQUEST, _REQUEST, "default request value|max value"),
    Order(_REQUEST, "default", _REQUEST, _REQUEST, "default request value|default limit value"),
    Order("min", "default", "default", "min", "min value|default value"),
    Order("default", "max", "default", "max", "default value|max value"),
)


def _limit_amounts(path: FieldPath, limit: JsonObject, kind: str) -> Errors:
    fields = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    value = {field: dict(entries(limit, field)) for field in fields}
    if kind == "Pod":
        value["default"] = value["defaultRequest"] = {}
    for name in sorted({name for amounts in value.values() for name in amounts}):
        amounts = {
            field: parse_amounts(member[name]) for field, member in value.items() if name in member
        }
        yield from _ordered(path, name, amounts)
        ratio = amounts.get("maxLimitRequestRatio")
        if ratio is not None:
            yield from _ratio(path.child("maxLimitRequestRatio").key(name), ratio, amounts)
        default, request = amounts.get("default"), amounts.get("defaultRequest")
        if resource_lists.may_overcommit(name) or default is None or request is None:
            continue
        if default.compare(request) != 0:
            detail = (
                f"default value {default} must equal to defaultRequest value {request} in {name}"
            )
            yield fieldpath.invalid(
                path.child("defaultRequest").key(name), _shown_amount(request), detail
            )


def _ordered(path: FieldPath, name: str, amounts: dict[str, Quantity]) -> Errors:
    for order in ORDERS:
        low, high = amounts.get(order.low), amounts.get(order.high)
        if low is not None and high is not None and low.compare(high) > 0:
            smaller, _, larger = order.names.partition("|")
            detail = f"{smaller} {low} is greater than {larger} {high}"
            go_value = _shown_amount(amounts[order.shown_field])
            yield fieldpath.invalid(path.child(order.blamed).key(name), go_value, detail)


def _shown_amount(amount: Quantity) -> GoValue:
    return GoValue(str(amount), SHOWN_QUANTITY)


def _ratio(path: FieldPath, ratio: Quantity, amounts: dict[str, Quantity]) -> Errors:
    if ratio.compare(resource_lists.ONE) < 0:
        yield fieldpath.invalid(path, _shown_amount(ratio), f"ratio {ratio} is less than 1")
    if "min" in amounts and "max" in amounts and amounts["min"].sign:
        limit = float(amounts["max"].as_decimal()) / float(amounts["min"].as_decimal())
        if float(ratio.as_decimal()) > limit:
            detail = f"ratio {ratio} is greater than max/min = {limit:f}"
            yield fieldpath.invalid(path, _shown_amount(ratio), detail)


_STATUS: Final = FieldPath("status")


def namespace_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Validate the status of a namespace: the phase says whether a namespace goes away."""
    # As `ValidateNamespaceStatusUpdate` of `pkg/apis/core/validation`.
    phase = (obj.get("status") or {}).get("phase") or ""
    deleted = bool((obj.get("metadata") or {}).get("deletionTimestamp"))
    expected = "Terminating" if deleted else "Active"
    if phase != expected:
        detail = f"may only be '{expected}' if `deletionTimestamp` is {'not ' * deleted}empty"
        yield fieldpath.invalid(_STATUS.child("Phase"), NamedText(phase), detail)


def quota_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Yield what is wrong with the status of a ResourceQuota: what may be used, and what is."""
    # As `ValidateResourceQuotaStatusUpdate` of `pkg/apis/core/validation`.
    for field in ("hard", "used"):
        for name, amount in entries(obj.get("status") or {}, field):
            path = _STATUS.child(field).key(name)
            yield from quota_resource_name(path, name)
            yield from quantity_value(path, name, amount)


# --- Disruption budgets ------------------------------------------------------

EVICTION_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")


def disruption_budget(obj: JsonObject) -> Errors:
    """Yield what is wrong with a PodDisruptionBudget, besides its metadata."""
    # As `ValidatePodDisruptionBudget` of `pkg/apis/policy/validation`.
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        detail = "minAvailable and maxUnavailable cannot be both set"
        printed = GoValue(_printed_budget(spec), "policy.PodDisruptionBudgetSpec")
        yield fieldpath.invalid(SPEC, printed, detail)
    for field in ("minAvailable", "maxUnavailable"):
        if spec.get(field) is not None:
            yield from int_or_percent(SPEC.child(field), spec[field])
            yield from at_most_100_percent(SPEC.child(field), spec[field])
    yield from selector(SPEC.child("selector"), spec.get("selector"))
    eviction = spec.get("unhealthyPodEvictionPolicy")
    if eviction is not None:
        path = SPEC.child("unhealthyPodEvictionPolicy")
        yield from supported(path, eviction, EVICTION_POLICIES)


def _printed_budget(spec: JsonObject) -> JsonDict:
    """Return what Go prints of the struct, whose fields have no JSON names."""
    chosen = spec.get("selector")
    return {
        "MinAvailable": spec.get("minAvailable"),
        "Selector": None if chosen is None else printed_selector(chosen),
        "MaxUnavailable": spec.get("maxUnavailable"),
        "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
    }


def budget_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Yield what is wrong with the status of a PodDisruptionBudget."""
    # As `ValidatePodDisruptionBudgetStatusUpdate` of `pkg/apis/policy/validation`.
    status = obj.get("status") or {}
    yield from conditions(_STATUS, status)
    yield from broken_rules("policy.v1.PodDisruptionBudgetStatus", status, _STATUS)
