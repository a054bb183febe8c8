"""For each version of custom resources that is served there is an APIService.

As k8s.io/kubernetes `pkg/controlplane/controller/crdregistration`, and k8s.io/kube-aggregator
`pkg/controllers/autoregister` for those that are to be kept as they are. Both look at what
definitions say, whether or not their names were accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import Resource
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Target, create, stored_object
from celadon.serve.access.api_service_objects import ALWAYS, MANAGED, custom_api_service
from celadon.serve.controllers.controller_loops import Change, Stale
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.rest.object_writes import in_order


class DefinitionApiServices:
    """Items are names of APIServices, `v1.example.com`. `new_context` gives a new uid each time."""

    urgent = False

    def __init__(
        self,
        objects: ObjectStore,
        definitions: StatusWrites,
        services: Resource,
        new_context: Callable[[], DefaultingContext],
    ) -> None:
        self._objects = objects
        self._definitions = definitions
        self._services = services
        self._new_context = new_context
        self._services_prefix = collection_prefix(services)

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._definitions.prefix, self._services_prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self._services_prefix):
            return (change.key.rpartition("/")[2],)
        return {name for one in (change.old, change.new) for name in _services_of(one)}

    async def reconcile(self, item: str) -> None:
        version, _, group = item.partition(".")
        wanted = any(item in _services_of(one) for one in self._definitions.all())
        stored = self._objects.get(self._services, "", item)
        if stored is None:
            if wanted:
                await self._create(custom_api_service(group, version))
        elif metadata.labels(stored.object).get(MANAGED) != ALWAYS:
            return
        elif not wanted:
            await self._objects.delete(self._services, "", item, stored.revision)
        else:
            spec = custom_api_service(group, version)["spec"]
            kept = {**stored.object, "spec": spec}
            if kept != stored.object and not await self._objects.update(
                self._services, "", item, in_order(kept), stored.revision
            ):
                raise Stale

    async def _create(self, service: JsonObject) -> None:
        target, context = Target(self._services, ""), self._new_context()
        made = create.created(service, target, context)
        kept = in_order(stored_object(made, target, context))
        await self._objects.create(self._services, "", metadata.name(service), kept)


def _services_of(definition: JsonObject | None) -> set[str]:
    if definition is None:
        return set()
    spec = definition["spec"]
    return {f"{one['name']}.{spec['group']}" for one in spec["versions"] if one.get("served")}
