"""The objects of one cluster-scoped resource, whose status a controller writes.

A status does not pass admission: no policy can keep a controller from saying what is. Who wrote it
is kept where upstream's controllers are known by a name.
"""

from __future__ import annotations

from collections.abc import Callable

from celadon.kube import JsonObject, metadata
from celadon.kube.apply import FieldWriter, track_update
from celadon.kube.catalogue import Resource
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Target, draft_of
from celadon.serve.controllers.controller_loops import Stale
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore, StoredObject


class StatusWrites:
    """Reads and writes by name. `writer` says who writes, and when; without it nobody is noted."""

    def __init__(
        self,
        objects: ObjectStore,
        resource: Resource,
        writer: Callable[[], FieldWriter] | None = None,
    ) -> None:
        self._objects = objects
        self._resource = resource
        self._writer = writer
        self.prefix = collection_prefix(resource)

    def get(self, name: str) -> StoredObject | None:
        """As it is now."""
        return self._objects.get(self._resource, "", name)

    def all(self) -> list[JsonObject]:
        """In the order of their names."""
        return [one.object for one in self._objects.page(self._resource).objects]

    async def write(self, stored: StoredObject, status: JsonObject) -> StoredObject:
        """With another status; nothing is written when it is the same. Raises Stale."""
        if status == stored.object.get("status"):
            return stored
        return await self.replace(stored, self._managed(stored.object, status))

    def _managed(self, live: JsonObject, status: JsonObject) -> JsonObject:
        """The object with that status and, if we are somebody, with us as its manager."""
        changed = {**live, "status": status}
        if self._writer is None:
            return changed
        target = Target(self._resource, "", metadata.name(live), "status")
        draft = draft_of(changed, target, DefaultingContext())
        track_update(draft, changed, live, target, self._writer())
        managers = metadata.metadata(draft.made).get("managedFields")
        if not managers:
            return changed
        return {**changed, "metadata": {**metadata.metadata(live), "managedFields": managers}}

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
