"""Waiting for a revision."""

from __future__ import annotations

import asyncio

from celadon.store.etcd.revision_waiters import RevisionWaiters


def test_those_who_wait_for_less_are_told() -> None:
    async def run() -> None:
        waiters = RevisionWaiters()
        late, early, given_up = (waiters.waiter(revision) for revision in (9, 5, 5))
        given_up.cancel()
        waiters.reached(4)
        assert not early.done()
        waiters.reached(7)
        assert early.done()
        assert not late.done()
        waiters.reached(9)
        assert late.done()

    asyncio.run(run())
