"""Namespaces in which something is being charged."""

from __future__ import annotations

import asyncio

import pytest

from celadon.apiserver import quota_charging
from celadon.apiserver.quota_charging import OpenCharges


def test_charges_are_open_until_the_last_is_done() -> None:
    async def run() -> list[str]:
        charges, said = OpenCharges(), []

        async def wait(namespace: str) -> None:
            await charges.closed(namespace)
            said.append(namespace)

        with charges.keep("a"):
            with charges.keep("a"):
                waiting = asyncio.gather(wait("a"), wait("b"))
                await asyncio.sleep(0)
                assert said == ["b"]
            await asyncio.sleep(0)
            assert said == ["b"]
        await waiting
        return said

    assert asyncio.run(run()) == ["b", "a"]


def test_a_failure_closes_them() -> None:
    charges = OpenCharges()
    with pytest.raises(KeyError), charges.keep("a"):
        raise KeyError
    assert asyncio.run(asyncio.wait_for(charges.closed("a"), 60))


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota_charging, "PATIENCE", 0.001)
    charges = OpenCharges()
    with charges.keep("a"):
        assert not asyncio.run(asyncio.wait_for(charges.closed("a"), 60))


def test_who_waits_is_not_told_too_early() -> None:
    """Another charge is opened after the last one has closed, before who waits has its turn."""

    async def run() -> list[str]:
        charges, said = OpenCharges(), []

        async def wait() -> None:
            assert await charges.closed("a")
            said.append("closed")

        with charges.keep("a"):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
        with charges.keep("a"):
            for _ in range(5):
                await asyncio.sleep(0)
            said.append("open")
        await waiting
        return said

    assert asyncio.run(run()) == ["open", "closed"]
