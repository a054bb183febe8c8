"""What each layer of the server makes of requests."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.handlers.request_context import Notes
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.object_store import Undecodable
from celadon.apiserver.operation.request_limits import RequestLimits
from celadon.apiserver.workers import TooMuchWork
from celadon.kube import status
from celadon.storage import FileError, ServiceError, StoreClosed
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(
    ("token", "code", "message"),
    [
        ("nonsense", 401, "Unauthorized"),
        (
            "alice-token",
            403,
            'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group '
            '"" in the namespace "default"',
        ),
        (
            "",
            403,
            'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" '
            'in API group "" in the namespace "default"',
        ),
    ],
)
def test_who_may_not(running: Running, token: str, code: int, message: str) -> None:
    answer = ask(running, "GET", MAPS, token=token)
    assert (answer.code, read(answer)["message"]) == (code, message)


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        (f"{MAPS}/..", 400, "Name parameter invalid: \"..\": may not be '..'"),
        (f"{MAPS}/a%25b", 400, "Name parameter invalid: \"a%b\": may not contain '%'"),
        (f"{MAPS}/a%2Fb", 404, "the server could not find the requested resource"),
        ("/api/v1/namespaces//configmaps/x", 400, "Namespace parameter required."),
        ("/api/v1//configmaps", 404, "the server could not find the requested resource"),
        (
            f"{MAPS}/x?export=1",
            400,
            "the export parameter, deprecated since v1.14, is no longer supported",
        ),
        (f"{MAPS}/x?export=False", 404, 'configmaps "x" not found'),
    ],
)
def test_odd_paths(running: Running, path: str, code: int, text: str) -> None:
    answer = ask(running, "GET", path)
    assert (answer.code, read(answer)["message"]) == (code, text)


UNNAMED = "/api/v1/namespaces/"
"""No namespace is between its end and the slash behind it."""


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/configmaps", 200),
        ("GET", "/nodes", 404),
        ("POST", "/nodes", 404),
        ("POST", "/configmaps", 422),
        ("POST", "/configmaps/x", 405),
        ("PUT", "/configmaps", 405),
        ("PUT", "/configmaps/x", 400),
        ("HEAD", "/configmaps/x", 405),
        ("OPTIONS", "/pods/x", 405),
        ("PUT", "/pods/x/log", 405),
        ("GET", "/pods/x/log", 400),
        ("PUT", "/pods/x/proxy", 400),
        ("DELETE", "/configmaps/x", 400),
        ("DELETE", "/secrets", 200),
        ("DELETE", "/configmaps", 400),
    ],
)
def test_a_path_with_an_empty_namespace(
    running: Running, method: str, path: str, code: int
) -> None:
    ask(running, "POST", MAPS, {"metadata": {"name": "some"}})
    body = {"metadata": {"name": "x"}} if method in ("POST", "PUT") else None
    assert ask(running, method, UNNAMED + path, body).code == code


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/configmaps"), ("PUT", "/configmaps/x"), ("PATCH", "/pods/x")]
)
def test_a_wrong_type_is_said_before_that_no_namespace_is_named(
    running: Running, method: str, path: str
) -> None:
    assert ask(running, method, UNNAMED + path, {}, content_type="text/plain").code == 415


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_collection_cannot_be_changed(running: Running, method: str) -> None:
    answer = ask(running, method, MAPS, {}, content_type="application/merge-patch+json")
    assert answer.code == 405


def test_a_large_answer_is_compressed(running: Running) -> None:
    obj = {"metadata": {"name": "large"}, "data": {"k": "x" * 200_000}}
    answer = ask(running, "POST", MAPS, obj, accept_encoding="gzip")
    assert ("Content-Encoding", "gzip") in answer.headers
    assert json.loads(gzip.decompress(answer.body))["data"] == obj["data"]


def test_who_takes_too_long_is_told_so_and_audited() -> None:
    running = Running(Settings(limits=RequestLimits(seconds=0.05)))
    try:
        running.server.controllers.caught_up = lambda **_: asyncio.sleep(600)
        answer = ask(running, "GET", MAPS)
        quick = ask(running, "GET", f"{MAPS}?timeout=1ms")
    finally:
        running.close()
    assert answer.code == quick.code == 504
    assert (
        read(answer)["message"] == "Timeout: request did not complete within the allotted timeout"
    )
    assert answer.user is not None
    assert "Audit-Id" in dict(answer.headers)


def test_who_comes_when_the_house_is_full_comes_back_later() -> None:
    running = Running(Settings(limits=RequestLimits(reading=1, fairness=False)))
    try:
        running.server.core.in_flight.counts["readOnly"] = 1
        answer = ask(running, "GET", "/version", token="alice-token")
        assert ask(running, "GET", "/version").code == 200, "an administrator gets in"
    finally:
        running.close()
    assert answer.code == 429
    assert answer.body == b"Too many requests, please try again later.\n"
    assert dict(answer.headers)["Retry-After"] == "1"


class Apart:
    """Counts how often somebody waits for what others have written."""

    def __init__(self, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits = 0
        monkeypatch.setattr(running.server.objects, "synced", self._synced)

    async def _synced(self) -> None:
        self.waits += 1


@pytest.mark.parametrize(
    ("method", "path", "waits"),
    [
        ("GET", MAPS, 1),
        ("GET", f"{MAPS}/one", 1),
        ("GET", f"{MAPS}?resourceVersion=", 1),
        ("GET", f"{MAPS}?resourceVersion=0", 0),
        ("GET", f"{MAPS}?resourceVersion=1", 0),
        ("DELETE", f"{MAPS}/one?resourceVersion=1", 1),
        ("GET", "/readyz", 0),
        ("GET", "/version", 0),
    ],
)
def test_who_must_see_what_others_have_written(
    running: Running, monkeypatch: pytest.MonkeyPatch, method: str, path: str, waits: int
) -> None:
    apart = Apart(running, monkeypatch)
    ask(running, method, path)
    assert apart.waits == waits


FULL = FileError("data", "it is full")


@pytest.mark.parametrize(
    ("error", "code", "message", "logged"),
    [
        (status.bad_request("no"), 400, "no", []),
        (FULL, 500, "it is full", ["the data cannot be written"]),
        (ServiceError("gone"), 500, "gone", ["the data cannot be reached"]),
        (Undecodable("/a", "no JSON"), 500, "no JSON", ["an object cannot be decoded"]),
        (RecursionError(), 400, "exceeded max depth", ["an object is nested too deeply"]),
        (StoreClosed("x"), 503, "the server is shutting down", []),
    ],
)
def test_what_a_failure_is_for_the_client_and_for_the_operator(
    error: Exception, code: int, message: str, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(*_: object) -> None:
        raise error

    running = Running()
    try:
        running.server._layers._routed = failing
        caplog.clear()
        answer = ask(running, "GET", MAPS)
    finally:
        running.close()
    assert (answer.code, read(answer)["code"]) == (code, code)
    assert message in read(answer)["message"]
    assert caplog.messages == logged


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TimeoutError(), 504),
        (TooMuchWork(), 429),
        (status.bad_request("no"), 400),
        (FULL, None),
        (ServiceError("gone"), None),
        (StoreClosed("x"), None),
    ],
)
def test_what_becomes_of_a_request_whose_fork_fails(error: Exception, code: int | None) -> None:
    """None where it is done without one."""

    async def failing(*_: object) -> None:
        raise error

    running = Running()
    try:
        layers = running.server._layers
        layers._forked = failing
        request = HttpRequest("GET", MAPS, [], b"")
        answer = running.wait_for(layers._forked_whole(request, Notes()))
    finally:
        running.close()
    assert (None if answer is None else answer.code) == code
