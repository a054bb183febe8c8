"""Each store, for the tests that every store must pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from celadon.storage import Store, open_memory, open_sqlite
from celadon.storage.etcd import EtcdSettings, parse_endpoints
from tests.etcd.etcd_members import cluster
from tests.etcd.etcd_thread import etcd_store


@contextmanager
def _on_etcd() -> Iterator[Store]:
    """On an etcd in which nothing has happened."""
    with cluster() as members, etcd_store(EtcdSettings(parse_endpoints(members.urls))) as store:
        yield store


OPENERS: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {
    "memory": lambda folder: open_memory(),
    "sqlite": lambda folder: open_sqlite(str(folder / "store.db")),
    "etcd": lambda folder: _on_etcd(),
}


@pytest.fixture(params=OPENERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with OPENERS[request.param](tmp_path) as opened:
        yield opened
