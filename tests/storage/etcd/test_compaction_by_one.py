"""One of several compacts."""

from __future__ import annotations

import asyncio

from celadon.storage.etcd.etcd_client import (
    EtcdClient,
    EtcdConnections,
    EtcdSettings,
    parse_endpoints,
)
from celadon.storage.etcd.etcd_messages import EtcdTransaction
from celadon.storage.etcd.etcd_store import KEY, CompactionByOne
from tests.etcd.etcd_members import cluster


def test_turns() -> None:
    async def run(urls: str) -> None:
        client = EtcdClient(EtcdConnections(EtcdSettings(parse_endpoints(urls))))
        first, second = CompactionByOne(client), CompactionByOne(client)
        try:
            assert await first.compact() == 0, "nothing is old yet"
            assert await second.compact() == 0, "the first had this turn"
            write = EtcdTransaction((), ((b"/a", b""),), ())
            revision = (await client.transact(write)).revision
            assert await second.compact() == revision - 1, "where it last looked"
            assert await first.compact() == 0, "the second had this turn"
            compacted = await first.compact()
            assert compacted > revision
            found = [one async for page in client.entries(KEY, 0) for one in page]
            assert [(one.key, one.value) for one in found] == [(KEY, str(compacted).encode())]
        finally:
            await client.close()

    with cluster() as members:
        asyncio.run(run(members.urls))
