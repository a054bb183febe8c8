"""Files that change while a server runs."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from celadon.apiserver.api_settings import AccessSettings
from celadon.apiserver.assembly import ApiServer
from celadon.apiserver.authn.authentication import TokenFile
from celadon.apiserver.http.server_process import Placed, WatchedManifests
from celadon.apiserver.http.server_settings import StartError
from celadon.apiserver.http_messages import HttpRequest
from celadon.kube import MASTERS, User
from celadon.storage import open_memory
from tests.apiserver.in_process import SIGNER

MAPS = "/api/v1/namespaces/default/configmaps"


class Files:
    def __init__(self) -> None:
        self.found: list[Placed] | StartError = []

    def read(self) -> list[Placed]:
        if isinstance(self.found, StartError):
            raise self.found
        return self.found


def run(scenario: Callable[[Any, Files, Any], Awaitable[None]]) -> None:
    async def started() -> None:
        access = AccessSettings(SIGNER, TokenFile({"t": User("root", (MASTERS,))}))
        store = open_memory(carry=asyncio.get_running_loop().call_soon_threadsafe)
        server = ApiServer(store, access)
        await server.start()
        files = Files()

        async def get(name: str) -> Any:
            headers = [("authorization", "Bearer t")]
            answer = await server.handle(HttpRequest("GET", f"{MAPS}/{name}", headers))
            return json.loads(answer.body).get("data")

        try:
            await scenario(WatchedManifests(server, "t", files.read, ()), files, get)
        finally:
            await server.stop()

    asyncio.run(started())


def config_map(name: str, value: Any) -> Placed:
    obj = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"x": value},
    }
    return f"{name}.yaml:1", obj


def test_what_is_new_what_has_changed_and_what_is_gone() -> None:
    async def scenario(manifests: Any, files: Files, get: Any) -> None:
        files.found = [config_map("a", "1"), config_map("b", "1")]
        await manifests.refresh()
        assert (await get("a"), await get("b")) == ({"x": "1"}, {"x": "1"})
        files.found = [config_map("a", "2")]
        await manifests.refresh()
        assert (await get("a"), await get("b")) == ({"x": "2"}, None)

    run(scenario)


def test_what_is_refused_leaves_what_was_there(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(manifests: Any, files: Files, get: Any) -> None:
        files.found = [config_map("a", "1")]
        await manifests.refresh()
        files.found = [config_map("a", ["wrong"]), config_map("b", "1")]
        await manifests.refresh()
        assert (await get("a"), await get("b")) == ({"x": "1"}, {"x": "1"})
        files.found = StartError("broken")
        await manifests.refresh()
        assert await get("a") == {"x": "1"}

    with caplog.at_level(logging.WARNING):
        run(scenario)
    said = [record.getMessage() for record in caplog.records]
    assert said == ["a manifest is refused", "the manifests cannot be read"]
