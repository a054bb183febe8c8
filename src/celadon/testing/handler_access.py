"""The server without a network: requests are handed to its handler.

`HandlerAccess` runs in the caller's event loop. That is the fastest way to ask a server something,
and what `KubeApi` does for its own `request` and `create`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, Self

from celadon.kube import JsonObject, metadata
from celadon.serve import ADMINISTRATOR, ApiServer, HttpAnswer, HttpRequest
from celadon.serve.transport import collection_path, in_creation_order
from celadon.testing.fresh_server import ServerOptions, fresh_server, new_token
from celadon.testing.given_manifests import (
    Manifest,
    ManifestError,
    as_manifests,
    given_objects,
)

FAILED: Final = 400
"""Answers from this code on are refusals."""

CONTENT_TYPES: Final = {
    "POST": "application/json",
    "PUT": "application/json",
    "PATCH": "application/merge-patch+json",
}
"""Of bodies, unless told otherwise."""


class RequestRefused(Exception):
    """The server said no. The text is its message; `status` is the Status object it sent, `code`
    the HTTP code, `reason` the word for it (`Invalid`, `Forbidden`, `NotFound`, ...)."""

    def __init__(self, code: int, status: JsonObject, place: str = "") -> None:
        message = str(status.get("message") or "")
        super().__init__(f"{place}: {message}" if place else message)
        self.code = code
        self.status = status
        self.reason = str(status.get("reason") or "")
        self.message = message


class HandlerAccess:
    """A server in memory for as long as an `async with` block lasts. `users` are by their tokens;
    more may come while the server runs."""

    def __init__(self, options: ServerOptions | None = None, port: int = 0) -> None:
        self.admin_token = new_token()
        self.users = {self.admin_token: ADMINISTRATOR}
        self._options = ServerOptions() if options is None else options
        self._port = port
        self._server: ApiServer | None = None

    async def __aenter__(self) -> Self:
        self._server = await fresh_server(self._options, self.users, self._port)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.server.stop()
        self._server = None

    @property
    def server(self) -> ApiServer:
        """The server itself. Raises RuntimeError before the block and after it."""
        if self._server is None:
            raise RuntimeError("the server does not run: use `with` or `start`")
        return self._server

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Any request, with the headers it has; whatever is wrong with it is an answer, too."""
        return await self.server.handle(request)

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401 - any JSON
        *,
        token: str = "",
        content_type: str = "",
    ) -> Any:  # noqa: ANN401 - any JSON
        """The object that the server answers with (a text, where it does not answer with JSON).
        `path` is with the query; `body` is JSON; `token` is the administrator's unless given.
        Raises RequestRefused. Not for watches."""
        headers = [("authorization", f"Bearer {token or self.admin_token}")]
        sent = b""
        if body is not None:
            sent = json.dumps(body).encode()
            headers.append(("content-type", content_type or CONTENT_TYPES.get(method, "")))
        answer = await self.handle(HttpRequest(method, path, headers, sent))
        found = _content(answer)
        if answer.code >= FAILED:
            status = found if isinstance(found, dict) else {"message": found}
            raise RequestRefused(answer.code, status)
        return found

    async def create(
        self, manifests: Manifest | Iterable[Manifest], token: str = ""
    ) -> list[dict[str, Any]]:
        """The objects as the server has them then. Namespaces and CustomResourceDefinitions come
        first. Raises RequestRefused, with the place of the object, and ManifestError."""
        return [
            await self._created(place, obj, token)
            for place, obj in in_creation_order(given_objects(as_manifests(manifests)))
        ]

    async def _created(self, place: str, obj: JsonObject, token: str) -> dict[str, Any]:
        await self.server.controllers.caught_up()
        resource = self.server.served.current().catalog.by_gvk(metadata.gvk(obj))
        if resource is None:
            raise ManifestError(f"{place}: no kind {obj.get('kind')} in {obj.get('apiVersion')}")
        path = collection_path(resource, metadata.namespace(obj) or "default")
        try:
            made: dict[str, Any] = await self.request("POST", path, obj, token=token)
        except RequestRefused as refused:
            raise RequestRefused(refused.code, refused.status, place) from None
        return made

    async def settle(self) -> None:
        """Wait until the controllers have nothing to do."""
        await self.server.controllers.settled()


def _content(answer: HttpAnswer) -> Any:  # noqa: ANN401 - any JSON
    if answer.content_type.startswith("application/json"):
        return json.loads(answer.body)
    return answer.body.decode()
