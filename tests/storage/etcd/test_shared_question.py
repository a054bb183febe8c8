"""Who asks gets an answer to a question that was put after they asked."""

from __future__ import annotations

import asyncio

import pytest

from celadon.storage.etcd.etcd_store import SharedQuestion


def test_those_who_come_meanwhile_share_the_next_one() -> None:
    async def run() -> None:
        put: list[asyncio.Future[int]] = []

        async def ask() -> int:
            put.append(asyncio.get_running_loop().create_future())
            return await put[-1]

        shared = SharedQuestion(ask)
        first = shared.ask()
        await asyncio.sleep(0)
        second, third = shared.ask(), shared.ask()
        assert len(put) == 1
        assert second is third
        assert not second.cancel()
        put[0].set_result(1)
        assert await asyncio.wrap_future(first) == 1
        await asyncio.sleep(0)
        assert len(put) == 2
        put[1].set_exception(ValueError("no"))
        with pytest.raises(ValueError, match="no"):
            await asyncio.wrap_future(second)
        again = shared.ask()
        await asyncio.sleep(0)
        put[2].set_result(3)
        assert await asyncio.wrap_future(again) == 3

    asyncio.run(run())
