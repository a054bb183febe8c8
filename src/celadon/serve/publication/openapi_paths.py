"""The paths of a group version in OpenAPI, with the operations of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from celadon.kube import GroupVersionKind
from celadon.kube.catalogue import Resource, Subresource
from celadon.kube.schemas import META_PREFIX
from celadon.records import dataclass
from celadon.serve.publication.openapi_operations import (
    CONNECT_PARAMETERS,
    LOG_PARAMETERS,
    Operation,
    OperationWriter,
)
from celadon.serve.publication.published_apis import PublishedVersion

RETURNED_WHEN_DELETED: Final = frozenset(
    {
        *("persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "resourcequotas"),
        *("serviceaccounts", "services", "csidrivers.storage.k8s.io", "csinodes.storage.k8s.io"),
        *("storageclasses.storage.k8s.io", "volumeattachments.storage.k8s.io"),
        *("volumeattributesclasses.storage.k8s.io", "deviceclasses.resource.k8s.io"),
        *("devicetaintrules.resource.k8s.io", "resourceclaims.resource.k8s.io"),
        *("resourceclaimtemplates.resource.k8s.io", "resourceslices.resource.k8s.io"),
        "resourcepoolstatusrequests.resource.k8s.io",
    }
)
"""Resources whose DELETE answers with the object, not with a Status."""

_ACTIONS: Final = {
    "get": "get",
    "create": "post",
    "update": "put",
    "patch": "patch",
    "delete": "delete",
}
"""The action of a verb, in the order in which the operations of a path stand."""

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_CONNECT_METHODS: Final = {"get": "get", "create": "post"}
TypeName = Callable[[GroupVersionKind], str]
"""The OpenAPI name of a kind's type."""


def paths(version: PublishedVersion, type_name: TypeName) -> dict[str, dict[str, Any]]:
    """All paths, sorted."""
    custom = all(resource.custom for resource in version.resources)
    writer = OperationWriter(version.group_version, custom)
    found: dict[str, dict[str, Any]] = {}
    if not custom:
        found[f"/{version.path}/"] = writer.resources_item()
    for resource in version.resources:
        found.update(_ResourcePaths(resource, f"/{version.path}", writer, type_name).items())
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class _ResourcePaths:
    resource: Resource
    root: str
    writer: OperationWriter
    type_name: TypeName

    def items(self) -> Iterable[tuple[str, dict[str, Any]]]:
        resource = self.resource
        namespace = ("namespace",) if resource.namespaced else ()
        inside = "namespaces/{namespace}/" if resource.namespaced else ""
        plural, scope = resource.gvr.resource, "Namespaced" if resource.namespaced else ""
        subject = f"{scope}{resource.gvk.kind}"
        collection = f"{inside}{plural}"
        yield from self._path(collection, list(self._collection(subject)), namespace)
        named = f"{collection}/{{name}}"
        yield from self._path(named, list(self._named(subject)), ("name", *namespace))
        if resource.namespaced and "list" in resource.verbs:
            yield from self._path(plural, [self._list(f"{resource.gvk.kind}ForAllNamespaces")], ())
        yield from self._watches(subject, collection, namespace)
        for subresource in resource.subresources:
            yield from self._below(subresource, subject, named, ("name", *namespace))

    def _path(
        self, path: str, operations: list[Operation], in_path: Iterable[str]
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        if operations:
            yield f"{self.root}/{path}", self.writer.item(operations, in_path)

    def _list(self, subject: str) -> Operation:
        kind = self.resource.gvk
        listed = self.type_name(kind._replace(kind=self.resource.list_kind))
        return Operation("list", subject, kind, listed)

    def _collection(self, subject: str) -> Iterable[Operation]:
        kind, verbs = self.resource.gvk, self.resource.verbs
        name = self.type_name(kind)
        if "list" in verbs:
            yield self._list(subject)
        if "create" in verbs:
            yield Operation("post", subject, kind, name, name)
        if "deletecollection" in verbs:
            yield Operation(
                "deletecollection", f"Collection{subject}", kind, f"{META_PREFIX}Status"
            )

    def _named(self, subject: str) -> Iterable[Operation]:
        kind = self.resource.gvk
        name = self.type_name(kind)
        returned = str(self.resource.gvr.group_resource) in RETURNED_WHEN_DELETED
        for verb in ("get", "update", "delete", "patch"):
            if verb not in self.resource.verbs:
                continue
            answers = f"{META_PREFIX}Status" if verb == "delete" and not returned else name
            takes = name if verb == "update" else ""
            yield Operation(_ACTIONS[verb], subject, kind, answers, takes)

    def _watches(
        self, subject: str, collection: str, namespace: tuple[str, ...]
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        """The deprecated paths, which custom resources do not say."""
        resource = self.resource
        if "watch" not in resource.verbs or resource.custom:
            return
        watched = [(f"{subject}List", "watchlist", collection, namespace)]
        if "get" in resource.verbs:
            watched.append((subject, "watch", f"{collection}/{{name}}", ("name", *namespace)))
        if resource.namespaced:
            everywhere = f"{resource.gvk.kind}ListForAllNamespaces"
            watched.append((everywhere, "watchlist", resource.gvr.resource, ()))
        for name, action, path, in_path in watched:
            operation = Operation(action, name, resource.gvk, f"{META_PREFIX}WatchEvent")
            yield from self._path(f"watch/{path}", [operation], in_path)

    def _below(
        self, subresource: Subresource, subject: str, named: str, in_path: tuple[str, ...]
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        path = f"{named}/{subresource.name}"
        subject += "".join(_subject_part(subresource))
        if subresource.connect:
            yield from self._connected(subresource, subject, path, in_path)
            return
        kind = subresource.gvk
        is_log = subresource.name == "log"
        name = "" if is_log else self.type_name(kind)
        operations = [
            Operation(
                _ACTIONS[verb],
                subject,
                kind,
                name,
                name if verb in ("create", "update") else "",
                query=LOG_PARAMETERS if is_log else (),
                text=is_log,
            )
            for verb in _ACTIONS
            if verb in subresource.verbs
        ]
        yield from self._path(path, operations, in_path)

    def _connected(
        self, subresource: Subresource, subject: str, path: str, in_path: tuple[str, ...]
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        kind = subresource.gvk
        is_proxy = subresource.name == "proxy"
        verbs = [_CONNECT_METHODS[one] for one in ("get", "create")]
        methods = METHODS if is_proxy else verbs
        query = CONNECT_PARAMETERS[kind.kind]

        def operations(suffix: str) -> list[Operation]:
            return [
                Operation(
                    "connect", f"{one.capitalize()}{subject}{suffix}", kind, "", "", one, query
                )
                for one in methods
            ]

        yield from self._path(path, operations(""), in_path)
        if is_proxy:
            below = (*in_path, "path")
            yield from self._path(f"{path}/{{path}}", operations("WithPath"), below)


_SUBJECTS: Final = {
    "ephemeralcontainers": "Ephemeralcontainers",
    "portforward": "Portforward",
}


def _subject_part(subresource: Subresource) -> Iterable[str]:
    yield _SUBJECTS.get(subresource.name, subresource.name.capitalize())
