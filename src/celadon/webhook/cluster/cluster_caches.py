"""All that a webhook keeps of its cluster: policies, bindings, namespaces, definitions, params.

The kinds of params are those that policies name; their collections come and go with the policies.
A kind of policy that the cluster is too old to know is no failure: then there are none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from celadon.kube import GroupVersionResource
from celadon.kube.catalogue import Resource
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.webhook.cluster.cluster_client import ClusterClient
from celadon.webhook.cluster.watched_collection import Watched, WatchedCollection

REGISTRATION: Final = tuple(
    f"/apis/{ADMISSION_REGISTRATION}/{version}" for version in ("v1", "v1beta1", "v1alpha1")
)
"""The versions that a cluster may serve, the best first."""
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACES: Final = "/api/v1/namespaces"
POLICY_LABEL: Final = "celadon.dev/policies"
"""On a ConfigMap: its values are files of policies and bindings of both types."""

LONGEST_WATCH: Final = 300.0
"""Seconds."""


class ClusterCaches:
    """`namespace` is where ConfigMaps with policies are looked for. No cache is silent for longer
    than half of `max_staleness`, in seconds, unless the cluster is."""

    def __init__(
        self,
        client: ClusterClient,
        namespace: str,
        max_staleness: float,
        changed: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._changed = changed
        self._clock = clock
        self._watch_seconds = min(LONGEST_WATCH, max_staleness / 2)
        self.policies = self._registered("validatingadmissionpolicies")
        self.bindings = self._registered("validatingadmissionpolicybindings")
        self.mutating_policies = self._registered("mutatingadmissionpolicies")
        self.mutating_bindings = self._registered("mutatingadmissionpolicybindings")
        self.namespaces = self._collection([NAMESPACES])
        self.definitions = self._collection([DEFINITIONS])
        self.config_maps = self._collection(
            [f"{NAMESPACES}/{namespace}/configmaps"], {"labelSelector": POLICY_LABEL}
        )
        self.params: dict[GroupVersionResource, WatchedCollection] = {}
        self._running: dict[GroupVersionResource, asyncio.Task[None]] = {}

    @property
    def of_policies(self) -> tuple[WatchedCollection, ...]:
        """Those that say what is to be decided."""
        changing = self.mutating_policies, self.mutating_bindings
        return self.policies, self.bindings, *changing, self.config_maps

    @property
    def _fixed(self) -> tuple[WatchedCollection, ...]:
        return *self.of_policies, self.namespaces, self.definitions

    def __iter__(self) -> Iterator[WatchedCollection]:
        yield from (*self._fixed, *self.params.values())

    def ages(self) -> Mapping[str, float]:
        """In seconds, by the plural of the resource; those of params by `params/` and the plural
        with its group."""
        ages = {one.watched.name: one.age() for one in self._fixed}
        return ages | {
            f"params/{gvr.group_resource}": one.age() for gvr, one in self.params.items()
        }

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for one in self._fixed:
                    group.create_task(one.run())
        finally:
            for task in self._running.values():
                task.cancel()

    def follow(self, wanted: Iterable[Resource]) -> None:
        """Keep the params of these resources, and of no others."""
        resources = {resource.gvr: resource for resource in wanted}
        for gvr in self.params.keys() - resources.keys():
            self._running.pop(gvr).cancel()
            del self.params[gvr]
        for gvr in resources.keys() - self.params.keys():
            collection = self._collection([collection_path(gvr)], changed=_ignore)
            self.params[gvr] = collection
            self._running[gvr] = asyncio.ensure_future(collection.run())

    def _registered(self, resource: str) -> WatchedCollection:
        return self._collection([f"{version}/{resource}" for version in REGISTRATION])

    def _collection(
        self,
        paths: list[str],
        query: Mapping[str, str] | None = None,
        changed: Callable[[], None] | None = None,
    ) -> WatchedCollection:
        watched = Watched(paths, query or {}, self._watch_seconds)
        told = self._changed if changed is None else changed
        return WatchedCollection(self._client, watched, told, self._clock)


def collection_path(gvr: GroupVersionResource) -> str:
    """Of all objects of a resource."""
    root = f"/apis/{gvr.group}" if gvr.group else "/api"
    return f"{root}/{gvr.version}/{gvr.resource}"


def _ignore() -> None:
    """Params are looked at when a review asks for them."""
