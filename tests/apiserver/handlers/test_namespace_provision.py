"""NamespaceAutoProvision, in a running server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.kube.resources import enabled_plugins
from tests.apiserver.handlers.test_write_admission import ask, message
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/{}/configmaps"
BODY = {"metadata": {"name": "c"}}


@pytest.fixture(scope="module")
def providing() -> Iterator[Running]:
    started = Running(Settings(plugins=enabled_plugins(["NamespaceAutoProvision"])))
    yield started
    started.close()


def test_a_namespace_comes_with_its_first_object(providing: Running) -> None:
    assert ask(providing, "POST", MAPS.format("new"), BODY)[0] == 201
    code, made = ask(providing, "GET", "/api/v1/namespaces/new")
    assert (code, made["status"]["phase"]) == (200, "Active")


def test_not_for_a_trial(providing: Running) -> None:
    found = ask(providing, "POST", MAPS.format("trial") + "?dryRun=All", BODY)
    assert message(found) == (404, 'namespaces "trial" not found')
    assert ask(providing, "GET", "/api/v1/namespaces/trial")[0] == 404


def test_a_namespace_that_cannot_be(providing: Running) -> None:
    code, text = message(ask(providing, "POST", MAPS.format("Not-a-Name"), BODY))
    assert code == 403
    assert text.startswith(
        'configmaps "c" is forbidden: Namespace "Not-a-Name" is invalid: metadata.name: '
    )


def test_off_unless_enabled(running: Running) -> None:
    found = ask(running, "POST", MAPS.format("nowhere"), BODY)
    assert message(found) == (404, 'namespaces "nowhere" not found')
