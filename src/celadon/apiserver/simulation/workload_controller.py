"""What the controllers of workloads have in common: which workload a change is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from celadon.apiserver.controllers.controller_loops import Change
from celadon.apiserver.simulation.planning.pod_facts import controller_of, selector_of
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.kube import GroupVersionResource, JsonObject, metadata


def item_of(obj: JsonObject) -> str:
    """How a queue calls an object: `namespace/name`."""
    return f"{metadata.namespace(obj)}/{metadata.name(obj)}"


class WorkloadController:
    """Items are `namespace/name` of the objects of `workloads`. A change of one of `dependents`
    concerns the workload that manages it, or managed it before; one that nobody manages concerns
    all whose selectors match."""

    urgent = False
    account: ClassVar[str]
    workloads: ClassVar[GroupVersionResource]
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = ()

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.view = around.view(self.workloads)
        self.requests = around.requests(self.account)
        self.events = around.recorder(self.requests, self.account)

    @property
    def prefixes(self) -> Sequence[str]:
        """Of the workloads and of what depends on them."""
        return (self.view.prefix, *(self.around.view(one).prefix for one in self.dependents))

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        changed = change.new or change.old
        if changed is None:
            return ()
        if change.key.startswith(self.view.prefix):
            return (item_of(changed),)
        return self._owners(change.old, change.new)

    def _owners(self, old: JsonObject | None, new: JsonObject | None) -> Iterable[str]:
        for obj in (old, new):
            owner = {} if obj is None else controller_of(obj)
            kind = self.view.resource.gvk.kind
            if obj is not None and owner.get("kind") == kind:
                yield f"{metadata.namespace(obj)}/{owner.get('name')}"
        if new is not None and not controller_of(new):
            labels = metadata.labels(new)
            for one in self.view.in_namespace(metadata.namespace(new)):
                if selector_of(one).matches(labels):
                    yield item_of(one)

    async def reconcile(self, item: str) -> float | None:
        """In how many seconds to look again, if at all. Raises Stale."""
        namespace, _, name = item.partition("/")
        found = self.view.get(namespace, name)
        return None if found is None else await self.sync(found)

    async def sync(self, workload: JsonObject) -> float | None:
        """Bring one workload to where it should be. Raises Stale."""
        raise NotImplementedError
