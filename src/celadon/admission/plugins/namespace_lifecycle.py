"""NamespaceLifecycle and NamespaceExists: objects live in namespaces that are there, and nothing
new comes into one that ends.

As k8s.io/apiserver `pkg/admission/plugin/namespace/lifecycle` and k8s.io/kubernetes
`plugin/pkg/admission/namespace/exists`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from celadon import kube
from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.plugin_interface import CHANGES, Behaviour, forbidden
from celadon.admission.request import Operation, Request

PERMANENT: Final = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that cannot be deleted."""

NAMESPACE: Final = kube.GroupKind("", "Namespace")
NAMESPACES: Final = kube.GroupResource("", "namespaces")
_REVIEW: Final = kube.GroupKind("authorization.k8s.io", "LocalSubjectAccessReview")


def lifecycle_refusal(request: Request, world: World) -> kube.StatusError | None:
    """Return a 404 for what lives in no namespace that is there, a 403 for new content of one that
    ends."""
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
    return lifecycle_refusal(request, world)


def _exists(request: Request, world: World) -> kube.StatusError | None:
    if not request.namespace or request.kind.group_kind == NAMESPACE:
        return None
    namespace = world.namespace(request.namespace)
    return kube.status.not_found(NAMESPACES, request.namespace) if namespace is None else None


LIFECYCLE: Final = Behaviour(mutate=_lifecycle, subresources=None, operations=CHANGES)
EXISTS: Final = Behaviour(validate=_exists, subresources=None, operations=CHANGES)
