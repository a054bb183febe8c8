"""API validation of validating policies: every complaint, in upstream's order and words.

`validate_policy` checks the whole object but its status. Expressions are compiled as for a new
object: at the compatibility version, one minor below. On update, an expression that the old object
already had is compiled with everything this version knows instead (ratcheting), and match
conditions are not looked at when neither they nor `paramKind` changed.
"""

from __future__ import annotations

from typing import Final

from celadon.admission import policy_limits
from celadon.admission.expressions.compiled_expressions import (
    ANNOTATION_RESULT,
    BOOL_RESULT,
    MESSAGE_RESULT,
    PolicyScope,
)
from celadon.admission.registration.api_validation.condition_validation import expression_errors
from celadon.admission.registration.api_validation.policy_parts import SPEC, validate_policy_parts
from celadon.admission.registration.api_validation.registration_metadata import validate_object_meta
from celadon.admission.registration.registration_types import (
    AuditAnnotation,
    PolicySpec,
    ValidatingAdmissionPolicy,
    Validation,
)
from celadon.kube import FieldError, FieldPath, fieldpath, name_rules
from celadon.kube.go import trim_space
from celadon.kube.library import DEFAULT_VERSION
from celadon.records import dataclass

REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")

_EMPTY: Final = PolicySpec()


@dataclass(frozen=True, slots=True)
class _Known:
    """Expressions of the old object, by kind: they may use whatever this version has."""

    validations: frozenset[str]
    messages: frozenset[str]
    annotations: frozenset[str]

    @staticmethod
    def of(spec: PolicySpec) -> _Known:
        return _Known(
            frozenset(v.expression for v in spec.validations),
            frozenset(v.message_expression for v in spec.validations),
            frozenset(a.value_expression for a in spec.audit_annotations),
        )


def validate_policy(
    policy: ValidatingAdmissionPolicy,
    old: ValidatingAdmissionPolicy | None = None,
    version: str = DEFAULT_VERSION,
) -> list[FieldError]:
    """A defaulted policy; `old` is the stored object on update. Old validations are the only texts
    that make a variable an old expression."""
    spec = policy.spec
    known = _Known.of(_EMPTY if old is None else old.spec)
    scope = PolicyScope(
        version,
        has_params=spec.param_kind is not None,
        has_variables=bool(spec.variables),
        runs=False,
    )
    errors = validate_object_meta(policy.metadata)
    errors += validate_policy_parts(
        spec, None if old is None else old.spec, scope, known.validations
    )
    return errors + _outcomes(policy, scope, known)


def _outcomes(
    policy: ValidatingAdmissionPolicy, scope: PolicyScope, known: _Known
) -> list[FieldError]:
    """Validations and audit annotations: at least one of either."""
    spec = policy.spec
    validations, annotations = SPEC.child("validations"), SPEC.child("auditAnnotations")
    if not spec.validations and not spec.audit_annotations:
        detail = "validations or auditAnnotations must contain at least one item"
        return [fieldpath.required(validations, detail), fieldpath.required(annotations, detail)]
    errors: list[FieldError] = []
    for i, validation in enumerate(spec.validations):
        errors += _validation(validation, validations.index(i), scope, known)
    if len(spec.audit_annotations) > policy_limits.AUDIT_ANNOTATIONS:
        value = [
            {"Key": a.key, "ValueExpression": a.value_expression} for a in spec.audit_annotations
        ]
        detail = f"must not have more than {policy_limits.AUDIT_ANNOTATIONS} auditAnnotations"
        errors.append(fieldpath.invalid(annotations, value, detail))
    seen: set[str] = set()
    for i, annotation in enumerate(spec.audit_annotations):
        path = annotations.index(i)
        errors += _audit_annotation(policy.name, annotation, path, scope, known)
        if annotation.key in seen:
            errors.append(fieldpath.duplicate(path.child("key"), annotation.key))
        seen.add(annotation.key)
    return errors


def _validation(
    validation: Validation, path: FieldPath, scope: PolicyScope, known: _Known
) -> list[FieldError]:
    errors: list[FieldError] = []
    text, message_text = validation.expression, validation.message_expression
    if not trim_space(text):
        errors.append(fieldpath.required(path.child("expression"), "expression is not specified"))
    else:
        compiled = scope.compile(text, BOOL_RESULT, stored=text in known.validations)
        errors += expression_errors(compiled.error, text, path.child("expression"))
    blank = "must be non-empty if specified"
    if message_text and not trim_space(message_text):
        errors.append(fieldpath.invalid(path.child("messageExpression"), message_text, blank))
    elif message_text:
        stored = message_text in known.messages
        compiled = scope.compile(message_text, MESSAGE_RESULT, authorizer=False, stored=stored)
        errors += expression_errors(compiled.error, message_text, path.child("messageExpression"))
    message = trim_space(validation.message)
    if validation.message and not message:
        errors.append(fieldpath.invalid(path.child("message"), validation.message, blank))
    elif "\n" in message or "\r" in message:
        detail = "must not contain line breaks"
        errors.append(fieldpath.invalid(path.child("message"), validation.message, detail))
    if validation.reason is not None and validation.reason not in REASONS:
        errors.append(
            fieldpath.not_supported(
                path.child("reason"), fieldpath.NamedText(validation.reason), REASONS
            )
        )
    return errors


def _audit_annotation(
    policy_name: str,
    annotation: AuditAnnotation,
    path: FieldPath,
    scope: PolicyScope,
    known: _Known,
) -> list[FieldError]:
    errors: list[FieldError] = []
    key = path.child("key")
    if not policy_name:
        errors.append(fieldpath.invalid(key, annotation.key, "requires metadata.name be non-empty"))
    else:
        full = f"{policy_name}/{annotation.key}"
        errors += [
            fieldpath.invalid(key, full, message) for message in name_rules.qualified_name(full)
        ]
    source = annotation.value_expression
    text, value = trim_space(source), path.child("valueExpression")
    if not text:
        errors.append(fieldpath.required(value, "valueExpression is not specified"))
    elif len(text.encode("utf-8", "surrogatepass")) > policy_limits.VALUE_EXPRESSION_BYTES:
        detail = f"must not exceed {policy_limits.VALUE_EXPRESSION_BYTES} bytes in length"
        errors.append(fieldpath.required(value, detail))
    else:
        compiled = scope.compile(text, ANNOTATION_RESULT, stored=source in known.annotations)
        errors += expression_errors(compiled.error, source, value, source.find(text))
    return errors
