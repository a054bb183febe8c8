"""Each store, for the tests that every store must pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from celadon.store import open_memory, open_sqlite
from celadon.store.local_store import LocalStore

OPENERS: dict[str, Callable[[Path], LocalStore]] = {
    "memory": lambda folder: open_memory(),
    "sqlite": lambda folder: open_sqlite(str(folder / "store.db")),
}


@pytest.fixture(params=OPENERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LocalStore]:
    """An empty store."""
    with OPENERS[request.param](tmp_path) as opened:
        yield opened
