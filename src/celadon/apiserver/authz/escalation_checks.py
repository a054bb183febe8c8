"""Writes that ask for more rights than their verb: those of roles, bindings and the statuses of
ResourceClaims. Nobody grants rights they lack.

A role is written by who holds all its rules (or may `escalate` it), a binding by who holds the
rules of the role it refers to (or may `bind` it). Asked after mutating admission, before
validation. As k8s.io/kubernetes `pkg/registry/rbac/{escalation_check,helpers}.go` and the
`policybased` storages of the four kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from celadon.apiserver.authn.identities import NODE_NAME
from celadon.apiserver.authz.authorizer_chain import forbidden
from celadon.kube import (
    MASTERS,
    Attributes,
    AuthorizerBackend,
    FieldError,
    FieldPath,
    GroupResource,
    JsonObject,
    Ruling,
    StatusError,
    User,
    fieldpath,
    metadata,
    name_rules,
    rbac,
    status,
)
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import RBAC_GROUP, SERVICE_ACCOUNT_PREFIX
from celadon.records import dataclass, replace

ROLES: Final = frozenset({"roles", "clusterroles"})
BINDINGS: Final = frozenset({"rolebindings", "clusterrolebindings"})
ROLE_RESOURCES: Final = {"Role": "roles", "ClusterRole": "clusterroles"}

FULL_AUTHORITY: Final = (
    rbac.PolicyRule(("*",), ("*",), ("*",)),
    rbac.PolicyRule(("*",), non_resource_urls=("*",)),
)
"""What it takes to have rules collected by labels."""

UNCOMPARED: Final = frozenset({"ownerReferences", "finalizers", "selfLink", "managedFields"})
"""Metadata that a garbage collector may change without holding any rights."""


@dataclass(frozen=True, slots=True)
class EscalationChecks:
    """Checks that nobody grants rights that they lack. `authorizer` answers for all modes, `roles`
    knows the rules that users hold."""

    authorizer: AuthorizerBackend
    roles: rbac.RbacAuthorizer

    def check(self, attributes: Attributes, new: JsonObject, old: JsonObject | None) -> None:
        """`attributes` are those of the write, `old` is None on create. What is not of RBAC
        passes. Raises StatusError: 403, or what is wrong with the reference of a binding."""
        if (
            attributes.group != RBAC_GROUP
            or attributes.subresource
            or MASTERS in attributes.user.groups
        ):
            return
        if attributes.resource in ROLES:
            self._check_role(attributes, new, old)
        elif attributes.resource in BINDINGS:
            self._check_binding(attributes, new, old)

    def _check_role(self, attributes: Attributes, new: JsonObject, old: JsonObject | None) -> None:
        escalate = replace(attributes, verb="escalate", version="*")
        if self._may(escalate) or _is_the_same(new, old):
            return
        lacking = self._lacking(attributes, rbac.policy_rules(new))
        if lacking:
            raise _forbidden(attributes, new, lacking)
        before = None if old is None else old.get("aggregationRule")
        aggregation_rule = new.get("aggregationRule")
        if before == aggregation_rule or not (_collects(aggregation_rule) or _collects(before)):
            return
        if self._lacking(attributes, FULL_AUTHORITY):
            reason = "must have cluster-admin privileges to use the aggregationRule"
            raise _forbidden(attributes, new, reason)

    def _check_binding(
        self, attributes: Attributes, new: JsonObject, old: JsonObject | None
    ) -> None:
        if old is not None and _is_the_same(new, old):
            return
        ref = rbac.role_ref(new)
        if self._may_bind(attributes, ref):
            return
        if ref.kind not in ROLE_RESOURCES:
            raise status.plain_error(ref.error)
        rules = self.roles.index.rules_of(ref, attributes.namespace)
        if rules is None:
            raise _no_such_role(ref, attributes)
        lacking = self._lacking(attributes, rules)
        if lacking:
            raise _forbidden(attributes, new, lacking)

    def _may_bind(self, attributes: Attributes, ref: rbac.RoleRef) -> bool:
        resource = ROLE_RESOURCES.get(ref.kind)
        if resource is None:
            return False
        bind = replace(
            attributes, verb="bind", group=ref.group, version="*", resource=resource, name=ref.name
        )
        return self._may(bind)

    def _may(self, attributes: Attributes) -> bool:
        return self.authorizer.authorize(attributes)[0] is Ruling.ALLOW

    def _lacking(self, attributes: Attributes, rules: Sequence[rbac.PolicyRule]) -> str:
        """Return what the user would grant without holding it; empty if there is nothing."""
        user = attributes.user
        granted, unknown = self.roles.rules_for(user, attributes.namespace)
        missing = rbac.uncovered(granted, rules)
        if not missing:
            return ""
        text = "\n".join(sorted({str(rule) for rule in rbac.compacted(missing)}))
        errors = (
            rbac.aggregated(str(_no_such_role(ref, attributes)) for ref in unknown)
            if unknown
            else ""
        )
        return (
            f"user {quote(user.name)} (groups={rbac.quoted_list(user.groups)}) is attempting to "
            f"grant RBAC permissions not currently held:\n{text}"
            + (f"; resolution errors: [{errors}]" if errors else "")
        )


def _no_such_role(ref: rbac.RoleRef, attributes: Attributes) -> StatusError:
    """Return why a role is not found: since 1.32 upstream looks for it as if that were what the
    request is about, and so names the resource of that."""
    resource = ROLE_RESOURCES.get(ref.kind)
    if resource is None:
        return status.plain_error(ref.error)
    if ref.kind == "Role" and not attributes.namespace:
        return status.namespace_required()
    named = attributes.resource if is_since("1.32") else resource
    return status.not_found(GroupResource(RBAC_GROUP, named), ref.name)


def _forbidden(attributes: Attributes, obj: JsonObject, reason: str) -> StatusError:
    resource = GroupResource(attributes.group, attributes.resource)
    return status.forbidden(resource, metadata.name(obj), reason)


def _collects(rule: Any) -> bool:  # noqa: ANN401 - any JSON
    return bool(rule) and bool(rule.get("clusterRoleSelectors"))


def _is_the_same(new: JsonObject, old: JsonObject | None) -> bool:
    """Return whether two objects are the same, but for what a garbage collector changes."""
    return old is not None and _compared(new) == _compared(old)


def _compared(obj: JsonObject) -> JsonDict:
    """Return the object without empty members, which mean the same as absent ones."""
    meta = {
        name: value
        for name, value in metadata.metadata(obj).items()
        if name not in UNCOMPARED and value
    }
    fields = {name: value for name, value in obj.items() if value}
    return {**fields, "metadata": meta}


# --- Statuses of ResourceClaims ----------------------------------------------
#
# Who may write which part of a ResourceClaim's status.
#
# Besides the status itself a writer has to be allowed `resourceclaims/binding`, to change what is
# allocated or reserved, and for each driver whose devices change `resourceclaims/driver`, with
# verbs that say whether the writer runs on the node of the allocation. As k8s.io/kubernetes
# `pkg/registry/resource` (`AuthorizedForBinding`, `AuthorizedForDeviceStatus`), since 1.36.

GATE: Final = "DRAResourceClaimGranularStatusAuthorization"
SINCE: Final = (1, 36)
"""The release that brought the gate, which is on by default."""

_STATUS: Final = FieldPath("status")
_BOUND: Final = ("allocation", "reservedFor")
_ONE_NODE: Final = ("metadata.name", "In")
_DEVICE_KEY: Final = ("driver", "pool", "device", "shareID")


def claim_status_errors(
    attributes: Attributes, authorizer: AuthorizerBackend, new: JsonObject, old: JsonObject
) -> Iterator[FieldError]:
    """Yield what the writer of a status may not change of it; `attributes` is the request."""
    status, before = new.get("status") or {}, old.get("status") or {}
    if any((status.get(item) or None) != (before.get(item) or None) for item in _BOUND):
        binding = replace(attributes, subresource="binding", namespace="", name="")
        reason = _refusal(binding, authorizer)
        if reason is not None:
            verb = f'resource="resourceclaims/binding", verb="{attributes.verb}"'
            detail = f"changing status.allocation or status.reservedFor requires {verb} permission"
            yield fieldpath.forbidden(_STATUS.child("allocation"), f"{detail}: {reason}")
    if status.get("allocation") is not None:
        yield from _device_errors(attributes, authorizer, status, before)


def _device_errors(
    attributes: Attributes, authorizer: AuthorizerBackend, status: JsonObject, before: JsonObject
) -> Iterator[FieldError]:
    verbs = [f"arbitrary-node:{attributes.verb}"]
    if _runs_on(attributes.user, _allocated_node(status["allocation"])):
        verbs.insert(0, f"associated-node:{attributes.verb}")
    for driver in sorted(_changed_drivers(status, before)):
        reasons = _refusals(
            replace(attributes, subresource="driver", name=driver), verbs, authorizer
        )
        if reasons:
            verb = f'resource="resourceclaims/driver", verb="[{" ".join(verbs)}]"'
            detail = f"changing status.devices requires {verb} permission: {reasons[0]}"
            yield fieldpath.forbidden(_STATUS.child("devices"), detail)


def _refusals(
    attributes: Attributes, verbs: Iterable[str], authorizer: AuthorizerBackend
) -> list[str]:
    """Return why none of the verbs is allowed; empty if one is."""
    reasons = []
    for verb in verbs:
        reason = _refusal(replace(attributes, verb=verb), authorizer)
        if reason is None:
            return []
        reasons.append(reason)
    return reasons


def _refusal(attributes: Attributes, authorizer: AuthorizerBackend) -> str | None:
    """Return why something is not allowed; None if it is, whatever else went wrong."""
    ruling, reason, error = authorizer.authorize(attributes)
    if ruling is Ruling.ALLOW:
        return None
    detail = ": ".join(str(text) for text in (error, reason) if text)
    return str(forbidden(attributes, detail))


def _changed_drivers(status: JsonObject, before: JsonObject) -> set[str]:
    """Return the drivers of devices that came, went or changed."""
    old = _by_key(before)
    changed = set()
    for key, device in _by_key(status).items():
        if old.pop(key, None) != device:
            changed.add(device.get("driver") or "")
    return changed | {device.get("driver") or "" for device in old.values()}


def _by_key(status: JsonObject) -> dict[tuple[str, ...], JsonObject]:
    devices = status.get("devices") or ()
    return {tuple(device.get(name) or "" for name in _DEVICE_KEY): device for device in devices}


def _allocated_node(allocation: JsonObject) -> str:
    """Return the one node that an allocation is for; empty if it is not for one."""
    selector = allocation.get("nodeSelector") or {}
    terms: Sequence[JsonObject] = selector.get("nodeSelectorTerms") or ()
    if len(terms) != 1 or terms[0].get("matchExpressions"):
        return ""
    fields: Sequence[JsonObject] = terms[0].get("matchFields") or ()
    if len(fields) != 1 or (fields[0].get("key"), fields[0].get("operator")) != _ONE_NODE:
        return ""
    values: Sequence[str] = fields[0].get("values") or ()
    return values[0] if len(values) == 1 else ""


def _runs_on(user: User, node: str) -> bool:
    """Return whether a user is a service account that says that it is on a node."""
    if not node or not user.name.startswith(SERVICE_ACCOUNT_PREFIX):
        return False
    return list(user.extra.get(NODE_NAME, ())) == [node] and not name_rules.dns1123_subdomain(node)
