"""What pods trust, in each namespace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.controllers.controller_loops import ON_BY_DEFAULT, ROOT_CERTIFICATES
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running

PATH = "/api/v1/namespaces/{}/configmaps/kube-root-ca.crt"
PEM = "-----BEGIN CERTIFICATE-----"


@pytest.fixture
def running() -> Iterator[Running]:
    names = ON_BY_DEFAULT | {ROOT_CERTIFICATES}
    server = Running(Settings(controller_names=names, root_certificates=PEM))
    yield server
    server.close()


def test_old_and_new_namespaces_have_it(running: Running) -> None:
    ask(running, "POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    running.settle()
    for namespace in ("default", "n"):
        found = read(ask(running, "GET", PATH.format(namespace)))
        assert found["data"] == {"ca.crt": PEM}
        (text,) = found["metadata"]["annotations"].values()
        assert text.startswith("Contains a CA bundle")


def test_it_comes_back_as_it_was(running: Running) -> None:
    running.settle()
    path = PATH.format("default")
    found = read(ask(running, "GET", path))
    ask(running, "PUT", path, {**found, "data": {"ca.crt": "mine"}})
    running.settle()
    assert read(ask(running, "GET", path))["data"] == {"ca.crt": PEM}
    ask(running, "DELETE", path)
    running.settle()
    assert read(ask(running, "GET", path))["data"] == {"ca.crt": PEM}


def test_nobody_publishes_it_unasked() -> None:
    server = Running()
    try:
        server.settle()
        assert ask(server, "GET", PATH.format("default")).code == 404
    finally:
        server.close()
