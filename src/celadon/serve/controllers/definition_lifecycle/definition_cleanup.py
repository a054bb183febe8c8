"""A CustomResourceDefinition that is to be deleted takes its objects with it, and goes last.

As k8s.io/apiextensions-apiserver `pkg/controller/finalizer/crd_finalizer.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.kube.registry import delete
from celadon.serve.controllers.conditions import condition, with_condition
from celadon.serve.controllers.controller_loops import Change, Stale
from celadon.serve.controllers.server_requests import ServerRequests, resource_path
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.objects.object_store import ObjectStore, StoredObject
from celadon.serve.views.served_resources import Served

FINALIZER: Final = delete.DEFINITION_CLEANUP
_TERMINATING: Final = "Terminating"
_IN_PROGRESS: Final = condition(
    _TERMINATING, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"
)
AGAIN: Final = 1.0
"""Seconds until objects that were still there are looked at again."""


class DefinitionCleanup:
    """Items are names of definitions."""

    urgent = False

    def __init__(
        self,
        objects: ObjectStore,
        definitions: StatusWrites,
        served: Callable[[], Served],
        requests: ServerRequests,
        now: Callable[[], str],
    ) -> None:
        self._objects = objects
        self._definitions = definitions
        self._served = served
        self._requests = requests
        self._now = now

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._definitions.prefix,)

    def concerned(self, change: Change) -> Iterable[str]:
        return () if change.new is None or not _waits(change.new) else (metadata.name(change.new),)

    async def reconcile(self, item: str) -> float | None:
        stored = self._definitions.get(item)
        if stored is None or not _waits(stored.object):
            return None
        stored = await self._said(stored, _IN_PROGRESS)
        resource = self._resource(stored.object)
        if resource is not None:
            left, failures = await self._emptied(resource)
            if failures:
                text = f"could not issue all deletes: {'; '.join(failures)}"
                await self._said(
                    stored, condition(_TERMINATING, "True", "InstanceDeletionFailed", text)
                )
            if left or failures:
                return AGAIN
        await self._released(stored)
        return None

    def _resource(self, definition: JsonObject) -> Resource | None:
        """In one of the versions that are served; None when there is none, or never was."""
        name = metadata.name(definition)
        found = (one for one in self._served().catalog if one.custom and one.served)
        return next((one for one in found if str(one.gvr.group_resource) == name), None)

    async def _emptied(self, resource: Resource) -> tuple[bool, list[str]]:
        """Whether objects are left, and what went wrong."""
        page = self._objects.page(resource)
        spaces = dict.fromkeys(metadata.namespace(one.object) for one in page.objects)
        failures = []
        for namespace in spaces:
            reply = await self._requests.call("DELETE", resource_path(resource, namespace))
            if reply.failed:
                failures.append(reply.message)
        return bool(self._objects.page(resource, limit=1).objects), failures

    async def _said(self, stored: StoredObject, wanted: JsonObject) -> StoredObject:
        status = stored.object.get("status") or {}
        conditions = with_condition(status.get("conditions"), wanted, self._now())
        return await self._definitions.write(stored, {**status, "conditions": conditions})

    async def _released(self, stored: StoredObject) -> None:
        """Without the finalizer; gone, if it was the last one."""
        meta = dict(stored.object["metadata"])
        meta["finalizers"] = [one for one in metadata.finalizers(stored.object) if one != FINALIZER]
        if not meta["finalizers"]:
            if not await self._definitions.delete(stored):
                raise Stale
            return
        done = condition(
            _TERMINATING, "False", "InstanceDeletionCompleted", "removed all instances"
        )
        status = stored.object.get("status") or {}
        conditions = with_condition(status.get("conditions"), done, self._now())
        obj = {**stored.object, "metadata": meta, "status": {**status, "conditions": conditions}}
        await self._definitions.replace(stored, obj)


def _waits(definition: JsonObject) -> bool:
    return bool(metadata.deletion_timestamp(definition)) and FINALIZER in metadata.finalizers(
        definition
    )
