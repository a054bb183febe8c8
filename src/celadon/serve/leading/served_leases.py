"""The Leases of this server, for an election among those that look at the same store."""

from __future__ import annotations

from celadon.kube import JsonObject
from celadon.serve.controllers.server_requests import Reply, ServerRequests
from celadon.serve.leading.leader_election import LeaseError, LeaseRefused


class ServedLeases:
    """`leader_election.Leases`, by requests of the server's own."""

    def __init__(self, requests: ServerRequests) -> None:
        self._requests = requests

    async def get(self, path: str) -> JsonObject | None:
        reply = await self._requests.call("GET", path)
        return None if reply.code == 404 else _body(reply)

    async def create(self, collection: str, lease: JsonObject) -> JsonObject:
        return _body(await self._requests.call("POST", collection, lease))

    async def update(self, path: str, lease: JsonObject) -> JsonObject:
        return _body(await self._requests.call("PUT", path, lease))


def _body(reply: Reply) -> JsonObject:
    """Raises LeaseError."""
    if reply.code >= 500:
        raise LeaseError(reply.message)
    if reply.code >= 400:
        raise LeaseRefused(reply.message)
    return reply.body
