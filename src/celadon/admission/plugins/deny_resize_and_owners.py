"""AlwaysDeny and DenyServiceExternalIPs, which deny; PersistentVolumeClaimResize, which says whose
claims may grow; OwnerReferencesPermissionEnforcement, which checks who may set owners.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon import kube
from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.plugin_interface import EVERYTHING, Behaviour, core, forbidden
from celadon.admission.request import Operation, Request
from celadon.kube.defaulting import STORAGE_CLASSES
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import parse_amounts
from celadon.kube.well_known_values import STORAGE_CLASS

# --- Always plugins ----------------------------------------------------------
#
# AlwaysDeny, as k8s.io/kubernetes `plugin/pkg/admission/deny`. AlwaysAdmit has nothing to say.


def _validate(request: Request, _: World) -> kube.StatusError:
    return forbidden(request, "admission control is denying all modifications")


def _mutate(_: kube.JsonObject, request: Request, world: World) -> kube.StatusError:
    return _validate(request, world)


ALWAYS_DENY: Final = Behaviour(
    mutate=_mutate, validate=_validate, subresources=None, operations=EVERYTHING
)


# --- Claims and services -----------------------------------------------------
#
# PersistentVolumeClaimResize and DenyServiceExternalIPs.
#
# As k8s.io/kubernetes `plugin/pkg/admission/storage/persistentvolume/resize` and
# `plugin/pkg/admission/network/denyserviceexternalips`.


def class_of_claim(claim: kube.JsonObject) -> str:
    """Return the storage class that a claim asks for; empty if it names none."""
    annotations = kube.metadata.annotations(claim)
    if STORAGE_CLASS in annotations:
        return annotations[STORAGE_CLASS]
    return (claim.get("spec") or {}).get("storageClassName") or ""


def _validate_resize(request: Request, world: World) -> kube.StatusError | None:
    new, old = request.object, request.old_object
    if new is None or old is None:
        return None
    storage, present = _storage(new), _storage(old)
    if storage is None or parse_amounts(storage).compare(parse_amounts(present or "0")) <= 0:
        return None
    name = class_of_claim(new)
    result = world.get(STORAGE_CLASSES, "", name) if name and name == class_of_claim(old) else None
    if (result or {}).get("allowVolumeExpansion") is True:
        return None
    return forbidden(
        request,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the "
        "pvc must support resize",
    )


def _storage(claim: kube.JsonObject) -> str | None:
    resources = (claim.get("spec") or {}).get("resources") or {}
    storage: str | None = (resources.get("requests") or {}).get("storage")
    return storage


def _validate_service(request: Request, _: World) -> kube.StatusError | None:
    external, present = _external(request.object), _external(request.old_object)
    if external <= present:
        return None
    return forbidden(request, "Use of external IPs is denied by admission control")


def _external(service: kube.JsonObject | None) -> set[str]:
    return set(((service or {}).get("spec") or {}).get("externalIPs") or ())


CLAIM_RESIZING: Final = Behaviour(
    validate=_validate_resize,
    resources=core("persistentvolumeclaims"),
    operations=frozenset({Operation.UPDATE}),
)
EXTERNAL_ADDRESSES: Final = Behaviour(validate=_validate_service, resources=core("services"))


# --- Owner permissions -------------------------------------------------------
#
# OwnerReferencesPermissionEnforcement: whoever names an owner could delete the object, and
# whoever holds up an owner's deletion could touch the owner's finalizers.
#
# As k8s.io/kubernetes `plugin/pkg/admission/gc`.

Owners = list[JsonDict]


def _owner_permissions_validate(request: Request, world: World) -> kube.StatusError | None:
    resource = request.resource
    if (resource.resource, request.subresource) == ("pods", "status") and not resource.group:
        return None
    new, old = _owners(request.object), _owners(request.old_object)
    if new == old:
        return None
    refusal = _may_not_delete(request, world)
    if refusal is not None:
        return refusal
    for owner in _newly_blocking(new, old):
        refusal = _may_not_block(owner, request, world)
        if refusal is not None:
            return refusal
    return None


def _owners(obj: kube.JsonObject | None) -> Owners:
    return kube.metadata.metadata(obj).get("ownerReferences") or []


def _newly_blocking(new: Owners, old: Owners) -> Iterator[dict[str, kube.Json]]:
    blocked = {owner.get("uid") for owner in old if owner.get("blockOwnerDeletion")}
    for owner in new:
        if owner.get("blockOwnerDeletion") and owner.get("uid") not in blocked:
            yield owner


def _may_not_delete(request: Request, world: World) -> kube.StatusError | None:
    resource = request.resource
    attributes = kube.Attributes(
        request.user,
        "delete",
        resource_request=True,
        group=resource.group,
        version=resource.version,
        resource=resource.resource,
        subresource=request.subresource,
        namespace=request.namespace,
        name=request.name,
    )
    ruling, reason, error = world.authorize(attributes)
    if ruling is kube.Ruling.ALLOW:
        return None
    detail = f"cannot set an ownerRef on a resource you can't delete: {reason}, {error or '<nil>'}"
    return forbidden(request, detail)


def _may_not_block(
    owner: kube.JsonObject, request: Request, world: World
) -> kube.StatusError | None:
    try:
        group, version = kube.parse_api_version(owner.get("apiVersion", ""))
    except kube.ApiVersionError:
        return None  # validation has refused it
    kind = owner.get("kind", "")
    resource = world.catalog.by_gvk(kube.GroupVersionKind(group, version, kind))
    if resource is None:
        return forbidden(
            request,
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "
            f"APIVersion {owner.get('apiVersion', '')} Kind {kind}: "
            f'no matches for kind "{kind}" in version "{owner.get("apiVersion", "")}"',
        )
    attributes = kube.Attributes(
        request.user,
        "update",
        resource_request=True,
        group=group,
        version=version,
        resource=resource.gvr.resource,
        subresource="finalizers",
        namespace=request.namespace if resource.namespaced else "",
        name=owner.get("name", ""),
    )
    ruling, reason, error = world.authorize(attributes)
    if ruling is kube.Ruling.ALLOW:
        return None
    return forbidden(
        request,
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "
        f"finalizers on: {reason}, {error or '<nil>'}",
    )


OWNER_PERMISSIONS: Final = Behaviour(validate=_owner_permissions_validate, subresources=None)
