"""Who may reach devices as an administrator: claims in namespaces that are labelled for it.

As k8s.io/kubernetes `pkg/registry/resource/utils.go`. Of a namespace that nobody knows, nothing is
said here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath, metadata
from celadon.kube.catalogue.lookups import Lookups
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind

LABEL: Final = "resource.kubernetes.io/admin-access"
CLAIM: Final = GroupKind("resource.k8s.io", "ResourceClaim")
TEMPLATE: Final = GroupKind("resource.k8s.io", "ResourceClaimTemplate")
_REQUESTS: Final = FieldPath("spec", "devices", "requests")
_RESULTS: Final = FieldPath("status", "allocation", "devices", "results")


def access_asked_for(kind: GroupKind, obj: JsonObject, lookups: Lookups) -> list[FieldError]:
    """Of a new claim or template; the path is that of a claim for both."""
    if kind not in (CLAIM, TEMPLATE):
        return []
    spec = obj.get("spec") or {}
    claim = (spec.get("spec") or {}) if kind == TEMPLATE else spec
    requests = (claim.get("devices") or {}).get("requests") or ()
    wishes = [one.get("exactly") or {} for one in requests]
    return _refused(_REQUESTS, wishes, obj, lookups)


def access_given(
    kind: GroupKind, obj: JsonObject, old: JsonObject, lookups: Lookups
) -> list[FieldError]:
    """Of what a claim was allocated, unless it had such access before."""
    if kind != CLAIM or any(one.get("adminAccess") for one in _results(old)):
        return []
    return _refused(_RESULTS, _results(obj), obj, lookups)


def _results(obj: JsonObject) -> Sequence[JsonObject]:
    allocation = (obj.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or ()


def _refused(
    path: FieldPath, wishes: Sequence[JsonObject], obj: JsonObject, lookups: Lookups
) -> list[FieldError]:
    first = next((at for at, one in enumerate(wishes) if one.get("adminAccess")), None)
    if first is None:
        return []
    namespace = lookups.namespace(metadata.namespace(obj))
    if namespace is None or metadata.labels(namespace).get(LABEL) == "true":
        return []
    why = f"admin access to devices requires the `{LABEL}: true` label on the containing namespace"
    return [fieldpath.forbidden(path.index(first).child("adminAccess"), why)]
