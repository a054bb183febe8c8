"""A server in the loop of a test that stands before an extension server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from celadon.apiserver import (
    AccessSettings,
    ApiServer,
    HttpAnswer,
    HttpRequest,
    ProxySettings,
    Settings,
    TokenFile,
)
from celadon.kube import User
from celadon.storage import open_memory
from celadon.testing.handler_access import signer
from tests.apiserver.aggregation.extension_server import (
    GROUP,
    NAMESPACE,
    VERSION,
    Certificates,
    ExtensionServer,
    api_service,
    service,
)

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
OWN = f"{API_SERVICES}/{VERSION}.{GROUP}"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
DEADLINE = 60.0

ADMIN = User("admin", ("system:masters",), "uid-1", {"example.com/A b": ("x", "y")})
USERS = {"admin": ADMIN, "alice": User("alice", ("dev",))}

Header = tuple[str, str]


class Before:
    """`server`, asked as one of USERS."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *headers: Header,
        user: str = "admin",
        address: str = "192.0.2.1",
    ) -> HttpAnswer:
        sent = b"" if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        given: Sequence[Header] = (("authorization", f"Bearer {user}"), ("content-type", kind))
        request = HttpRequest(method, path, [*given, *headers], sent, remote_address=address)
        return await self.server.handle(request)

    async def object(self, method: str, path: str, body: Any = None, *headers: Header) -> Any:
        answer = await self.ask(method, path, body, *headers)
        assert answer.code < 300, answer
        return json.loads(answer.body)

    async def condition(self, reason: str) -> dict[str, Any]:
        """That of the APIService, when it has come."""

        async def found() -> dict[str, Any] | None:
            state = (await self.object("GET", OWN)).get("status") or {}
            found: list[dict[str, Any]] = state.get("conditions") or []
            return next((one for one in found if one["reason"] == reason), None)

        made: dict[str, Any] = await until(found)
        return made

    async def freshness(self, wanted: str) -> dict[str, Any]:
        """The version of the aggregated discovery, when it is so fresh."""

        async def found() -> dict[str, Any] | None:
            document = await self.object("GET", "/apis", None, AGGREGATED)
            for group in document["items"]:
                for version in group["versions"]:
                    if group["metadata"]["name"] == GROUP and version["freshness"] == wanted:
                        made: dict[str, Any] = version
                        return made
            return None

        made: dict[str, Any] = await until(found)
        return made

    async def register(self, extension: ExtensionServer, certificates: Certificates) -> None:
        """An APIService for it, which is available when this is done."""
        await self.object("POST", SERVICES, service(extension.port))
        made = api_service(extension.port, caBundle=certificates.bundle)
        await self.object("POST", API_SERVICES, made)
        await self.condition("Passed")


AGGREGATED = ("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")


async def until(found: Callable[[], Any]) -> Any:
    """What `found` gives, when that is something."""
    async with asyncio.timeout(DEADLINE):
        while True:
            made = await found()
            if made:
                return made
            await asyncio.sleep(0.02)


@asynccontextmanager
async def before(
    certificates: Certificates | None = None, **settings: Any
) -> AsyncIterator[Before]:
    """It shows a certificate if there are `certificates`."""
    proxy = ProxySettings()
    if certificates is not None:
        proxy = ProxySettings(*certificates.pair("front-proxy-client"))
    loop = asyncio.get_running_loop()
    server = ApiServer(
        open_memory(carry=loop.call_soon_threadsafe),
        AccessSettings(signer(), TokenFile(USERS)),
        Settings(front_proxy=proxy, **settings),
    )
    await server.start()
    try:
        yield Before(server)
    finally:
        await server.stop()
