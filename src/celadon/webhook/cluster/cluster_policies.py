"""The policies of a cluster, as a `PolicySource`.

A change is taken in as soon as it is heard of: what has changed is decoded and compiled (in a
thread, reviews go on), and the whole replaces what was in force. Nothing is decided before all
caches have been filled once; nothing either while those of policies have not heard of the cluster
for longer than `max_staleness`, for then nobody knows what is in force.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from celadon.admission import Engine
from celadon.admission.registration import (
    RememberedDecoding,
    ValidatingAdmissionPolicy,
    decode_binding,
    decode_policy,
)
from celadon.kube import ApiVersionError, GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.kube.catalogue import Catalog, Resource, is_established
from celadon.kube.well_known_values import NAMESPACES
from celadon.serve.operation import LIFE, say, warn
from celadon.webhook.cluster.api_discovery import cluster_catalog, discover
from celadon.webhook.cluster.asked_authorizer import AskedAuthorizer
from celadon.webhook.cluster.cluster_caches import ClusterCaches
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterError
from celadon.webhook.cluster.cluster_world import ClusterView, ClusterWorld
from celadon.webhook.cluster.config_map_policies import ConfigMapPolicies
from celadon.webhook.deciding.rulebook import Rulebook, SourceState

DISCOVERY_SECONDS: Final = 60.0
"""Between two looks at what the cluster serves; it is also looked at when a definition changes."""

RETRY_SECONDS: Final = 2.0
"""After a discovery that failed."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """`version` is the release whose CEL the policies are written in; `namespace` is where
    ConfigMaps with policies are."""

    version: str
    namespace: str
    max_staleness: float


class ClusterPolicies:
    """`clock` is Unix time, `monotonic` what ages are measured by."""

    def __init__(
        self,
        client: ClusterClient,
        settings: PolicySettings,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._changed = asyncio.Event()
        self._discover = asyncio.Event()
        self.caches = ClusterCaches(
            client, settings.namespace, settings.max_staleness, self._changed.set, monotonic
        )
        self.authorizer = AskedAuthorizer(client, monotonic)
        self._policies = RememberedDecoding(lambda obj: decode_policy(obj, _version(obj)).value)
        self._bindings = RememberedDecoding(lambda obj: decode_binding(obj, _version(obj)).value)
        self._config_maps = ConfigMapPolicies()
        self._served: tuple[Resource, ...] = ()
        self._catalog: Catalog | None = None
        self._catalog_of: object = None
        self._rules: Rulebook | None = None
        self._duplicates: tuple[str, ...] = ()
        self._loads = 0
        self._loaded_at = 0.0

    def rulebook(self) -> Rulebook | None:
        """None before the caches were filled, and while those of policies are too old."""
        if self._rules is None or self._stale():
            return None
        return self._rules

    def state(self) -> SourceState:
        """With what is waited for, and which objects cannot be used."""
        problems = (
            *(f"policy `{name}`: {text}" for name, text in self._policies.problems.items()),
            *(f"binding `{name}`: {text}" for name, text in self._bindings.problems.items()),
            *self._config_maps.problems,
            *self._duplicates,
        )
        return SourceState(
            missing=tuple(self._missing()),
            problems=problems,
            loads=self._loads,
            failed_loads=len(problems),
            loaded_at=self._loaded_at,
            cache_ages={
                name: age for name, age in self.caches.ages().items() if age != float("inf")
            },
        )

    def _missing(self) -> Iterator[str]:
        for one in self.caches:
            if not one.is_synced:
                yield f"{one.watched.name}{_because(one.failure)}"
        if not self._served:
            yield "the discovery of what is served"
        yield from self._stale()

    def _stale(self) -> tuple[str, ...]:
        """Caches of policies that have heard nothing for too long."""
        limit = self._settings.max_staleness
        return tuple(
            f"{one.watched.name}, not known for {one.age():.0f}s{_because(one.failure)}"
            for one in self.caches.of_policies
            if one.is_synced and not one.is_absent and one.age() > limit
        )

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.caches.run())
            group.create_task(self._keep_discovered())
            group.create_task(self._keep_rules())

    async def _keep_discovered(self) -> None:
        while True:
            self._discover.clear()
            try:
                served = await discover(self._client)
                if served != self._served:
                    self._served = served
                    self._changed.set()
                pause = DISCOVERY_SECONDS
            except ClusterError as error:
                warn("the cluster cannot be asked what it serves", {"err": str(error)})
                pause = RETRY_SECONDS
            try:
                async with asyncio.timeout(pause):
                    await self._discover.wait()
            except TimeoutError:
                continue

    async def _keep_rules(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            fixed = (*self.caches.of_policies, self.caches.namespaces, self.caches.definitions)
            if self._served and all(one.is_synced for one in fixed):
                await self._take()

    async def _take(self) -> None:
        """Make a rulebook of what is in the caches now."""
        documents = self._config_maps.documents(self.caches.config_maps)
        policies, doubles = _first_of_each(self.caches.policies, documents.policies)
        bindings, more = _first_of_each(self.caches.bindings, documents.bindings)
        found = self._policies.values(policies), self._bindings.values(bindings)
        self._duplicates = (*doubles, *more)
        catalog = self._current_catalog()
        self.caches.follow(self._param_resources(found[0], catalog))
        before = self._rules
        old = Engine(version=self._settings.version) if before is None else before.engine
        engine = await asyncio.to_thread(lambda: old.replaced(*found).prepare())
        view = ClusterView(
            self._client, self.caches, self.authorizer, catalog, self._settings.max_staleness
        )
        self._rules = Rulebook(engine, lambda: ClusterWorld(view), len(found[1]))
        self._loads += 1
        self._loaded_at = self._clock()
        counts = {"policies": len(engine.policies), "bindings": len(found[1])}
        if before is None or counts != {
            "policies": len(before.engine.policies),
            "bindings": before.bindings,
        }:
            say(LIFE, "the policies of the cluster were taken in", counts)

    def _current_catalog(self) -> Catalog:
        """The same object while nothing has changed: an engine remembers what follows from it."""
        definitions = tuple(one for one in self.caches.definitions if is_established(one))
        specs = tuple(one.get("spec") for one in definitions)
        key = (self._served, specs)
        if self._catalog is None or key != self._catalog_of:
            if self._catalog is not None:
                self._discover.set()
            self._catalog = cluster_catalog(self._served, definitions)
            self._catalog_of = key
        return self._catalog

    def _param_resources(
        self, policies: Iterable[ValidatingAdmissionPolicy], catalog: Catalog
    ) -> Iterator[Resource]:
        """The kinds of params that there are; others are waited for."""
        for policy in policies:
            if policy.spec.param_kind is None:
                continue
            try:
                version = parse_api_version(policy.spec.param_kind.api_version)
            except ApiVersionError:
                continue
            found = catalog.by_gvk(GroupVersionKind(*version, policy.spec.param_kind.kind))
            if found is not None and found.gvr != NAMESPACES:
                yield found


def _first_of_each(
    kind: Iterable[JsonObject], written: Iterable[JsonObject]
) -> tuple[list[JsonObject], list[str]]:
    """The objects of the cluster's own kind, then those in ConfigMaps whose names are still free;
    and what is wrong with the others."""
    found: dict[str, JsonObject] = {}
    problems = []
    for objects, place in ((kind, "the cluster"), (written, "a configmap")):
        for obj in objects:
            name = metadata.name(obj)
            if name in found:
                problems.append(f"`{name}` in {place} is not used: there is another one before it")
            else:
                found[name] = obj
    return list(found.values()), problems


def _version(obj: JsonObject) -> str:
    return str(obj.get("apiVersion") or "").rpartition("/")[2] or "v1"


def _because(failure: str) -> str:
    return f" ({failure})" if failure else ""
