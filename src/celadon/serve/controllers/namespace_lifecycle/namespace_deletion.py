"""A namespace that is to be deleted is emptied, then lets go of its finalizer.

As k8s.io/kubernetes `pkg/controller/namespace/deletion/namespaced_resources_deleter.go`: some time
after the deletion, so that content which was on its way has come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from celadon.kube import GroupResource, JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.serve.controllers.controller_loops import Change
from celadon.serve.controllers.namespace_lifecycle.namespace_conditions import (
    Remains,
    deletion_conditions,
)
from celadon.serve.controllers.server_requests import ServerRequests, resource_path
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.objects.object_keys import STORED_ELSEWHERE
from celadon.serve.objects.object_store import ObjectStore, StoredObject
from celadon.serve.views.served_resources import Served

FINALIZER: Final = "kubernetes"
GRACE_SECONDS: Final = 5.0
"""Between the deletion of a namespace and that of its content (`namespaceDeletionGracePeriod`)."""
AGAIN: Final = 1.0
"""Seconds until what was still there is looked at again."""


class NamespaceDeletion:
    """Items are names of namespaces."""

    urgent = False

    def __init__(
        self,
        objects: ObjectStore,
        namespaces: StatusWrites,
        served: Callable[[], Served],
        requests: ServerRequests,
        now: Callable[[], datetime],
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._objects = objects
        self._namespaces = namespaces
        self._served = served
        self._requests = requests
        self._now = now
        self._grace = grace

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._namespaces.prefix,)

    def concerned(self, change: Change) -> Iterable[str]:
        return () if change.new is None or not _waits(change.new) else (metadata.name(change.new),)

    async def reconcile(self, item: str) -> float | None:
        stored = self._namespaces.get(item)
        if stored is None or not _waits(stored.object):
            return None
        early = self._seconds_early(stored.object)
        if early > 0:
            return early
        remains = await self._emptied(item)
        stored = await self._said(stored, remains)
        if remains.objects or remains.failures:
            return AGAIN
        await self._finalized(stored)
        return None

    def _seconds_early(self, namespace: JsonObject) -> float:
        """Times in objects leave out what is below the second: it counts as a whole one."""
        if not self._grace:
            return 0.0
        deleted = datetime.fromisoformat(metadata.deletion_timestamp(namespace))
        return self._grace + 1 - (self._now() - deleted).total_seconds()

    async def _emptied(self, namespace: str) -> Remains:
        objects: dict[GroupResource, int] = {}
        finalizers: Counter[str] = Counter()
        failures = []
        for resource in self._deletable():
            if not self._objects.page(resource, namespace, limit=1).objects:
                continue
            reply = await self._requests.call("DELETE", resource_path(resource, namespace))
            if reply.failed:
                failures.append(reply.message)
            left = self._objects.page(resource, namespace).objects
            if left:
                objects[resource.gvr.group_resource] = len(left)
            for one in left:
                finalizers.update(metadata.finalizers(one.object))
        return Remains(objects, finalizers, failures)

    def _deletable(self) -> Iterator[Resource]:
        """Each resource in one version."""
        seen: set[GroupResource] = set(STORED_ELSEWHERE)
        for resource in self._served().catalog:
            own = resource.gvr.group_resource
            deletable = {"deletecollection", "list"} <= set(resource.verbs)
            if resource.namespaced and resource.served and deletable and own not in seen:
                seen.add(own)
                yield resource

    async def _said(self, stored: StoredObject, remains: Remains) -> StoredObject:
        status = stored.object.get("status") or {}
        now = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = deletion_conditions(status.get("conditions"), remains, now)
        return await self._namespaces.write(stored, {**status, "conditions": conditions})

    async def _finalized(self, stored: StoredObject) -> None:
        spec = stored.object.get("spec") or {}
        kept = [one for one in spec.get("finalizers") or () if one != FINALIZER]
        name = metadata.name(stored.object)
        body = {**stored.object, "spec": {**spec, "finalizers": kept}}
        await self._requests.require("PUT", f"/api/v1/namespaces/{name}/finalize", body)


def _waits(namespace: JsonObject) -> bool:
    held = (namespace.get("spec") or {}).get("finalizers") or ()
    return bool(metadata.deletion_timestamp(namespace)) and FINALIZER in held
