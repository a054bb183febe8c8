"""Forgetting what is old in etcd, by one of all processes that look at it.

As k8s.io/apiserver `pkg/storage/etcd3/compact.go`, with the same key and the same rule, so that
this works beside API servers of Kubernetes. Every few minutes each process tries to write a common
key as the next one after the last time it looked; who succeeds compacts to the revision of one
interval ago. So etcd keeps between one and two intervals of history.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from celadon.store.errors import ServiceError
from celadon.store.etcd.etcd_client import EtcdClient
from celadon.store.etcd.etcd_messages import Comparison, EtcdTransaction

KEY: Final = b"compact_rev_key"
INTERVAL_SECONDS: Final = 300.0


class CompactionByOne:
    """`turn` is how often the key had been written when this process last looked, `revision` what
    etcd's revision was then."""

    def __init__(self, client: EtcdClient, interval: float = INTERVAL_SECONDS) -> None:
        self._client = client
        self._interval = interval
        self._turn = 0
        self._revision = 0

    async def run(self) -> None:
        """Until the task is cancelled."""
        while True:
            await asyncio.sleep(self._interval)
            with suppress(ServiceError):
                await self.compact()

    async def compact(self) -> int:
        """The revision compacted to; 0 if it was somebody else's turn, or nothing is old. Raises
        ServiceError."""
        value = str(self._revision).encode()
        answer = await self._client.transact(
            EtcdTransaction((Comparison(KEY, version=self._turn),), ((KEY, value),), (KEY,))
        )
        former, self._revision = self._revision, answer.revision
        if not answer.succeeded:
            (found,) = answer.found
            self._turn = 0 if found is None else found.version
            return 0
        self._turn += 1
        if former:
            await self._client.compact(former)
        return former
