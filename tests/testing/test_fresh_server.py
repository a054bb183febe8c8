"""What the first server of a process made, later ones begin with."""

from __future__ import annotations

import asyncio

import pytest

from celadon.apiserver import ApiServer
from celadon.storage import Store
from celadon.testing import HandlerAccess, ServerOptions


def test_later_servers_make_nothing_again() -> None:
    async def begun() -> tuple[ApiServer, int]:
        async with HandlerAccess() as api:
            await api.settle()
            return api.server, api.server.objects.store.revision()

    (first, revision), (second, later) = asyncio.run(begun()), asyncio.run(begun())
    assert revision == later
    assert entries(first.objects.store) == entries(second.objects.store)


def entries(store: Store) -> dict[str, int]:
    """The identities, not only the values."""
    return {one.key: id(one) for one in store.range("").entries}


@pytest.mark.parametrize("version", ["1.33", "1.36"])
def test_each_release_has_its_own_beginning(version: str) -> None:
    async def served() -> str:
        async with HandlerAccess(ServerOptions(version=version)) as api:
            found: str = (await api.request("GET", "/version"))["minor"]
            return found

    assert asyncio.run(served()) == version.removeprefix("1.")
