"""Policies from files of the API server itself (KEP-5793): what holds for them beyond validation.

Their names end with a suffix that the API does not give away; they have no params, and a binding
names a policy of the same files. As k8s.io/kubernetes
`pkg/admission/plugin/policy/manifest/loader`; the texts are those of its errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from celadon.admission.registration.registration_types import (
    Binding,
    Policy,
    RegistrationObject,
)
from celadon.kube import FieldPath
from celadon.kube.go import quote

STATIC_SUFFIX: Final = ".static.k8s.io"
_POLICY_NAME: Final = FieldPath("spec", "policyName")


class StaticError(NamedTuple):
    """`number` is that of the object among those given, `path` the field that is wrong."""

    number: int
    path: FieldPath
    text: str


def is_static(obj: RegistrationObject) -> bool:
    """Whether its name says that it is for files."""
    return obj.name.endswith(STATIC_SUFFIX)


def static_errors(objects: Sequence[RegistrationObject]) -> Iterator[StaticError]:
    """Why a set of policies and bindings of one type cannot be loaded from files, in the order in
    which a server finds it out."""
    for number, obj in enumerate(objects):
        if isinstance(obj, Policy):
            yield from _of_policy(number, obj)
        elif isinstance(obj, Binding):
            yield from _of_binding(number, obj)
    names = {one.name for one in objects if isinstance(one, Policy)}
    for number, obj in enumerate(objects):
        if isinstance(obj, Binding) and obj.spec.policy_name.endswith(STATIC_SUFFIX):
            wanted = obj.spec.policy_name
            if wanted not in names:
                text = (
                    f"binding {quote(obj.name)} references policy {quote(wanted)} which does not "
                    "exist in the manifest directory"
                )
                yield StaticError(number, _POLICY_NAME, text)


def _of_policy(number: int, policy: Policy) -> Iterator[StaticError]:
    if policy.spec.param_kind is not None:
        text = (
            f"{type(policy).__name__} {quote(policy.name)}: spec.paramKind is not supported for "
            "static manifests"
        )
        yield StaticError(number, FieldPath("spec", "paramKind"), text)


def _of_binding(number: int, binding: Binding) -> Iterator[StaticError]:
    name, wanted = quote(binding.name), binding.spec.policy_name
    if not wanted:
        text = f"binding {name} must reference a policy (spec.policyName)"
        yield StaticError(number, _POLICY_NAME, text)
    elif not wanted.endswith(STATIC_SUFFIX):
        text = (
            f"binding {name}: spec.policyName {quote(wanted)} must end with {quote(STATIC_SUFFIX)}"
        )
        yield StaticError(number, _POLICY_NAME, text)
    if binding.spec.param_ref is not None:
        text = f"binding {name}: spec.paramRef is not supported for static manifests"
        yield StaticError(number, FieldPath("spec", "paramRef"), text)
