"""The server's own Service comes back when somebody deletes it.

As k8s.io/kubernetes `pkg/controlplane/controller/kubernetesservice`, which looks after it every ten
seconds, in every server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Target, create, stored_object
from celadon.serve.controllers.controller_loops import Change
from celadon.serve.objects.object_keys import object_key
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.rest.object_writes import in_order


class OwnService:
    """There is one item: the Service. `wanted` is it, as a client would create it; `new_context`
    gives a new uid each time."""

    urgent = False

    def __init__(
        self,
        objects: ObjectStore,
        services: Resource,
        wanted: JsonObject,
        new_context: Callable[[], DefaultingContext],
    ) -> None:
        self._objects = objects
        self._services = services
        self._wanted = wanted
        self._new_context = new_context
        self._namespace, self._name = metadata.namespace(wanted), metadata.name(wanted)
        self._key = object_key(services, self._namespace, self._name)

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._key,)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key == self._key and change.new is None:
            yield self._name

    async def reconcile(self, item: str) -> None:
        if self._objects.get(self._services, self._namespace, item) is None:
            target, context = Target(self._services, self._namespace), self._new_context()
            made = create.created(self._wanted, target, context)
            kept = in_order(stored_object(made, target, context))
            await self._objects.create(self._services, self._namespace, item, kept)
