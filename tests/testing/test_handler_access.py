"""A server in the caller's own event loop."""

from __future__ import annotations

import asyncio

import pytest

from celadon.testing import HandlerAccess, RequestRefused


def test_a_server_without_a_thread_or_a_socket() -> None:
    async def session() -> list[str]:
        async with HandlerAccess() as api:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
            (made,) = await api.create([namespace])
            assert made["status"] == {"phase": "Active"}
            with pytest.raises(RequestRefused, match='namespaces "a" already exists'):
                await api.create(namespace)
            found = await api.request("GET", "/api/v1/namespaces")
            return [one["metadata"]["name"] for one in found["items"]]

    assert "a" in asyncio.run(session())
