"""One server, a namespace for each test, and the clients in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from celadon.testing import KubeApi
from tests.clients.programs import Client, program

NUMBERS = count(1)


@pytest.fixture(scope="session")
def api() -> Iterator[KubeApi]:
    """The server."""
    with KubeApi() as running:
        yield running


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kubectl and helm remember what the server can do."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def space(api: KubeApi) -> str:
    """The name of a namespace that only this test knows."""
    name = f"space-{next(NUMBERS)}"
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    api.settle()
    return name


@pytest.fixture
def kubectl(api: KubeApi, cache: Path, space: str, tmp_path: Path) -> Client:
    """kubectl, as the administrator."""
    arguments = ("--namespace", space, "--cache-dir", str(cache))
    environment = {**api.admin.environment(), "HOME": str(tmp_path)}
    return Client(program("kubectl"), environment, tmp_path, arguments)


@pytest.fixture
def helm(api: KubeApi, cache: Path, space: str, tmp_path: Path) -> Client:
    """helm, as the administrator."""
    environment = {**api.admin.environment(), "HOME": str(tmp_path), "HELM_CACHE_HOME": str(cache)}
    return Client(program("helm"), environment, tmp_path, ("--namespace", space))
