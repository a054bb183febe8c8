"""The objects of one collection of a cluster, kept current: listed once, then watched.

A watch that ends is taken up where it ended; if the server no longer knows what happened since
(410), the collection is listed anew, and until that is done what was there before counts. Failures
wait longer and longer before the next attempt, each time for a random part of it, so that many
clients do not come back at once. Every sign of the server on a watch (its beginning, an event, a
bookmark) says that the cache is current then; a watch is ended by its client before it could have
been silent for too long. A failure that a second attempt does not mend is logged, once for as long
as it lasts. As k8s.io/client-go `tools/cache/reflector.go`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from celadon.apiserver.operation import LIFE, say, warn
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.json_types import DEFINITION, OBJECT, Shape
from celadon.kube.resources import Resource
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass
from celadon.webhook.cluster import cluster_client

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 10.0
"""Between two attempts, in seconds; each pause is twice the one before. It is how long policies may
stay unknown after a long outage is over, while a failure policy denies everything."""
SHORT_WATCH: Final = 1.0
"""A watch that lasted less is as good as none."""
TOLD_FAILURES: Final = 2
"""So many in a row are logged."""
GRACE: Final = 10.0
"""How much longer than it should last a watch is waited for, in seconds."""

CHANGES: Final = frozenset({"ADDED", "MODIFIED"})


@dataclass(frozen=True, slots=True)
class Watched:
    """Says what is watched: a collection under the first of `paths` that the server knows (versions
    of one resource), or what a selector takes of it. After `seconds` a watch is begun anew. `shape`
    is what its objects must have."""

    paths: Sequence[str]
    query: Mapping[str, str]
    seconds: float
    shape: Shape

    @property
    def name(self) -> str:
        """Return the plural of the resource, for messages and metrics."""
        return self.paths[0].rpartition("/")[2]


class WatchedCollection:
    """Keeps a copy of a collection. `run` keeps it current; `changed` is called whenever the
    objects are others. `is_absent` says that the server does not know the resource: then there are
    none. `clock` is monotonic."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
        watched: Watched,
        changed: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self.watched = watched
        self.is_absent = False
        self.failure = ""
        self.lists = 0
        self._client = client
        self._changed = changed
        self._clock = clock
        self._path = watched.paths[0]
        self._revision = ""
        self._objects: dict[str, dict[str, JsonObject]] = {}
        self._heard = -float("inf")
        self._synced = asyncio.Event()
        self._pause = FIRST_PAUSE
        self._failures = 0

    @property
    def is_synced(self) -> bool:
        """Return whether it has been known what there is, at some time."""
        return self._synced.is_set()

    async def synced(self) -> None:
        """Wait until it is known what there is."""
        await self._synced.wait()

    def age(self) -> float:
        """Return the seconds since the server was heard of; infinite before that."""
        return self._clock() - self._heard

    def stamp(self) -> object:
        """Return something that is not equal to what it was before the server was heard of."""
        return self._heard, self._revision

    def get(self, namespace: str, name: str) -> JsonObject | None:
        """Return one object; `namespace` is empty for cluster-scoped ones."""
        result = self._objects.get(namespace)
        return None if result is None else result.get(name)

    def list(self, namespace: str) -> Sequence[JsonObject]:
        """Return the objects of a namespace, by name; `namespace` is empty for objects that have
        none."""
        result = self._objects.get(namespace)
        return [result[name] for name in sorted(result)] if result else ()

    def __iter__(self) -> Iterator[JsonObject]:
        for namespace in sorted(self._objects):
            yield from self.list(namespace)

    async def run(self) -> None:
        """Follow the collection until it is cancelled."""
        while True:
            try:
                began = self._clock()
                if not self._revision:
                    await self._list()
                await self._watch()
                if self._clock() - began < SHORT_WATCH:
                    await self._wait()
            except cluster_client.ClusterError as error:
                self._failed(error)
                await self._wait()

    def _failed(self, error: cluster_client.ClusterError) -> None:
        self.failure = str(error)
        if isinstance(error, cluster_client.ClusterRefusal):
            if error.code in (cluster_client.GONE, cluster_client.NOT_FOUND) or _is_too_new(
                error.status
            ):
                self._revision = ""
            if error.code == cluster_client.NOT_FOUND:
                self._next_path()
                return
        self._failures += 1
        if self._failures == TOLD_FAILURES:
            warn("a cache is not current", {"cache": self.watched.name, "err": self.failure})

    def _next_path(self) -> None:
        """Go on to the next version; after the last one, the resource is not there."""
        index = self.watched.paths.index(self._path) + 1
        if index < len(self.watched.paths):
            self._path = self.watched.paths[index]
            self._pause = FIRST_PAUSE
            return
        self._path = self.watched.paths[0]
        self.is_absent = True
        self._listed({}, "")

    async def _wait(self) -> None:
        await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def _hear(self) -> None:
        self._heard = self._clock()
        self.failure = ""
        self._pause = FIRST_PAUSE
        if self._failures >= TOLD_FAILURES:
            say(LIFE, "a cache is current again", {"cache": self.watched.name})
        self._failures = 0

    async def _list(self) -> None:
        result: dict[str, dict[str, JsonObject]] = {}
        revision = ""
        async with aclosing(self._client.pages(self._path, self.watched.query)) as pages:
            async for page in pages:
                revision = page.revision
                for obj in page.items:
                    self._put(result, obj)
        self.is_absent = False
        self.lists += 1
        self._listed(result, revision)

    def _listed(self, objects: dict[str, dict[str, JsonObject]], revision: str) -> None:
        is_new = objects != self._objects or not self.is_synced
        self._objects, self._revision = objects, revision
        self._hear_list()
        self._synced.set()
        if is_new:
            self._changed()

    def _hear_list(self) -> None:
        """Hear the list. An absent resource is asked for less and less often."""
        if self.is_absent:
            self._heard = self._clock()
        else:
            self._hear()

    async def _watch(self) -> None:
        """Follow events until the watch ends. Raises ClusterError."""
        lasts = self.watched.seconds * random.uniform(0.75, 1.0)
        query = {
            **self.watched.query,
            "allowWatchBookmarks": "true",
            "resourceVersion": self._revision,
            "timeoutSeconds": str(max(1, int(lasts))),
        }
        watching = self._client.watch(self._path, query, lasts + GRACE, self._hear)
        async with aclosing(watching) as events:
            async for event in events:
                self._take(event)

    def _take(self, event: JsonObject) -> None:
        kind, obj = event.get("type"), event.get("object") or {}
        if kind == "ERROR":
            refusal = cluster_client.refusal_of(0, obj)
            refusal.code = refusal.status.get("code") or 0
            raise refusal
        self._hear()
        revision = metadata.resource_version(obj)
        if kind in CHANGES:
            self._put(self._objects, obj)
        elif kind == "DELETED":
            self._objects.get(metadata.namespace(obj), {}).pop(metadata.name(obj), None)
        self._revision = revision or self._revision
        if kind != "BOOKMARK":
            self._changed()

    def _put(self, objects: dict[str, dict[str, JsonObject]], obj: JsonObject) -> None:
        cluster_client.require(
            obj, self.watched.shape, f"{self.watched.name} `{metadata.name(obj)}`"
        )
        objects.setdefault(metadata.namespace(obj), {})[metadata.name(obj)] = obj


def _is_too_new(status: JsonObject) -> bool:
    """Return whether the server has not come as far as we have: it lost something, or is another
    one."""
    causes: Sequence[JsonObject] = (status.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == "ResourceVersionTooLarge" for cause in causes)


# --- Cluster caches ----------------------------------------------------------
#
# All that a webhook keeps of its cluster: policies, bindings, namespaces, definitions, params.
#
# The kinds of params are those that policies name; their collections come and go with the
# policies. A kind of policy that the cluster is too old to know is no failure: then there are
# none of it.

REGISTRATION: Final = tuple(
    f"/apis/{ADMISSION_REGISTRATION}/{version}" for version in ("v1", "v1beta1", "v1alpha1")
)
"""The versions that a cluster may serve, the best first."""
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACES: Final = "/api/v1/namespaces"
_CONFIG_MAP: Final[Shape] = {"data": {str: str}}
POLICY_LABEL: Final = "celadon.dev/policies"
"""On a ConfigMap: its values are files of policies and bindings of both types."""

LONGEST_WATCH: Final = 300.0
"""Seconds."""


class ClusterCaches:
    """Keeps copies of what policies look up. `namespace` is where ConfigMaps with policies are
    looked for. No cache is silent for longer than half of `max_staleness`, in seconds, unless the
    cluster is."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
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
        self.definitions = self._collection([DEFINITIONS], shape=DEFINITION)
        self.config_maps = self._collection(
            [f"{NAMESPACES}/{namespace}/configmaps"],
            {"labelSelector": POLICY_LABEL},
            shape=_CONFIG_MAP,
        )
        self.params: dict[GroupVersionResource, WatchedCollection] = {}
        self._running: dict[GroupVersionResource, asyncio.Task[None]] = {}

    @property
    def of_policies(self) -> tuple[WatchedCollection, ...]:
        """Return the collections that say what is to be decided."""
        changing = self.mutating_policies, self.mutating_bindings
        return self.policies, self.bindings, *changing, self.config_maps

    @property
    def _fixed(self) -> tuple[WatchedCollection, ...]:
        return *self.of_policies, self.namespaces, self.definitions

    def __iter__(self) -> Iterator[WatchedCollection]:
        yield from (*self._fixed, *self.params.values())

    def ages(self) -> Mapping[str, float]:
        """Return them in seconds, by the plural of the resource; those of params by `params/` and
        the plural with its group."""
        ages = {collection.watched.name: collection.age() for collection in self._fixed}
        return ages | {
            f"params/{gvr.group_resource}": param.age() for gvr, param in self.params.items()
        }

    async def run(self) -> None:
        """Follow the collection until it is cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for collection in self._fixed:
                    group.create_task(collection.run())
        finally:
            for task in self._running.values():
                task.cancel()

    def follow(self, followed: Iterable[Resource]) -> None:
        """Keep the params of these resources, and of no others."""
        resources = {resource.gvr: resource for resource in followed}
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
        shape: Shape = OBJECT,
    ) -> WatchedCollection:
        watched = Watched(paths, query or {}, self._watch_seconds, shape)
        changed_event = self._changed if changed is None else changed
        return WatchedCollection(self._client, watched, changed_event, self._clock)


def collection_path(gvr: GroupVersionResource) -> str:
    """Return the path of all objects of a resource."""
    root = f"/apis/{gvr.group}" if gvr.group else "/api"
    return f"{root}/{gvr.version}/{gvr.resource}"


def _ignore() -> None:
    """Do nothing: params are looked at when a review asks for them."""
