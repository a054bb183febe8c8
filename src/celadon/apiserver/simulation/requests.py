"""What a simulated controller asks of the server, as itself."""

from __future__ import annotations

from typing import Final

from celadon.apiserver.controllers.controller_loops import (
    Reply,
    ServerRequests,
    Stale,
    resource_path,
)
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource

CONFLICT: Final = 409
CREATED: Final = 201
NOT_FOUND: Final = 404


class Requests:
    """What one controller asks of the server. Answers of others than those that were hoped for
    are replies, too, but for lost races, which raise Stale."""

    def __init__(self, server: ServerRequests) -> None:
        self._server = server

    async def create(self, resource: Resource, obj: JsonObject) -> Reply:
        """In the namespace that the object names."""
        path = resource_path(resource, metadata.namespace(obj))
        return await self._server.call("POST", path, obj)

    async def update(self, resource: Resource, obj: JsonObject, subresource: str = "") -> Reply:
        """If it is still the version that its metadata tells of. Raises Stale."""
        path = self._path(resource, obj, subresource)
        return self._checked(await self._server.call("PUT", path, obj))

    async def require_update(
        self, resource: Resource, obj: JsonObject, subresource: str = ""
    ) -> None:
        """As `update`; raises Stale also when the server refuses for another reason."""
        reply = await self.update(resource, obj, subresource)
        if reply.failed:
            raise Stale

    async def update_status(
        self, resource: Resource, obj: JsonObject, status: JsonObject
    ) -> Reply | None:
        """Nothing is asked when it is the same. Raises Stale."""
        if (obj.get("status") or {}) == status:
            return None
        return await self.update(resource, {**obj, "status": status}, "status")

    async def patch(
        self, resource: Resource, obj: JsonObject, change: JsonObject, subresource: str = ""
    ) -> Reply:
        """A merge patch, of the object with the same uid only. Raises Stale."""
        meta = {**(change.get("metadata") or {}), "uid": metadata.uid(obj)}
        path = self._path(resource, obj, subresource)
        patch = {**change, "metadata": meta}
        return self._checked(await self._server.call("PATCH", path, patch))

    async def delete(
        self, resource: Resource, obj: JsonObject, *, grace: int | None = None, policy: str = ""
    ) -> Reply:
        """The object with the same uid only. Raises Stale."""
        options: JsonDict = {"preconditions": {"uid": metadata.uid(obj)}}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if policy:
            options["propagationPolicy"] = policy
        return self._checked(await self._server.call("DELETE", self._path(resource, obj), options))

    async def post(self, path: str, body: JsonObject) -> Reply:
        """To a subresource that is no object of its own."""
        return await self._server.call("POST", path, body)

    def _path(self, resource: Resource, obj: JsonObject, subresource: str = "") -> str:
        path = resource_path(resource, metadata.namespace(obj), metadata.name(obj))
        return f"{path}/{subresource}" if subresource else path

    def _checked(self, reply: Reply) -> Reply:
        if reply.code in (CONFLICT, NOT_FOUND):
            raise Stale
        return reply
