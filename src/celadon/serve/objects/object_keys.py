"""Under which key an object is stored: one place per object, whatever version it is read in.

The form is `/registry/<group>/<resource>/[<namespace>/]<name>`, with `core` for the group without a
name. Upstream has the same form with some prefixes that nobody else sees (k8s.io/kubernetes
`pkg/kubeapiserver/default_storage_factory_builder.go`).
"""

from __future__ import annotations

from typing import Final

from celadon.kube import GroupResource
from celadon.kube.catalogue import Resource

ROOT: Final = "/registry"
CLAIMS: Final = f"{ROOT}/ranges/"
"""Keys of no object, which say that something was given to one. As kube-apiserver's allocations."""

STORED_ELSEWHERE: Final = {GroupResource("events.k8s.io", "events"): GroupResource("", "events")}
"""Resources that are another view of the objects of another group."""


def collection_prefix(resource: Resource, namespace: str = "") -> str:
    """What the keys of all objects begin with: of all namespaces if none is named."""
    own = resource.gvr.group_resource
    group, name = STORED_ELSEWHERE.get(own, own)
    prefix = f"{ROOT}/{group or 'core'}/{name}/"
    return f"{prefix}{namespace}/" if namespace and resource.namespaced else prefix


def object_key(resource: Resource, namespace: str, name: str) -> str:
    """`namespace` is ignored for a cluster-scoped resource."""
    return collection_prefix(resource, namespace) + name
