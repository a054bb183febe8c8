"""One application, asked by the API server, `celadon check` and its own client: they agree."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from celadon.testing import KubeApi, RequestRefused
from celadon.webhook.handlers import Denied, Request
from celadon.webhook.webhook_app import Message, TestClient, Webhook
from tests.apiserver.webhook_routes.loopback import CA_BUNDLE, certificate, server_context
from tests.cli.files import config_map, run, write
from tests.servers import serving

pytestmark = [
    pytest.mark.thorough,
    # What the loop of a command was about to close when it ended is left to Python.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

app = Webhook("rules.example.com")


@app.mutate("configmaps", reinvocation_policy="IfNeeded")
def counted(request: Request) -> None:
    request.object.setdefault("data", {})["size"] = str(len(request.object.get("data") or {}))


@app.mutate("configmaps")
async def labelled(request: Request) -> None:
    request.object["metadata"].setdefault("labels", {})["a/b"] = "x"
    request.warn("labelled")


@app.validate("configmaps", operations=["CREATE", "DELETE"])
def not_bad(request: Request) -> bool:
    """bad is what nobody wants"""
    request.annotate("looked", "yes")
    return request.name != "bad"


@app.validate("configmaps")
def not_worse(request: Request) -> None:
    if request.name == "worse":
        raise Denied("worse than bad", code=422)


def served(handler: BaseHTTPRequestHandler) -> None:
    """One request over ASGI."""
    body = handler.rfile.read(int(handler.headers["Content-Length"]))
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        sent.append(message)

    path, _, query = handler.path.partition("?")
    scope = {
        "type": "http",
        "method": handler.command,
        "path": path,
        "query_string": query.encode(),
        "headers": [(key.encode(), value.encode()) for key, value in handler.headers.items()],
    }
    asyncio.run(app(scope, receive, send))
    handler.send_response(sent[0]["status"])
    for key, value in sent[0]["headers"]:
        handler.send_header(key.decode(), value.decode())
    handler.end_headers()
    handler.wfile.write(sent[1]["body"])


class Bridge(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        served(self)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def configurations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """Those of the application, which is served for as long."""
    context = server_context(certificate("127.0.0.1"), tmp_path_factory.mktemp("tls"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    found = app.configurations(url=f"https://127.0.0.1:{server.server_address[1]}")
    for hook in (hook for one in found for hook in one["webhooks"]):
        hook["clientConfig"]["caBundle"] = CA_BUNDLE
    with serving(server):
        yield found


def by_server(configurations: list[dict[str, Any]], obj: dict[str, Any]) -> tuple[int, str, Any]:
    """Code, message, and what became of the object."""
    with KubeApi() as api:
        api.create(*configurations)
        try:
            (made,) = api.create(obj)
        except RequestRefused as refused:
            return refused.code, refused.status["message"], None
        return 200, "", (made["data"], made["metadata"].get("labels"))


def by_client(obj: dict[str, Any]) -> tuple[int, str, Any]:
    answer = TestClient(app).create(obj)
    made = answer.object
    shown = None if made is None else (made["data"], made["metadata"].get("labels"))
    return answer.code, answer.message, shown


@pytest.mark.parametrize("name", ["good", "bad", "worse"])
def test_they_agree(
    configurations: list[dict[str, Any]],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    obj = config_map(name, a="1")
    expected = by_server(configurations, obj)
    assert by_client(obj) == expected
    write(Path("hooks.json"), *configurations)
    write(Path("object.json"), obj)
    words = ("check", "-f", "hooks.json", "object.json", "--call-webhooks", "-o", "json")
    _, out, _ = run(capsys, *words)
    (checked,) = json.loads(out)["objects"]
    assert (checked["code"], checked.get("message", "")) == expected[:2]
    assert checked["warnings"] == ["labelled"]
    assert checked["auditAnnotations"]["not-bad.rules.example.com/looked"] == "yes"
    asked = [call["webhook"].partition(".")[0] for call in checked["webhooks"]]
    assert asked[:3] == ["counted", "labelled", "counted"]
    assert set(asked[3:]) == {"not-bad", "not-worse"}
