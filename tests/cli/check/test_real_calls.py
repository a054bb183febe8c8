"""Webhooks that `celadon check` really calls, over the loopback interface."""

from __future__ import annotations

import contextlib
import gc
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.webhook_routes.loopback import CA_BUNDLE, certificate, server_context
from tests.cli.check.hooked import Json, configuration, webhook
from tests.cli.files import config_map, run, write
from tests.servers import serving

# What the loop was about to close when the command ended is left to Python.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

A, B = "a.hooks.example.com", "b.hooks.example.com"


class Hook(BaseHTTPRequestHandler):
    """Denies what has no data; `/wait` never answers in time."""

    paths: list[str]
    nobody_waits: threading.Event

    def do_POST(self) -> None:
        self.paths.append(self.path)
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        if self.path.startswith("/wait"):
            self.nobody_waits.wait(60)
        response = {"uid": asked["uid"], "allowed": bool(asked["object"].get("data"))}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        body = json.dumps({**review, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # nobody waits any more
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """That of a webhook with a certificate for the loopback interface and for a service."""
    monkeypatch.chdir(tmp_path)
    nobody_waits = threading.Event()
    handler = type("Handler", (Hook,), {"paths": [], "nobody_waits": nobody_waits})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = server_context(certificate("127.0.0.1", "hook.infra.svc"), tmp_path)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield server.server_address[1]
        nobody_waits.set()


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    words = ("check", "-f", "cluster.json", "object.json", "-o", "json", *words)
    code, out, err = run(capsys, *words)
    assert out, err
    return code, json.loads(out)["objects"][0]


def at(url: str, **more: Any) -> Json:
    return webhook(clientConfig={"url": url, "caBundle": CA_BUNDLE}, **more)


def test_never_unless_told(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("cluster.json"), configuration(at(f"https://127.0.0.1:{port}/x")))
    write(Path("object.json"), config_map("cm"))
    assert checked(capsys)[1]["verdict"] == "unasked"
    code, found = checked(capsys, "--call-webhooks")
    assert (code, found["verdict"]) == (1, "denied")
    assert found["message"] == f'admission webhook "{A}" denied the request without explanation'
    write(Path("object.json"), config_map("cm", x="1"))
    code, found = checked(capsys, "--call-webhooks")
    assert (code, found["verdict"], found["webhooks"][0]["outcome"]) == (0, "admitted", "allowed")


def test_failures_read_as_the_servers(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    slow = at(f"https://127.0.0.1:{port}/wait", timeoutSeconds=1)
    write(Path("cluster.json"), configuration(slow))
    write(Path("object.json"), config_map("cm", x="1"))
    code, found = checked(capsys, "--call-webhooks")
    assert (code, found["webhooks"][0]["outcome"]) == (3, "failed")
    assert found["message"] == (
        f'Internal error occurred: failed calling webhook "{A}": failed to call webhook: Post '
        f'"https://127.0.0.1:{port}/wait?timeout=1s": context deadline exceeded'
    )
    gc.collect()


def test_services(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    service = {"namespace": "infra", "name": "hook"}
    behind = webhook(clientConfig={"service": service, "caBundle": CA_BUNDLE})
    write(Path("cluster.json"), configuration(behind))
    write(Path("object.json"), config_map("cm", x="1"))
    _, found = checked(capsys, "--call-webhooks")
    assert 'service "hook" not found' in found["message"]
    place = f"infra/hook=127.0.0.1:{port}"
    assert checked(capsys, "--call-webhooks", "--webhook-service", place)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--call-webhooks", "--webhook-answers", "x"], "exclude each other"),
        (["--webhook-service", "a/b=c"], "goes with `--call-webhooks`"),
        (["--call-webhooks", "--webhook-service", "a"], "is not NAMESPACE/NAME[:PORT]"),
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    code, _, err = run(capsys, "check", "object.json", *words)
    assert code == 2
    assert message in err
