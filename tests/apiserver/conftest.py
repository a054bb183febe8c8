"""A running server for tests that only look, or work in a namespace of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apiserver.in_process import Running


@pytest.fixture(scope="session")
def running() -> Iterator[Running]:
    server = Running()
    yield server
    server.close()
