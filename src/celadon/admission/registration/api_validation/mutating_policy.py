"""API validation of mutating policies: what they share with validating ones, and their mutations.

On update, old texts of apply configurations are what makes an expression an old one, for JSON
patches too, and no variable is one: both as upstream.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.decision_source import Source
from celadon.admission.expressions.compiled_expressions import PolicyScope
from celadon.admission.registration.api_validation.condition_validation import expression_errors
from celadon.admission.registration.api_validation.match_rules import validate_mutating_operations
from celadon.admission.registration.api_validation.policy_parts import SPEC, validate_policy_parts
from celadon.admission.registration.api_validation.registration_metadata import validate_object_meta
from celadon.admission.registration.registration_types import (
    APPLY_CONFIGURATION,
    JSON_PATCH,
    MutatingAdmissionPolicy,
    Mutation,
)
from celadon.cel import types
from celadon.kube import FieldError, FieldPath, fieldpath
from celadon.kube.go import trim_space
from celadon.kube.library import DEFAULT_VERSION

PATCH_TYPES: Final = (APPLY_CONFIGURATION, JSON_PATCH)
REINVOCATION_POLICIES: Final = ("IfNeeded", "Never")

_RESULTS: Final = {
    APPLY_CONFIGURATION: (types.object_type("Object"),),
    JSON_PATCH: (types.list_of(types.object_type("JSONPatch")),),
}
_MEMBERS: Final = {APPLY_CONFIGURATION: "applyConfiguration", JSON_PATCH: "jsonPatch"}


def validate_mutating_policy(
    policy: MutatingAdmissionPolicy,
    old: MutatingAdmissionPolicy | None = None,
    version: str = DEFAULT_VERSION,
) -> list[FieldError]:
    """A defaulted policy; `old` is the stored object on update."""
    spec = policy.spec
    scope = PolicyScope(
        version,
        has_params=spec.param_kind is not None,
        has_variables=True,
        owner=policy.name,
        runs=False,
    )
    errors = validate_object_meta(policy.metadata)
    old_spec = None if old is None else old.spec
    errors += validate_policy_parts(spec, old_spec, scope, (), validate_mutating_operations)
    mutations = SPEC.child("mutations")
    if not spec.mutations:
        errors.append(fieldpath.required(mutations, "mutations must contain at least one item"))
    known = frozenset(m.apply_configuration for m in old.spec.mutations) if old else frozenset()
    for i, mutation in enumerate(spec.mutations):
        errors += _mutation(mutation, mutations.index(i), scope, known)
    path = SPEC.child("reinvocationPolicy")
    if not spec.reinvocation_policy:
        errors.append(fieldpath.required(path))
    elif spec.reinvocation_policy not in REINVOCATION_POLICIES:
        value = fieldpath.NamedText(spec.reinvocation_policy)
        errors.append(fieldpath.not_supported(path, value, REINVOCATION_POLICIES))
    return errors


def _mutation(
    mutation: Mutation, path: FieldPath, scope: PolicyScope, known: frozenset[str | None]
) -> list[FieldError]:
    """A union: the member that the patch type names, and no other."""
    chosen = mutation.patch_type
    if not chosen:
        return [fieldpath.required(path.child("patchType"))]
    if chosen not in PATCH_TYPES:
        value = fieldpath.NamedText(chosen)
        return [fieldpath.not_supported(path.child("patchType"), value, PATCH_TYPES)]
    given = {
        APPLY_CONFIGURATION: mutation.apply_configuration,
        JSON_PATCH: mutation.json_patch,
    }
    errors: list[FieldError] = []
    expression = given.pop(chosen)
    member = path.child(_MEMBERS[chosen])
    if expression is None:
        errors.append(fieldpath.required(member, f"must be specified when patchType is {chosen}"))
    for other, text in given.items():
        if text is not None:
            name = _MEMBERS[other]
            detail = f"must not be specified when patchType is {chosen}"
            errors.append(fieldpath.invalid(path.child(name), f"{{{name}}}", detail))
    if expression is not None:
        errors += _patch(expression, member.child("expression"), chosen, scope, known)
    return errors


def _patch(
    expression: str, path: FieldPath, chosen: str, scope: PolicyScope, known: frozenset[str | None]
) -> list[FieldError]:
    text = trim_space(expression)
    if not text:
        return [fieldpath.required(path)]
    compiled = scope.mutation(text, _RESULTS[chosen], stored=text in known, source=Source(path))
    return expression_errors(compiled.error, text, path, expression.find(text))
