"""Validation of the status of a validating policy, the only part that its `/status` can change."""

from __future__ import annotations

from typing import Final

from celadon.kube import FieldError, FieldPath, JsonObject, fieldpath
from celadon.kube.go import trim_space
from celadon.kube.validation import conditions

_PATH: Final = FieldPath("status")


def validate_status(policy_status: JsonObject) -> list[FieldError]:
    """Type-check warnings, then conditions."""
    errors: list[FieldError] = []
    warnings = (policy_status.get("typeChecking") or {}).get("expressionWarnings", ())
    for i, warning in enumerate(warnings):
        path = _PATH.child("typeChecking", "expressionWarnings").index(i)
        errors += _expression_warning(warning, path)
    return [*errors, *conditions(_PATH, policy_status)]


def _expression_warning(warning: JsonObject, path: FieldPath) -> list[FieldError]:
    errors = []
    if not warning["warning"]:
        errors.append(fieldpath.required(path.child("warning")))
    reference = warning["fieldRef"]
    if not trim_space(reference):
        errors.append(fieldpath.required(path.child("fieldRef")))
        return errors
    # late: only a status refers to fields.
    from celadon.kube.jsonpath import JSONPathError, parse_jsonpath

    try:
        parse_jsonpath(f"{{{reference}}}")
    except JSONPathError as error:
        detail = f"invalid JSONPath: {error}"
        errors.append(fieldpath.invalid(path.child("fieldRef"), reference, detail))
    return errors
