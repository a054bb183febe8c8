"""Keys that share a lease."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from celadon.storage.etcd.etcd_store import MOST_KEYS, SharedLeases


class Etcd:
    """Grants leases with the numbers 1, 2, ...; the time is what a test says."""

    def __init__(self) -> None:
        self.now = 0.0
        self.granted: list[int] = []

    async def grant(self, seconds: int) -> int:
        await asyncio.sleep(0)
        self.granted.append(seconds)
        return len(self.granted)


def on(work: Callable[[SharedLeases, Etcd], Awaitable[None]]) -> Etcd:
    etcd = Etcd()

    async def run() -> None:
        await work(SharedLeases(etcd.grant, lambda: etcd.now), etcd)

    asyncio.run(run())
    return etcd


@pytest.mark.parametrize(
    ("seconds", "used_for"),
    [pytest.param(3600, 60, id="a minute"), pytest.param(100, 5, id="a twentieth")],
)
def test_new_keys_get_the_same_lease_for_a_while(seconds: int, used_for: int) -> None:
    async def work(leases: SharedLeases, etcd: Etcd) -> None:
        assert await leases.lease(seconds) == 1
        etcd.now += used_for
        assert await leases.lease(seconds) == 1
        etcd.now += 1
        assert await leases.lease(seconds) == 2

    assert on(work).granted == [seconds + used_for] * 2


def test_a_lease_has_so_many_keys() -> None:
    async def work(leases: SharedLeases, etcd: Etcd) -> None:
        numbers = await asyncio.gather(*(leases.lease(3600) for _ in range(MOST_KEYS + 1)))
        assert sorted(numbers) == [1] * MOST_KEYS + [2]

    on(work)


def test_what_lasts_otherwise_has_a_lease_of_its_own() -> None:
    async def work(leases: SharedLeases, etcd: Etcd) -> None:
        assert [await leases.lease(one) for one in (100, 10, 100, 10)] == [1, 2, 1, 2]

    assert on(work).granted == [105, 10]


def test_a_lease_that_may_be_gone_is_not_used_again() -> None:
    async def work(leases: SharedLeases, etcd: Etcd) -> None:
        assert await leases.lease(100) == 1
        leases.forget()
        assert await leases.lease(100) == 2

    on(work)
