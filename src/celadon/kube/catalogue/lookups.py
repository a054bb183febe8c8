"""What may be looked up of a cluster while something is decided about a request.

`Lookups` is what admission plugins, validation and policies read from: whoever asks them brings
one, over its store, its cache or a handful of files. `ObjectIndex` is one made of plain objects.
Nothing that is read through it may be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from celadon.kube import metadata
from celadon.kube.catalogue.resources import Catalog, known_resources
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionResource

Space = tuple[str, str, str]
"""Group, resource and namespace; the namespace is empty for what is cluster-scoped."""

DEFAULT_NAMESPACE: Final = "default"
"""Where an object is that does not say, if its kind lives in namespaces."""

NAMESPACES: Final[Space] = ("", "namespaces", "")


class Lookups(Protocol):
    """Read-only, and the same for the length of one request."""

    def namespace(self, name: str) -> JsonObject | None:
        """The Namespace object; None when it does not exist."""
        ...

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """One object; `namespace` is empty for a cluster-scoped resource."""
        ...

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """The objects of a namespace, or all cluster-scoped ones, by name."""
        ...


class ObjectIndex:
    """Objects by resource, namespace and name. Those of kinds that the catalogue does not know are
    left out; versions are as given."""

    __slots__ = ("_catalog", "_spaces")

    def __init__(self, objects: Iterable[JsonObject] = (), catalog: Catalog | None = None) -> None:
        self._catalog = catalog
        self._spaces: dict[Space, dict[str, JsonObject]] = {}
        for obj in objects:
            space = self.space_of(obj)
            if space is not None:
                self._spaces.setdefault(space, {})[metadata.name(obj)] = obj

    @property
    def catalog(self) -> Catalog:
        return known_resources() if self._catalog is None else self._catalog

    def space_of(self, obj: JsonObject) -> Space | None:
        """Where an object belongs; None when there is no resource for its kind."""
        kind = metadata.gvk(obj)
        found = self.catalog.by_gvk(kind)
        if found is None:
            return None
        own = (metadata.namespace(obj) or DEFAULT_NAMESPACE) if found.namespaced else ""
        return kind.group, found.gvr.resource, own

    def changed(
        self, added: Iterable[JsonObject], removed: Iterable[JsonObject] = ()
    ) -> ObjectIndex:
        """Another index with and without these; the catalogue stays. What did not change is
        shared."""
        made = ObjectIndex((), self._catalog)
        made._spaces = dict(self._spaces)
        for obj, stays in (*((one, False) for one in removed), *((one, True) for one in added)):
            space = self.space_of(obj)
            if space is None:
                continue
            members = dict(made._spaces.get(space, {}))
            members.pop(metadata.name(obj), None)
            if stays:
                members[metadata.name(obj)] = obj
            made._spaces[space] = members
        return made

    @property
    def objects(self) -> Sequence[JsonObject]:
        return tuple(obj for members in self._spaces.values() for obj in members.values())

    def namespace(self, name: str) -> JsonObject | None:
        return self._spaces.get(NAMESPACES, {}).get(name)

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        space = (resource.group, resource.resource, namespace)
        return self._spaces.get(space, {}).get(name)

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        members = self._spaces.get((resource.group, resource.resource, namespace))
        return [members[name] for name in sorted(members)] if members else ()
