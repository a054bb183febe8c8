"""The Leases of a cluster, for an election among replicas of the webhook."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from celadon.kube import JsonObject
from celadon.serve.leading import LeaseError, LeaseRefused
from celadon.webhook.cluster.cluster_client import (
    NOT_FOUND,
    ClusterClient,
    ClusterError,
    ClusterRefusal,
)


class ClusterLeases:
    """`leader_election.Leases`, by a client of the cluster."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client

    async def get(self, path: str) -> JsonObject | None:
        """None if there is none."""
        with _lease_errors():
            try:
                lease: JsonObject = await self._client.get(path)
            except ClusterRefusal as refusal:
                if refusal.code != NOT_FOUND:
                    raise
                return None
            return lease

    async def create(self, collection: str, lease: JsonObject) -> JsonObject:
        """As it was created."""
        with _lease_errors():
            created: JsonObject = await self._client.create(collection, lease)
            return created

    async def update(self, path: str, lease: JsonObject) -> JsonObject:
        """As it was written."""
        with _lease_errors():
            written: JsonObject = await self._client.update(path, lease)
            return written


@contextlib.contextmanager
def _lease_errors() -> Iterator[None]:
    try:
        yield
    except ClusterRefusal as error:
        raise LeaseRefused(str(error)) from error
    except ClusterError as error:
        raise LeaseError(str(error)) from error
