from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver import leaderelection
from celadon.apiserver.leaderelection import LEASE_SECONDS, LeaderElection, LeaseError, leases_path
from celadon.testing import KubeApi
from celadon.webhook.certificates import ClusterLeases
from celadon.webhook.cluster.cluster_client import ClusterClient
from tests.webhook.cluster.against_server import client_of, until

LEASES = leases_path("default")


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi() as started:
        yield started


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def candidate(client: ClusterClient, lease: str, identity: str, clock: Clock) -> LeaderElection:
    return LeaderElection(ClusterLeases(client), LEASES, lease, identity, clock, clock)


def spec(api: KubeApi, lease: str) -> dict[str, Any]:
    found: dict[str, Any] = api.request("GET", f"{LEASES}/{lease}")["spec"]
    return found


def test_one_of_two_leads_until_its_lease_ends(api: KubeApi) -> None:
    async def run() -> None:
        async with client_of(api.admin) as client:
            clock = Clock()
            first, second = (candidate(client, "turns", name, clock) for name in ("a", "b"))
            assert await first.attempt()
            assert spec(api, "turns") == {
                "holderIdentity": "a",
                "leaseDurationSeconds": 15,
                "acquireTime": "1970-01-12T13:46:40.000000Z",
                "renewTime": "1970-01-12T13:46:40.000000Z",
                "leaseTransitions": 0,
            }
            assert not await second.attempt()
            clock.now += LEASE_SECONDS - 1
            assert not await second.attempt()
            assert await first.attempt(), "renewed"
            clock.now += LEASE_SECONDS - 1
            assert not await second.attempt(), "it has seen the renewal only now"
            clock.now += LEASE_SECONDS
            assert await second.attempt()
            taken = spec(api, "turns")
            assert (taken["holderIdentity"], taken["leaseTransitions"]) == ("b", 1)
            assert taken["acquireTime"] == taken["renewTime"] == "1970-01-12T13:47:23.000000Z"
            assert not await first.attempt()
            assert not first.leads

    asyncio.run(run())


def test_two_at_once_are_told_apart(api: KubeApi) -> None:
    async def run() -> None:
        async with client_of(api.admin) as client:
            clock = Clock()
            both = [candidate(client, "race", name, clock) for name in ("a", "b")]
            assert sorted(await asyncio.gather(*(one.attempt() for one in both))) == [False, True]

    asyncio.run(run())


def test_who_ends_lets_go(api: KubeApi) -> None:
    async def run() -> None:
        async with client_of(api.admin) as client:
            clock = Clock()
            leads: list[str] = []

            async def work() -> None:
                leads.append("works")
                await asyncio.Event().wait()

            first = candidate(client, "ends", "a", clock)
            running = asyncio.create_task(first.run(work))
            await until(lambda: leads)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            assert spec(api, "ends")["holderIdentity"] == ""
            assert await candidate(client, "ends", "b", clock).attempt(), "at once"

    asyncio.run(run())


class Unreachable:
    """Leases that were there a moment ago."""

    def __init__(self) -> None:
        self.is_there = True
        self.lease: dict[str, Any] = {"spec": {}}

    async def get(self, _: str) -> Any:
        if not self.is_there:
            raise LeaseError("gone")
        return self.lease

    async def create(self, _: str, body: Any) -> Any:
        raise NotImplementedError

    async def update(self, _: str, body: Any) -> Any:
        self.lease = body
        return body


def test_failures_in_a_row_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Unreachable()
    election = LeaderElection(cluster, LEASES, "told", "a")

    async def attempts(count: int) -> list[str]:
        caplog.clear()
        for _ in range(count):
            await election.attempt()
        return [one.message for one in caplog.records]

    async def run() -> None:
        cluster.is_there = False
        assert await attempts(2) == []
        assert await attempts(5) == ["the election of a leader fails"]
        cluster.is_there = True
        assert await attempts(2) == ["the lease answers again"]

    with caplog.at_level(logging.INFO, "celadon.apiserver"):
        asyncio.run(run())


def test_who_cannot_renew_leads_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderelection, "RETRY", 0.01)
    monkeypatch.setattr(leaderelection, "RENEW_WITHIN", 0.05)
    cluster = Unreachable()
    told: list[str] = []

    async def work() -> None:
        told.append("begins")
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ends")

    async def run() -> None:
        election = LeaderElection(cluster, LEASES, "lease", "a")
        running = asyncio.create_task(election.run(work))
        await until(lambda: told == ["begins"])
        cluster.is_there = False
        await until(lambda: told == ["begins", "ends"])
        cluster.is_there = True
        await until(lambda: told == ["begins", "ends", "begins"])
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


def test_what_fails_in_the_work_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        raise ValueError("a bug")

    async def run() -> None:
        election = LeaderElection(Unreachable(), LEASES, "lease", "a")
        with pytest.raises(ValueError, match="a bug"):
            await election.run(work)

    asyncio.run(run())
