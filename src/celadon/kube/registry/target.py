"""Where a write goes, whether an object belongs there, and what is kept and shown of it.

A `Target` is a resource or what is below it, a namespace and a name. `require_namespace`,
`require_name` and `name_below` compare an object with it, as k8s.io/apiserver
`pkg/registry/rest/meta.go` and `pkg/endpoints/handlers`. `stored_object` is what a store gets of
it, `shown_object` what clients get. `scale_of` and `scaled` are the `scale` of an object, made from
it and written back into it: built-in kinds keep their counts in `spec.replicas` and
`status.replicas`, a custom kind where its CustomResourceDefinition says. As k8s.io/kubernetes
`pkg/registry/apps/*/storage/storage.go` and k8s.io/apiextensions-apiserver
`pkg/registry/customresource/etcd.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from celadon.kube import metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh
from celadon.kube.names import GroupKind, GroupResource, GroupVersionKind
from celadon.kube.registry.draft import Draft, stored_form
from celadon.kube.resources.api_resources import SCALE, Resource, ScalePaths
from celadon.kube.status import StatusError
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.kube.crd.custom_kinds import CustomKind

BUILT_IN: Final = ScalePaths()
"""Where the counts of built-in kinds are."""

SHOWN_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
"""What a Scale has of the metadata of its object."""


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class Target:
    """`namespace` and `name` are those of the URL: the name is empty for a create in a collection,
    the namespace for cluster-scoped resources. `custom` is what the resource's
    CustomResourceDefinition says about its kind, if there is one."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    custom: CustomKind | None = None

    @property
    def kind(self) -> GroupVersionKind:
        """Return what the endpoint reads and shows."""
        if not self.subresource:
            return self.resource.gvk
        kind = self.resource.kind_of(self.subresource)
        assert kind is not None, f"{self.resource.gvr} has no {self.subresource}"
        return kind

    @property
    def group_kind(self) -> GroupKind:
        return self.kind.group_kind

    @property
    def group_resource(self) -> GroupResource:
        return self.resource.gvr.group_resource

    @property
    def schema(self) -> CustomKind | None:
        """The custom kind whose schema holds for what the endpoint reads: not for its scale."""
        return None if self.subresource == "scale" else self.custom

    @property
    def is_namespaced(self) -> bool:
        return self.resource.namespaced

    @property
    def scale_paths(self) -> ScalePaths:
        """Return where the counts are that the scale of the object shows."""
        custom = self.custom
        return (None if custom is None else custom.scale) or BUILT_IN


# --- does an object belong there? ---


def require_namespace(draft: Draft, target: Target) -> None:
    """Gives an object without a namespace that of the URL, and takes it from one of a
    cluster-scoped kind. StatusError (400) when the object names another."""
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
    """StatusError (400) unless the object of an update has the name of the URL."""
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
    """Names the object of a create below an object (`pods/x/eviction`) as that object. StatusError
    (400) when it has another name."""
    meta = draft.meta
    if meta is None or not target.name:
        return
    name = metadata.name(draft.made)
    if name and name != target.name:
        kind = target.kind.kind
        raise status.bad_request(f"name in URL does not match name in {kind} object")
    meta["name"] = target.name


# --- what is kept and shown ---


def stored_object(made: JsonObject, target: Target, context: DefaultingContext) -> JsonDict:
    """Return what is kept of an object that was admitted, and answered."""
    kind = target.kind
    kept = stored_form(made, kind, context)
    if target.schema is not None:
        kept = target.schema.read_back(kept)
    return {**kept, "apiVersion": kind.api_version, "kind": kind.kind}


def shown_object(
    obj: JsonObject, target: Target, *, no_count: int | None = None
) -> dict[str, object]:
    """A stored object, in the endpoint's version, as the endpoint shows it. A scale has `no_count`
    where a custom resource has no count; None: StatusError (500), for who wants to read it."""
    if target.subresource == "scale":
        return scale_of(obj, target.scale_paths, no_count)
    return {**obj, "apiVersion": target.kind.api_version, "kind": target.kind.kind}


def scale_of(
    obj: JsonObject, paths: ScalePaths = BUILT_IN, no_count: int | None = None
) -> dict[str, object]:
    """The Scale of an object, as `shown_object`."""
    meta = metadata.metadata(obj)
    replicas = _value_at(obj, paths.wanted)
    if replicas is None and paths is not BUILT_IN:
        if no_count is None:
            where = "." + ".".join(paths.wanted)
            raise status.internal_error(f'the spec replicas field "{where}" does not exist')
        replicas = no_count
    state: dict[str, object] = {"replicas": _value_at(obj, paths.counted) or 0}
    selector = _value_at(obj, paths.selector) if paths.selector else _selector(obj, paths)
    if selector:
        state["selector"] = selector
    return {
        "kind": SCALE.kind,
        "apiVersion": SCALE.api_version,
        "metadata": {key: meta[key] for key in SHOWN_METADATA if key in meta},
        "spec": {"replicas": replicas} if replicas else {},
        "status": state,
    }


def _selector(obj: JsonObject, paths: ScalePaths) -> str:
    """The text of the selector by which a built-in kind finds its pods."""
    if paths is not BUILT_IN:
        return ""
    selector = (obj.get("spec") or {}).get("selector") or {}
    if not isinstance(selector, dict):
        return ""
    labels = selector if _is_plain(selector) else selector.get("matchLabels") or {}
    parts = [f"{key}={labels[key]}" for key in labels]
    for requirement in () if _is_plain(selector) else selector.get("matchExpressions") or ():
        parts.append(_requirement_text(requirement))
    return ",".join(sorted(parts))


def _is_plain(selector: JsonObject) -> bool:
    """Return whether it is a map of labels, as replication controllers have."""
    return all(isinstance(value, str) for value in selector.values())


def _requirement_text(requirement: JsonObject) -> str:
    key, operator = requirement.get("key", ""), requirement.get("operator", "")
    values = ",".join(sorted(requirement.get("values") or ()))
    match operator:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "DoesNotExist":
            return f"!{key}"
    return str(key)


def scaled(obj: JsonObject, scale: JsonObject, paths: ScalePaths = BUILT_IN) -> JsonDict:
    """The object with the count that its Scale asks for, and with the managers of its fields, which
    the Scale brings along (`kube.apply`)."""
    made: JsonDict = fresh(obj)
    managed = metadata.metadata(scale).get("managedFields")
    if managed:
        made["metadata"]["managedFields"] = managed
    *parents, last = paths.wanted
    parent = made
    for name in parents:
        parent = parent.setdefault(name, {})
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if parent.get(last, None if paths is not BUILT_IN else 0) != replicas:
        parent[last] = replicas
        if metadata.generation(obj):
            made["metadata"]["generation"] = metadata.generation(obj) + 1
    return made


def _value_at(obj: JsonObject, names: tuple[str, ...]) -> Any:
    value: Json = obj
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
