"""What built-in admission plugins refuse with 403 or 404, whatever the policies say.

`lifecycle_refusal` is NamespaceLifecycle, the first plugin of all; `limits_refusal` is LimitRanger
once an object is valid. As k8s.io/apiserver `pkg/admission/plugin/namespace/lifecycle` and
k8s.io/kubernetes `plugin/pkg/admission/limitranger`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import metadata, status
from celadon.kube.catalogue.lookups import Lookups
from celadon.kube.defaulting.mutating_plugins import LIMIT_RANGES
from celadon.kube.names import GroupKind, GroupResource
from celadon.kube.status import Status, StatusCause, StatusDetails, StatusError
from celadon.kube.validation.cluster.limit_ranges import exceeded_limits
from celadon.kube.writes.write_targets import Target

CREATE: Final = "CREATE"
DELETE: Final = "DELETE"
PERMANENT: Final = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that cannot be deleted."""

_NAMESPACE: Final = GroupKind("", "Namespace")
_NAMESPACES: Final = GroupResource("", "namespaces")
_REVIEW: Final = GroupKind("authorization.k8s.io", "LocalSubjectAccessReview")


def lifecycle_refusal(
    target: Target, operation: str, name: str, lookups: Lookups
) -> StatusError | None:
    """`operation` is CREATE, UPDATE or DELETE."""
    if target.resource.gvk.group_kind == _NAMESPACE:
        if operation == DELETE and name in PERMANENT:
            why = "this namespace may not be deleted"
            return status.forbidden(_NAMESPACES, name, why)
        return None
    if not target.is_namespaced or target.group_kind == _REVIEW:
        return None
    namespace = lookups.namespace(target.namespace)
    if namespace is None:
        return status.not_found(_NAMESPACES, target.namespace)
    if operation == CREATE and _is_terminating(namespace):
        return _terminating(target, name)
    return None


def _is_terminating(namespace: Mapping[str, Any]) -> bool:
    phase = (namespace.get("status") or {}).get("phase")
    return bool(metadata.deletion_timestamp(namespace)) or phase == "Terminating"


def _terminating(target: Target, name: str) -> StatusError:
    namespace = target.namespace
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    refused = status.forbidden(target.group_resource, name, why).status
    cause = StatusCause(
        f"namespace {namespace} is being terminated", "NamespaceTerminating", "metadata.namespace"
    )
    resource = target.group_resource
    details = StatusDetails(
        name=name, group=resource.group, kind=resource.resource, causes=(cause,)
    )
    return StatusError(
        Status(message=refused.message, reason=refused.reason, details=details, code=refused.code)
    )


def limits_refusal(
    target: Target, obj: Mapping[str, Any], name: str, lookups: Lookups
) -> StatusError | None:
    """Pods and claims against the LimitRanges of their namespace."""
    if target.subresource or not target.is_namespaced:
        return None
    why = exceeded_limits(obj, lookups.list(LIMIT_RANGES, target.namespace))
    return status.forbidden(target.group_resource, name, why) if why else None
