"""Validation of what validating and mutating policies share: all but what they do about a request.

`validate_policy_parts` gives the complaints in upstream's order: failure policy, param kind, match
constraints, match conditions, variables. As k8s.io/kubernetes
`pkg/apis/admissionregistration/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from celadon.admission.expressions.compiled_expressions import PolicyScope
from celadon.admission.registration.api_validation.condition_validation import (
    expression_errors,
    validate_match_conditions,
)
from celadon.admission.registration.api_validation.match_rules import validate_match_resources
from celadon.admission.registration.registration_types import (
    MatchResources,
    MutatingPolicySpec,
    ParamKind,
    PolicySpec,
    Variable,
)
from celadon.kube import (
    ApiVersionError,
    FieldError,
    FieldPath,
    fieldpath,
    name_rules,
    parse_api_version,
)
from celadon.kube.go import trim_space

FAILURE_POLICIES: Final = ("Fail", "Ignore")
SPEC: Final = FieldPath("spec")

AnySpec = PolicySpec | MutatingPolicySpec
CheckConstraints = Callable[[MatchResources, FieldPath], list[FieldError]]


def validate_failure_policy(value: str | None, path: FieldPath) -> list[FieldError]:
    if value is None:
        return [fieldpath.required(path)]
    if value not in FAILURE_POLICIES:
        return [fieldpath.not_supported(path, fieldpath.NamedText(value), FAILURE_POLICIES)]
    return []


def validate_policy_parts(
    spec: AnySpec,
    old: AnySpec | None,
    scope: PolicyScope,
    stored_variables: Collection[str],
    check_constraints: CheckConstraints = lambda constraints, path: [],
) -> list[FieldError]:
    """Variables are declared in `scope` on the way. `stored_variables` are texts that may use what
    this version has, `check_constraints` adds to what is said about the constraints."""
    errors = validate_failure_policy(spec.failure_policy, SPEC.child("failurePolicy"))
    if spec.param_kind is not None:
        errors += _param_kind(spec.param_kind, SPEC.child("paramKind"))
    path = SPEC.child("matchConstraints")
    if spec.match_constraints is None:
        errors.append(fieldpath.required(path))
    else:
        errors += validate_match_resources(spec.match_constraints, path)
        if not spec.match_constraints.resource_rules:
            errors.append(fieldpath.required(path.child("resourceRules")))
        errors += check_constraints(spec.match_constraints, path)
    if old is None or not _same_conditions(spec, old):
        known = frozenset(c.expression for c in old.match_conditions) if old else frozenset()
        errors += validate_match_conditions(
            spec.match_conditions,
            SPEC.child("matchConditions"),
            lambda text: scope.condition(text, stored=text in known),
        )
    for i, variable in enumerate(spec.variables):
        stored = variable.expression in stored_variables
        errors += _variable(variable, SPEC.child("variables").index(i), scope, stored=stored)
    return errors


def _same_conditions(spec: AnySpec, old: AnySpec) -> bool:
    return spec.param_kind == old.param_kind and spec.match_conditions == old.match_conditions


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


def _variable(
    variable: Variable, path: FieldPath, scope: PolicyScope, *, stored: bool
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
        errors += expression_errors(error, variable.expression, expression)
    return errors
