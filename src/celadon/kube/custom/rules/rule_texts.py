"""What validation rules say when they fail, or cannot be evaluated.

Texts of k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import quote, trim_space
from celadon.kube.schemas.schema_model import ValidationRule

MESSAGE_OUT_OF_BUDGET: Final = (
    "messageExpression evaluation failed due to running out of cost budget, no further validation "
    "rules will be run"
)
SKIPPED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)


def not_compiled(error: str) -> str:
    """A rule that is stored although it does not compile."""
    return f"rule compile error: {error}"


def not_initialized(error: str) -> str:
    """A node with rules whose type no expression can use."""
    return f"rule compiler initialization error: {error}"


def failed_evaluation(rule: ValidationRule, error: str) -> str:
    """An evaluation that ended in an error."""
    if error.startswith("no such overload"):
        return (
            f"'{error}': call arguments did not match a supported operator, function or macro "
            f"signature for rule: {_named(rule)}"
        )
    return f"{error} evaluating rule: {_named(rule)}"


def too_expensive(rule: ValidationRule, error: str) -> str:
    """A rule that reached the limit of one call."""
    return (
        f"'{error}': no further validation rules will be run due to call cost exceeds limit for "
        f"rule: {_named(rule)}"
    )


def message_too_expensive(expression: str) -> str:
    """The same for a message expression."""
    return (
        "no further validation rules will be run due to call cost exceeds limit for "
        f"messageExpression: {quote(expression)}"
    )


def message_of(rule: ValidationRule) -> str:
    """The message of a rule that does not hold, when no expression makes one."""
    return trim_space(rule.message) if rule.message else f"failed rule: {_named(rule)}"


def broken(rule: ValidationRule, path: FieldPath, value: object, detail: str) -> FieldError:
    """The error of a rule that does not hold, of the type that its `reason` asks for."""
    match rule.reason:
        case "FieldValueForbidden":
            return fieldpath.forbidden(path, detail)
        case "FieldValueRequired":
            return fieldpath.required(path, detail)
        case "FieldValueDuplicate":
            return fieldpath.duplicate(path, value)
        case _:
            return fieldpath.invalid(path, value, detail)


def _named(rule: ValidationRule) -> str:
    return trim_space(rule.message or rule.rule)
