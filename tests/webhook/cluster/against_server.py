"""A server for tests, and a client of the room that talks to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from celadon.apiserver.clientconfig import given_cluster
from celadon.testing import ClientAccess
from celadon.webhook.cluster.cluster_client import ClusterClient

PATIENCE = 60.0


@asynccontextmanager
async def client_of(access: ClientAccess) -> AsyncIterator[ClusterClient]:
    client = ClusterClient(given_cluster(access.kubeconfig, "", {}, time.time))
    try:
        yield client
    finally:
        await client.aclose()


async def until(holds: Callable[[], object]) -> None:
    """Looks again and again; fails after a while."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.01)


def config_map(name: str, **data: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }
