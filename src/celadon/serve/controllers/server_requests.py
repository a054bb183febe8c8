"""Requests that controllers make of their own server.

What a controller deletes or creates goes the way of every request: admission, finalizers, watches.
Each acts as the service account that it has upstream.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from celadon.kube import JsonObject, User
from celadon.kube.catalogue import Resource
from celadon.kube.roles import service_account_user
from celadon.kube.well_known_values import MERGE_PATCH
from celadon.records import dataclass
from celadon.serve.http_messages import HttpAnswer, HttpRequest


@dataclass(frozen=True, slots=True)
class Reply:
    """`body` is empty where it was not JSON."""

    code: int
    body: JsonObject

    @property
    def failed(self) -> bool:
        """Whether there is a problem other than that the object is gone."""
        return self.code >= 400 and self.code != 404

    @property
    def message(self) -> str:
        """What an error says."""
        return str(self.body.get("message", ""))


class RequestFailed(Exception):
    """A request that a controller cannot go on without was refused."""


@dataclass(frozen=True, slots=True)
class ServerRequests:
    """`perform` answers a request as if this user had made it and were allowed to."""

    perform: Callable[[HttpRequest, User], Awaitable[HttpAnswer]]
    account: str

    async def call(self, method: str, path: str, body: JsonObject | None = None) -> Reply:
        """PATCH is a merge patch."""
        content = MERGE_PATCH if method == "PATCH" else "application/json"
        headers = [
            ("accept", "application/json"),
            ("user-agent", f"celadon/{self.account}"),
            ("content-type", content),
        ]
        data = b"" if body is None else json.dumps(body).encode()
        user = service_account_user("kube-system", self.account)
        answer = await self.perform(HttpRequest(method, path, headers, data), user)
        try:
            found = json.loads(answer.body)
        except ValueError:
            found = {}
        return Reply(answer.code, found if isinstance(found, dict) else {})

    async def require(self, method: str, path: str, body: JsonObject | None = None) -> Reply:
        """Raises RequestFailed, but not for an object that is gone."""
        reply = await self.call(method, path, body)
        if reply.failed:
            raise RequestFailed(f"{method} {path}: {reply.code} {reply.message}")
        return reply


def resource_path(resource: Resource, namespace: str = "", name: str = "") -> str:
    """Of a collection, or of one object."""
    gvr = resource.gvr
    parts = ["apis", gvr.group, gvr.version] if gvr.group else ["api", gvr.version]
    if resource.namespaced and namespace:
        parts += ["namespaces", namespace]
    parts += [gvr.resource, *([name] if name else [])]
    return "/" + "/".join(quote(part, safe="") for part in parts)
