"""Conditions in the status of an object, where they are those of all kinds (`metav1.Condition`).

As k8s.io/apimachinery `pkg/apis/meta/v1/validation`, `ValidateConditions`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import wording
from celadon.kube.validation.field_checks import Errors, each, items, qualified_name, supported
from celadon.kube.well_known_values import CONDITION_STATUSES

REASON_BYTES: Final = 1024
MESSAGE_BYTES: Final = 32 * 1024


def conditions(path: FieldPath, status: JsonObject) -> Errors:
    """`path` is that of the status; each type of condition is there once."""
    seen: set[str] = set()
    for at, condition in items(status, "conditions", path):
        kind = condition.get("type") or ""
        if kind in seen:
            yield fieldpath.duplicate(at.child("type"), kind)
        seen.add(kind)
        yield from _condition(at, condition)


_TO_BE_SET: Final = wording("", v1_34="must be set")


def _condition(path: FieldPath, condition: JsonObject) -> Errors:
    yield from qualified_name(path.child("type"), condition.get("type") or "")
    yield from supported(path.child("status"), condition.get("status") or "", CONDITION_STATUSES)
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        at = path.child("observedGeneration")
        yield fieldpath.invalid(at, generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        yield fieldpath.required(path.child("lastTransitionTime"), _TO_BE_SET.text)
    reason, at = condition.get("reason") or "", path.child("reason")
    if not reason:
        yield fieldpath.required(at, _TO_BE_SET.text)
    else:
        yield from each(at, reason, name_rules.condition_reason(reason))
        yield from _short(at, reason, REASON_BYTES)
    yield from _short(path.child("message"), condition.get("message") or "", MESSAGE_BYTES)


def _short(path: FieldPath, text: str, limit: int) -> Errors:
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        yield fieldpath.too_long(path, limit)


def printed_condition(condition: JsonObject) -> JsonDict:
    """A condition of the usual type, with its members in Go's order."""
    order = ("type", "status", "observedGeneration", "lastTransitionTime", "reason", "message")
    return {key: condition[key] for key in order if key in condition}


def condition_is_true(status: JsonObject, kind: str) -> bool:
    """Return whether the status has a condition of this type that holds."""
    return any(
        one.get("type") == kind and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )
