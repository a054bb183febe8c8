"""The objects of one cluster-scoped resource, whose status a controller writes.

A status does not pass admission: no policy can keep a controller from saying what is.
"""

from __future__ import annotations

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.serve.controllers.controller_loops import Stale
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore, StoredObject


class StatusWrites:
    """Reads and writes by name."""

    def __init__(self, objects: ObjectStore, resource: Resource) -> None:
        self._objects = objects
        self._resource = resource
        self.prefix = collection_prefix(resource)

    def get(self, name: str) -> StoredObject | None:
        """As it is now."""
        return self._objects.get(self._resource, "", name)

    def all(self) -> list[JsonObject]:
        """In the order of their names."""
        return [one.object for one in self._objects.page(self._resource).objects]

    async def write(self, stored: StoredObject, status: JsonObject) -> StoredObject:
        """With another status; nothing is written when it is the same. Raises Stale."""
        return await self.replace(stored, {**stored.object, "status": status})

    async def replace(self, stored: StoredObject, obj: JsonObject) -> StoredObject:
        """Another object in its place. Raises Stale."""
        if obj == stored.object:
            return stored
        name = metadata.name(stored.object)
        made = await self._objects.update(self._resource, "", name, obj, stored.revision)
        if made is None:
            raise Stale
        return made

    async def delete(self, stored: StoredObject) -> bool:
        """False when somebody has written in between."""
        name = metadata.name(stored.object)
        return await self._objects.delete(self._resource, "", name, stored.revision) is not None
