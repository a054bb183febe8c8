"""Policies and webhooks from files of the API server itself (KEP-5793): what holds for them beyond
validation.

Their names end with a suffix that the API does not give away; they refer to nothing in the cluster:
policies have no params, bindings name policies of the same files, webhooks have URLs. As
k8s.io/apiserver `pkg/admission/plugin/{policy,webhook}/manifest/loader`; the texts are those of
their errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from celadon.admission.registration.registration_types import (
    Binding,
    Policy,
    RegistrationObject,
    WebhookConfiguration,
)
from celadon.admission.registration.reserved_names import STATIC_SUFFIX
from celadon.kube import FieldPath
from celadon.kube.go import quote

_POLICY_NAME: Final = FieldPath("spec", "policyName")


class StaticError(NamedTuple):
    """`number` is that of the object among those given, `path` the field that is wrong."""

    number: int
    path: FieldPath
    text: str


def is_static(obj: RegistrationObject) -> bool:
    """Whether its name says that it is for files."""
    return obj.name.endswith(STATIC_SUFFIX)


def static_errors(objects: Sequence[RegistrationObject], file: str = "") -> Iterator[StaticError]:
    """Why a set of objects of one plugin cannot be loaded from files: what is wrong with each, then
    which references lead nowhere. `file` is shown where upstream names it."""
    for number, obj in enumerate(objects):
        yield from constraint_errors(obj, number, file)
    yield from reference_errors(objects)


def constraint_errors(
    obj: RegistrationObject, number: int = 0, file: str = ""
) -> Iterator[StaticError]:
    """What is wrong with one object that is in a file, in the order in which a server finds it."""
    if isinstance(obj, WebhookConfiguration):
        yield from _of_webhooks(number, obj, file)
    elif isinstance(obj, Policy):
        yield from _of_policy(number, obj)
    else:
        yield from _of_binding(number, obj)


def reference_errors(objects: Sequence[RegistrationObject]) -> Iterator[StaticError]:
    """Bindings whose policy is not among the objects."""
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


def name_error(name: str, file: str, seen: dict[str, str]) -> str:
    """What is wrong with the name of an object in a file; empty if it is good. `seen` has the files
    of the names before, and gets this one."""
    if not name:
        return f"resource in file {quote(file)} must have a name"
    if not name.endswith(STATIC_SUFFIX):
        wanted = f"must have a name ending with {quote(STATIC_SUFFIX)}"
        return f"{quote(name)} in file {quote(file)} {wanted}"
    if name in seen:
        before = f"previously seen in {quote(seen[name])}"
        return f"duplicate name {quote(name)} found in file {quote(file)} ({before})"
    seen[name] = file
    return ""


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


def _of_webhooks(
    number: int, configuration: WebhookConfiguration, file: str
) -> Iterator[StaticError]:
    for place, webhook in enumerate(configuration.webhooks):
        path = FieldPath("webhooks").index(place).child("clientConfig")
        where = f"webhook {quote(webhook.name)} in {quote(configuration.name)}"
        if file:
            where += f" (file {quote(file)})"
        if webhook.client_config.service is not None:
            text = (
                f"{where}: clientConfig.service is not supported for static manifests; use "
                "clientConfig.url instead"
            )
            yield StaticError(number, path.child("service"), text)
        elif not webhook.client_config.url:
            text = f"{where}: clientConfig.url is required for static manifests"
            yield StaticError(number, path.child("url"), text)
