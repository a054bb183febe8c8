"""Requests that an extension server answers. What kube-apiserver 1.36 does was seen beside it, with
the same extension server."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import time
from collections.abc import Callable

import pytest

from celadon.apiserver import HttpAnswer, HttpRequest
from celadon.apiserver.aggregation.front_proxy import asking_headers, encoded_path, encoded_query
from celadon.apiserver.http_messages import BrokenStream
from celadon.apiserver.operation.request_limits import RequestLimits
from celadon.kube import User
from tests.apiserver.aggregation.before import API_SERVICES, OWN, SERVICES, before
from tests.apiserver.aggregation.extension_server import (
    NODE_METRICS,
    ROOT,
    Certificates,
    ExtensionServer,
    api_service,
    service,
)
from tests.apiserver.served_process import Served, request_headers

NODES = f"{ROOT}/nodes"


def test_who_asks_is_said_in_headers() -> None:
    user = User("Zoë", ("a", "b"), "1", {"example.com/A b%": ("x", "y"), "scopes": ("z",)})
    assert list(asking_headers(user)) == [
        ("X-Remote-User", "Zoë"),
        ("X-Remote-Uid", "1"),
        ("X-Remote-Group", "a"),
        ("X-Remote-Group", "b"),
        ("X-Remote-Extra-Example.com%2fa%20b%25", "x"),
        ("X-Remote-Extra-Example.com%2fa%20b%25", "y"),
        ("X-Remote-Extra-Scopes", "z"),
    ]
    assert list(asking_headers(User("u"))) == [("X-Remote-User", "u")]


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/apis/g/v1/a", "/apis/g/v1/a"),
        ("/apis/g/v1/a%2Fb%20c:d", "/apis/g/v1/a/b%20c:d"),
        ("/apis/g/v1/a(b)!?b=1&a=2&a=1", "/apis/g/v1/a%28b%29%21?a=2&a=1&b=1"),
        ("/apis/g/v1/a?x=a%20b&watch", "/apis/g/v1/a?watch=&x=a+b"),
    ],
)
def test_paths_and_queries_are_written_anew(target: str, sent: str) -> None:
    request = HttpRequest("GET", target)
    unquoted = {"/apis/g/v1/a%2Fb%20c:d": "/apis/g/v1/a/b c:d"}.get(request.path, request.path)
    assert encoded_path(unquoted) + encoded_query(request) == sent


async def _asked(certificates: Certificates, extension: ExtensionServer) -> None:
    headers = [
        ("x-remote-user", "evil"),
        ("x-remote-extra-foo", "1"),
        ("x-forwarded-for", "203.0.113.9"),
        ("x-custom", "y"),
        ("connection", "x-dropped"),
        ("x-dropped", "1"),
        ("audit-id", "mine"),
    ]
    async with before(certificates) as front:
        await front.register(extension, certificates)
        answer = await front.ask("POST", f"{NODES}?dryRun=All&a=x%20y", {"a": 1}, *headers)
    assert (answer.code, answer.is_passed_on) == (200, True)
    ((method, target, found, body, shown),) = extension.asked(NODES)
    host = f"localhost:{extension.port}"
    assert (method, target, body) == ("POST", f"{NODES}?a=x+y&dryRun=All", b'{"a": 1}')
    assert shown == "front-proxy-client"
    assert found == {
        "host": [host],
        "content-type": ["application/json"],
        "content-length": ["8"],
        "x-custom": ["y"],
        "x-forwarded-for": ["203.0.113.9, 192.0.2.1"],
        "x-forwarded-uri": [NODES],
        "x-forwarded-host": [host],
        "x-forwarded-proto": ["https"],
        "audit-id": ["mine"],
        "x-remote-user": ["admin"],
        "x-remote-uid": ["uid-1"],
        "x-remote-group": ["system:masters", "system:authenticated"],
        "x-remote-extra-example.com%2fa%20b": ["x", "y"],
    }


def test_what_is_sent(certificates: Certificates, extension: ExtensionServer) -> None:
    asyncio.run(_asked(certificates, extension))


def _answered(
    certificates: Certificates, extension: ExtensionServer, path: str, *headers: tuple[str, str]
) -> HttpAnswer:
    async def asked() -> HttpAnswer:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            return await front.ask("GET", path, None, *headers)

    return asyncio.run(asked())


def test_what_is_answered(certificates: Certificates, extension: ExtensionServer) -> None:
    more = {
        "Cache-Control": "max-age=3",
        "Audit-Id": "theirs",
        "Access-Control-Allow-Origin": "*",
        "Keep-Alive": "timeout=1",
        "X-Own": "1",
        "Content-Type": "text/weird",
    }
    extension.answers[f"{ROOT}/strange"] = 418, more, b"short and stout"
    answer = _answered(certificates, extension, f"{ROOT}/strange")
    assert (answer.code, answer.content_type, answer.body) == (
        418,
        "text/weird",
        b"short and stout",
    )
    names = [name for name, _ in answer.headers]
    assert [one for one in names if not one.startswith("X-Kubernetes-Pf-")] == [
        *("Audit-Id", "Cache-Control", "Server", "Cache-Control", "Audit-Id", "X-Own"),
    ]


def test_a_redirect_is_not_passed_on(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    extension.answers[NODES] = 302, {"Location": "/foo"}, b""
    answer = _answered(certificates, extension, NODES)
    text = b"the backend attempted to redirect this request, which is not permitted"
    assert (answer.code, answer.content_type, answer.body) == (
        502,
        "text/plain; charset=utf-8",
        text,
    )


@pytest.mark.parametrize("code", [204, 304])
def test_what_has_no_body_does_not_begin_one(
    code: int, certificates: Certificates, extension: ExtensionServer
) -> None:
    extension.answers[NODES] = code, {}, b""
    answer = _answered(certificates, extension, NODES)
    assert (answer.code, answer.body, answer.stream) == (code, b"", None)


UPGRADE = (("connection", "Upgrade"), ("upgrade", "echo"))


def test_what_is_no_upgrade_is_passed_on(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    exec_path = f"{NODES}/one/exec"
    extension.answers[exec_path] = 403, {"Content-Type": "text/weird"}, b"not you"
    answer = _answered(certificates, extension, exec_path, *UPGRADE)
    assert (answer.code, answer.content_type, answer.body) == (403, "text/weird", b"not you")
    assert answer.tunnel is None


def test_what_is_no_upgrade_may_have_no_type(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    extension.answers[f"{NODES}/one/exec"] = 403, {}, b""
    answer = _answered(certificates, extension, f"{NODES}/one/exec", *UPGRADE)
    assert (answer.code, answer.content_type, answer.body) == (403, "", b"")


def test_an_upgrade_needs_an_answer_that_is_one(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    exec_path = f"{NODES}/one/exec"
    extension.answers[exec_path] = 200, {}, b""
    answer = _answered(certificates, extension, exec_path, *UPGRADE)
    text = b"invalid upgrade response: status code 200\n"
    assert (answer.code, answer.body) == (503, text)


def test_what_is_sent_to_ask_for_another_protocol(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    token = "base64url.bearer.authorization.k8s.io.c2VjcmV0"
    headers = (
        *UPGRADE,
        ("sec-websocket-protocol", f"{token}, v5.channel.k8s.io"),
        ("x-remote-user", "evil"),
        ("x-forwarded-for", "203.0.113.9"),
    )

    async def asked() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            answer = await front.ask("GET", f"{NODES}/one/exec?b=1&a=x", None, *headers)
            assert answer.stream is not None
            assert answer.tunnel is not None
            assert answer.tunnel.head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
            assert await anext(answer.stream) == b"hello"
            answer.tunnel.take(b"some ")
            answer.tunnel.take(b"thing, bye")
            said = b"".join([part async for part in answer.stream])
            assert said == b"SOME THING, BYE"

    asyncio.run(asked())
    ((_, target, sent, _, shown),) = extension.asked(f"{NODES}/one/exec")
    assert (target, shown) == (f"{NODES}/one/exec?a=x&b=1", "front-proxy-client")
    assert sent["connection"] == ["Upgrade"]
    assert sent["upgrade"] == ["echo"]
    assert sent["user-agent"] == ["Go-http-client/1.1"]
    assert sent["sec-websocket-protocol"] == ["v5.channel.k8s.io"]
    assert sent["x-remote-user"] == ["admin"]
    assert sent["x-forwarded-for"] == ["203.0.113.9, 192.0.2.1"]
    assert not {"x-forwarded-uri", "x-forwarded-host", "authorization"} & sent.keys()


@pytest.mark.thorough
def test_a_connection_becomes_another_one(
    served: Callable[..., Served], certificates: Certificates, extension: ExtensionServer
) -> None:
    """Both ways, with much of it, and when the client goes, so does the extension server's."""
    running = served()
    assert running.call("POST", SERVICES, service(extension.port))[0] == 201
    made = api_service(extension.port, caBundle=certificates.bundle)
    assert running.call("POST", API_SERVICES, made)[0] == 201
    end = time.monotonic() + 60
    while running.text(NODES)[0] != 200:
        assert time.monotonic() < end
        time.sleep(0.05)
    sent = "".join(
        f"{name}: {value}\r\n"
        for name, value in (*UPGRADE, *request_headers(running.token).items())
    )
    host, _, port = running.address.rpartition(":")
    plain = socket.create_connection((host, int(port)), timeout=60)
    client = running.tls.wrap_socket(plain, server_hostname=host)
    client.sendall(f"GET {NODES}/one/exec HTTP/1.1\r\nHost: a\r\n{sent}\r\nearly ".encode())
    found = b""
    while b"hello" not in found:
        found += client.recv(1 << 16)
    head, _, rest = found.partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"HTTP/1.1 101 Switching Protocols"
    assert b"X-Own: 1" in head
    wanted = b"helloEARLY "
    for number in range(20):
        client.sendall(b"x" * 200_000)
        wanted += b"X" * 200_000
        while len(rest) < len(wanted):
            rest += client.recv(1 << 16)
        assert rest == wanted, number
    client.close()
    assert extension.has_ended.wait(60)


def test_discovery_must_be_quick(
    certificates: Certificates, extension: ExtensionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celadon.apiserver.aggregation.front_proxy.DISCOVERY_SECONDS", 0.05)

    async def asked() -> HttpAnswer:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            extension.held.add(ROOT)
            return await front.ask("GET", ROOT)

    answer = asyncio.run(asked())
    text = b"error trying to reach service: context deadline exceeded\n"
    assert (answer.code, answer.body) == (503, text)


def test_who_may_not_is_not_passed_on(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def asked() -> HttpAnswer:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            return await front.ask("GET", NODES, user="alice")

    answer = asyncio.run(asked())
    assert answer.code == 403
    assert json.loads(answer.body)["message"] == (
        'nodes.metrics.k8s.io is forbidden: User "alice" cannot list resource "nodes" in API group '
        '"metrics.k8s.io" at the cluster scope'
    )
    assert extension.asked(NODES) == []


def test_a_watch_is_sent_on_as_it_comes(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def watched() -> list[bytes]:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            answer = await front.ask("GET", f"{NODES}?watch=true")
            assert answer.stream is not None
            first = await anext(answer.stream)  # the second waits for `go_on`
            assert front.server.core.in_flight.watches == 1
            extension.go_on.set()
            found = [first, *[one async for one in answer.stream]]
            assert front.server.core.in_flight.watches == 0
            return found

    found = asyncio.run(watched())
    names = [json.loads(one)["object"]["metadata"]["name"] for one in found]
    assert names == ["one", "two"]


def test_a_client_that_goes_ends_the_watch(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def watched() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            answer = await front.ask("GET", f"{NODES}?watch=true")
            assert answer.stream is not None
            await anext(answer.stream)
            await answer.stream.aclose()
            extension.go_on.set()  # it writes, and nobody is there
            await asyncio.to_thread(extension.has_ended.wait, 60)

    asyncio.run(watched())
    assert extension.has_ended.is_set()


def test_a_long_answer_that_is_cut_off_is_broken(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    extension.cut_off = 100_000

    async def read() -> int:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            answer = await front.ask("GET", f"{ROOT}/cut")
            assert answer.stream is not None
            size = 0
            try:
                async for part in answer.stream:
                    size += len(part)
            except BrokenStream:
                return size
            raise AssertionError

    assert asyncio.run(read()) == 100_000


def test_without_the_right_certificate(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def said() -> str:
        async with before() as front:
            await front.object(
                "POST", "/api/v1/namespaces/kube-system/services", service(extension.port)
            )
            made = api_service(extension.port, caBundle=certificates.bundle)
            await front.object("POST", OWN.rpartition("/")[0], made)
            return str((await front.condition("FailedDiscoveryCheck"))["message"])

    url = f"https://localhost:{extension.port}{ROOT}"
    assert asyncio.run(said()) == (
        f"failing or missing response from {url}: bad status from {url}: 401"
    )


def test_a_slow_watch_takes_nobody_s_seat(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    extension.held.add(NODES)
    limits = RequestLimits(reading=1, mutating=0)  # seats for everybody

    async def asked() -> None:
        async with before(certificates, limits=limits) as front:
            await front.register(extension, certificates)
            watches = [
                asyncio.ensure_future(front.ask("GET", f"{NODES}?watch=true")) for _ in range(9)
            ]
            while len(extension.asked(NODES)) < len(watches):
                await asyncio.sleep(0.01)
            assert (await front.ask("GET", "/api/v1/namespaces/default")).code == 200
            assert not any(one.done() for one in watches)
            extension.go_on.set()
            for answer in await asyncio.gather(*watches):
                assert answer.stream is not None
                await answer.stream.aclose()

    asyncio.run(asked())


def test_what_is_cut_off_is_seen_on_the_network(
    certificates: Certificates, extension: ExtensionServer, served: Callable[..., Served]
) -> None:
    extension.cut_off = 100_000
    running = served()
    assert running.call("POST", SERVICES, service(extension.port))[0] == 201
    made = api_service(extension.port, caBundle=certificates.bundle)
    assert running.call("POST", OWN.rpartition("/")[0], made)[0] == 201
    while running.text(f"{ROOT}/nodes")[0] != 200:
        time.sleep(0.05)
    with contextlib.closing(running.connection()) as connection:
        connection.request("GET", f"{ROOT}/cut", headers=request_headers(running.token))
        answer = connection.getresponse()
        with contextlib.closing(answer), pytest.raises(http.client.IncompleteRead):
            answer.read()


def test_many_wait_for_a_slow_server_and_others_do_not(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    extension.held.add(NODES)

    async def asked() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            waiting = [asyncio.ensure_future(front.ask("GET", NODES)) for _ in range(20)]
            await asyncio.sleep(0)
            for _ in range(20):
                assert (await front.ask("GET", "/api/v1/namespaces/default")).code == 200
            assert not any(one.done() for one in waiting)
            extension.go_on.set()
            answers = await asyncio.gather(*waiting)
        assert {json.loads(one.body)["kind"] for one in answers} == {NODE_METRICS["kind"]}

    asyncio.run(asked())
