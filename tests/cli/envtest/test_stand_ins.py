"""The stand-ins for etcd and kubectl, in this process."""

from __future__ import annotations

import http.server
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from celadon.cli.envtest import etcd_program, kubectl_program
from tests.servers import serving


@pytest.mark.parametrize(
    ("words", "options", "operands"),
    [
        (["get", "ns", "default"], {}, ["get", "ns", "default"]),
        (["--server=x", "get"], {"server": "x"}, ["get"]),
        (["--server", "x", "get"], {"server": "x"}, ["get"]),
        (["--server", "x", "y"], {"server": "x"}, ["y"]),
        (["--insecure-skip-tls-verify", "get"], {"insecure-skip-tls-verify": ""}, ["get"]),
        (["get", "--raw", "/healthz"], {"raw": "/healthz"}, ["get"]),
        (["-v=5", "get"], {"v": "5"}, ["get"]),
        *(
            ([f"--{name}", "x"], {name: "x"}, [])
            for name in (
                *("certificate-authority", "client-certificate", "client-key", "raw"),
                *("request-timeout", "server", "token"),
            )
        ),
    ],
)
def test_words_of_kubectl(words: list[str], options: dict[str, str], operands: list[str]) -> None:
    assert kubectl_program.split(words) == (options, operands)


class Handler(http.server.BaseHTTPRequestHandler):
    """Says what it is asked."""

    def do_GET(self) -> None:
        code = 403 if "secret" in self.path else 200
        text = f"{self.path} {self.headers.get('Authorization', 'nobody')}".encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, serving(server):
        yield f"http://127.0.0.1:{server.server_port}"


MISSING = (
    "error: kubectl is not installed: the stand-in knows only `get namespaces NAME` and `get --raw "
    "PATH`, with `--server`\n"
)


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        ("version", 0, "Client Version: none (a stand-in of Celadon's)\n", ""),
        ("get ns default --server SERVER", 0, "/api/v1/namespaces/default nobody\n", ""),
        ("get namespace a --server=SERVER/", 0, "/api/v1/namespaces/a nobody\n", ""),
        ("get namespaces --server SERVER", 0, "/api/v1/namespaces nobody\n", ""),
        ("get --raw /healthz --server SERVER --token t", 0, "/healthz Bearer t\n", ""),
        ("get --raw /secret --server SERVER", 1, "", "Error from server: 403 Forbidden\n"),
        ("get ns default", 1, "", MISSING),
        ("get pods --server SERVER", 1, "", MISSING),
        ("delete ns --server SERVER --raw /x", 1, "", MISSING),
        ("get --server SERVER", 1, "", MISSING),
        (
            "get --raw /x --server none",
            1,
            "",
            "error: unknown url type: 'none/x'\n",
        ),
        (
            "get --raw /x --server SERVER --client-certificate /none",
            1,
            "",
            "error: [Errno 2] No such file or directory\n",
        ),
    ],
)
def test_answers_of_kubectl(
    capsys: pytest.CaptureFixture[str], server: str, words: str, code: int, out: str, err: str
) -> None:
    assert kubectl_program.answer(words.replace("SERVER", server).split()) == code
    assert capsys.readouterr() == (out, err)


def test_the_kubectl_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not one of ours, none that may not be run, and no folder."""
    folders = [tmp_path / name for name in ("ours", "closed", "folder", "real", "other")]
    for folder in folders:
        folder.mkdir()
        kubectl = folder / "kubectl"
        if folder.name == "folder":
            kubectl.mkdir()
            continue
        kubectl.touch()
        kubectl.chmod(0o644 if folder.name == "closed" else 0o755)
    (folders[0] / kubectl_program.MARKER).touch()
    places = os.pathsep.join(["", *map(str, folders)])
    assert kubectl_program.installed_kubectl(places) == str(folders[3] / "kubectl")

    became: list[object] = []
    monkeypatch.setattr(os, "execv", lambda path, words: became.append((path, words)))
    monkeypatch.setattr("subprocess.call", lambda words: 3)
    monkeypatch.setattr(sys, "argv", ["kubectl", "version"])
    monkeypatch.setenv("PATH", places)
    assert kubectl_program.main() == 3
    path = str(folders[3] / "kubectl")
    assert became == [(path, [path, "version"])]
    monkeypatch.setenv("PATH", "")
    assert kubectl_program.main() == 0
    assert capsys.readouterr().out == "Client Version: none (a stand-in of Celadon's)\n"


def test_nobody_reads() -> None:
    assert kubectl_program.say(None, "x") == 0
    assert etcd_program.say(None, "x") == 0


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--a=b", "--c", "d", "-e", "f", "--g"], {"a": "b", "c": "d", "e": "f", "g": ""}),
        (["--a=b", "c"], {"a": "b"}),
        (["c"], {}),
    ],
)
def test_options_of_etcd(words: list[str], options: dict[str, str]) -> None:
    assert etcd_program.read_options(words) == options


@pytest.mark.parametrize(
    ("url", "text"),
    [
        *(
            (url, f"`{url}` is not http://HOST:PORT: the stand-in of etcd has no TLS")
            for url in (
                "https://127.0.0.1:1",
                "127.0.0.1:1",
                "http://a:b",
                "http://a",
                "http://a:123456",
            )
        ),
    ],
)
def test_where_etcd_cannot_listen(url: str, text: str) -> None:
    with pytest.raises(ValueError, match="the stand-in of etcd") as refused:
        etcd_program.listen(url)
    assert str(refused.value) == text


def test_where_etcd_listens() -> None:
    (listener,) = etcd_program.listen(" http://127.0.0.1:0/path ")
    with listener:
        host, port = listener.getsockname()
        assert (host, listener.gettimeout()) == ("127.0.0.1", 0)
        message = rf"cannot listen at `http://127.0.0.1:{port}`: Address already in use"
        with pytest.raises(OSError, match=message):
            etcd_program.listen(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("head", "status", "kind", "body"),
    [
        ("GET /health HTTP/1.1", "200 OK", "application/json", '{"health":"true","reason":""}'),
        ("GET /livez?a=b HTTP/1.1", "200 OK", "text/plain; charset=utf-8", "ok\n"),
        ("GET /readyz", "200 OK", "text/plain; charset=utf-8", "ok\n"),
        (
            "GET /version HTTP/1.1",
            "200 OK",
            "application/json",
            f'{{"etcdserver":"{etcd_program.VERSION}","etcdcluster":"{etcd_program.VERSION}"}}',
        ),
        (
            "GET /metrics HTTP/1.1",
            "200 OK",
            "text/plain; charset=utf-8",
            "# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 1\n",
        ),
        (
            "GET /x HTTP/1.1\r\nHost: a",
            "404 Not Found",
            "text/plain; charset=utf-8",
            "404 page not found\n",
        ),
        ("GET", "404 Not Found", "text/plain; charset=utf-8", "404 page not found\n"),
    ],
)
def test_answers_of_etcd(head: str, status: str, kind: str, body: str) -> None:
    lines = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    assert etcd_program.answer(head.encode()).decode() == lines + body
    if head.startswith("GET "):
        headless = head.replace("GET", "HEAD").encode()
        assert etcd_program.answer(headless).decode() == lines


@pytest.mark.parametrize(
    ("sent", "stays"),
    [
        (b"GET /livez HTTP/1.1\r\n\r\nGET /li", True),
        (b"", False),
        (b"PRI * HTTP/2.0\r\n\r\n", False),
        (b"x" * etcd_program.LONGEST_REQUEST, False),
        (b"x" * (etcd_program.LONGEST_REQUEST - 1), True),
    ],
    ids=["begun", "end", "HTTP/2", "too long", "long"],
)
def test_connections_of_etcd(sent: bytes, *, stays: bool) -> None:
    here, there = socket.socketpair()
    with here, there:
        there.settimeout(0)
        requests = {there: b""}
        assert etcd_program.go_on(there, requests)  # nothing has come yet
        if sent:
            here.sendall(sent)
        else:
            here.shutdown(socket.SHUT_WR)
        assert etcd_program.go_on(there, requests) is stays
        assert requests[there] == sent.rpartition(b"\r\n\r\n")[2]
        there.close()
        assert not etcd_program.go_on(there, requests)


FIRST, SECOND, *_ = etcd_program.FLAGS


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        *(
            ([word], 0, f"Usage:\n\n  etcd [flags]\n\n  --{FIRST} ''\n  --{SECOND} ''\n", "")
            for word in ("-h", "-help", "--help", "help")
        ),
        *(
            ([word], 0, f"etcd Version: {etcd_program.VERSION} (a stand-in of Celadon's)\n", "")
            for word in ("-version", "--version")
        ),
        (
            ["--odd", "--listen-client-urls", "none"],
            1,
            "",
            "warning: etcd has no flag `--odd` that is known here: ignored\n"
            "error: `none` is not http://HOST:PORT: the stand-in of etcd has no TLS\n",
        ),
    ],
)
def test_the_program_etcd(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    out: str,
    err: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["etcd", *words])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert etcd_program.main() == code
    captured = capsys.readouterr()
    assert captured.out.startswith(out)
    assert bool(captured.out) is bool(out)
    assert captured.err == err


def test_etcd_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[list[str]] = []
    monkeypatch.setattr(etcd_program, "listen", lambda url: [url])
    monkeypatch.setattr(etcd_program, "serve", served.append)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    for words in ([], ["--listen-client-urls=a,b"]):
        monkeypatch.setattr(sys, "argv", ["etcd", *words])
        assert etcd_program.main() == 0
    assert served == [["http://localhost:2379"], ["a", "b"]]
    assert len(etcd_program.FLAGS) == len(set(etcd_program.FLAGS)) == 148
