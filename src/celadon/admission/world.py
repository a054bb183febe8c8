"""What the engine may look up while it judges: the read-only `World`.

The engine never reads a cluster; whoever asks it brings a `World`: namespaces, parameter objects,
the catalogue of resources, an authorizer, version conversion. `ObjectWorld` is one made of plain
objects (manifests, recorded state, a test's fixtures).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from celadon.admission.conversion import convert
from celadon.admission.role_authorizer import Answer, RbacAuthorizer
from celadon.kube import Attributes, GroupVersionKind, GroupVersionResource, metadata
from celadon.kube.catalogue import Catalog, known_resources

JsonObject = Mapping[str, Any]
_Key = tuple[str, str, str, str]


class World(Protocol):
    """Everything here is read-only, and the same for the length of one review."""

    @property
    def catalog(self) -> Catalog:
        """The resources there are. An engine remembers what follows from a catalogue for as long
        as it is the same object."""
        ...

    def namespace(self, name: str) -> JsonObject | None:
        """The Namespace object; None when it does not exist."""
        ...

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """A parameter object; `namespace` is empty for a cluster-scoped resource."""
        ...

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """The parameter objects of a namespace, or all cluster-scoped ones."""
        ...

    def authorize(self, attributes: Attributes) -> Answer:
        """What `authorizer` says in an expression: ruling, reason, error."""
        ...

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """The object in another version; may raise ConversionError."""
        ...


class ObjectWorld:
    """A world made of objects. Objects of kinds the catalogue does not know are left out.

    With `implicit_namespaces`, a namespace nobody gave exists, with its name as its only label.
    `catalog` is what the server knows besides the custom resources among the objects.
    """

    def __init__(
        self,
        objects: Iterable[JsonObject] = (),
        *,
        implicit_namespaces: bool = False,
        catalog: Catalog | None = None,
    ) -> None:
        given = list(objects)
        self._implicit_namespaces = implicit_namespaces
        self._builtin = known_resources() if catalog is None else catalog
        self._catalog = self._builtin.with_crds(filter(_is_crd, given))
        self._objects: dict[_Key, JsonObject] = {}
        for obj in given:
            key = self._key(obj)
            if key is not None:
                self._objects[key] = obj
        self._rbac: RbacAuthorizer | None = None

    def _key(self, obj: JsonObject) -> _Key | None:
        kind = metadata.gvk(obj)
        found = self._catalog.by_gvk(kind)
        if found is None:
            return None
        space = (metadata.namespace(obj) or "default") if found.namespaced else ""
        return (kind.group, found.gvr.resource, space, metadata.name(obj))

    def with_objects(self, objects: Iterable[JsonObject]) -> ObjectWorld:
        """Another world that also has these; one of the same kind and name is replaced."""
        added = list(objects)
        everything = [*self._objects.values(), *added]
        if any(map(_is_crd, added)):
            return self._of(everything)
        world = self._of(())
        world._catalog = self._catalog
        world._objects = dict(self._objects)
        for obj in added:
            key = self._key(obj)
            if key is not None:
                world._objects[key] = obj
        return world

    def without(self, obj: JsonObject) -> ObjectWorld:
        """Another world that has no object of this kind and name."""
        gone = self._key(obj)
        return self._of(kept for key, kept in self._objects.items() if key != gone)

    def _of(self, objects: Iterable[JsonObject]) -> ObjectWorld:
        return ObjectWorld(
            objects, implicit_namespaces=self._implicit_namespaces, catalog=self._builtin
        )

    @property
    def objects(self) -> Sequence[JsonObject]:
        return tuple(self._objects.values())

    @property
    def catalog(self) -> Catalog:
        return self._catalog

    def namespace(self, name: str) -> JsonObject | None:
        found = self._objects.get(("", "namespaces", "", name))
        if found is None and self._implicit_namespaces:
            return implicit_namespace(name)
        return found

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        found = self._objects.get((resource.group, resource.resource, namespace, name))
        return None if found is None else self._in_version(found, resource)

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        wanted = (resource.group, resource.resource, namespace)
        keys = sorted(key for key in self._objects if key[:3] == wanted)
        return [self._in_version(self._objects[key], resource) for key in keys]

    def _in_version(self, obj: JsonObject, resource: GroupVersionResource) -> JsonObject:
        kind = GroupVersionKind(resource.group, resource.version, metadata.gvk(obj).kind)
        return self.convert(obj, kind)

    def authorize(self, attributes: Attributes) -> Answer:
        if self._rbac is None:
            self._rbac = RbacAuthorizer(self._objects.values())
        return self._rbac.authorize(attributes)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        return convert(obj, kind)


def _is_crd(obj: JsonObject) -> bool:
    return obj.get("kind") == "CustomResourceDefinition"


def implicit_namespace(name: str) -> JsonObject:
    """What a Namespace looks like when only its name is known."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
