"""Does an object say that it belongs where it was sent? What is refused with 400.

As k8s.io/apiserver `pkg/registry/rest/meta.go` and `pkg/endpoints/handlers`.
"""

from __future__ import annotations

from celadon.kube import metadata, status
from celadon.kube.registry.draft import Draft
from celadon.kube.registry.target import Target
from celadon.kube.status import StatusError


def require_namespace(draft: Draft, target: Target) -> None:
    """An object without a namespace gets that of the URL; one of a cluster-scoped kind loses it."""
    meta = draft.meta
    if meta is None:
        return
    own = metadata.namespace(draft.made)
    if not target.is_namespaced:
        meta.pop("namespace", None)
    elif own and own != target.namespace:
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    else:
        meta["namespace"] = target.namespace


def require_name(draft: Draft, target: Target) -> None:
    """Of an update: the name has to be said, and to be that of the URL."""
    if draft.meta is None:
        return
    name = metadata.name(draft.made)
    if not name:
        raise undeterminable(target)
    if name != target.name:
        raise status.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )


def undeterminable(target: Target) -> StatusError:
    """400 for an object without a name."""
    return status.bad_request(
        f"the name of the object ({target.name} based on URL) was undeterminable: name must be "
        "provided"
    )


def name_below(draft: Draft, target: Target) -> None:
    """Of a create below an object (`pods/x/eviction`): the name is that of the object."""
    meta = draft.meta
    if meta is None or not target.name:
        return
    name = metadata.name(draft.made)
    if name and name != target.name:
        kind = target.kind.kind
        raise status.bad_request(f"name in URL does not match name in {kind} object")
    meta["name"] = target.name
