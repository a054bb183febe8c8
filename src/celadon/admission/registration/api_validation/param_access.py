"""May whoever writes a policy or binding read the params it refers to?

Asked on create and update, when ordinary validation found nothing. A refusal is a field error, so
the client sees 422, not 403. As k8s.io/kubernetes
`pkg/registry/admissionregistration/{validatingadmissionpolicy,validatingadmissionpolicybinding}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from celadon.admission.registration.registration_types import (
    Binding,
    MutatingAdmissionPolicyBinding,
    ParamKind,
    Policy,
)
from celadon.kube import (
    MASTERS,
    Answer,
    ApiVersionError,
    Attributes,
    FieldError,
    FieldPath,
    GroupVersionKind,
    Ruling,
    User,
    fieldpath,
    parse_api_version,
)
from celadon.kube.catalogue import Catalog
from celadon.records import dataclass

ALL: Final = "*"
_PARAM_KIND: Final = FieldPath("spec", "paramKind")
_PARAM_REF: Final = FieldPath("spec", "paramRef")
_EVERYTHING: Final = "permission for all groups, versions and resources"

Authorize = Callable[[Attributes], Answer]


@dataclass(frozen=True, slots=True)
class _Resolved:
    """What to ask about; `*` for what is unknown, and why it is."""

    group: str = ALL
    version: str = ALL
    resource: str = ALL
    parsed: bool = False
    found: bool = False


def _resolve(kind: ParamKind, catalog: Catalog) -> _Resolved:
    try:
        group, version = parse_api_version(kind.api_version)
    except ApiVersionError:
        return _Resolved()
    found = catalog.by_gvk(GroupVersionKind(group, version, kind.kind))
    if found is None or not found.served:
        return _Resolved(group, version, parsed=True)
    return _Resolved(group, version, found.gvr.resource, parsed=True, found=True)


def check_policy(
    policy: Policy,
    old: Policy | None,
    user: User,
    catalog: Catalog,
    authorize: Authorize,
) -> list[FieldError]:
    """An update is checked only when it changes `paramKind`."""
    kind = policy.spec.param_kind
    if kind is None or MASTERS in user.groups:
        return []
    if old is not None and old.spec.param_kind == kind:
        return []
    target = _resolve(kind, catalog)
    if _allowed(user, "get", target, ALL, ALL, authorize):
        return []
    detail = (
        f'user {user_text(user)} must have "get" permission on all objects of the referenced '
        f"paramKind (kind={kind.kind}, apiVersion={kind.api_version})"
    )
    return [fieldpath.forbidden(_PARAM_KIND, detail)]


def check_binding(
    binding: Binding,
    policy: Policy | None,
    user: User,
    catalog: Catalog,
    authorize: Authorize,
) -> list[FieldError]:
    """`policy` is the one the binding names, if it exists. Every update is checked again: upstream
    compares pointers to tell whether `paramRef` changed."""
    ref = binding.spec.param_ref
    if ref is None or MASTERS in user.groups:
        return []
    kind = None if policy is None else policy.spec.param_kind
    target = _Resolved() if kind is None else _resolve(kind, catalog)
    verb = "get" if ref.name else "list"
    if _allowed(user, verb, target, ref.namespace, ref.name, authorize):
        return []
    lacks = f'user {user_text(user)} does not have "{verb}"'
    lacks_object = lacks
    if isinstance(binding, MutatingAdmissionPolicyBinding):  # upstream swaps the two
        lacks_object = f'user {verb} does not have "{user_text(user)}"'
    detail = _refusal(binding.spec.policy_name, policy, kind, target, lacks)
    detail = detail or f"{lacks_object} permission on the object referenced by paramRef"
    return [fieldpath.forbidden(_PARAM_REF, detail)]


def _allowed(
    user: User, verb: str, target: _Resolved, namespace: str, name: str, authorize: Authorize
) -> bool:
    attributes = Attributes(
        user,
        verb,
        resource_request=True,
        group=target.group,
        version=target.version,
        resource=target.resource,
        namespace=namespace,
        name=name,
    )
    return authorize(attributes)[0] is Ruling.ALLOW


def user_text(user: User) -> str:
    """Go's `%v` of a user: `&{alice  [system:authenticated] map[]}`."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"


def _refusal(
    name: str,
    policy: Policy | None,
    kind: ParamKind | None,
    target: _Resolved,
    lacks: str,
) -> str:
    """Why everything had to be asked about; empty when it had not."""
    known = "" if kind is None else f"&{{{kind.api_version} {kind.kind}}}"
    if policy is None:
        return (
            f"unable to get policy {name} to determine minimum required permissions and {lacks} "
            f"{_EVERYTHING}"
        )
    if kind is not None and not target.parsed:
        return (
            f"unable to parse paramKind {known} to determine minimum required permissions and "
            f"{lacks} {_EVERYTHING}"
        )
    if kind is not None and not target.found:
        return (
            f"unable to resolve paramKind {known} to determine minimum required permissions and "
            f"{lacks} {_EVERYTHING}"
        )
    return ""
