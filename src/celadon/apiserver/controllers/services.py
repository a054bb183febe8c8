"""For each address of a Service there is an IPAddress, which says whose it is.

As k8s.io/kubernetes `pkg/registry/core/service/ipallocator`, which makes them with the Service; so
this controller is urgent, and runs in every server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from celadon.apiserver.bootstrap_objects import ADDRESS_ALLOCATOR, MANAGED_BY, address_record
from celadon.apiserver.controllers.controller_loops import Change
from celadon.apiserver.handlers.write import in_order
from celadon.apiserver.object_store import ObjectStore, collection_prefix, object_key
from celadon.kube import JsonObject, metadata
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Target, create, stored_object
from celadon.kube.resources import Resource


class AddressRecords:
    """Items are addresses. `new_context` gives a new uid each time."""

    urgent = True

    def __init__(
        self,
        objects: ObjectStore,
        services: Resource,
        records: Resource,
        new_context: Callable[[], DefaultingContext],
    ) -> None:
        self._objects = objects
        self._records = records
        self._new_context = new_context
        self._services_prefix = collection_prefix(services)
        self._owners: dict[str, tuple[str, str]] = {}
        """Namespace and name of the Service that has an address."""

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._services_prefix, collection_prefix(self._records))

    def concerned(self, change: Change) -> Iterable[str]:
        if not change.key.startswith(self._services_prefix):
            yield change.key.rpartition("/")[2]
            return
        for address in _addresses(change.old):
            self._owners.pop(address, None)
            yield address
        for address in _addresses(change.new):
            self._owners[address] = metadata.namespace(change.new), metadata.name(change.new)
            yield address

    async def reconcile(self, item: str) -> None:
        owner, record = self._owners.get(item), self._objects.get(self._records, "", item)
        if owner is None:
            if record is not None and _is_ours(record.object):
                await self._objects.delete(self._records, "", item, record.revision)
        elif record is None:
            target, context = Target(self._records, ""), self._new_context()
            made = create.created(address_record(item, *owner), target, context)
            kept = in_order(stored_object(made, target, context))
            await self._objects.create(self._records, "", item, kept)


def _addresses(service: JsonObject | None) -> Iterator[str]:
    for address in ((service or {}).get("spec") or {}).get("clusterIPs") or ():
        if address and address != "None":
            yield address


def _is_ours(record: JsonObject) -> bool:
    return metadata.labels(record).get(MANAGED_BY) == ADDRESS_ALLOCATOR


# --- Own service -------------------------------------------------------------
#
# The server's own Service comes back when somebody deletes it.
#
# As k8s.io/kubernetes `pkg/controlplane/controller/kubernetesservice`, which looks after it
# every ten seconds, in every server.


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
