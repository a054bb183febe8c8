"""A world behind which another one stands: whoever answers some questions in another way."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.admission import ObjectWorld
from celadon.kube import Answer, Attributes, GroupVersionKind, GroupVersionResource, JsonObject
from celadon.kube.resources import Catalog


class OverlaidWorld:
    """Answers as the world behind it does; those who know better override a question."""

    __slots__ = ("_behind",)

    def __init__(self, behind: ObjectWorld | OverlaidWorld) -> None:
        self._behind = behind

    @property
    def catalog(self) -> Catalog:
        """Return what is served."""
        return self._behind.catalog

    @property
    def objects(self) -> Sequence[JsonObject]:
        """All that was given."""
        return self._behind.objects

    def namespace(self, name: str) -> JsonObject | None:
        """The Namespace with a name."""
        return self._behind.namespace(name)

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """One object."""
        return self._behind.get(resource, namespace, name)

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """All objects of a resource in a namespace."""
        return self._behind.list(resource, namespace)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """An object in another version."""
        return self._behind.convert(obj, kind)

    def authorize(self, attributes: Attributes) -> Answer:
        """Return what the roles say."""
        return self._behind.authorize(attributes)


GivenWorld = ObjectWorld | OverlaidWorld
"""A world whose objects can be counted."""
