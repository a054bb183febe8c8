"""Files of objects that are applied again when they change (`--watch-manifests`).

What is new is created, what has changed replaces what is stored, and what is in no file any more is
deleted, if a file had brought it. Whatever is wrong with a file is logged, and what it brought
before stays. The server's own status and metadata stay, as with `kubectl replace`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.kube import JsonObject, metadata
from celadon.serve.apiserver import ApiServer
from celadon.serve.http_messages import HttpAnswer, HttpRequest
from celadon.serve.operation import log_lines
from celadon.serve.transport.server_settings import StartError
from celadon.serve.transport.starting_objects import collection_path, in_creation_order

Placed: TypeAlias = tuple[str, Mapping[str, Any]]
NOT_FOUND: Final = 404


class WatchedManifests:
    """`read` gives all objects with their places, or raises StartError; `brought` are those that
    the server was started with."""

    def __init__(
        self,
        server: ApiServer,
        token: str,
        read: Callable[[], Sequence[Placed]],
        brought: Sequence[Placed],
    ) -> None:
        self._server = server
        self._token = token
        self._read = read
        self._last = {self._path(obj): obj for _, obj in brought}

    async def refresh(self) -> None:
        """Look, and do what follows. Never raises for what is in the files."""
        try:
            found = self._read()
        except (StartError, OSError) as error:
            log_lines.warn("the manifests cannot be read", {"err": str(error)})
            return
        wanted: dict[str, JsonObject] = {}
        for place, obj in in_creation_order(found):
            await self._server.controllers.caught_up()
            path = self._path(obj)
            if not path:
                log_lines.warn("a manifest is of no known kind", {"place": place})
                continue
            wanted[path] = obj
            if self._last.get(path) != obj and not await self._put(place, path, obj):
                wanted.pop(path)
                if path in self._last:
                    wanted[path] = self._last[path]
        for path in self._last.keys() - wanted.keys():
            await self._call("DELETE", path, None)
            log_lines.say(log_lines.LIFE, "a manifest has gone", {"path": path})
        self._last = wanted

    async def _put(self, place: str, path: str, obj: JsonObject) -> bool:
        """Whether the server took it."""
        stored = await self._call("GET", path, None)
        if stored.code == NOT_FOUND:
            answer = await self._call("POST", path.rpartition("/")[0], obj)
        else:
            answer = await self._call("PUT", path, obj)
        if answer.code >= 400:
            message = json.loads(answer.body).get("message", "")
            log_lines.warn("a manifest is refused", {"place": place, "err": message})
            return False
        log_lines.say(log_lines.LIFE, "a manifest was taken in", {"place": place})
        return True

    async def _call(self, method: str, path: str, body: JsonObject | None) -> HttpAnswer:
        headers = [
            ("authorization", f"Bearer {self._token}"),
            ("content-type", "application/json"),
            ("accept", "application/json"),
        ]
        data = b"" if body is None else json.dumps(body).encode()
        return await self._server.handle(HttpRequest(method, path, headers, data))

    def _path(self, obj: JsonObject) -> str:
        """Empty for an unknown kind."""
        resource = self._server.served.current().catalog.by_gvk(metadata.gvk(obj))
        if resource is None:
            return ""
        collection = collection_path(resource, metadata.namespace(obj) or "default")
        return f"{collection}/{metadata.name(obj)}"
