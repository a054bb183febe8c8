"""Calls of webhooks over the loopback interface, and how their failures are told."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import threading
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from celadon.admission import ObjectWorld
from celadon.admission.webhooks import Call, NoReply, Reply
from celadon.apiserver import webhook_client
from celadon.apiserver.http_messages import FREE_BYTES, AnswerRoom, HeldBytes
from celadon.apiserver.webhook_client import MAX_ANSWER_BYTES, MAX_PIECES, WebhookClient
from celadon.apiserver.webhook_routes import CallerOnDemand, ServiceRoutes
from tests.admission.webhooks.hooking import hooks, webhook
from tests.apiserver.webhook_routes.loopback import (
    CA_BUNDLE,
    DAY,
    NOW,
    Server,
    authority,
    bundle,
    certificate,
    http,
    server_context,
    serving,
)
from tests.servers import stop_listening

# The server side of a handshake that failed is left open by asyncio on Python 3.11.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    return server_context(certificate("127.0.0.1"), tmp_path_factory.mktemp("tls"))


def call_of(port: int, path: str = "/hook", ca_bundle: str = CA_BUNDLE, timeout: int = 10) -> Call:
    config = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": ca_bundle}
    hook = hooks(webhook(clientConfig=config, timeoutSeconds=timeout)).hooks[0]
    return Call(hook, "admission.k8s.io/v1", "u", {"kind": "AdmissionReview"})


def called(
    answers: Callable[[int], bytes | None],
    context: ssl.SSLContext | None,
    *,
    times: int = 1,
    ca_bundle: str = CA_BUNDLE,
    timeout: int = 10,
) -> tuple[list[Reply | NoReply], Server]:
    async def run() -> tuple[list[Reply | NoReply], Server]:
        client = WebhookClient(lambda host, port: (host, port))
        async with serving(answers, context) as server:
            call = call_of(server.port, ca_bundle=ca_bundle, timeout=timeout)
            replies = [await client.call(call, 30.0) for _ in range(times)]
            await client.aclose()
        return replies, server

    return asyncio.run(run())


def failure(
    answers: Callable[[int], bytes | None], context: ssl.SSLContext | None, **more: str
) -> str:
    [reply], server = called(answers, context, **more)  # type: ignore[arg-type]
    assert isinstance(reply, NoReply)
    prefix = f'Post "https://127.0.0.1:{server.port}/hook?timeout=10s": '
    assert reply.text.startswith(prefix), reply.text
    return reply.text.removeprefix(prefix)


def test_what_is_sent_and_what_comes_back(good: ssl.SSLContext) -> None:
    [reply], server = called(lambda _: http(b"{}", 200, "Content-Type: a/b"), good)
    assert reply == Reply(200, b"{}", "a/b")
    [head] = server.requests
    assert head.split("\r\n")[:-2] == [
        "POST /hook?timeout=10s HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Accept-Encoding: gzip",
        "Accept: application/json, */*",
        "Content-Type: application/json",
        "User-Agent: kube-apiserver-admission",
        "Content-Length: 27",
    ]


def test_connections_are_kept(good: ssl.SSLContext) -> None:
    replies, server = called(lambda _: http(b"{}"), good, times=3)
    assert replies == [Reply(200, b"{}")] * 3
    assert server.connections == 1


def test_a_connection_that_was_closed_meanwhile_is_no_failure(good: ssl.SSLContext) -> None:
    replies, server = called(lambda n: None if n == 2 else http(b"{}"), good, times=2)
    assert replies == [Reply(200, b"{}")] * 2
    assert server.connections == 2


def test_compressed_answers(good: ssl.SSLContext) -> None:
    body = gzip.compress(b'{"a":1}')
    [reply], _ = called(lambda _: http(body, 200, "Content-Encoding: gzip"), good)
    assert reply == Reply(200, b'{"a":1}')


def test_nobody_listens() -> None:
    async def run() -> tuple[Reply | NoReply, int]:
        async with serving(lambda _: None, None) as server:
            port = server.port
        client = WebhookClient(lambda host, port: (host, port))
        return await client.call(call_of(port), 30.0), port

    reply, port = asyncio.run(run())
    assert reply == NoReply(
        f'Post "https://127.0.0.1:{port}/hook?timeout=10s": dial tcp 127.0.0.1:{port}: connect: '
        "connection refused"
    )


def test_what_calls_is_made_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first call, whose imports would hold the loop for 40 ms; the same for all."""
    threads: list[threading.Thread] = []
    make = CallerOnDemand._client

    def noted(caller: CallerOnDemand, kubeconfig: str) -> WebhookClient:
        threads.append(threading.current_thread())
        return make(caller, kubeconfig)

    async def run() -> None:
        caller = CallerOnDemand(ServiceRoutes(ObjectWorld()))
        for _ in range(2):
            assert isinstance(await caller.call(call_of(1), 30.0), NoReply)
        await caller.aclose()

    monkeypatch.setattr(CallerOnDemand, "_client", noted)
    asyncio.run(run())
    assert len(threads) == 1
    assert threading.main_thread() not in threads


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("127.0.0.1:99999", "dial tcp: address 99999: invalid port"),
        ("é.invalid", "dial tcp: lookup xn--9ca.invalid: no such host"),
        (f"{'é' * 64}.invalid", f"dial tcp: lookup {'é' * 64}.invalid: no such host"),
        ("a\u2100b.invalid", "dial tcp: lookup a\u2100b.invalid: no such host"),
    ],
)
def test_addresses_that_no_server_has(host: str, reason: str) -> None:
    assert no_reply(host).text.partition('": ')[2] == reason


@pytest.mark.parametrize(
    ("host", "reason"),
    [  # as kube-apiserver 1.36 says it
        (
            "[::1%25lo]:6443",
            'parse "https://https://[::1%lo]:6443": invalid URL escape "%lo"',
        ),
        (
            "[::1%25a%25b]:6443",
            'parse "https://https://[::1%a%b]:6443": invalid URL escape "%a%"',
        ),
        (
            "[fe80::1%25aaa]:6443",
            'host must be a URL or a host:port pair: "https://[fe80::1%aaa]:6443"',
        ),
    ],
)
def test_addresses_with_zones_are_not_called(host: str, reason: str) -> None:
    reply = no_reply(host)
    assert reply.text == reason
    assert reply.stage == "could not get REST client"


def no_reply(host: str) -> NoReply:
    async def call() -> Reply | NoReply:
        client = WebhookClient(lambda host, port: (host, port))
        config = {"url": f"https://{host}/", "caBundle": CA_BUNDLE}
        hook = hooks(webhook(clientConfig=config)).hooks[0]
        return await client.call(Call(hook, "admission.k8s.io/v1", "u", {}), 30.0)

    reply = asyncio.run(call())
    assert isinstance(reply, NoReply)
    return reply


def test_broken_answers(good: ssl.SSLContext) -> None:
    transport = "net/http: HTTP/1.x transport connection broken: "
    assert failure(lambda _: None, good) == "EOF"
    assert failure(lambda _: b"what\r\n", good) == (f'{transport}malformed HTTP response "what"')


def test_redirects_to_nowhere(good: ssl.SSLContext) -> None:
    assert failure(lambda _: http(b"", 302, "Location: ::bad"), good) == (
        'failed to parse Location header "::bad": parse "::bad": missing protocol scheme'
    )


REDIRECTS = [
    ("file:///etc/passwd", 'Post "file:///etc/passwd": unsupported protocol scheme "file"'),
    ("javascript:1", 'Post "javascript:1": unsupported protocol scheme "javascript"'),
    ("https:///x", 'Post "https:///x": http: no Host in request URL'),
    (
        "https://127.0.0.1:99999/",
        'Post "https://127.0.0.1:99999/": dial tcp: address 99999: invalid port',
    ),
    (
        f"https://{'a' * 64}/",
        f'Post "https://{"a" * 64}/": dial tcp: lookup {"a" * 64}: no such host',
    ),
    (
        "http://user:secret@127.0.0.1:1/",
        'Post "http://user:***@127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused',
    ),
]


@pytest.mark.parametrize(("location", "text"), REDIRECTS)
def test_redirects_that_lead_nowhere(good: ssl.SSLContext, location: str, text: str) -> None:
    [reply], _ = called(lambda _: http(b"", 307, f"Location: {location}"), good)
    assert reply == NoReply(text)


def test_a_redirect_that_has_to_be_escaped(good: ssl.SSLContext) -> None:
    elsewhere = http(b"", 307, "Location: /\u00e9 x?\u00e9")
    _, server = called(lambda n: http(b"{}") if n == 2 else elsewhere, good)
    assert server.requests[1].startswith("POST /%C3%A9%20x?%C3%A9 HTTP/1.1")


def chunked(*pieces: bytes) -> bytes:
    framed = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%b0\r\n\r\n" % framed


BOMB = gzip.compress(b"0" * (MAX_ANSWER_BYTES + 1))
GZIP = "Content-Encoding: gzip"
BAD_BODIES = [
    (http(b"x" * (MAX_ANSWER_BYTES + 1)), "more than 16777216 bytes"),
    (http(BOMB, 200, GZIP), "more than 16777216 bytes"),
    (chunked(*[b"x"] * (MAX_PIECES + 1)), "more than 20000 pieces"),
    (http(gzip.compress(b"{}")[:-6], 200, GZIP), "unexpected EOF"),
    (http(b"\x1f\x8bwhat", 200, GZIP), "gzip: invalid header"),
    (http(gzip.compress(b"{}")[:-8] + b"12345678", 200, GZIP), "gzip: invalid checksum"),
    (http(gzip.compress(b"{}") + b"what", 200, GZIP), "gzip: invalid header"),
]


@pytest.mark.parametrize(("answer", "why"), BAD_BODIES, ids=[why for _, why in BAD_BODIES])
def test_bodies_that_nobody_reads(good: ssl.SSLContext, answer: bytes, why: str) -> None:
    [reply], _ = called(lambda _: answer, good)
    assert isinstance(reply, NoReply)
    assert reply.text.endswith(f" Original error: {why}")


def test_a_body_of_several_gzip_members(good: ssl.SSLContext) -> None:
    body = gzip.compress(b"{") + gzip.compress(b"}")
    [reply], _ = called(lambda _: http(body, 200, GZIP), good)
    assert reply == Reply(200, b"{}")


def test_a_head_without_end(good: ssl.SSLContext) -> None:
    assert failure(lambda _: http(b"", 200, f"X: {'y' * 200_000}"), good) == (
        "net/http: server response headers exceeded 102400 bytes; aborted"
    )


def test_the_body_of_a_redirect_is_not_read(good: ssl.SSLContext) -> None:
    large = http(b"x" * (MAX_ANSWER_BYTES + 1), 307, "Location: /there")
    [reply], server = called(lambda n: http(b"{}") if n == 2 else large, good)
    assert reply == Reply(200, b"{}")
    assert server.connections == 2


def test_answers_share_a_room(good: ssl.SSLContext) -> None:
    """What is more than an answer has for itself is taken from a room, and given back."""
    large = http(b"x" * (2 * FREE_BYTES))

    async def run() -> list[Reply | NoReply]:
        client = WebhookClient(lambda host, port: (host, port))
        room = AnswerRoom(FREE_BYTES + FREE_BYTES // 2)
        held = [HeldBytes(room), HeldBytes(room)]
        async with serving(lambda _: large, good) as server:
            call = call_of(server.port)
            replies = [await client.call(call, 30.0, held[0])]
            replies.append(await client.call(call, 30.0, held[1]))
            held[0].give_back()
            replies.append(await client.call(call, 30.0, held[1]))
            await client.aclose()
        return replies

    first, second, third = asyncio.run(run())
    assert isinstance(first, Reply)
    assert isinstance(second, NoReply)
    assert second.text.endswith("more than 134217728 bytes of answers at a time")
    assert isinstance(third, Reply)


def test_a_chunk_without_a_length(good: ssl.SSLContext) -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    [reply], _ = called(lambda _: answer, good)
    assert isinstance(reply, NoReply)
    assert reply.text.endswith(" Original error: invalid byte in chunk length")


def test_a_body_that_ends_too_early(good: ssl.SSLContext) -> None:
    answer = b"HTTP/1.1 200 Fine\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{}"
    [reply], _ = called(lambda _: answer, good)
    assert reply == NoReply(
        "unexpected error when reading response body. Please retry. Original error: unexpected EOF"
    )


def test_no_encryption() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run() -> Reply | NoReply:
        running = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = running.sockets[0].getsockname()[1]
        client = WebhookClient(lambda host, port: (host, port))
        reply = await client.call(call_of(port), 30.0)
        await stop_listening(running)
        return reply

    reply = asyncio.run(run())
    assert isinstance(reply, NoReply)
    assert reply.text.endswith('10s": http: server gave HTTP response to HTTPS client')


def test_certificates(tmp_path: Path) -> None:
    said = "tls: failed to verify certificate: x509: "

    def told(context: ssl.SSLContext, ca_bundle: str = CA_BUNDLE) -> str:
        return failure(lambda _: http(b"{}"), context, ca_bundle=ca_bundle)

    elsewhere = server_context(certificate("elsewhere.example.com"), tmp_path)
    assert told(elsewhere) == (
        f"{said}cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"
    )
    old = server_context(certificate("127.0.0.1", end=NOW - DAY), tmp_path)
    assert told(old).startswith(f"{said}certificate has expired or is not yet valid: current time ")
    legacy = server_context(certificate(common_name="127.0.0.1"), tmp_path)
    assert told(legacy) == (
        f"{said}certificate relies on legacy Common Name field, use SANs instead"
    )


def test_whatever_is_in_a_bundle_is_trusted(tmp_path: Path) -> None:
    """The certificate of the server itself, which is no authority, and one between it and a root
    that nobody has."""
    leaf = certificate("127.0.0.1")
    shown = server_context(leaf, tmp_path)
    root = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "root")])
    between = authority(issuer=root, signer=ec.generate_private_key(ec.SECP256R1()))
    for trusted in (leaf, between):
        [reply], _ = called(lambda _: http(b"{}"), shown, ca_bundle=bundle(trusted))
        assert reply == Reply(200, b"{}", None)


LEGACY = "certificate relies on legacy Common Name field, use SANs instead"
WRONG_USAGE = "certificate specifies an incompatible key usage"
NO_ADDRESSES = "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"
UNTRUSTED = "certificate signed by unknown authority"
UNTRUSTED_BECAUSE = f"{UNTRUSTED} (possibly because of "
CANDIDATE = 'while trying to verify candidate authority certificate "authority")'
CLIENTS = ExtendedKeyUsageOID.CLIENT_AUTH
OTHER_KEY = ec.generate_private_key(ec.SECP256R1())

UNFIT = [
    (certificate(common_name="127.0.0.1"), authority(), LEGACY),
    (certificate(common_name="127.0.0.1", has_names=True), authority(), NO_ADDRESSES),
    (certificate(common_name="elsewhere"), authority(), NO_ADDRESSES),
    (
        certificate("127.0.0.2", "127.0.0.3"),
        authority(),
        "certificate is valid for 127.0.0.2, 127.0.0.3, not 127.0.0.1",
    ),
    (certificate("127.0.0.1", usage=CLIENTS), authority(), WRONG_USAGE),
    (certificate("127.0.0.1", usage=CLIENTS), None, WRONG_USAGE),
    (certificate("127.0.0.1"), certificate("127.0.0.1"), UNTRUSTED),
    (
        certificate("127.0.0.1"),
        authority(key=OTHER_KEY, signer=OTHER_KEY),
        f'{UNTRUSTED_BECAUSE}"x509: ECDSA verification failure" {CANDIDATE}',
    ),
    (
        certificate("127.0.0.1"),
        authority(end=NOW - DAY),
        f'{UNTRUSTED_BECAUSE}"x509: certificate has expired or is not yet valid: current time ',
    ),
    (
        certificate("127.0.0.1"),
        authority(is_authority=False),
        f'{UNTRUSTED_BECAUSE}"x509: invalid signature: parent certificate cannot sign this kind of '
        f'certificate" {CANDIDATE}',
    ),
]


@pytest.mark.parametrize(("shown", "trusted", "why"), UNFIT)
def test_certificates_that_are_not_fit(
    tmp_path: Path, shown: x509.Certificate, trusted: x509.Certificate | None, why: str
) -> None:
    context = server_context(shown, tmp_path)
    told = failure(lambda _: http(b"{}"), context, ca_bundle=bundle(trusted or shown))
    assert told.startswith(f"tls: failed to verify certificate: x509: {why}")
    assert told.endswith((why, CANDIDATE))


def test_a_name_in_the_subject_alone_is_noted(tmp_path: Path) -> None:
    """The audit event says it, whatever the failure policy."""
    for shown, noted in ((certificate(common_name="127.0.0.1"), True), (certificate("a"), False)):
        context = server_context(shown, tmp_path)
        [reply], _ = called(lambda _: http(b"{}"), context, ca_bundle=CA_BUNDLE)
        assert isinstance(reply, NoReply)
        key = "missing-san.invalid-cert.kubernetes.io/127.0.0.1"
        reason = (
            "relies on a legacy Common Name field instead of the SAN extension for subject "
            "validation"
        )
        assert reply.annotations == (((key, reason),) if noted else ())


def test_a_stranger_is_not_trusted(good: ssl.SSLContext) -> None:
    assert failure(lambda _: http(b"{}"), good, ca_bundle="") == (
        "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    )


def test_no_time(good: ssl.SSLContext) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            writer.close()

    async def run() -> Reply | NoReply:
        running = await asyncio.start_server(silent, "127.0.0.1", 0, ssl=good)
        port = running.sockets[0].getsockname()[1]
        client = WebhookClient(lambda host, port: (host, port))
        reply = await client.call(call_of(port), 0.05)
        await client.aclose()
        await stop_listening(running)
        return reply

    reply = asyncio.run(run())
    assert isinstance(reply, NoReply)
    assert reply.text.endswith('?timeout=1s": context deadline exceeded')


def test_asked_to_come_again(good: ssl.SSLContext) -> None:
    later = http(b"", 503, "Retry-After: 0")
    [reply], server = called(lambda n: http(b"{}") if n == 3 else later, good)
    assert reply == Reply(200, b"{}")
    assert len(server.requests) == 3
    [reply], server = called(lambda _: later, good)
    assert reply == Reply(503, b"")
    assert len(server.requests) == 11
    [reply], server = called(lambda _: http(b"", 503), good)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("code", "method"), [(302, "GET"), (307, "POST")])
def test_redirects(good: ssl.SSLContext, code: int, method: str) -> None:
    elsewhere = http(b"", code, "Location: /there")
    [reply], server = called(lambda n: http(b"{}") if n == 2 else elsewhere, good)
    assert reply == Reply(200, b"{}")
    assert server.requests[1].startswith(f"{method} /there HTTP/1.1")
    [reply], server = called(lambda _: elsewhere, good)
    assert reply == NoReply('Post "/there": stopped after 10 redirects')


def test_authorities_that_are_none() -> None:
    [reply], _ = called(lambda _: http(b"{}"), None, ca_bundle="eA==")
    assert reply == NoReply(
        "unable to load root certificates: unable to parse bytes as PEM block",
        500,
        "could not get REST client",
    )


class Compressed:
    """A response of one piece, in thousands of members of nothing."""

    MEMBER = gzip.compress(b"")

    async def aiter_stream(self) -> AsyncIterator[bytes]:
        yield self.MEMBER * 5_000


def test_others_have_their_turn_between_members_of_gzip(monkeypatch: pytest.MonkeyPatch) -> None:
    real, largest, turns = zlib.decompressobj, [0], [0]

    class Member:
        def __init__(self, **how: Any) -> None:
            self._member = real(**how)

        def decompress(self, data: bytes, most: int) -> bytes:
            largest[0] = max(largest[0], len(data))
            return self._member.decompress(data, most)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._member, name)

    async def run() -> bytes:
        async def others() -> None:
            while True:
                turns[0] += 1
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(others())
        body = webhook_client._Body(Compressed(), HeldBytes())  # type: ignore[arg-type]
        found = await body.read({b"content-encoding": b"gzip"})
        beside.cancel()
        return found

    monkeypatch.setattr(zlib, "decompressobj", Member)
    assert asyncio.run(run()) == b""
    assert turns[0] >= 50
    assert largest[0] <= 4096
