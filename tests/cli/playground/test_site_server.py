"""The page is handed out on loopback, to those who mean it."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from celadon.cli.commands import playground
from celadon.cli.commands.playground import LOOPBACK, SiteServer
from tests.servers import serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SiteServer]:
    (tmp_path / "assets-1").mkdir()
    (tmp_path / "index.html").write_text("<p>page")
    (tmp_path / "assets-1" / "a.wasm").write_bytes(b"\0asm")
    with SiteServer(tmp_path, 0) as found, serving(found):
        yield found


def got(server: SiteServer, path: str, host: str = "") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


@pytest.mark.parametrize(
    ("path", "code", "type_", "cache"),
    [
        ("/", 200, "text/html; charset=utf-8", "no-cache"),
        ("/assets-1/a.wasm", 200, "application/wasm", "public, max-age=31536000, immutable"),
        ("/assets-1/", 404, None, None),
        ("/nothing", 404, None, None),
        ("/../../etc/passwd", 404, None, None),
    ],
)
def test_files(
    server: SiteServer, path: str, code: int, type_: str | None, cache: str | None
) -> None:
    answer = got(server, path)
    assert answer.status == code
    if code == 200:
        assert answer.headers["Content-Type"] == type_
        assert answer.headers["Cache-Control"] == cache
        assert "unsafe-inline" not in answer.headers["Content-Security-Policy"]


def test_names_of_others_are_refused(server: SiteServer) -> None:
    assert got(server, "/", f"localhost:{server.server_port}").status == 200
    assert got(server, "/", f"evil.example:{server.server_port}").status == 421


def test_it_listens_on_loopback_alone(server: SiteServer) -> None:
    assert server.server_address[0] == LOOPBACK
    assert server.url == f"http://127.0.0.1:{server.server_port}/"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"junk\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nHost: localhost:1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"431"),
        (b"GET /%00 HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n", b"404"),
    ],
)
def test_what_is_no_request_is_answered(
    server: SiteServer, sent: bytes, code: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection((LOOPBACK, server.server_port)) as connection:
        connection.sendall(sent)
        assert code in connection.recv(1 << 16)
    assert capsys.readouterr().err == ""


def test_a_connection_on_which_nothing_comes_is_closed(
    server: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playground._Files, "timeout", 0.01)
    with socket.create_connection((LOOPBACK, server.server_port)) as connection:
        connection.settimeout(60)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: lo")
        assert connection.recv(1) == b""


def test_of_connections_on_which_nothing_comes_the_oldest_ends(
    server: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playground, "CONNECTIONS", 3)
    monkeypatch.setattr(playground._Files, "timeout", None)
    with contextlib.ExitStack() as stack:
        silent = []
        for _ in range(5):
            connection = stack.enter_context(
                socket.create_connection((LOOPBACK, server.server_port), timeout=60)
            )
            connection.sendall(b"GET / HTTP/1.1\r\nHost: lo")
            silent.append(connection)
        assert got(server, "/").status == 200
        assert [connection.recv(1) for connection in silent[:3]] == [b""] * 3
        silent[4].sendall(b"calhost:1\r\n\r\n")
        assert silent[4].recv(15) == b"HTTP/1.1 200 OK"
