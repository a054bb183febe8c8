"""Optimistic locking: which state of an object a write is about, and what if it is another.

As k8s.io/apiserver `pkg/registry/generic/registry/store.go` and `pkg/storage`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import fieldpath, metadata, status
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_strconv import parse_uint
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind, GroupResource
from celadon.kube.registry.target import Target

_OWN_FOLDERS: Final[Mapping[tuple[str, str], str]] = {
    ("", "replicationcontrollers"): "controllers",
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "services"): "services/specs",
    ("networking.k8s.io", "ingresses"): "ingress",
}
"""Where upstream keeps what has a folder of its own. As k8s.io/kubernetes
`pkg/kubeapiserver/default_storage_factory_builder.go`."""
_GROUP_FOLDERS: Final = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
"""Groups of other servers than kube-apiserver's own, which keep theirs under their names."""


def require_uid(uid: str, old: JsonObject | None, target: Target, *, dry_run: bool = False) -> None:
    """Of an update: 409 when the client says (`uid`) that the object is another. This is the first
    that is looked at, also of an object that there is not; a patch says nothing."""
    found = "" if old is None else metadata.uid(old)
    if uid and uid != found:
        raise status.conflict(
            target.group_resource,
            target.name,
            "StorageError: invalid object, Code: 4, Key: "
            f"{storage_key(target, dry_run=dry_run)}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {found}",
        )


def require_state(
    made: JsonObject, old: JsonObject, target: Target, *, needs_version: bool
) -> None:
    """Of an update: 409 when the object is not in the state it was made for. `needs_version` says
    whether the kind refuses (422) an update that does not say so. `made` is as mutating admission
    has left it."""
    resource, name = target.group_resource, target.name
    try:
        version = _number(metadata.resource_version(made))
    except ValueError as why:
        raise status.plain_error(str(why)) from None
    if not version:
        if not needs_version:
            return
        error = fieldpath.invalid(
            FieldPath("metadata", "resourceVersion"), 0, "must be specified for an update"
        )
        raise status.invalid(GroupKind(resource.group, resource.resource), name, [error])
    if version != _number(metadata.resource_version(old)):
        raise status.modified(resource, name)


def _number(version: str) -> int:
    """0 for none. Raises ValueError."""
    return parse_uint(version) if version else 0


def storage_key(target: Target, *, dry_run: bool = False) -> str:
    """Where upstream keeps the object, as its messages show it; those of a dry run leave out the
    root."""
    group, folder = target.group_resource
    if target.resource.custom or group in _GROUP_FOLDERS:
        folder = f"{group}/{folder}"
    folder = _OWN_FOLDERS.get((group, folder), folder)
    space = f"{target.namespace}/" if target.is_namespaced else ""
    return f"{'' if dry_run else '/registry'}/{folder}/{space}{target.name}"


def require_unversioned(made: JsonObject, *, dry_run: bool) -> None:
    """A new object has no version yet. A dry run does not get as far as to notice, and what is no
    number goes unnoticed, too."""
    try:
        version = _number(metadata.resource_version(made))
    except ValueError:
        return
    if version and not dry_run:
        raise status.plain_error("resourceVersion should not be set on objects to be created")


def require_deletable(wanted: Mapping[str, Any], old: JsonObject, target: Target) -> None:
    """The `preconditions` of DeleteOptions; the message names the kind, not the resource."""
    kind = target.resource.gvk
    named = GroupResource(kind.group, kind.kind)
    name = metadata.name(old)
    uid, version = wanted.get("uid"), wanted.get("resourceVersion")
    if uid is not None and uid != metadata.uid(old):
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record "
            f"({metadata.uid(old)}). The object might have been deleted and then recreated"
        )
        raise status.conflict(named, name, why)
    found = metadata.resource_version(old)
    if version is not None and version != found:
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the "
            f"ResourceVersion in record ({found}). The object might have been modified"
        )
        raise status.conflict(named, name, why)
