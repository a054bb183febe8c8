"""Conversion webhooks that commands call, and the cluster that they ask, over the loopback
interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from celadon.testing import KubeApi
from tests.apiserver.webhook_routes.loopback import CA_BUNDLE, certificate, server_context
from tests.cli.files import Json, binding, policy, run, write
from tests.cli.replay.events import event, lines
from tests.servers import serving

CALL = "--call-conversion-webhooks"
V1 = [
    {"apiGroups": ["x.io"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["boxes"]},
]
RULES = policy("boxes", "object.spec.old != 'bad'", rules=V1), binding("boxes")


class Hook(BaseHTTPRequestHandler):
    """v2 has `spec.new` where v1 has `spec.old`. Objects named `broken` cannot be converted."""

    counts: list[int]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = asked["request"]
        self.counts.append(len(request["objects"]))
        names = {one["metadata"]["name"] for one in request["objects"]}
        result = {"status": "Success"}
        if "broken" in names:
            result = {"status": "Failure", "message": "it is broken"}
        made = [converted(one, request["desiredAPIVersion"]) for one in request["objects"]]
        response = {"uid": request["uid"], "result": result, "convertedObjects": made}
        body = json.dumps({**asked, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def converted(obj: Json, api_version: str) -> Json:
    old, new = ("new", "old") if api_version.endswith("v1") else ("old", "new")
    spec = {new if key == old else key: value for key, value in obj["spec"].items()}
    return {**obj, "apiVersion": api_version, "spec": spec}


class Port(int):
    """Where the webhook is, and of how many objects it was asked each time."""

    counts: list[int]


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Port]:
    monkeypatch.chdir(tmp_path)
    handler = type("Handler", (Hook,), {"counts": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = server_context(certificate("127.0.0.1", "hook.infra.svc"), tmp_path)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    found = Port(server.server_address[1])
    found.counts = handler.counts  # type: ignore[attr-defined]
    with serving(server):
        yield found


def definition(config: Json, storage: str = "v2") -> Json:
    text = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = {"type": "object", "properties": {"spec": text}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boxes.x.io"},
        "spec": {
            "group": "x.io",
            "names": {"kind": "Box", "plural": "boxes", "singular": "box", "listKind": "BoxList"},
            "scope": "Namespaced",
            "conversion": {
                "strategy": "Webhook",
                "webhook": {
                    "conversionReviewVersions": ["v1"],
                    "clientConfig": {"caBundle": CA_BUNDLE, **config},
                },
            },
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == storage,
                    "schema": {"openAPIV3Schema": schema},
                }
                for name in ("v1", "v2")
            ],
        },
    }


def at(port: int) -> Json:
    return definition({"url": f"https://127.0.0.1:{port}/convert"})


def box(name: str, new: str) -> Json:
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "x.io/v2", "kind": "Box", "metadata": meta, "spec": {"new": new}}


def given(*documents: Json) -> str:
    return write(Path("given.json"), *documents)


@pytest.mark.parametrize("command", ["check", "audit"])
def test_only_where_asked_for(port: Port, capsys: pytest.CaptureFixture[str], command: str) -> None:
    policies = given(at(port), *RULES)
    write(Path("good.json"), box("a", "good"))
    write(Path("bad.json"), box("b", "bad"))
    assert run(capsys, command, "-f", policies, "bad.json")[0] == 0
    assert port.counts == []
    assert run(capsys, command, "-f", policies, "bad.json", CALL)[0] == 1
    assert run(capsys, command, "-f", policies, "good.json", CALL, "--strict")[0] == 0
    assert port.counts == [1, 1]


def test_calls_of_webhooks_are_those_of_conversion_too(
    port: Port, capsys: pytest.CaptureFixture[str]
) -> None:
    policies = given(at(port), *RULES)
    write(Path("bad.json"), box("b", "bad"))
    assert run(capsys, "check", "-f", policies, "bad.json", "--call-webhooks")[0] == 1


def test_requests_of_a_log(port: Port, capsys: pytest.CaptureFixture[str]) -> None:
    about: Json = {
        "requestURI": "/apis/x.io/v2/namespaces/default/boxes",
        "objectRef": {
            "resource": "boxes",
            "namespace": "default",
            "name": "b",
            "apiGroup": "x.io",
            "apiVersion": "v2",
        },
        "requestObject": box("b", "bad"),
        "responseObject": box("b", "bad"),
    }
    Path("log.jsonl").write_text(lines([event(name="b", **about)]))
    policies = given(at(port), *RULES)
    assert run(capsys, "replay", "-f", policies, "log.jsonl")[0] == 0
    assert run(capsys, "replay", "-f", policies, "log.jsonl", CALL)[0] == 1


def test_services(port: Port, capsys: pytest.CaptureFixture[str]) -> None:
    policies = given(definition({"service": {"namespace": "infra", "name": "hook"}}), *RULES)
    write(Path("bad.json"), box("b", "bad"))
    code, out, err = run(capsys, "check", "-f", policies, "bad.json", CALL)
    assert code == 0
    assert 'service "hook" not found), so the object is not known as x.io/v1' in out + err
    place = f"infra/hook=127.0.0.1:{port}"
    assert run(capsys, "check", "-f", policies, "bad.json", CALL, "--webhook-service", place)[0]


def test_who_cannot_be_reached_is_asked_once(
    port: Port, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its certificate is for nobody that is asked for; what it would show is not judged."""
    policies = given(definition({"url": f"https://localhost:{port}/convert"}), *RULES)
    write(Path("bad.json"), *(box(f"b{number}", "bad") for number in range(20)))
    for command in ("check", "audit"):
        code, out, err = run(capsys, command, "-f", policies, "bad.json", CALL)
        assert code == 0, out + err
        assert "not judged" in out + err
        assert "x509: certificate is" in out + err
        assert run(capsys, command, "-f", policies, "bad.json", CALL, "--strict")[0] != 0
    assert port.counts == []


def test_who_answers_that_it_cannot_is_believed(
    port: Port, capsys: pytest.CaptureFixture[str]
) -> None:
    policies = given(at(port), *RULES)
    write(Path("broken.json"), box("broken", "good"))
    code, out, _ = run(capsys, "check", "-f", policies, "broken.json", CALL)
    assert code == 3
    assert "conversion webhook for x.io/v2, Kind=Box failed: it is broken" in out


def test_params_are_asked_for_at_once(port: Port, capsys: pytest.CaptureFixture[str]) -> None:
    about = policy(
        "limits",
        "params.spec.old != object.data.x",
        paramKind={"apiVersion": "x.io/v1", "kind": "Box"},
    )
    bound = binding("limits", paramRef={"selector": {}, "parameterNotFoundAction": "Deny"})
    boxes = [box(f"b{number}", str(number)) for number in range(5)]
    policies = given(at(port), about, bound, *boxes)
    cm = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x": "3"}}
    assert run(capsys, "check", "-f", policies, write(Path("c.json"), cm), CALL)[0] == 1
    assert port.counts == [5]


@pytest.mark.thorough
def test_processes_ask_for_themselves(port: Port, capsys: pytest.CaptureFixture[str]) -> None:
    policies = given(at(port), *RULES)
    write(Path("b.json"), *(box(f"b{number}", "bad") for number in range(600)))
    for command in ("check", "audit"):
        words = (command, "-f", policies, "b.json", CALL, "--jobs", "2", "-o", "json")
        code, out, _ = run(capsys, *words)
        assert code == 1
        assert out.count("bad") >= 600
    assert sum(port.counts) == 1200


def test_a_cluster_shows_its_objects_itself(port: Port, capsys: pytest.CaptureFixture[str]) -> None:
    policies = given(*RULES)
    with KubeApi(at(port)) as api:
        api.create(box("b", "bad"))
        words = ("audit", "-f", policies, "--kubeconfig", str(api.kubeconfig))
        about = policy("old", "object.spec.new != 'bad'", rules=[{**V1[0], "apiVersions": ["v2"]}])
        write(Path("both.json"), *RULES, about, binding("old"))
        code, out, _ = run(capsys, *words, "-f", "both.json", "-o", "json")
    assert code == 1
    assert {one["policy"] for one in json.loads(out)["results"]} == {"boxes", "old"}
