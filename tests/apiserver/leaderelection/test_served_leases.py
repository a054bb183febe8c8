"""Leases of the server itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from celadon.apiserver.controllers.controller_loops import ServerRequests
from celadon.apiserver.http_messages import HttpAnswer
from celadon.apiserver.leaderelection import LeaseError, LeaseRefused, ServedLeases, leases_path
from tests.apiserver.in_process import Running

COLLECTION = leases_path("default")
LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "one"}}


def test_reading_and_writing(running: Running) -> None:
    leases = ServedLeases(ServerRequests(running.server.perform, "tests"))
    call = running.wait_for
    assert call(leases.get(f"{COLLECTION}/one")) is None
    made = call(leases.create(COLLECTION, LEASE))
    with pytest.raises(LeaseRefused):
        call(leases.create(COLLECTION, LEASE))
    changed: dict[str, Any] = {**made, "spec": {"holderIdentity": "a"}}
    written = call(leases.update(f"{COLLECTION}/one", changed))
    assert written["spec"]["holderIdentity"] == "a"
    with pytest.raises(LeaseRefused):
        call(leases.update(f"{COLLECTION}/one", changed))
    assert call(leases.get(f"{COLLECTION}/one")) == written


def test_a_server_that_errs_says_neither_yes_nor_no() -> None:
    async def failing(*_: object) -> HttpAnswer:
        return HttpAnswer(500, "application/json", b'{"message": "etcdserver: request timed out"}')

    leases = ServedLeases(ServerRequests(failing, "tests"))
    with pytest.raises(LeaseError, match="request timed out") as caught:
        asyncio.run(leases.get(f"{COLLECTION}/one"))
    assert not isinstance(caught.value, LeaseRefused)
