"""Conversion webhooks asked by commands that judge objects: over HTTPS, as an API server asks them
(`--call-conversion-webhooks`), or through a cluster, which asks them itself.

Whoever judges asks in the middle of a decision and cannot wait, so what waits is a thread with an
event loop of its own. A webhook that is out of reach is asked once: what only it could show is not
judged (`WebhookNotCalled`). One that answers and fails is a failure of the object, as it is in a
cluster.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from celadon.admission import ObjectWorld
from celadon.admission.conversion import Converter, WebhookNotCalled
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.resources import Catalog

if TYPE_CHECKING:
    from celadon.apiserver.clientconfig import ClusterLocation
    from celadon.webhook.cluster import ClusterClient

Services = Mapping[tuple[str, str, int], tuple[str, int]]
"""Where services are that webhooks are behind: by namespace, name and port (0 for all of them),
host and port."""

_AT_ONCE: Final = 16
"""Objects that a cluster is asked for."""

T = TypeVar("T")


@contextlib.contextmanager
def converting(
    world: ObjectWorld, services: Services | None, version: str
) -> Iterator[ObjectWorld]:
    """Yield the world, in which conversion webhooks of its definitions are called until the block
    ends; the same where `services` is None."""
    if services is None:
        yield world
        return
    with contextlib.closing(
        LazyConverter(lambda: _Webhooks(world, services, version))
    ) as converter:
        yield world.with_converter(converter)


@contextlib.contextmanager
def converting_cluster(location: ClusterLocation, catalog: Catalog | None) -> Iterator[Converter]:
    """Yield what asks a cluster for its objects in other versions, until the block ends."""

    def begin() -> _Asker:
        from celadon.webhook.cluster import ClusterClient

        return _Cluster(ClusterClient(location), catalog or Catalog(()))

    with contextlib.closing(LazyConverter(begin)) as converter:
        yield converter


class _Asker(Protocol):
    """Asks for objects in a version; those that are `stored` as a server shows them."""

    async def ask(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind, *, stored: bool
    ) -> Sequence[JsonObject]:
        """Ask a conversion webhook. Raises ConversionError."""
        ...

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        ...


class LazyConverter(Converter):
    """A converter for whoever cannot wait. `begin` makes who is asked, once in each process: what
    another one has opened is of no use to its forks."""

    def __init__(self, begin: Callable[[], _Asker]) -> None:
        self._begin = begin
        self._process = 0

    def converted(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind
    ) -> Sequence[JsonObject]:
        """Return objects in a version, converted as they are given."""
        return self._asked(objects, kind, stored=False)

    def shown(self, objects: Sequence[JsonObject], kind: GroupVersionKind) -> Sequence[JsonObject]:
        """Return objects in a version as a server shows them."""
        return self._asked(objects, kind, stored=True)

    def close(self) -> None:
        """Stop asking webhooks."""
        if self._process == os.getpid():
            self._process = 0
            self._waited(self._asker.aclose())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _asked(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind, *, stored: bool
    ) -> Sequence[JsonObject]:
        if self._process != os.getpid():
            self._process = os.getpid()
            self._asker, self._loop = self._begin(), asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()
        return self._waited(self._asker.ask(objects, kind, stored=stored))

    def _waited(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


class _Webhooks:
    """Asks the webhooks of the definitions of a world."""

    def __init__(self, world: ObjectWorld, services: Services, version: str) -> None:
        from celadon.apiserver.conversion_webhooks import CalledWebhooks
        from celadon.apiserver.webhook_routes import CallerOnDemand, ServiceRoutes

        self._caller = CallerOnDemand(ServiceRoutes(world, services))
        called = CalledWebhooks(world.objects, version, self._caller.call, once=True)
        self.ask = called.ask

    async def aclose(self) -> None:
        await self._caller.aclose()


class _Cluster:
    """Asks a cluster for objects that it has."""

    def __init__(self, client: ClusterClient, catalog: Catalog) -> None:
        self._client = client
        self._catalog = catalog
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind, *, stored: bool
    ) -> Sequence[JsonObject]:
        del stored  # the cluster shows what it has
        return await asyncio.gather(*(self._one(obj, kind) for obj in objects))

    async def _one(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        from celadon.webhook.cluster import ClusterError

        source, resource = metadata.gvk(obj), self._catalog.by_gvk(kind)
        if source == kind:
            return obj
        if resource is None:
            raise WebhookNotCalled(source, kind)
        group, version, plural = resource.gvr
        namespace = metadata.namespace(obj)
        within = f"namespaces/{namespace}/" if namespace else ""
        path = f"/apis/{group}/{version}/{within}{plural}/{metadata.name(obj)}"
        try:
            async with self._turns:
                client: JsonObject = await self._client.get(path)
        except ClusterError as error:
            raise WebhookNotCalled(source, kind, f"is asked by nobody ({error})") from None
        return client

    async def aclose(self) -> None:
        await self._client.aclose()
