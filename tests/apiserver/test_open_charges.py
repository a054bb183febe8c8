"""Namespaces in which something is being charged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from celadon.apiserver import quota_charging
from celadon.apiserver.controllers.controller_loops import Stale
from celadon.apiserver.controllers.policy_and_quota_status import QuotaCounts
from celadon.apiserver.quota_charging import QUOTAS, OpenCharges
from celadon.kube.resources.api_resources import known_resources
from tests.apiserver.serving import Shelf

NOW = "2026-01-01T00:00:00Z"


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


@pytest.mark.parametrize("when", ["before it is counted", "while it is counted"])
def test_what_was_counted_beside_an_open_charge_is_counted_again(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota_charging, "PATIENCE", 0.001)
    quotas = known_resources().by_gvr(QUOTAS)
    assert quotas is not None
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "a"},
        "spec": {"hard": {"count/configmaps": "9"}},
    }

    async def run() -> list[str]:
        shelf, charges, used = Shelf(), OpenCharges(), []
        coming = ["late"] if when == "while it is counted" else []

        async def aside(function: Callable[..., Any], *args: object) -> Any:
            found = function(*args)
            for name in coming:
                with charges.keep("a"):
                    await shelf.create(name)
            coming.clear()
            return found

        counts = QuotaCounts(
            shelf.objects, quotas, shelf.served.current, charges, lambda: NOW, aside
        )

        def note() -> None:
            found = shelf.objects.get(quotas, "a", "q")
            assert found is not None
            used.append(found.object["status"]["used"]["count/configmaps"])

        await shelf.objects.create(quotas, "a", "q", quota)
        with charges.keep("a" if not coming else "b"):
            with pytest.raises(Stale):
                await counts.reconcile("a/q")
            note()
            if when == "before it is counted":
                await shelf.create("late")
        await counts.reconcile("a/q")
        note()
        return used

    assert asyncio.run(run()) == ["0", "1"]
