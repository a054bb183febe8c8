"""A server under floods, for a short while each."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.floods import Floods
from tests.faults.hostile_load import HostileLoad
from tests.faults.server_under_test import Process

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def floods(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floods]:
    server = Process(tmp_path_factory.mktemp("floods") / "data.db")
    yield Floods(server, random.Random(1))
    server.end(signal.SIGTERM)


def test_connections_that_are_dropped(floods: Floods) -> None:
    floods.dropped_connections(800)


def test_noise(floods: Floods) -> None:
    floods.noise(200)


def test_requests_without_end(floods: Floods) -> None:
    floods.slow_requests(200)


def test_requests_without_measure(floods: Floods) -> None:
    floods.large_requests(10)


def test_well_behaved_clients_are_answered_beside_hostile_ones(tmp_path: Path) -> None:
    load = HostileLoad(tmp_path)
    try:
        found = load.latencies(2, hostile=20)
        load.check(found)
    finally:
        load.close()


def test_watchers_that_never_read(floods: Floods) -> None:
    floods.deaf_watchers(30, 100)
