"""Validation of match conditions, which policies and webhooks share.

Expression errors of a condition come before those of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from celadon.admission import policy_limits
from celadon.admission.expressions.compiled_expressions import Expression, ExpressionError
from celadon.admission.registration.registration_types import MatchCondition
from celadon.cel import Issue
from celadon.kube import FieldError, FieldPath, fieldpath, name_rules
from celadon.kube.go import trim_space

Compile = Callable[[str], Expression]
"""A trimmed text to its compiled form, in the environment that suits it."""


def validate_match_conditions(
    conditions: Sequence[MatchCondition], path: FieldPath, compile_condition: Compile
) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(conditions) > policy_limits.MATCH_CONDITIONS:
        errors.append(fieldpath.too_many(path, len(conditions), policy_limits.MATCH_CONDITIONS))
    seen: set[str] = set()
    for i, condition in enumerate(conditions):
        expression = path.index(i).child("expression")
        text = trim_space(condition.expression)
        if not text:
            errors.append(fieldpath.required(expression))
        else:
            shift = condition.expression.find(text)
            errors += expression_errors(compile_condition(text).error, text, expression, shift)
        name = path.index(i).child("name")
        if not condition.name:
            errors.append(fieldpath.required(name))
            continue
        messages = name_rules.qualified_name(condition.name)
        errors += [fieldpath.invalid(name, condition.name, message) for message in messages]
        if condition.name in seen:
            errors.append(fieldpath.duplicate(name, condition.name))
        seen.add(condition.name)
    return errors


def expression_errors(
    error: ExpressionError | None, text: str, path: FieldPath, shift: int = 0
) -> list[FieldError]:
    """What is said about an expression that does not compile; `text` is what is shown of it, and
    `shift` how much white space of the field was left out before it was compiled."""
    if error is None:
        return []
    if error.internal:
        return [fieldpath.internal(path, error.detail)]
    issues = tuple(_moved(issue, shift) for issue in error.issues)
    return [replace(fieldpath.invalid(path, text, error.detail), issues=issues)]


def _moved(issue: Issue, shift: int) -> Issue:
    return issue if issue.offset is None else issue._replace(offset=issue.offset + shift)
