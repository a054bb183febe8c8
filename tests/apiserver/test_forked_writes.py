"""Writes that are answered in a fork, beside the same writes of a server that never forks: what
webhooks are asked, what clients, audit logs and metrics are told, and what is stored.
"""

from __future__ import annotations

import base64
import json
import re
import ssl
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

from celadon.apiserver.forks import can_fork
from tests.apiserver import served_process
from tests.apiserver.served_process import CONFIGMAPS, Served, request_headers
from tests.apiserver.webhook_routes.loopback import CA_BUNDLE, certificate, server_context
from tests.servers import LOOKS_AGAIN

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not can_fork(), reason="needs what Linux has"),
]

REGISTRATION: Final = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS: Final = "/apis/example.com/{}/namespaces/default/widgets"
AUDIT: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "Metadata",
            "verbs": ["create", "update"],
            "resources": [
                {"group": "", "resources": ["configmaps"]},
                {"group": "example.com", "resources": ["widgets"]},
            ],
        },
        {"level": "None"},
    ],
}

WITHOUT_FORKS: Final = "workers.can_fork = lambda: False"
WITH_FORKS: Final = """
begin, ask = forks.Fork.__init__, forks.Parent.ask

def counted(*args):
    with open(folder / 'forks', 'a') as file:
        file.write('x')
    begin(*args)

def deadly(parent, said):
    when = folder / 'dies'
    if when.exists() and when.read_text() == 'before':
        os.kill(os.getpid(), 9)
    found = ask(parent, said)
    if when.exists():
        os.kill(os.getpid(), 9)
    return found

forks.Fork.__init__, forks.Parent.ask = counted, deadly
"""
MAIN: Final = """
import os, pathlib, runpy
from celadon.apiserver import forks, workers
folder = pathlib.Path({!r})
{}
runpy.run_module('celadon', run_name='__main__', alter_sys=True)
"""


# --- what webhooks are asked ---


class Hooks:
    """A server that changes, allows and converts what it is asked for, and remembers that."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[tuple[str, ...]] = []
        hooks = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(hooks.answer(self.path.partition("?")[0], document)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context: ssl.SSLContext = server_context(certificate("127.0.0.1"), folder)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(LOOKS_AGAIN,), daemon=True).start()

    def client_config(self, path: str) -> dict[str, str]:
        url = f"https://127.0.0.1:{self._server.server_address[1]}{path}"
        return {"url": url, "caBundle": CA_BUNDLE}

    def answer(self, path: str, document: dict[str, Any]) -> dict[str, Any]:
        request = document["request"]
        response: dict[str, Any] = {"uid": request["uid"]}
        if path == "/convert":
            wanted = request["desiredAPIVersion"]
            names = [one["metadata"]["name"] for one in request["objects"]]
            self.asked.append((path, wanted, *names))
            response["convertedObjects"] = [
                {**one, "apiVersion": wanted} for one in request["objects"]
            ]
            response["result"] = {"status": "Success"}
        else:
            obj = request["object"]
            self.asked.append((path, request["operation"], obj["metadata"]["name"]))
            response |= {
                "allowed": obj.get("data", {}).get("k0", "") != "denied",
                "status": {"message": "not that"},
                "warnings": [f"{path} was here"],
                "auditAnnotations": {"asked": path},
            }
            if path == "/mutate":
                patch = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]
                response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
                response["patchType"] = "JSONPatch"
        return {**document, "request": None, "response": response}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def configuration(kind: str, path: str, hooks: Hooks) -> dict[str, Any]:
    rules = [
        {
            "apiGroups": ["", "example.com"],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["configmaps", "widgets"],
        }
    ]
    hook = {
        "name": f"{kind}.example.com",
        "clientConfig": hooks.client_config(path),
        "rules": rules,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        "matchConditions": [{"name": "large", "expression": "object.metadata.name != 'small'"}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    }
    return {"metadata": {"name": kind}, "webhooks": [hook]}


def definition(hooks: Hooks) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {"openAPIV3Schema": schema},
        }
        for name in ("v1", "v2")
    ]
    client = {"clientConfig": hooks.client_config("/convert"), "conversionReviewVersions": ["v1"]}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": versions,
            "conversion": {"strategy": "Webhook", "webhook": client},
        },
    }


# --- what becomes of writes ---

COUNTED: Final = re.compile(
    r"^(apiserver_admission_webhook_(?:admission_duration_seconds_count|request_total)|"
    r"apiserver_request_total|apiserver_crd_conversion_webhook_duration_seconds_count|"
    r"apiserver_admission_step_admission_duration_seconds_count)"
    r"(\{.*(?:configmaps|widgets|mutating|validating).*\}) (\S+)$",
    re.M,
)


@dataclass
class Seen:
    """What came of the writes on one server; times and what is drawn are left out."""

    answers: list[tuple[int, list[str], Any]] = field(default_factory=list)
    asked: Counter[tuple[str, ...]] = field(default_factory=Counter)
    counts: dict[str, float] = field(default_factory=dict)
    audited: list[Any] = field(default_factory=list)


def large(name: str, letter: str = "a", **more: Any) -> dict[str, Any]:
    data = {f"k{number}": letter * 300 for number in range(1_000)}
    return {"metadata": {"name": name}, "data": data, **more}


def widget(name: str, version: str, letter: str) -> dict[str, Any]:
    return large(name, letter, apiVersion=f"example.com/{version}", kind="Widget")


def written(server: Served, method: str, path: str, body: Any) -> tuple[int, list[str], Any]:
    connection = server.connection()
    connection.request(method, path, json.dumps(body), request_headers(server.token))
    answer = connection.getresponse()
    warnings = answer.headers.get_all("Warning") or []
    found = json.loads(answer.read())
    connection.close()
    meta = found.get("metadata", {})
    for drawn in ("uid", "creationTimestamp", "resourceVersion"):
        meta.pop(drawn, None)
    for manager in meta.get("managedFields", ()):
        manager.pop("time")
    return answer.status, warnings, found


def audited(path: Path) -> list[Any]:
    events = [json.loads(line) for line in path.read_text().splitlines()]
    members = "verb", "requestURI", "responseStatus", "annotations", "objectRef", "stage"
    found = [{member: event.get(member) for member in members} for event in events]
    for one in found:
        for drawn in ("uid", "resourceVersion"):
            (one["objectRef"] or {}).pop(drawn, None)
    return found


def served(folder: Path, patch: str, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A server of which something was replaced."""
    folder.mkdir()
    policy = folder / "audit.yaml"
    policy.write_text(json.dumps(AUDIT))
    real = served_process.command
    began = [sys.executable, "-c", MAIN.format(str(folder), patch)]
    monkeypatch.setattr(served_process, "command", lambda *given: [*began, *real(*given)[3:]])
    logged = "--audit-policy-file", str(policy), "--audit-log", str(folder / "audit.log")
    server = Served(folder, *logged)
    monkeypatch.setattr(served_process, "command", real)
    return server


def seen_of(server: Served, hooks: Hooks) -> Seen:
    """What comes of the same writes."""
    seen = Seen()
    assert server.call("POST", DEFINITIONS, definition(hooks))[0] == 201
    while server.call("GET", WIDGETS.format("v2"))[0] != 200:
        pass
    for kind, path in (("mutating", "/mutate"), ("validating", "/validate")):
        body = configuration(kind, path, hooks)
        assert server.call("POST", f"{REGISTRATION}/{kind}webhookconfigurations", body)[0] == 201
    while not server.call("POST", CONFIGMAPS, large("probe"))[1]["metadata"].get("labels"):
        assert server.call("DELETE", f"{CONFIGMAPS}/probe")[0] == 200
    hooks.asked.clear()
    before = counts_of(server)
    writes: list[tuple[str, str, Any]] = [
        ("POST", CONFIGMAPS, large("a")),
        ("POST", CONFIGMAPS, large("b", "b")),
        ("PUT", f"{CONFIGMAPS}/a", large("a", "c")),
        ("POST", CONFIGMAPS, {**large("c"), "data": {**large("c")["data"], "k0": "denied"}}),
        ("POST", f"{CONFIGMAPS}?dryRun=All", large("d")),
        ("POST", CONFIGMAPS, large("a")),
        ("POST", WIDGETS.format("v2"), widget("w", "v2", "a")),
        ("PUT", f"{WIDGETS.format('v2')}/w", widget("w", "v2", "b")),
        ("POST", WIDGETS.format("v1"), widget("x", "v1", "a")),
    ]
    for method, path, body in writes:
        answer = written(server, method, path, body)
        if path.endswith("/w"):  # it must say what it replaces
            current = server.call("GET", path)[1]["metadata"]["resourceVersion"]
            body["metadata"]["resourceVersion"] = current
            answer = written(server, method, path, body)
        seen.answers.append(answer)
    while ("/convert", "example.com/v2", "x") not in hooks.asked:
        time.sleep(0.01)  # for those who list and watch, after the answer
    seen.asked = Counter(hooks.asked)
    seen.counts = {key: value - before.get(key, 0.0) for key, value in counts_of(server).items()}
    seen.audited = audited(server.folder / "audit.log")
    return seen


def counts_of(server: Served) -> dict[str, float]:
    return {found[1] + found[2]: float(found[3]) for found in COUNTED.finditer(_metrics(server))}


def _metrics(server: Served) -> str:
    code, text = server.text("/metrics")
    assert code == 200
    return text


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Seen, Seen, Path]:
    """What comes of writes without forks, and with them."""
    monkeypatch = pytest.MonkeyPatch()
    found = list[Seen]()
    folder = tmp_path_factory.mktemp("forked-writes")
    for name, patch in (("without", WITHOUT_FORKS), ("with", WITH_FORKS)):
        hooks = Hooks(folder)
        server = served(folder / name, patch, monkeypatch)
        try:
            found.append(seen_of(server, hooks))
        finally:
            server.end()
            hooks.close()
    return found[0], found[1], folder / "with"


def test_there_were_forks(both: tuple[Seen, Seen, Path]) -> None:
    assert (both[2] / "forks").read_text()


def test_clients_are_told_the_same(both: tuple[Seen, Seen, Path]) -> None:
    """With warnings, and managed fields."""
    without, with_forks, _ = both
    assert with_forks.answers == without.answers
    assert [code for code, _, _ in without.answers] == [201, 201, 200, 400, 201, 409, 201, 200, 201]
    assert without.answers[0][1] == ['299 - "/mutate was here"', '299 - "/validate was here"']


def test_webhooks_are_asked_as_often(both: tuple[Seen, Seen, Path]) -> None:
    without, with_forks, _ = both
    assert with_forks.asked == without.asked
    assert without.asked["/mutate", "CREATE", "b"] == 1


def test_metrics_count_the_same(both: tuple[Seen, Seen, Path]) -> None:
    """But for conversions: what a fork has converted nobody remembers for the next request."""
    without, with_forks, _ = both
    counts, forked = (
        {name: count for name, count in seen.counts.items() if "conversion" not in name}
        for seen in (without, with_forks)
    )
    assert forked == counts
    assert any("webhook" in name and count for name, count in counts.items())


def test_audit_events_are_the_same(both: tuple[Seen, Seen, Path]) -> None:
    without, with_forks, _ = both
    assert with_forks.audited == without.audited
    assert any("asked" in key for one in without.audited for key in one["annotations"])


@pytest.mark.parametrize(("when", "is_stored"), [("before", False), ("after", True)])
def test_a_fork_that_is_killed_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, is_stored: bool
) -> None:
    """Before or after the server has stored what it asked for: who has sent it is told what
    upstream tells of a request that took too long, and what is stored is whole."""
    server = served(tmp_path / "server", WITH_FORKS, monkeypatch)
    try:
        for name in ("first", "second"):  # the first has rules compiled, which is for no fork
            assert server.call("POST", CONFIGMAPS, large(name))[0] == 201
        (tmp_path / "server" / "dies").write_text(when)
        code, refused = server.call("POST", CONFIGMAPS, large("a"))
        assert (code, refused["reason"]) == (504, "Timeout")
        (tmp_path / "server" / "dies").unlink()
        code, found = server.call("GET", f"{CONFIGMAPS}/a")
        assert code == (200 if is_stored else 404)
        if is_stored:
            assert found["data"] == large("a")["data"]
            assert found["metadata"]["managedFields"]
        code, _ = server.call("PUT", f"{CONFIGMAPS}/a", large("a", "b"))
        assert code == (200 if is_stored else 404)
        assert server.call("POST", CONFIGMAPS, large("b"))[0] == 201
        events = audited(server.folder / "audit.log")
        assert [one["responseStatus"]["code"] for one in events] == [201, 201, 504, code, 201]
    finally:
        server.end()
