"""API validation of bindings, the same on create and update.

Those of mutating policies have no validation actions and may not match deletions.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.registration.api_validation.match_rules import (
    validate_label_selector,
    validate_match_resources,
    validate_mutating_operations,
)
from celadon.admission.registration.api_validation.policy_parts import SPEC
from celadon.admission.registration.api_validation.registration_metadata import validate_object_meta
from celadon.admission.registration.registration_types import (
    ALLOW,
    AUDIT,
    DENY,
    WARN,
    Binding,
    BindingSpec,
    MutatingAdmissionPolicyBinding,
    ParamRef,
)
from celadon.kube import FieldError, FieldPath, fieldpath, name_rules

VALIDATION_ACTIONS: Final = (AUDIT, DENY, WARN)
NOT_FOUND_ACTIONS: Final = (DENY, ALLOW)  # upstream prints these unsorted


def validate_binding(binding: Binding) -> list[FieldError]:
    """A defaulted binding of either kind."""
    spec = binding.spec
    errors = validate_object_meta(binding.metadata)
    name = SPEC.child("policyName")
    if not spec.policy_name:
        errors.append(fieldpath.required(name))
    else:
        messages = name_rules.dns1123_subdomain(spec.policy_name)
        errors += [fieldpath.invalid(name, spec.policy_name, message) for message in messages]
    if spec.param_ref is not None:
        errors += _param_ref(spec.param_ref, SPEC.child("paramRef"))
    mutating = binding.__class__ is MutatingAdmissionPolicyBinding
    if spec.match_resources is not None:
        path = SPEC.child("matchResources")
        errors += validate_match_resources(spec.match_resources, path)
        if mutating:
            errors += validate_mutating_operations(spec.match_resources, path)
    return errors if mutating else errors + _validation_actions(spec)


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
    path = SPEC.child("validationActions")
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
    if DENY in seen and WARN in seen:
        detail = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        errors.append(fieldpath.invalid(path, list(actions), detail))
    if not actions:
        errors.append(fieldpath.required(path, "at least one validation action is required"))
    return errors
