"""API validation of policies and bindings: every complaint, in upstream's order and words.

`validate_policy` and `validate_binding` check the whole object but a policy's status. As
k8s.io/kubernetes `pkg/apis/admissionregistration/validation`. Expressions are compiled as for a
new object: at the compatibility version, one minor below. On update, an expression that the old
object already had is compiled with everything this version knows instead (ratcheting), and match
conditions are not looked at when neither they nor `paramKind` changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from celadon.admission import limits
from celadon.admission.expressions import (
    ANNOTATION_RESULT,
    BOOL_RESULT,
    MESSAGE_RESULT,
    ExpressionError,
    PolicyScope,
    trim_space,
)
from celadon.admission.registration.object_meta import validate_object_meta
from celadon.admission.registration.rules import (
    validate_label_selector,
    validate_match_resources,
)
from celadon.admission.registration.types import (
    AuditAnnotation,
    BindingSpec,
    MatchCondition,
    ParamKind,
    ParamRef,
    PolicySpec,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    Validation,
    Variable,
)
from celadon.kube import (
    DEFAULT_VERSION,
    ApiVersionError,
    FieldError,
    FieldPath,
    fieldpath,
    name_rules,
    parse_api_version,
)

FAILURE_POLICIES: Final = ("Fail", "Ignore")
REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
VALIDATION_ACTIONS: Final = ("Audit", "Deny", "Warn")
NOT_FOUND_ACTIONS: Final = ("Deny", "Allow")  # upstream prints these unsorted

_EMPTY: Final = PolicySpec()
_SPEC: Final = FieldPath("spec")


@dataclass(frozen=True, slots=True)
class _Known:
    """Expressions of the old object, by kind: they may use whatever this version has."""

    conditions: frozenset[str]
    validations: frozenset[str]
    messages: frozenset[str]
    annotations: frozenset[str]

    @staticmethod
    def of(spec: PolicySpec) -> _Known:
        return _Known(
            frozenset(c.expression for c in spec.match_conditions),
            frozenset(v.expression for v in spec.validations),
            frozenset(v.message_expression for v in spec.validations),
            frozenset(a.value_expression for a in spec.audit_annotations),
        )


def validate_policy(
    policy: ValidatingAdmissionPolicy,
    old: ValidatingAdmissionPolicy | None = None,
    version: str = DEFAULT_VERSION,
) -> list[FieldError]:
    """A defaulted policy; `old` is the stored object on update."""
    spec = policy.spec
    known = _Known.of(_EMPTY if old is None else old.spec)
    scope = PolicyScope(
        version, has_params=spec.param_kind is not None, has_variables=bool(spec.variables)
    )
    errors = validate_object_meta(policy.metadata)
    if spec.failure_policy is None:
        errors.append(fieldpath.required(_SPEC.child("failurePolicy")))
    elif spec.failure_policy not in FAILURE_POLICIES:
        value = fieldpath.NamedText(spec.failure_policy)
        errors.append(
            fieldpath.not_supported(_SPEC.child("failurePolicy"), value, FAILURE_POLICIES)
        )
    if spec.param_kind is not None:
        errors += _param_kind(spec.param_kind, _SPEC.child("paramKind"))
    constraints = _SPEC.child("matchConstraints")
    if spec.match_constraints is None:
        errors.append(fieldpath.required(constraints))
    else:
        errors += validate_match_resources(spec.match_constraints, constraints)
        if not spec.match_constraints.resource_rules:
            errors.append(fieldpath.required(constraints.child("resourceRules")))
    if old is None or not _same_conditions(spec, old.spec):
        errors += _match_conditions(spec.match_conditions, scope, known)
    for i, variable in enumerate(spec.variables):
        stored = variable.expression in known.validations
        errors += _variable(variable, _SPEC.child("variables").index(i), scope, stored)
    return errors + _outcomes(policy, scope, known)


def _same_conditions(spec: PolicySpec, old: PolicySpec) -> bool:
    return spec.param_kind == old.param_kind and spec.match_conditions == old.match_conditions


def _outcomes(
    policy: ValidatingAdmissionPolicy, scope: PolicyScope, known: _Known
) -> list[FieldError]:
    """Validations and audit annotations: at least one of either."""
    spec = policy.spec
    validations, annotations = _SPEC.child("validations"), _SPEC.child("auditAnnotations")
    if not spec.validations and not spec.audit_annotations:
        detail = "validations or auditAnnotations must contain at least one item"
        return [fieldpath.required(validations, detail), fieldpath.required(annotations, detail)]
    errors: list[FieldError] = []
    for i, validation in enumerate(spec.validations):
        errors += _validation(validation, validations.index(i), scope, known)
    if len(spec.audit_annotations) > limits.AUDIT_ANNOTATIONS:
        value = [
            {"Key": a.key, "ValueExpression": a.value_expression} for a in spec.audit_annotations
        ]
        detail = f"must not have more than {limits.AUDIT_ANNOTATIONS} auditAnnotations"
        errors.append(fieldpath.invalid(annotations, value, detail))
    seen: set[str] = set()
    for i, annotation in enumerate(spec.audit_annotations):
        path = annotations.index(i)
        errors += _audit_annotation(policy.name, annotation, path, scope, known)
        if annotation.key in seen:
            errors.append(fieldpath.duplicate(path.child("key"), annotation.key))
        seen.add(annotation.key)
    return errors


def _param_kind(kind: ParamKind, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    version_path = path.child("apiVersion")
    if not kind.api_version:
        errors.append(fieldpath.required(version_path))
    else:
        errors += _api_version(kind.api_version, version_path)
    if not kind.kind:
        errors.append(fieldpath.required(path.child("kind")))
    else:
        messages = name_rules.dns1035_label(kind.kind.lower())
        if messages:
            detail = "may have mixed case, but should otherwise match: " + ",".join(messages)
            errors.append(fieldpath.invalid(path.child("kind"), kind.kind, detail))
    return errors


def _api_version(text: str, path: FieldPath) -> list[FieldError]:
    try:
        group, version = parse_api_version(text)
    except ApiVersionError as error:
        return [fieldpath.invalid(path, text, str(error))]
    errors = []
    if group and (messages := name_rules.dns1123_subdomain(group)):
        errors.append(fieldpath.invalid(path, group, ",".join(messages)))
    if not version:
        errors.append(fieldpath.invalid(path, text, "version must be specified"))
    elif messages := name_rules.dns1035_label(version):
        errors.append(fieldpath.invalid(path, version, ",".join(messages)))
    return errors


def _match_conditions(
    conditions: tuple[MatchCondition, ...], scope: PolicyScope, known: _Known
) -> list[FieldError]:
    path = _SPEC.child("matchConditions")
    errors: list[FieldError] = []
    if len(conditions) > limits.MATCH_CONDITIONS:
        errors.append(fieldpath.too_many(path, len(conditions), limits.MATCH_CONDITIONS))
    seen: set[str] = set()
    for i, condition in enumerate(conditions):
        at = path.index(i)
        text = trim_space(condition.expression)
        if not text:
            errors.append(fieldpath.required(at.child("expression")))
        else:
            stored = text in known.conditions
            error = scope.condition(text, stored=stored).error
            errors += _compiled(error, text, at.child("expression"))
        name = at.child("name")
        if not condition.name:
            errors.append(fieldpath.required(name))
            continue
        errors += [
            fieldpath.invalid(name, condition.name, m)
            for m in name_rules.qualified_name(condition.name)
        ]
        if condition.name in seen:
            errors.append(fieldpath.duplicate(name, condition.name))
        seen.add(condition.name)
    return errors


def _variable(
    variable: Variable, path: FieldPath, scope: PolicyScope, stored: bool
) -> list[FieldError]:
    errors: list[FieldError] = []
    name = path.child("name")
    if not trim_space(variable.name):
        errors.append(fieldpath.required(name, "name is not specified"))
    elif not name_rules.is_cel_identifier(variable.name):
        errors.append(fieldpath.invalid(name, variable.name, "must be a valid CEL identifier"))
    expression = path.child("expression")
    if not trim_space(variable.expression):
        errors.append(fieldpath.required(expression, "expression is not specified"))
    else:
        error = scope.declare(variable.name, variable.expression, stored=stored).error
        errors += _compiled(error, variable.expression, expression)
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
        errors += _compiled(compiled.error, text, path.child("expression"))
    blank = "must be non-empty if specified"
    if message_text and not trim_space(message_text):
        errors.append(fieldpath.invalid(path.child("messageExpression"), message_text, blank))
    elif message_text:
        stored = message_text in known.messages
        compiled = scope.compile(message_text, MESSAGE_RESULT, authorizer=False, stored=stored)
        errors += _compiled(compiled.error, message_text, path.child("messageExpression"))
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
    elif len(text.encode("utf-8", "surrogatepass")) > limits.VALUE_EXPRESSION_BYTES:
        detail = f"must not exceed {limits.VALUE_EXPRESSION_BYTES} bytes in length"
        errors.append(fieldpath.required(value, detail))
    else:
        compiled = scope.compile(text, ANNOTATION_RESULT, stored=source in known.annotations)
        errors += _compiled(compiled.error, source, value)
    return errors


def _compiled(error: ExpressionError | None, text: str, path: FieldPath) -> list[FieldError]:
    if error is None:
        return []
    if error.internal:
        return [fieldpath.internal(path, error.detail)]
    return [fieldpath.invalid(path, text, error.detail)]


def validate_binding(binding: ValidatingAdmissionPolicyBinding) -> list[FieldError]:
    """A defaulted binding; the same on create and update."""
    spec = binding.spec
    errors = validate_object_meta(binding.metadata)
    name = _SPEC.child("policyName")
    if not spec.policy_name:
        errors.append(fieldpath.required(name))
    else:
        errors += [
            fieldpath.invalid(name, spec.policy_name, m)
            for m in name_rules.dns1123_subdomain(spec.policy_name)
        ]
    if spec.param_ref is not None:
        errors += _param_ref(spec.param_ref, _SPEC.child("paramRef"))
    if spec.match_resources is not None:
        errors += validate_match_resources(spec.match_resources, _SPEC.child("matchResources"))
    return errors + _validation_actions(spec)


def _param_ref(ref: ParamRef, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    exclusive = "name and selector are mutually exclusive"
    if ref.name:
        name = path.child("name")
        errors += [
            fieldpath.invalid(name, ref.name, message)
            for message in name_rules.path_segment_name(ref.name)
        ]
        if ref.selector is not None:
            errors.append(fieldpath.forbidden(name, exclusive))
    if ref.selector is not None:
        selector = path.child("selector")
        errors += validate_label_selector(ref.selector, selector)
        if ref.name:
            errors.append(fieldpath.forbidden(selector, exclusive))
    if not ref.name and ref.selector is None:
        errors.append(fieldpath.required(path, "one of name or selector must be specified"))
    action = ref.parameter_not_found_action
    if not action:
        errors.append(fieldpath.required(path.child("parameterNotFoundAction")))
    elif action not in NOT_FOUND_ACTIONS:
        at = path.child("parameterNotFoundAction")
        errors.append(fieldpath.not_supported(at, fieldpath.NamedText(action), NOT_FOUND_ACTIONS))
    return errors


def _validation_actions(spec: BindingSpec) -> list[FieldError]:
    path = _SPEC.child("validationActions")
    actions = spec.validation_actions
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, action in enumerate(actions):
        if action not in VALIDATION_ACTIONS:
            errors.append(
                fieldpath.not_supported(
                    path.index(i), fieldpath.NamedText(action), VALIDATION_ACTIONS
                )
            )
        if action in seen:
            errors.append(fieldpath.duplicate(path.index(i), fieldpath.NamedText(action)))
        seen.add(action)
    if "Deny" in seen and "Warn" in seen:
        detail = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        errors.append(fieldpath.invalid(path, list(actions), detail))
    if not actions:
        errors.append(fieldpath.required(path, "at least one validation action is required"))
    return errors
