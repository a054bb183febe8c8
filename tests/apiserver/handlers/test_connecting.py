"""Connections: what is wrong with a request for one, and who is at the other end."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.handlers.write_admission import Admission
from tests.apiserver.asking import ask, make, read, said
from tests.apiserver.in_process import Running

HERE = "/api/v1/namespaces/connecting"


@pytest.fixture(scope="module")
def cluster() -> Any:
    running = Running()
    make(running, "/api/v1/namespaces", {"metadata": {"name": "connecting"}})
    running.settle()
    _node(running, "n1", [{"type": "InternalIP", "address": "10.0.0.1"}])
    _node(running, "n2", [])
    _node(
        running,
        "n3",
        [{"type": "ExternalIP", "address": "1.2.3.4"}, {"type": "Hostname", "address": "h3"}],
        {"kubeletEndpoint": {"Port": 4194}},
    )
    _pod(running, "loose", ["c"])
    _pod(running, "two", ["a", "b"])
    _pod(running, "placed", ["c"], node="n1", podIP="10.1.0.5")
    _pod(running, "blind", ["c"], node="n2", podIP="127.0.0.1")
    _pod(running, "lost", ["c"], node="gone")
    _pod(running, "web", ["c"], ports=[{"containerPort": 8080}], node="n3", podIP="10.1.0.7")
    _service(running)
    yield running
    running.close()


def _node(running: Running, name: str, addresses: list[Any], daemons: Any = None) -> None:
    made = make(running, "/api/v1/nodes", {"metadata": {"name": name}})
    made["status"] = {"addresses": addresses, "daemonEndpoints": daemons or {}}
    assert ask(running, "PUT", f"/api/v1/nodes/{name}/status", made).code == 200


def _pod(
    running: Running, name: str, names: list[str], *, ports: Any = (), node: str = "", **state: str
) -> None:
    containers = [{"name": one, "image": "i", "ports": list(ports)} for one in names]
    spec: dict[str, Any] = {
        "containers": containers,
        "initContainers": [{"name": "init", "image": "i"}],
    }
    if node:
        spec["nodeName"] = node
    made = make(running, f"{HERE}/pods", {"metadata": {"name": name}, "spec": spec})
    made["status"] = {**made["status"], **state}
    assert ask(running, "PUT", f"{HERE}/pods/{name}/status", made).code == 200


def _service(running: Running) -> None:
    ports = [{"name": "http", "port": 80}, {"name": "idle", "port": 81}]
    spec = {"selector": {"a": "b"}, "ports": ports}
    make(running, f"{HERE}/services", {"metadata": {"name": "s"}, "spec": spec})
    make(
        running,
        "/apis/discovery.k8s.io/v1/namespaces/connecting/endpointslices",
        {
            "metadata": {"name": "s-1", "labels": {"kubernetes.io/service-name": "s"}},
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": 8080}],
            "endpoints": [
                {"addresses": ["10.1.0.8"], "conditions": {"ready": False}},
                {"addresses": ["10.1.0.9"]},
            ],
        },
    )


REFUSED = "connect: connection refused"

ROWS = [
    ("pods/none/exec", 404, 'pods "none" not found'),
    ("pods/loose/exec?dryRun=", 400, "dryRun is not supported"),
    ("pods/loose/exec?timeout=bogus", 400, "pod loose does not have a host assigned"),
    ("pods/loose/attach?container=x", 400, "container x is not valid for pod loose"),
    ("pods/loose/attach?container=init", 400, "pod loose does not have a host assigned"),
    (
        "pods/two/exec?command=ls",
        400,
        "a container name must be specified for pod two, choose one of: [init a b]",
    ),
    ("pods/two/exec?container=a", 400, "pod two does not have a host assigned"),
    ("pods/two/portforward", 400, "pod two does not have a host assigned"),
    (
        "pods/two/portforward?ports=http",
        400,
        'cannot convert to []int32: strconv.ParseUint: parsing "http": invalid syntax',
    ),
    ("pods/placed/exec?command=ls", 400, "Upgrade request required"),
    ("pods/placed/portforward?ports=80", 400, "Upgrade request required"),
    ("pods/blind/exec", 500, "no preferred addresses found; known addresses: []"),
    ("pods/lost/attach", 404, 'pods "gone" not found'),
    ("pods/loose/proxy", 400, "address not allowed"),
    ("pods/blind/proxy/x", 400, "address not allowed"),
    ("pods/a:b:c:d/proxy", 400, 'invalid pod request "a:b:c:d"'),
    ("pods/ftp:web:80/proxy", 400, 'invalid pod request "ftp:web:80"'),
    (
        "pods/placed/proxy/",
        503,
        f"error trying to reach service: dial tcp 10.1.0.5:80: {REFUSED}",
    ),
    ("pods/web/proxy", 503, f"error trying to reach service: dial tcp 10.1.0.7:8080: {REFUSED}"),
    (
        "pods/https:web:9/proxy",
        503,
        f"error trying to reach service: dial tcp 10.1.0.7:9: {REFUSED}",
    ),
    ("services/none/proxy", 404, 'services "none" not found'),
    ("services/s:9/proxy", 503, 'no service port 9 found for service "s"'),
    ("services/s:idle/proxy", 503, 'no endpoints available for service "s"'),
    (
        "services/s:80/proxy/x",
        503,
        f"error trying to reach service: dial tcp 10.1.0.9:8080: {REFUSED}",
    ),
    (
        f"services/s:{'9' * 5000}/proxy",
        503,
        'no endpoints available for service "s"',
    ),
    ("services/s:%C2%B2/proxy", 503, 'no endpoints available for service "s"'),
    ("services/:/proxy", 400, 'invalid service request ":"'),
]


@pytest.mark.parametrize(("path", "code", "message"), ROWS)
def test_why_there_is_no_connection(cluster: Running, path: str, code: int, message: str) -> None:
    assert said(ask(cluster, "GET", f"{HERE}/{path}")) == (code, message)


NODES = [
    ("none/proxy", 404, 'nodes "none" not found'),
    ("none/proxy/namespaces//x", 404, 'nodes "none" not found'),
    ("n1/proxy/", 503, f"error trying to reach service: dial tcp 10.0.0.1:10250: {REFUSED}"),
    ("n1:99/proxy/", 503, f"error trying to reach service: dial tcp 10.0.0.1:99: {REFUSED}"),
    ("n2/proxy", 500, "no preferred addresses found; known addresses: []"),
    ("https:n3:/proxy", 503, f"error trying to reach service: dial tcp h3:4194: {REFUSED}"),
]


@pytest.mark.parametrize(("path", "code", "message"), NODES)
def test_why_there_is_no_connection_to_a_node(
    cluster: Running, path: str, code: int, message: str
) -> None:
    assert said(ask(cluster, "POST", f"/api/v1/nodes/{path}")) == (code, message)


def test_an_upgraded_connection_finds_nobody(cluster: Running) -> None:
    answer = ask(cluster, "GET", f"{HERE}/pods/placed/exec", connection="Upgrade")
    assert said(answer) == (500, f"error dialing backend: dial tcp 10.0.0.1:10250: {REFUSED}")


METHODS = [
    ("POST", "pods/loose/exec", 400),
    ("DELETE", "pods/loose/exec", 405),
    ("HEAD", "pods/loose/exec", 405),
    ("GET", "pods/loose/exec/more", 404),
    ("DELETE", "pods/loose/proxy/more", 400),
    ("PATCH", "pods/loose/proxy", 400),
    ("HEAD", "pods/loose/proxy", 400),
    ("GET", "pods/loose/nonsense", 404),
    ("OPTIONS", "pods/loose/proxy", 400),
    ("FOO", "pods/loose/proxy", 405),
    ("TRACE", "services/none/proxy/more", 405),
]


@pytest.mark.parametrize(("method", "path", "code"), METHODS)
def test_methods(cluster: Running, method: str, path: str, code: int) -> None:
    assert ask(cluster, method, f"{HERE}/{path}").code == code


def test_admission_sees_the_options(cluster: Running) -> None:
    group = "/apis/admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CONNECT"],
        "resources": ["services/proxy"],
    }
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false", "messageExpression": "string(object.path)"}],
    }
    make(cluster, f"{group}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    bindings = f"{group}/validatingadmissionpolicybindings"
    make(cluster, bindings, {"metadata": {"name": "b"}, "spec": bound})
    try:
        answer = ask(cluster, "GET", f"{HERE}/services/s/proxy/a%20b/c/")
        assert read(answer)["details"]["causes"][0]["message"].endswith("denied request: /a b/c/")
    finally:
        ask(cluster, "DELETE", f"{bindings}/b")


def test_the_options_that_admission_has_changed_count(
    cluster: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def admit(*_: Any) -> Any:
        return {"kind": "PodExecOptions", "container": "nowhere"}

    monkeypatch.setattr(Admission, "admit", admit)
    answer = ask(cluster, "GET", f"{HERE}/pods/loose/exec?container=c")
    assert said(answer) == (400, "container nowhere is not valid for pod loose")
