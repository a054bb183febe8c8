"""Validation of the status of a validating policy, the only part that its `/status` can change."""

from __future__ import annotations

from typing import Final

from celadon.kube import FieldError, FieldPath, JsonObject, fieldpath, name_rules
from celadon.kube.go import trim_space
from celadon.kube.jsonpath import JSONPathError, parse_jsonpath
from celadon.kube.well_known_values import CONDITION_STATUSES

REASON_BYTES: Final = 1024
MESSAGE_BYTES: Final = 32 * 1024

_PATH: Final = FieldPath("status")


def validate_status(policy_status: JsonObject) -> list[FieldError]:
    """Type-check warnings, then conditions."""
    errors: list[FieldError] = []
    warnings = (policy_status.get("typeChecking") or {}).get("expressionWarnings", ())
    for i, warning in enumerate(warnings):
        path = _PATH.child("typeChecking", "expressionWarnings").index(i)
        errors += _expression_warning(warning, path)
    seen: set[str] = set()
    for i, condition in enumerate(policy_status.get("conditions", ())):
        path = _PATH.child("conditions").index(i)
        if condition["type"] in seen:
            errors.append(fieldpath.duplicate(path.child("type"), condition["type"]))
        seen.add(condition["type"])
        errors += _condition(condition, path)
    return errors


def _expression_warning(warning: JsonObject, path: FieldPath) -> list[FieldError]:
    errors = []
    if not warning["warning"]:
        errors.append(fieldpath.required(path.child("warning")))
    reference = warning["fieldRef"]
    if not trim_space(reference):
        errors.append(fieldpath.required(path.child("fieldRef")))
        return errors
    try:
        parse_jsonpath(f"{{{reference}}}")
    except JSONPathError as error:
        detail = f"invalid JSONPath: {error}"
        errors.append(fieldpath.invalid(path.child("fieldRef"), reference, detail))
    return errors


def _condition(condition: JsonObject, path: FieldPath) -> list[FieldError]:
    """As `ValidateCondition` in k8s.io/apimachinery `pkg/apis/meta/v1/validation`."""
    errors = [
        fieldpath.invalid(path.child("type"), condition["type"], message)
        for message in name_rules.qualified_name(condition["type"])
    ]
    if condition["status"] not in CONDITION_STATUSES:
        value = fieldpath.NamedText(condition["status"])
        errors.append(fieldpath.not_supported(path.child("status"), value, CONDITION_STATUSES))
    generation = condition.get("observedGeneration", 0)
    if generation < 0:
        at = path.child("observedGeneration")
        errors.append(fieldpath.invalid(at, generation, "must be greater than or equal to zero"))
    if not condition.get("lastTransitionTime"):
        errors.append(fieldpath.required(path.child("lastTransitionTime")))
    return errors + _reason_and_message(condition, path)


def _reason_and_message(condition: JsonObject, path: FieldPath) -> list[FieldError]:
    errors = []
    reason, at = condition["reason"], path.child("reason")
    if not reason:
        errors.append(fieldpath.required(at))
    else:
        messages = name_rules.condition_reason(reason)
        errors += [fieldpath.invalid(at, reason, message) for message in messages]
        if _bytes(reason) > REASON_BYTES:
            errors.append(fieldpath.too_long(at, REASON_BYTES))
    if _bytes(condition["message"]) > MESSAGE_BYTES:
        errors.append(fieldpath.too_long(path.child("message"), MESSAGE_BYTES))
    return errors


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
