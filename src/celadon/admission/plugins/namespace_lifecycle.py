"""The plugins about namespaces: objects live in namespaces that are there, within the LimitRanges
of each.

As k8s.io/apiserver `pkg/admission/plugin/namespace/lifecycle` and k8s.io/kubernetes
`plugin/pkg/admission/namespace/exists`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon import kube
from celadon.admission.plugins.plugin_answers import CHANGES, EVERYTHING, Behaviour, core, forbidden
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube.defaulting import LIMIT_RANGES, STORAGE_CLASSES
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import Quantity, ResourceList, parse_amounts, pod_needs
from celadon.kube.resources import Lookups
from celadon.kube.well_known_values import STORAGE_CLASS

PERMANENT: Final = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that cannot be deleted."""

NAMESPACE: Final = kube.GroupKind("", "Namespace")
NAMESPACES: Final = kube.GroupResource("", "namespaces")
_REVIEW: Final = kube.GroupKind("authorization.k8s.io", "LocalSubjectAccessReview")


def namespace_lifecycle(request: Request, world: World) -> kube.StatusError | None:
    """404 for what lives in no namespace, 403 for new content of one that ends."""
    if request.kind.group_kind == NAMESPACE:
        if request.operation is Operation.DELETE and request.name in PERMANENT:
            return forbidden(request, "this namespace may not be deleted")
        return None
    if not request.namespace or request.kind.group_kind == _REVIEW:
        return None
    namespace = world.namespace(request.namespace)
    if namespace is None:
        return kube.status.not_found(NAMESPACES, request.namespace)
    if request.operation is Operation.CREATE and is_terminating(namespace):
        return _terminating(request)
    return None


def is_terminating(namespace: kube.JsonObject) -> bool:
    """Return whether it is on its way out, and takes nothing new."""
    phase = (namespace.get("status") or {}).get("phase")
    return bool(kube.metadata.deletion_timestamp(namespace)) or phase == "Terminating"


def _terminating(request: Request) -> kube.StatusError:
    namespace = request.namespace
    reason = f"unable to create new content in namespace {namespace} because it is being terminated"
    refused = forbidden(request, reason).status
    cause = kube.StatusCause(
        f"namespace {namespace} is being terminated", "NamespaceTerminating", "metadata.namespace"
    )
    details = replace(refused.details or kube.StatusDetails(), causes=(cause,))
    return kube.StatusError(replace(refused, details=details))


def _lifecycle(_: kube.JsonObject, request: Request, world: World) -> kube.StatusError | None:
    return namespace_lifecycle(request, world)


def _exists(request: Request, world: World) -> kube.StatusError | None:
    if not request.namespace or request.kind.group_kind == NAMESPACE:
        return None
    namespace = world.namespace(request.namespace)
    return kube.status.not_found(NAMESPACES, request.namespace) if namespace is None else None


LIFECYCLE: Final = Behaviour(mutate=_lifecycle, subresources=None, operations=CHANGES)
EXISTS: Final = Behaviour(validate=_exists, subresources=None, operations=CHANGES)


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
    """The storage class that a claim asks for; empty if it names none."""
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


# --- LimitRanger -------------------------------------------------------------
#
# LimitRanger: pods and claims against the LimitRanges of their namespace.
#
# As k8s.io/kubernetes `plugin/pkg/admission/limitranger`. What it fills in stands in the rules of
# `celadon.kube.defaulting`; here is what it refuses.

Amounts = Mapping[str, Quantity]


def within_limits(request: Request, lookups: Lookups) -> kube.StatusError | None:
    """Return why a pod or a claim is refused that is valid otherwise."""
    obj = request.object
    if obj is None or _is_leaving(request):
        return None
    reason = exceeded_limits(obj, lookups.list(LIMIT_RANGES, request.namespace))
    return forbidden(request, reason) if reason else None


def _is_leaving(request: Request) -> bool:
    """An update of an object that is being deleted is only about letting it go."""
    update = request.operation is Operation.UPDATE
    return update and bool(kube.metadata.deletion_timestamp(request.object))


def exceeded_limits(obj: kube.JsonObject, limit_ranges: Iterable[kube.JsonObject]) -> str:
    """Return why the object is refused; empty when it is not. All complaints of the first
    LimitRange."""
    for limit_range in limit_ranges:
        limits: Sequence[kube.JsonObject] = (limit_range.get("spec") or {}).get("limits") or ()
        kind = obj.get("kind")
        if kind == "Pod":
            complaints = list(_pod(obj.get("spec") or {}, limits))
        elif kind == "PersistentVolumeClaim":
            complaints = list(_claim(obj.get("spec") or {}, limits))
        else:
            return ""
        texts = list(dict.fromkeys(complaints))
        if texts:
            return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return ""


def _needs(spec: kube.JsonObject) -> tuple[Amounts, Amounts]:
    requests = pod_needs(spec, "requests", overhead=False)
    return requests, pod_needs(spec, "limits", overhead=False)


def _entries(limit: kube.JsonObject, field: str) -> list[tuple[str, str]]:
    """Return the entries by name: the order in which a server meets them is random."""
    return sorted((limit.get(field) or {}).items())


def _parsed(amounts: ResourceList | None) -> dict[str, Quantity]:
    return {name: parse_amounts(amount) for name, amount in (amounts or {}).items()}


def _pod(spec: kube.JsonObject, limits: Sequence[kube.JsonObject]) -> Iterator[str]:
    for limit in limits:
        if limit.get("type") == "Container":
            for field in ("containers", "initContainers"):
                for container in spec.get(field) or ():
                    resources = container.get("resources") or {}
                    requests, most = (_parsed(resources.get(key)) for key in ("requests", "limits"))
                    yield from _compared(limit, requests, most)
        elif limit.get("type") == "Pod":
            yield from _compared(limit, *_needs(spec))


def _claim(spec: kube.JsonObject, limits: Sequence[kube.JsonObject]) -> Iterator[str]:
    requests = _parsed((spec.get("resources") or {}).get("requests"))
    for limit in limits:
        if limit.get("type") != "PersistentVolumeClaim":
            continue
        for name, amount in _entries(limit, "min"):
            yield from _minimum("PersistentVolumeClaim", name, parse_amounts(amount), requests, {})
        for name, amount in _entries(limit, "max"):
            yield from _claim_maximum(name, parse_amounts(amount), requests)


def _claim_maximum(name: str, most: Quantity, requests: Amounts) -> Iterator[str]:
    bound = f"maximum {name} usage per PersistentVolumeClaim is {most}"
    request = requests.get(name)
    if request is None:
        yield f"{bound}.  No request is specified"
    elif request.compare(most) > 0:
        yield f"{bound}, but request is {request}"


def _compared(limit: kube.JsonObject, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind: Any = limit.get("type")
    for name, amount in _entries(limit, "min"):
        yield from _minimum(kind, name, parse_amounts(amount), requests, limits)
    for name, amount in _entries(limit, "max"):
        yield from _maximum(kind, name, parse_amounts(amount), requests, limits)
    for name, amount in _entries(limit, "maxLimitRequestRatio"):
        yield from _ratio(kind, name, parse_amounts(amount), requests, limits)


def _minimum(
    kind: str, name: str, least: Quantity, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    bound = f"minimum {name} usage per {kind} is {least}"
    if request is None:
        yield f"{bound}.  No request is specified"
    elif request.compare(least) < 0:
        yield f"{bound}, but request is {request}"
    elif limit is not None and limit.compare(least) < 0:
        yield f"{bound}, but limit is {limit}"


def _maximum(
    kind: str, name: str, most: Quantity, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    bound = f"maximum {name} usage per {kind} is {most}"
    if limit is None:
        yield f"{bound}.  No limit is specified"
    elif limit.compare(most) > 0:
        yield f"{bound}, but limit is {limit}"
    elif request is not None and request.compare(most) > 0:
        yield f"{bound}, but request is {request}"


def _ratio(
    kind: str, name: str, most: Quantity, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    bound = f"{name} max limit to request ratio per {kind} is {most}"
    if request is None or request.sign == 0:
        yield f"{bound}, but no request is specified or request is 0"
    elif limit is None or limit.sign == 0:
        yield f"{bound}, but no limit is specified or limit is 0"
    else:
        ratio = float(limit.as_decimal()) / float(request.as_decimal())
        if ratio > float(most.as_decimal()):
            yield f"{bound}, but provided ratio is {ratio:f}"


def _validate_limits(request: Request, world: World) -> kube.StatusError | None:
    pod_update = request.operation is Operation.UPDATE and request.resource.resource == "pods"
    if pod_update and request.subresource != "resize":
        return None
    if request.subresource and not pod_update:
        return None
    return within_limits(request, world)


LIMIT_RANGER: Final = Behaviour(
    validate=_validate_limits,
    resources=core("pods", "persistentvolumeclaims"),
    subresources=frozenset({"", "resize"}),
)
