"""Requests as plugins are asked about them, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.admission import ObjectWorld, Operation, Request
from celadon.admission.plugins import Opinion, PluginChain
from celadon.kube import GroupVersionKind, GroupVersionResource, StatusError, User, metadata
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import drafted
from celadon.kube.resources import known_resources

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}
ACCOUNT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "default", "namespace": "ns"},
}
ALICE = User("alice", ("devs",))


def world(*objects: Mapping[str, Any]) -> ObjectWorld:
    """With the namespace `ns` and its account, unless another one of their names is given."""
    return ObjectWorld([NAMESPACE, ACCOUNT, *map(dict, objects)])


def obj(kind: str, name: str, group_version: str = "v1", **members: Any) -> dict[str, Any]:
    return {"apiVersion": group_version, "kind": kind, "metadata": {"name": name}, **members}


def pod(annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    made = obj("Pod", "p", spec={"containers": [{"name": "c", "image": "i"}], **spec})
    made["metadata"]["namespace"] = "ns"
    if annotations:
        made["metadata"]["annotations"] = dict(annotations)
    return made


def asked(
    new: Mapping[str, Any] | None,
    old: Mapping[str, Any] | None = None,
    operation: Operation | None = None,
    *,
    subresource: str = "",
    user: User = ALICE,
    kind: GroupVersionKind | None = None,
    resource: GroupVersionResource | None = None,
) -> Request:
    """About an object of a built-in kind, in the namespace `ns` if the kind lives in one."""
    about = dict(new if new is not None else old or {})
    gvk = metadata.gvk(about)
    found = known_resources(all_versions=True).by_gvk(gvk)
    if operation is None:
        operation = Operation.CREATE if old is None else Operation.UPDATE
    namespaced = resource is not None or found is None or found.namespaced
    if resource is None:
        assert found is not None
        resource = found.gvr
    is_namespace = resource.resource == "namespaces"
    name = metadata.name(about)
    return Request(
        operation=operation,
        kind=kind or gvk,
        resource=resource,
        subresource=subresource,
        name=name,
        namespace=name if is_namespace else "ns" if namespaced else "",
        object=None if new is None else dict(new),
        old_object=None if old is None else dict(old),
        user=user,
    )


def validated(name: str, request: Request, around: ObjectWorld | None = None) -> Opinion:
    """What the second half of one plugin says."""
    return PluginChain({name}).validate(request, world() if around is None else around)


def refusal(name: str, request: Request, around: ObjectWorld | None = None) -> str:
    """The text of it; empty when there is none."""
    return text(validated(name, request, around).refusal)


def mutated(
    name: str, request: Request, around: ObjectWorld | None = None
) -> tuple[dict[str, Any], str]:
    """What the first half of one plugin makes of the object, and the text of its refusal."""
    around = world() if around is None else around
    assert request.object is not None
    draft = drafted(request.object, request.kind, DefaultingContext(cluster=around))
    return draft.decoded, text(PluginChain({name}).mutate(draft, request, around))


def text(found: StatusError | None) -> str:
    return "" if found is None else f"{found.code} {found}"
