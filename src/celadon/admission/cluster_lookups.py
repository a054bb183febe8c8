"""`World`, the read-only interface through which the engine looks things up while it judges.

The engine never reads a cluster; whoever asks it brings a `World`: namespaces, parameter objects,
the catalogue of resources, an authorizer, version conversion. `ObjectWorld` is one made of plain
objects (manifests, recorded state, a test's fixtures).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from celadon.admission.conversion import Converter, WebhookNotCalled, convert
from celadon.kube import (
    Answer,
    Attributes,
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    metadata,
)
from celadon.kube.resources import Catalog, Lookups, ObjectIndex, known_resources
from celadon.kube.well_known_values import NAMESPACE_NAME

if TYPE_CHECKING:
    from celadon.kube.rbac import RbacAuthorizer


class World(Lookups, Protocol):
    """Answers what may be looked up, and more; read-only, and the same for the length of one
    review."""

    @property
    def catalog(self) -> Catalog:
        """The resources there are. An engine remembers what follows from a catalogue for as long
        as it is the same object."""
        ...

    def authorize(self, attributes: Attributes) -> Answer:
        """Return what `authorizer` says in an expression: ruling, reason, error."""
        ...

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Return the object in another version; may raise ConversionError."""
        ...


class ObjectWorld:
    """Answers lookups from objects that are given in memory. Objects of kinds the catalogue does
    not know are left out.

    With `implicit_namespaces`, a namespace nobody gave exists, with its name as its only label.
    `catalog` is what the server knows besides the custom resources among the objects, `converter`
    asks conversion webhooks where somebody does.
    """

    def __init__(
        self,
        objects: Iterable[JsonObject] = (),
        *,
        implicit_namespaces: bool = False,
        catalog: Catalog | None = None,
        converter: Converter | None = None,
    ) -> None:
        all_objects = list(objects)
        self._implicit_namespaces = implicit_namespaces
        self._converter = converter
        self._builtin = known_resources() if catalog is None else catalog
        definitions = filter(metadata.is_definition, all_objects)
        self._index = ObjectIndex(all_objects, self._builtin.with_crds(definitions))
        self._rbac: RbacAuthorizer | None = None
        self._listed: dict[tuple[GroupVersionResource, str], Sequence[JsonObject]] = {}

    def with_objects(self, objects: Iterable[JsonObject]) -> ObjectWorld:
        """Return another world that also has these; one of the same kind and name is replaced."""
        added = list(objects)
        if any(map(metadata.is_definition, added)):
            return self._of([*self.objects, *added])
        world = self._of(())
        world._index = self._index.changed(added)
        return world

    def without(self, obj: JsonObject) -> ObjectWorld:
        """Return another world that has no object of this kind and name."""
        index = self._index.changed((), [obj])
        if metadata.is_definition(obj):
            return self._of(index.objects)
        world = self._of(())
        world._index = index
        return world

    def _of(self, objects: Iterable[JsonObject]) -> ObjectWorld:
        return ObjectWorld(
            objects,
            implicit_namespaces=self._implicit_namespaces,
            catalog=self._builtin,
            converter=self._converter,
        )

    def with_converter(self, converter: Converter) -> ObjectWorld:
        """Return the same world with a converter that calls conversion webhooks."""
        world = self._of(())
        world._index, world._converter = self._index, converter
        return world

    @property
    def objects(self) -> Sequence[JsonObject]:
        """Return all objects, in no particular order."""
        return self._index.objects

    @property
    def catalog(self) -> Catalog:
        """Return the resources that are known, those of given definitions included."""
        return self._index.catalog

    def namespace(self, name: str) -> JsonObject | None:
        """Return the Namespace of that name; None if it is neither given nor implied."""
        namespace = self._index.namespace(name)
        if namespace is None and self._implicit_namespaces:
            return implicit_namespace(name)
        return namespace

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """Return one object; None if it is not there. `namespace` is empty for cluster-scoped
        resources."""
        index = self._index.get(resource, namespace, name)
        return None if index is None else self._in_version([index], resource)[0]

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """Return the objects of a resource, by namespace and name; of all namespaces if that is
        empty."""
        objects = self._listed.get((resource, namespace))
        if objects is None:
            listed = self._index.list(resource, namespace)
            objects = self._in_version(listed, resource) if listed else []
            self._listed[resource, namespace] = objects
        return objects

    def _in_version(
        self, objects: Sequence[JsonObject], resource: GroupVersionResource
    ) -> Sequence[JsonObject]:
        """Return objects of a kind, of which there is one at least, in the version of the resource.
        Raises ConversionError."""
        kind = GroupVersionKind(resource.group, resource.version, metadata.gvk(objects[0]).kind)
        try:
            return [convert(obj, kind, self.catalog) for obj in objects]
        except WebhookNotCalled:
            if self._converter is None:
                raise
            return self._converter.shown(objects, kind)

    def authorize(self, attributes: Attributes) -> Answer:
        """Return what the given RBAC objects say, and those that every server has, unless one of
        the same name is given."""
        if self._rbac is None:
            # late: few policies ask
            from celadon.kube.rbac import RbacAuthorizer, bootstrap_roles

            self._rbac = RbacAuthorizer([*bootstrap_roles(), *self._index.objects])
        return self._rbac.authorize(attributes)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Return the object in another version of its kind; ConversionError where that is not
        known, as it is where a webhook converts that nobody asks."""
        return convert(obj, kind, self.catalog, self._converter)


def implicit_namespace(name: str) -> JsonObject:
    """Return what a Namespace looks like when only its name is known."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {NAMESPACE_NAME: name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
