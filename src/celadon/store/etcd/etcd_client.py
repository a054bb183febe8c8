"""What the store asks of etcd: revision, entries, transactions, leases, compactions, changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

from celadon.store.errors import ServiceError, ServiceUnavailable
from celadon.store.etcd import etcd_messages as messages
from celadon.store.etcd.etcd_connections import EtcdConnections
from celadon.store.etcd.etcd_messages import (
    EVERYTHING,
    EtcdTransaction,
    KeyValue,
    TransactionAnswer,
    WatchAnswer,
)

PAGE: Final = 500
"""Entries that are read at once."""

_RANGE: Final = "/etcdserverpb.KV/Range"
_TXN: Final = "/etcdserverpb.KV/Txn"
_GRANT: Final = "/etcdserverpb.Lease/LeaseGrant"
_COMPACT: Final = "/etcdserverpb.KV/Compact"
_WATCH: Final = "/etcdserverpb.Watch/Watch"


class EtcdClient:
    """On connections that others may use as well. All methods raise ServiceError."""

    def __init__(self, connections: EtcdConnections) -> None:
        self._connections = connections

    async def revision(self) -> int:
        """Not older than any write acknowledged so far, to anyone: a majority has confirmed it."""
        request = messages.range_request(EVERYTHING, count_only=True)
        answer = await self._connections.call(_RANGE, request, repeatable=True)
        return messages.range_answer(answer).revision

    async def entries(self, first: bytes, revision: int) -> AsyncIterator[tuple[KeyValue, ...]]:
        """All whose key begins with `first`, at a revision, in pages."""
        first, end = first or EVERYTHING, _after_all_with(first)
        while True:
            request = messages.range_request(first, end, limit=PAGE, revision=revision)
            answer = await self._connections.call(_RANGE, request, repeatable=True)
            page = messages.range_answer(answer)
            yield page.found
            if not page.more:
                return
            first = page.found[-1].key + b"\0"

    async def transact(self, transaction: EtcdTransaction) -> TransactionAnswer:
        """After a ServiceUnavailable that is not NotBegun, nobody knows what has become of it."""
        request = messages.transaction_request(transaction)
        answer = await self._connections.call(_TXN, request, repeatable=False)
        return messages.transaction_answer(answer, transaction)

    async def lease(self, seconds: int) -> int:
        """A new one, that lasts so long (etcd makes very short ones longer)."""
        request = messages.lease_request(seconds)
        # One whose number is never heard of ends by itself.
        return messages.lease_answer(await self._connections.call(_GRANT, request, repeatable=True))

    async def compact(self, revision: int) -> None:
        """Raises RevisionRefused for what is compacted already, or in the future."""
        request = messages.compaction_request(revision)
        await self._connections.call(_COMPACT, request, repeatable=False)

    async def changes(self, start: int) -> AsyncGenerator[WatchAnswer, None]:
        """Of all keys, from a revision on, until the member fails, which is left then."""
        connection = self._connections.current
        request = messages.watch_request(start)
        try:
            async with aclosing(connection.stream(_WATCH, request)) as answers:
                async for answer in answers:
                    read = messages.watch_answer(answer)
                    if read.refusal is not None and not read.compacted:
                        raise ServiceUnavailable(read.refusal)
                    yield read
            raise ServiceUnavailable("the member of etcd has ended the watch")
        except ServiceError:
            self._connections.leave(connection)
            raise

    def leave(self) -> None:
        """Go on with the next member: this one does not send what it should."""
        self._connections.leave(self._connections.current)

    async def close(self) -> None:
        """Returns when nothing is under way any more."""
        await self._connections.close()


def _after_all_with(prefix: bytes) -> bytes:
    """The first key behind all that begin with the prefix."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else EVERYTHING
