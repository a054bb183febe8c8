"""The policies of a cluster, as a `PolicySource`.

A change is taken in as soon as it is heard of: what has changed is decoded and compiled (in a
thread, reviews go on), and the whole replaces what was in force. Nothing is decided before all
caches have been filled once; nothing either while those of policies have not heard of the cluster
for longer than `max_staleness`, for then nobody knows what is in force.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from celadon.admission import Engine
from celadon.admission.mutating import MutatingEngine
from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
)
from celadon.kube import GroupVersionKind
from celadon.kube.catalogue import Catalog, Resource, is_established
from celadon.kube.custom import CustomKind, RememberedKinds
from celadon.kube.well_known_values import NAMESPACES
from celadon.records import dataclass
from celadon.serve.operation import LIFE, say, warn
from celadon.webhook.cluster.api_discovery import cluster_catalog, discover
from celadon.webhook.cluster.asked_authorizer import AskedAuthorizer
from celadon.webhook.cluster.cluster_caches import ClusterCaches
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterError
from celadon.webhook.cluster.cluster_world import ClusterView, ClusterWorld
from celadon.webhook.cluster.config_map_policies import ConfigMapPolicies
from celadon.webhook.cluster.registered_policies import RegisteredPolicies
from celadon.webhook.cluster.watched_collection import WatchedCollection
from celadon.webhook.deciding.rulebook import MutationRules, Rulebook, SourceState

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
        self._validating = RegisteredPolicies(
            Engine(version=settings.version),
            (POLICY_KIND, BINDING_KIND),
            self.caches.policies,
            self.caches.bindings,
        )
        self._mutating = RegisteredPolicies(
            MutatingEngine(version=settings.version),
            (MUTATING_POLICY_KIND, MUTATING_BINDING_KIND),
            self.caches.mutating_policies,
            self.caches.mutating_bindings,
        )
        self._config_maps = ConfigMapPolicies(settings.version)
        self._kinds = RememberedKinds(settings.version)
        self._custom: Mapping[GroupVersionKind, CustomKind] = {}
        self._served: tuple[Resource, ...] = ()
        self._catalog: Catalog | None = None
        self._catalog_of: object = None
        self._rules: Rulebook | None = None
        self._loads = 0
        self._failed_loads = 0
        self._told: tuple[str, ...] = ()
        self._loaded_at = 0.0

    def rulebook(self) -> Rulebook | None:
        """None before the caches were filled, and while those of policies are too old."""
        if self._rules is None or self._stale():
            return None
        return self._rules

    def state(self) -> SourceState:
        """With what is waited for, and which objects cannot be used."""
        return SourceState(
            missing=tuple(self._missing()),
            problems=self._problems(),
            remarks=tuple(self._remarks()),
            loads=self._loads,
            failed_loads=self._failed_loads,
            loaded_at=self._loaded_at,
            cache_ages={
                name: age for name, age in self.caches.ages().items() if age != float("inf")
            },
        )

    def _problems(self) -> tuple[str, ...]:
        return (
            *self._validating.problems(),
            *self._mutating.problems(),
            *self._config_maps.problems,
        )

    def _missing(self) -> Iterator[str]:
        """Params that cannot be read are missing in the reviews that need them, and only there:
        else one policy could take the webhook out of service for all."""
        for one in self.caches:
            if not one.is_synced and one not in self._unreadable_params():
                yield f"{one.watched.name}{_because(one.failure)}"
        if not self._served:
            yield "the discovery of what is served"
        yield from self._stale()

    def _unreadable_params(self) -> list[WatchedCollection]:
        return [one for one in self.caches.params.values() if not one.is_synced and one.failure]

    def _remarks(self) -> Iterator[str]:
        for one in self._unreadable_params():
            yield f"params cannot be read: {one.failure}"

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
        failure = ""
        while True:
            self._discover.clear()
            try:
                served = await discover(self._client)
                if served != self._served:
                    self._served = served
                    self._changed.set()
                pause, failure = DISCOVERY_SECONDS, ""
            except ClusterError as error:
                if not failure:
                    warn("the cluster cannot be asked what it serves", {"err": str(error)})
                pause, failure = RETRY_SECONDS, str(error)
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
        types = self._validating, self._mutating
        documents = self._config_maps.documents(self.caches.config_maps)
        for one in types:
            one.read(documents)
        self._tell_problems()
        for one in types:
            await asyncio.to_thread(one.compile)
        catalog = self._current_catalog()
        self.caches.follow(self._param_resources(catalog))
        view = ClusterView(
            self._client, self.caches, self.authorizer, catalog, self._settings.max_staleness
        )
        before = self._rules
        self._rules = Rulebook(
            self._validating.engine,
            lambda: ClusterWorld(view),
            sum(len(one.bindings) for one in types),
            MutationRules(self._mutating.engine, self._custom.get),
        )
        self._loads += 1
        self._loaded_at = self._clock()
        counts = _counts(self._rules)
        if before is None or counts != _counts(before):
            say(LIFE, "the policies of the cluster were taken in", counts)

    def _tell_problems(self) -> None:
        """Those that are new."""
        problems = self._problems()
        news = [one for one in problems if one not in self._told]
        for one in news:
            warn("something of the cluster's policies cannot be used", {"err": one})
        self._failed_loads += bool(news)
        self._told = problems

    def _current_catalog(self) -> Catalog:
        """The same object while nothing has changed: an engine remembers what follows from it."""
        definitions = tuple(one for one in self.caches.definitions if is_established(one))
        specs = tuple(one.get("spec") for one in definitions)
        key = (self._served, specs)
        if self._catalog is None or key != self._catalog_of:
            if self._catalog is not None:
                self._discover.set()
            self._catalog = cluster_catalog(self._served, definitions)
            self._custom = self._kinds.of(definitions)
            self._catalog_of = key
        return self._catalog

    def _param_resources(self, catalog: Catalog) -> Iterator[Resource]:
        """The kinds of params that there are; others are waited for."""
        for kind in (*self._validating.param_kinds(), *self._mutating.param_kinds()):
            found = catalog.by_gvk(kind)
            if found is not None and found.gvr != NAMESPACES:
                yield found


def _counts(rules: Rulebook) -> dict[str, int]:
    return {"policies": rules.policies, "bindings": rules.bindings}


def _because(failure: str) -> str:
    return f" ({failure})" if failure else ""
