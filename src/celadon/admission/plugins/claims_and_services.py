"""PersistentVolumeClaimResize and DenyServiceExternalIPs.

As k8s.io/kubernetes `plugin/pkg/admission/storage/persistentvolume/resize` and
`plugin/pkg/admission/network/denyserviceexternalips`.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.plugin_answers import Behaviour, core, forbidden
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube import JsonObject, StatusError, metadata
from celadon.kube.defaulting import STORAGE_CLASSES
from celadon.kube.quantities import parse_amount
from celadon.kube.well_known_values import STORAGE_CLASS


def class_of_claim(claim: JsonObject) -> str:
    """The storage class that a claim asks for; empty if it names none."""
    annotations = metadata.annotations(claim)
    if STORAGE_CLASS in annotations:
        return annotations[STORAGE_CLASS]
    return (claim.get("spec") or {}).get("storageClassName") or ""


def _validate_resize(request: Request, world: World) -> StatusError | None:
    new, old = request.object, request.old_object
    if new is None or old is None:
        return None
    wanted, present = _storage(new), _storage(old)
    if wanted is None or parse_amount(wanted).compare(parse_amount(present or "0")) <= 0:
        return None
    name = class_of_claim(new)
    found = world.get(STORAGE_CLASSES, "", name) if name and name == class_of_claim(old) else None
    if (found or {}).get("allowVolumeExpansion") is True:
        return None
    return forbidden(
        request,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the "
        "pvc must support resize",
    )


def _storage(claim: JsonObject) -> str | None:
    resources = (claim.get("spec") or {}).get("resources") or {}
    found: str | None = (resources.get("requests") or {}).get("storage")
    return found


def _validate_service(request: Request, _: World) -> StatusError | None:
    given, present = _external(request.object), _external(request.old_object)
    if given <= present:
        return None
    return forbidden(request, "Use of external IPs is denied by admission control")


def _external(service: JsonObject | None) -> set[str]:
    return set(((service or {}).get("spec") or {}).get("externalIPs") or ())


CLAIM_RESIZING: Final = Behaviour(
    validate=_validate_resize,
    resources=core("persistentvolumeclaims"),
    operations=frozenset({Operation.UPDATE}),
)
EXTERNAL_ADDRESSES: Final = Behaviour(validate=_validate_service, resources=core("services"))
