"""The controllers that tell where the pods of Services can be reached.

As k8s.io/kubernetes `pkg/controller/endpointslice` and `pkg/controller/endpoint`. Items are
Services; a change of a pod concerns those that select it, or selected it before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from celadon.apiserver.controllers.controller_loops import Change
from celadon.apiserver.simulation.planned_controllers import PlannedController
from celadon.apiserver.simulation.planning.endpoint_slices import (
    ENDPOINTS_MANAGED_BY,
    Reachable,
    TriggerTimes,
    endpoints_plan,
    has_endpoints,
    selects,
    slices_plan,
)
from celadon.apiserver.simulation.planning.plans import Plan
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.apiserver.simulation.workload_controller import item_of
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.well_known_values import ENDPOINT_SLICES, NODES, PODS, SERVICE_LABEL, SERVICES

ENDPOINTS: Final = GroupVersionResource("", "v1", "endpoints")


class _ServiceController(PlannedController):
    workloads = SERVICES

    def __init__(self, around: Surroundings) -> None:
        super().__init__(around)
        self._times = TriggerTimes()

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        if change.key.startswith(self.around.view(PODS).prefix):
            return self._selecting(change.old, change.new)
        return super().concerned(change)

    def _selecting(self, *pods: JsonObject | None) -> Iterable[str]:
        present = [one for one in pods if one is not None]
        for service in self.view.in_namespace(metadata.namespace(present[0])):
            if has_endpoints(service) and any(selects(service, one) for one in present):
                yield item_of(service)

    async def reconcile(self, item: str) -> float | None:
        """In how many seconds to look again, if at all. Raises Stale."""
        namespace, _, name = item.partition("/")
        if self.view.get(namespace, name) is None:
            self._times.forget(item)
        return await super().reconcile(item)

    def selected(self, service: JsonObject) -> list[JsonObject]:
        """Its pods."""
        pods = self.around.view(PODS).in_namespace(metadata.namespace(service))
        return [one for one in pods if selects(service, one)]


class EndpointSlices(_ServiceController):
    """The slices of Services."""

    account = component = "endpointslice-controller"
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, ENDPOINT_SLICES)

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        if not change.key.startswith(self.around.view(ENDPOINT_SLICES).prefix):
            return super().concerned(change)
        changed = change.new or change.old
        name = metadata.labels(changed).get(SERVICE_LABEL)
        return (f"{metadata.namespace(changed)}/{name}",) if name else ()

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        nodes = {
            metadata.name(one): metadata.labels(one) for one in self.around.view(NODES).every()
        }
        slices = self.around.view(ENDPOINT_SLICES).in_namespace(metadata.namespace(workload))
        pods = self.selected(workload)
        seen = Reachable(pods, nodes, self._times.changed_at(item_of(workload), workload, pods))
        return await self.decided(len(seen.pods), slices_plan, workload, seen, slices)


class Endpoints(_ServiceController):
    """The Endpoints of Services: they have the same names, and go with them."""

    account = component = "endpoint-controller"
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, ENDPOINTS)

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        if change.key.startswith(self.around.view(ENDPOINTS).prefix):
            changed = change.new or change.old
            return () if changed is None else (item_of(changed),)
        return super().concerned(change)

    async def reconcile(self, item: str) -> float | None:
        """In how many seconds to look again, if at all. Raises Stale."""
        namespace, _, name = item.partition("/")
        again = await super().reconcile(item)
        if self.view.get(namespace, name) is not None:
            return again
        view = self.around.view(ENDPOINTS)
        left = view.get(namespace, name)
        if left is not None and ENDPOINTS_MANAGED_BY in metadata.labels(left):
            await self.requests.delete(view.resource, left)
        return None

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        namespace, name = metadata.namespace(workload), metadata.name(workload)
        present = self.around.view(ENDPOINTS).get(namespace, name)
        pods = self.selected(workload)
        at = self._times.changed_at(item_of(workload), workload, pods)
        return await self.decided(len(pods), endpoints_plan, workload, pods, present, at)
