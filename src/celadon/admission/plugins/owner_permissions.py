"""OwnerReferencesPermissionEnforcement: whoever names an owner could delete the object, and whoever
holds up an owner's deletion could touch the owner's finalizers.

As k8s.io/kubernetes `plugin/pkg/admission/gc`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.admission.plugins.plugin_answers import Behaviour, forbidden
from celadon.admission.request import Request
from celadon.admission.world import World
from celadon.kube import (
    ApiVersionError,
    Attributes,
    GroupVersionKind,
    JsonObject,
    Ruling,
    StatusError,
    metadata,
    parse_api_version,
)

Owners = list[dict[str, Any]]


def _validate(request: Request, world: World) -> StatusError | None:
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


def _owners(obj: JsonObject | None) -> Owners:
    return metadata.metadata(obj).get("ownerReferences") or []


def _newly_blocking(new: Owners, old: Owners) -> Iterator[dict[str, Any]]:
    blocked = {owner.get("uid") for owner in old if owner.get("blockOwnerDeletion")}
    for owner in new:
        if owner.get("blockOwnerDeletion") and owner.get("uid") not in blocked:
            yield owner


def _may_not_delete(request: Request, world: World) -> StatusError | None:
    resource = request.resource
    asked = Attributes(
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
    ruling, reason, error = world.authorize(asked)
    if ruling is Ruling.ALLOW:
        return None
    why = f"cannot set an ownerRef on a resource you can't delete: {reason}, {error or '<nil>'}"
    return forbidden(request, why)


def _may_not_block(owner: dict[str, Any], request: Request, world: World) -> StatusError | None:
    try:
        group, version = parse_api_version(owner.get("apiVersion", ""))
    except ApiVersionError:
        return None  # validation has refused it
    kind = owner.get("kind", "")
    found = world.catalog.by_gvk(GroupVersionKind(group, version, kind))
    if found is None:
        return forbidden(
            request,
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "
            f"APIVersion {owner.get('apiVersion', '')} Kind {kind}: "
            f'no matches for kind "{kind}" in version "{owner.get("apiVersion", "")}"',
        )
    asked = Attributes(
        request.user,
        "update",
        resource_request=True,
        group=group,
        version=version,
        resource=found.gvr.resource,
        subresource="finalizers",
        namespace=request.namespace if found.namespaced else "",
        name=owner.get("name", ""),
    )
    ruling, reason, error = world.authorize(asked)
    if ruling is Ruling.ALLOW:
        return None
    return forbidden(
        request,
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "
        f"finalizers on: {reason}, {error or '<nil>'}",
    )


OWNER_PERMISSIONS: Final = Behaviour(validate=_validate, subresources=None)
