"""Who may write which part of a ResourceClaim's status.

Besides the status itself a writer has to be allowed `resourceclaims/binding`, to change what is
allocated or reserved, and for each driver whose devices change `resourceclaims/driver`, with verbs
that say whether the writer runs on the node of the allocation. As k8s.io/kubernetes
`pkg/registry/resource` (`AuthorizedForBinding`, `AuthorizedForDeviceStatus`), since 1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from celadon.apiserver.authn.identities import NODE_NAME
from celadon.apiserver.authz.access_decisions import forbidden
from celadon.kube import (
    Attributes,
    AuthorizerBackend,
    FieldError,
    FieldPath,
    JsonObject,
    Ruling,
    User,
    fieldpath,
    name_rules,
)
from celadon.kube.well_known_values import SERVICE_ACCOUNT_PREFIX

GATE: Final = "DRAResourceClaimGranularStatusAuthorization"
SINCE: Final = (1, 36)
"""The release that brought the gate, which is on by default."""

_STATUS: Final = FieldPath("status")
_BOUND: Final = ("allocation", "reservedFor")
_ONE_NODE: Final = ("metadata.name", "In")
_DEVICE_KEY: Final = ("driver", "pool", "device", "shareID")


def claim_status_errors(
    asked: Attributes, authorizer: AuthorizerBackend, new: JsonObject, old: JsonObject
) -> Iterator[FieldError]:
    """Yield what the writer of a status may not change of it; `asked` is the request."""
    status, before = new.get("status") or {}, old.get("status") or {}
    if any((status.get(one) or None) != (before.get(one) or None) for one in _BOUND):
        wanted = replace(asked, subresource="binding", namespace="", name="")
        why = _refusal(wanted, authorizer)
        if why is not None:
            verb = f'resource="resourceclaims/binding", verb="{asked.verb}"'
            detail = f"changing status.allocation or status.reservedFor requires {verb} permission"
            yield fieldpath.forbidden(_STATUS.child("allocation"), f"{detail}: {why}")
    if status.get("allocation") is not None:
        yield from _device_errors(asked, authorizer, status, before)


def _device_errors(
    asked: Attributes, authorizer: AuthorizerBackend, status: JsonObject, before: JsonObject
) -> Iterator[FieldError]:
    verbs = [f"arbitrary-node:{asked.verb}"]
    if _runs_on(asked.user, _allocated_node(status["allocation"])):
        verbs.insert(0, f"associated-node:{asked.verb}")
    for driver in sorted(_changed_drivers(status, before)):
        reasons = _refusals(replace(asked, subresource="driver", name=driver), verbs, authorizer)
        if reasons:
            verb = f'resource="resourceclaims/driver", verb="[{" ".join(verbs)}]"'
            detail = f"changing status.devices requires {verb} permission: {reasons[0]}"
            yield fieldpath.forbidden(_STATUS.child("devices"), detail)


def _refusals(asked: Attributes, verbs: Iterable[str], authorizer: AuthorizerBackend) -> list[str]:
    """Return why none of the verbs is allowed; empty if one is."""
    reasons = []
    for verb in verbs:
        why = _refusal(replace(asked, verb=verb), authorizer)
        if why is None:
            return []
        reasons.append(why)
    return reasons


def _refusal(asked: Attributes, authorizer: AuthorizerBackend) -> str | None:
    """Return why something is not allowed; None if it is, whatever else went wrong."""
    ruling, reason, error = authorizer.authorize(asked)
    if ruling is Ruling.ALLOW:
        return None
    why = ": ".join(str(one) for one in (error, reason) if one)
    return str(forbidden(asked, why))


def _changed_drivers(status: JsonObject, before: JsonObject) -> set[str]:
    """The drivers of devices that came, went or changed."""
    old = _by_key(before)
    changed = set()
    for key, device in _by_key(status).items():
        if old.pop(key, None) != device:
            changed.add(device.get("driver") or "")
    return changed | {device.get("driver") or "" for device in old.values()}


def _by_key(status: JsonObject) -> dict[tuple[str, ...], JsonObject]:
    devices = status.get("devices") or ()
    return {tuple(one.get(name) or "" for name in _DEVICE_KEY): one for one in devices}


def _allocated_node(allocation: JsonObject) -> str:
    """The one node that an allocation is for; empty if it is not for one."""
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
