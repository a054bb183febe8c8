"""An extension server and a server before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.apiserver.aggregation.extension_server import (
    Certificates,
    ExtensionServer,
    extension_server,
)
from tests.apiserver.served_process import Served


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def extension(certificates: Certificates) -> Iterator[ExtensionServer]:
    with extension_server(certificates) as server:
        yield server


@pytest.fixture
def served(certificates: Certificates, tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts `celadon serve` before extension servers."""
    certificate, key = certificates.pair("front-proxy-client")
    running: list[Served] = []

    def start(*arguments: str) -> Served:
        made = Served(
            tmp_path,
            *("--proxy-client-cert-file", str(certificate), "--proxy-client-key-file", str(key)),
            *("--requestheader-client-ca-file", str(certificates.authority)),
            *("--requestheader-allowed-names", "front-proxy-client"),
            *("--requestheader-username-headers", "X-Remote-User"),
            *("--requestheader-group-headers", "X-Remote-Group"),
            *("--requestheader-extra-headers-prefix", "X-Remote-Extra-"),
            *arguments,
        )
        running.append(made)
        return made

    yield start
    for one in running:
        one.end()
