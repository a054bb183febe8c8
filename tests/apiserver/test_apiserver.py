"""The server, by requests as clients send them."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.request_limits import RequestLimits
from celadon.storage import delete, put
from tests.apiserver.asking import ask, read, said
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/default/configmaps"
POLICIES = "/apis/admissionregistration.k8s.io/v1"


def test_every_answer_has_an_audit_id_and_is_not_to_be_kept(running: Running) -> None:
    headers = dict(ask(running, "GET", "/api", audit_id="mine").headers)
    assert headers["Audit-Id"] == "mine"
    assert headers["Cache-Control"] == "no-cache, private"
    assert len(dict(ask(running, "GET", "/api").headers)["Audit-Id"]) == 36


@pytest.mark.parametrize(
    ("release", "code", "text"),
    [
        (
            "1.34",
            500,
            'Internal Server Error: "/api?a=b&amp;c=d": requested [{Group  g    }] without '
            "impersonating a user\n",
        ),
        ("1.35", 400, "requested [{Group  g    }] without impersonating a user"),
    ],
)
def test_groups_without_a_user(release: str, code: int, text: str) -> None:
    running = Running(Settings(version=release))
    try:
        answer = ask(running, "GET", "/api?a=b&c=d", impersonate_group="g")
        assert answer.code == code
        assert dict(answer.headers)["X-Content-Type-Options"] == "nosniff"
        shown = answer.body.decode()
        assert (shown if code == 500 else json.loads(shown)["message"]) == text
    finally:
        running.close()


def test_refusals_are_not_to_be_sniffed(running: Running) -> None:
    refused = ask(running, "GET", MAPS, token="alice-token")
    assert dict(refused.headers)["X-Content-Type-Options"] == "nosniff"
    missing = ask(running, "GET", f"{MAPS}/none")
    assert "X-Content-Type-Options" not in dict(missing.headers)


def test_a_life_of_an_object(running: Running) -> None:
    obj = {"metadata": {"generateName": "life-"}, "data": {"a": "1"}}
    made = read(ask(running, "POST", MAPS, obj))
    path = f"{MAPS}/{made['metadata']['name']}"
    patch = ask(
        running,
        "PATCH",
        path,
        {"data": {"b": "2"}},
        content_type="application/merge-patch+json",
    )
    assert read(patch)["data"] == {"a": "1", "b": "2"}
    stale = ask(running, "PUT", path, made)
    assert (stale.code, read(stale)["reason"]) == (409, "Conflict")
    assert read(ask(running, "DELETE", path))["status"] == "Success"
    assert ask(running, "GET", path).code == 404


@pytest.mark.parametrize(
    ("options", "code"),
    [({"orphanDependents": False}, 202), ({"propagationPolicy": "Background"}, 200)],
)
def test_a_deletion_that_takes_time(running: Running, options: object, code: int) -> None:
    made = {"metadata": {"generateName": "slow-", "finalizers": ["example.com/x"]}}
    path = f"{MAPS}/{read(ask(running, 'POST', MAPS, made))['metadata']['name']}"
    assert ask(running, "DELETE", path, options).code == code
    assert ask(running, "DELETE", path, options).code == code


def test_a_policy_in_the_store_holds_for_the_very_next_request(running: Running) -> None:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    policy = {
        "metadata": {"name": "no-forbidden"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "object.metadata.name != 'forbidden'"}],
        },
    }
    binding = {
        "metadata": {"name": "no-forbidden"},
        "spec": {"policyName": "no-forbidden", "validationActions": ["Deny"]},
    }
    assert ask(running, "POST", f"{POLICIES}/validatingadmissionpolicies", policy).code == 201
    bindings = f"{POLICIES}/validatingadmissionpolicybindings"
    assert ask(running, "POST", bindings, binding).code == 201
    refused = ask(running, "POST", MAPS, {"metadata": {"name": "forbidden"}})
    assert refused.code == 422
    assert read(refused)["message"].startswith(
        "configmaps \"forbidden\" is forbidden: ValidatingAdmissionPolicy 'no-forbidden' with "
        "binding 'no-forbidden' denied request: failed expression"
    )
    assert ask(running, "DELETE", f"{bindings}/no-forbidden").code == 200
    assert ask(running, "POST", MAPS, {"metadata": {"name": "forbidden"}}).code == 201


def test_a_watch_is_a_stream_of_lines(running: Running) -> None:
    answer = ask(running, "GET", f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dwatched")
    assert answer.stream is not None
    lines = running.lines(answer.stream)
    ask(running, "POST", MAPS, {"metadata": {"name": "watched"}})
    event = json.loads(lines.readline())
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "watched")
    lines.close()


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("HEAD", "/api", 405),
        ("HEAD", "/apis", 200),
        ("HEAD", "/healthz", 200),
        ("HEAD", "/version", 405),
        ("HEAD", MAPS, 405),
        ("HEAD", "/api/v1/namespaces/default", 405),
    ],
)
def test_an_answer_to_head_has_no_body(running: Running, method: str, path: str, code: int) -> None:
    answer = ask(running, method, path)
    assert (answer.code, answer.body) == (code, b"")


def test_a_watch_lasts_as_long_as_the_server_says() -> None:
    running = Running(Settings(limits=RequestLimits(watch_seconds=0.01)))
    try:
        answer = ask(running, "GET", f"{MAPS}?watch=1")
        assert answer.stream is not None
        assert running.lines(answer.stream).readline() == b""
    finally:
        running.close()


def test_services_have_addresses_and_ports_of_their_own(running: Running) -> None:
    services = "/api/v1/namespaces/default/services"
    assert read(ask(running, "GET", f"{services}/kubernetes"))["spec"]["clusterIP"] == "10.0.0.1"
    made = []
    for name in ("one", "two"):
        spec = {"type": "NodePort", "ports": [{"port": 80}]}
        made.append(
            read(ask(running, "POST", services, {"metadata": {"name": name}, "spec": spec}))
        )
    one, two = (obj["spec"] for obj in made)
    assert one["clusterIP"] != two["clusterIP"]
    assert one["ports"][0]["nodePort"] != two["ports"][0]["nodePort"]
    spec = {"clusterIP": one["clusterIP"], "ports": [{"port": 80}]}
    refused = ask(running, "POST", services, {"metadata": {"name": "three"}, "spec": spec})
    assert refused.code == 422
    assert "provided IP is already allocated" in read(refused)["message"]


PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.mark.parametrize("kind", ["resourceslices", "deviceclasses"])
def test_devices_have_messages_of_their_own(running: Running, kind: str) -> None:
    path = f"/apis/resource.k8s.io/v1/{kind}"
    answer = ask(running, "GET", path, accept=f"{PROTOBUF},application/json")
    assert (answer.code, answer.content_type) == (200, PROTOBUF)
    assert read(ask(running, "GET", path))["items"] == []


def test_what_cannot_be_decoded_is_an_error_where_it_is_read() -> None:
    running = Running()
    message = "couldn't get version/kind; json parse error: unexpected end of JSON input"

    def put_strange(key: str) -> None:
        running.server.objects.store.submit(put(f"/registry/{key}", b"{")).result(60)

    try:
        put_strange("core/configmaps/default/strange")
        for method, path in (
            ("GET", MAPS),
            ("GET", f"{MAPS}/strange"),
            ("PUT", f"{MAPS}/strange"),
            ("DELETE", f"{MAPS}/strange"),
        ):
            body = {"metadata": {"name": "strange"}} if method == "PUT" else None
            answer = ask(running, method, path, body)
            assert (answer.code, read(answer)) == (
                500,
                {
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Failure",
                    "message": message,
                    "code": 500,
                },
            )
        assert ask(running, "POST", MAPS, {"metadata": {"name": "other"}}).code == 201
        assert ask(running, "GET", f"{MAPS}/other").code == 200
        key = "admissionregistration.k8s.io/validatingadmissionpolicies/strange"
        put_strange(key)
        refused = ask(running, "POST", MAPS, {"metadata": {"name": "unjudged"}})
        assert said(refused) == (500, message)
        running.server.objects.store.submit(delete(f"/registry/{key}")).result(60)
        assert ask(running, "POST", MAPS, {"metadata": {"name": "judged"}}).code == 201
    finally:
        running.close()


@pytest.mark.parametrize(
    ("path", "managers"),
    [
        ("/api/v1/namespaces/default", [("kube-apiserver", "Update", "")]),
        ("/api/v1/namespaces/default/services/kubernetes", [("kube-apiserver", "Update", "")]),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/view",
            [("kube-apiserver", "Update", "")],
        ),
        (
            "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt",
            [
                ("api-priority-and-fairness-config-consumer-v1", "Apply", "status"),
                ("api-priority-and-fairness-config-producer-v1", "Update", ""),
            ],
        ),
    ],
)
def test_first_objects_have_managers(
    running: Running, path: str, managers: list[tuple[str, str, str]]
) -> None:
    entries = json.loads(ask(running, "GET", path).body)["metadata"]["managedFields"]
    found = [(one["manager"], one["operation"], one.get("subresource", "")) for one in entries]
    assert found == managers
    assert all(one["time"] for one in entries)
