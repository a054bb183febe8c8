"""Waiting for a revision."""

from __future__ import annotations

import asyncio

from celadon.storage.etcd.etcd_store import RevisionWaiters


def test_those_who_wait_for_less_are_told() -> None:
    async def run() -> None:
        waiters = RevisionWaiters()
        late, early, given_up = (
            asyncio.ensure_future(waiters.wait(revision, 60.0)) for revision in (9, 5, 5)
        )
        await asyncio.sleep(0)
        given_up.cancel()
        waiters.reached(4)
        await asyncio.sleep(0)
        assert not early.done()
        waiters.reached(7)
        assert await early
        assert not late.done()
        waiters.reached(9)
        assert await late

    asyncio.run(run())


def test_nobody_waits_for_ever() -> None:
    async def run() -> None:
        waiters = RevisionWaiters()
        assert not await waiters.wait(5, 0.0)
        waiters.reached(5)

    asyncio.run(run())
