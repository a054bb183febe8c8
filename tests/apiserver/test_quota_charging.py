"""Quotas of a running server: what is refused, and what they say afterwards."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpRequest
from celadon.kube.resources import enabled_plugins
from tests.apiserver.handlers.test_write_admission import ask, message, namespace, pod
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/{}/configmaps"


def limited(running: Running, name: str, hard: dict[str, str], **spec: Any) -> str:
    """A namespace with a quota that has been counted; the path of the quota."""
    space = namespace(running, name)
    path = f"/api/v1/namespaces/{space}/resourcequotas"
    body = {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}
    assert ask(running, "POST", path, body)[0] == 201
    running.settle()
    return f"{path}/q"


def used(running: Running, path: str) -> dict[str, str]:
    running.settle()
    found: dict[str, str] = ask(running, "GET", path)[1]["status"]["used"]
    return found


def config_map(running: Running, space: str, name: str, query: str = "") -> tuple[int, str]:
    body = {"metadata": {"name": name}}
    return message(ask(running, "POST", MAPS.format(space) + query, body))


def test_from_the_first_object_to_one_too_many(running: Running) -> None:
    path = limited(running, "quota-maps", {"count/configmaps": "1"})
    assert used(running, path) == {"count/configmaps": "0"}
    assert config_map(running, "quota-maps", "dry", "?dryRun=All") == (201, "")
    assert used(running, path) == {"count/configmaps": "0"}
    assert config_map(running, "quota-maps", "one") == (201, "")
    assert used(running, path) == {"count/configmaps": "1"}
    text = (
        'configmaps "two" is forbidden: exceeded quota: q, requested: count/configmaps=1, '
        "used: count/configmaps=1, limited: count/configmaps=1"
    )
    assert config_map(running, "quota-maps", "two") == (403, text)
    assert config_map(running, "quota-maps", "two", "?dryRun=All") == (403, text)
    assert ask(running, "DELETE", MAPS.format("quota-maps") + "/one")[0] == 200
    assert used(running, path) == {"count/configmaps": "0"}
    assert config_map(running, "quota-maps", "two") == (201, "")


def test_what_exists_already_is_not_charged(running: Running) -> None:
    path = limited(running, "quota-twice", {"count/configmaps": "5"})
    assert config_map(running, "quota-twice", "one")[0] == 201
    assert config_map(running, "quota-twice", "one") == (409, 'configmaps "one" already exists')
    assert used(running, path) == {"count/configmaps": "1"}


def test_pods_until_they_have_ended(running: Running) -> None:
    path = limited(running, "quota-pods", {"pods": "1", "requests.cpu": "2", "count/pods": "9"})
    pods = "/api/v1/namespaces/quota-pods/pods"
    assert message(ask(running, "POST", pods, pod())) == (
        403,
        'pods "p" is forbidden: failed quota: q: must specify requests.cpu for: c',
    )
    needs = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1500m"}}}]
    assert ask(running, "POST", pods, pod("a", containers=needs))[0] == 201
    assert used(running, path) == {"count/pods": "1", "pods": "1", "requests.cpu": "1500m"}
    done = {"status": {"phase": "Succeeded"}}
    assert ask(running, "PATCH", f"{pods}/a/status", done)[0] == 200
    assert used(running, path) == {"count/pods": "1", "pods": "0", "requests.cpu": "0"}


def test_updates_of_services(running: Running) -> None:
    path = limited(running, "quota-services", {"services.nodeports": "1"})
    services = "/api/v1/namespaces/quota-services/services"
    body = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1, "name": "a"}]}}
    assert ask(running, "POST", services, body)[0] == 201
    patch: dict[str, Any] = {"spec": {"type": "NodePort"}}
    assert ask(running, "PATCH", f"{services}/s", patch)[0] == 200
    assert used(running, path) == {"services.nodeports": "1"}
    patch = {"spec": {"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]}}
    assert message(ask(running, "PATCH", f"{services}/s", patch)) == (
        403,
        'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, '
        "used: services.nodeports=1, limited: services.nodeports=1",
    )
    assert ask(running, "PATCH", f"{services}/s", {"spec": {"type": "ClusterIP"}})[0] == 200
    assert used(running, path) == {"services.nodeports": "0"}


def test_another_limit_is_counted_anew(running: Running) -> None:
    path = limited(running, "quota-changed", {"secrets": "1"})
    assert config_map(running, "quota-changed", "one")[0] == 201
    patch = {"spec": {"hard": {"secrets": None, "configmaps": "4"}}}
    assert ask(running, "PATCH", path, patch)[0] == 200
    assert used(running, path) == {"configmaps": "1"}


def test_many_at_once_get_no_more_than_there_is(running: Running) -> None:
    path = limited(running, "quota-race", {"count/configmaps": "5"})

    async def create(number: int) -> int:
        body = json.dumps({"metadata": {"name": f"m{number}"}}).encode()
        headers = [("authorization", "Bearer admin-token")]
        request = HttpRequest("POST", MAPS.format("quota-race"), headers, body)
        answer = await running.server.handle(request)
        code: int = answer.code
        return code

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*map(create, range(20)))

    codes = running.wait_for(all_of_them())
    assert sorted(codes) == [201] * 5 + [403] * 15
    assert used(running, path) == {"count/configmaps": "5"}


def test_what_came_to_nothing_is_given_back(running: Running) -> None:
    """All find that there is no such object, and charge for it; one of them makes it."""
    path = limited(running, "quota-same", {"count/configmaps": "50"})

    async def create() -> int:
        body = json.dumps({"metadata": {"name": "same"}}).encode()
        headers = [("authorization", "Bearer admin-token")]
        request = HttpRequest("POST", MAPS.format("quota-same"), headers, body)
        answer = await running.server.handle(request)
        code: int = answer.code
        return code

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(create() for _ in range(10)))

    codes = running.wait_for(all_of_them())
    assert sorted(codes) == [201] + [409] * 9
    assert used(running, path) == {"count/configmaps": "1"}


@pytest.fixture
def without() -> Any:
    started = Running(Settings(plugins=enabled_plugins((), ["ResourceQuota"])))
    yield started
    started.close()


def test_nothing_is_charged_without_the_plugin(without: Running) -> None:
    limited(without, "quota-off", {"count/configmaps": "0"})
    assert config_map(without, "quota-off", "one") == (201, "")
