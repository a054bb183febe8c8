"""Validation of PodDisruptionBudgets.

As k8s.io/kubernetes `pkg/apis/policy/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.validation.apps import at_most_100_percent, int_or_percent
from celadon.kube.validation.field_checks import (
    SPEC,
    Errors,
    broken_rules,
    conditions,
    supported,
)
from celadon.kube.validation.text_rules import printed_selector, selector

EVICTION_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")


def disruption_budget(obj: JsonObject) -> Errors:
    """Yield what is wrong with a PodDisruptionBudget, besides its metadata."""
    # As `ValidatePodDisruptionBudget` of `pkg/apis/policy/validation`.
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        detail = "minAvailable and maxUnavailable cannot be both set"
        yield fieldpath.invalid(SPEC, _printed_budget(spec), detail)
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


_STATUS: Final = FieldPath("status")


def budget_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Yield what is wrong with the status of a PodDisruptionBudget."""
    # As `ValidatePodDisruptionBudgetStatusUpdate` of `pkg/apis/policy/validation`.
    status = obj.get("status") or {}
    yield from conditions(_STATUS, status)
    yield from broken_rules("policy.v1.PodDisruptionBudgetStatus", status, _STATUS)
