"""Two servers on one etcd: what is done at one holds at the other."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.object_store import ROOT
from celadon.storage.etcd import EtcdSettings, parse_endpoints
from tests.apiserver.in_process import Running
from tests.apiserver.served_process import CONFIGMAPS, config_map
from tests.etcd.etcd_members import Cluster, cluster

pytestmark = pytest.mark.thorough

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/celadon-controllers"


@pytest.fixture(scope="module")
def members() -> Iterator[Cluster]:
    with cluster() as started:
        yield started


@pytest.fixture(scope="module")
def pair(members: Cluster) -> Iterator[tuple[Running, Running]]:
    with_others = Settings(is_one_of_several=True)
    etcd = EtcdSettings(parse_endpoints(members.urls), root=ROOT, prefix="/registry")
    first, second = Running(with_others, etcd), Running(with_others, etcd)
    yield first, second
    first.close()
    second.close()


def call(server: Running, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    headers = [("authorization", "Bearer admin-token"), ("content-type", "application/json")]
    data = b"" if body is None else json.dumps(body).encode()
    answer = server.answer(HttpRequest(method, path, headers, data))
    return answer.code, parsed(answer)


def parsed(answer: HttpAnswer) -> Any:
    return json.loads(answer.body) if answer.body.startswith(b"{") else answer.body.decode()


def test_reads_see_what_was_acknowledged_elsewhere(pair: tuple[Running, Running]) -> None:
    for number in range(20):
        writer, reader = pair if number % 2 else (pair[1], pair[0])
        code, made = call(writer, "POST", CONFIGMAPS, config_map(f"here-{number}"))
        assert code == 201
        code, found = call(reader, "GET", f"{CONFIGMAPS}/here-{number}")
        assert (code, found["metadata"]) == (200, made["metadata"])
        version = found["metadata"]["resourceVersion"]
        found["data"] = {"a": "b"}
        assert call(reader, "PUT", f"{CONFIGMAPS}/here-{number}", found)[0] == 200
        found["metadata"]["resourceVersion"] = version
        assert call(writer, "PUT", f"{CONFIGMAPS}/here-{number}", found)[0] == 409, "stale"


def test_a_policy_is_enforced_by_the_next_request_elsewhere(pair: tuple[Running, Running]) -> None:
    first, second = pair
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no"},
        "spec": {
            "matchConstraints": {"resourceRules": [{**rules[0], "operations": ["CREATE"]}]},
            "validations": [{"expression": "object.metadata.name != 'never'"}],
        },
    }
    binding = {
        **policy,
        "kind": "ValidatingAdmissionPolicyBinding",
        "spec": {"policyName": "no", "validationActions": ["Deny"]},
    }
    assert call(first, "POST", POLICIES, policy)[0] == 201
    for _ in range(10):
        assert call(first, "POST", BINDINGS, binding)[0] == 201
        code, refusal = call(second, "POST", CONFIGMAPS, config_map("never"))
        assert code == 422, refusal
        assert "failed expression: object.metadata.name != 'never'" in refusal["message"]
        assert call(first, "DELETE", f"{BINDINGS}/no")[0] == 200
        assert call(second, "POST", CONFIGMAPS, config_map("never"))[0] == 201
        assert call(first, "DELETE", f"{CONFIGMAPS}/never")[0] == 200


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({"clusterIP": "10.0.0.{number}"}, id="address"),
        pytest.param({"type": "NodePort", "nodePort": "300{number}"}, id="port"),
    ],
)
def test_nothing_is_given_to_two_services(
    pair: tuple[Running, Running], wanted: dict[str, str]
) -> None:
    path = "/api/v1/namespaces/default/services"
    with ThreadPoolExecutor(2) as both:
        for number in range(20, 40):
            spec: Any = {one: text.format(number=number) for one, text in wanted.items()}
            port = int(spec.pop("nodePort", 0))
            spec["ports"] = [{"port": 80, **({"nodePort": port} if port else {})}]
            bodies = [
                {
                    "apiVersion": "v1",
                    "kind": "Service",
                    "metadata": {"name": f"{side}-{port}-{number}"},
                    "spec": spec,
                }
                for side in ("left", "right")
            ]
            asked = [
                both.submit(call, server, "POST", path, body)
                for server, body in zip(pair, bodies, strict=True)
            ]
            answers = [one.result() for one in asked]
            assert sorted(code for code, _ in answers) == [201, 422], answers
            refusal = next(answer for code, answer in answers if code == 422)
            assert "is already allocated" in refusal["message"]


def test_a_page_begun_at_one_is_continued_at_the_other(pair: tuple[Running, Running]) -> None:
    first, second = pair
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pages"}}
    assert call(first, "POST", "/api/v1/namespaces", namespace)[0] == 201
    path = "/api/v1/namespaces/pages/configmaps"
    for number in range(4):
        assert call(second, "POST", path, config_map(f"c{number}"))[0] == 201
    _, page = call(first, "GET", f"{path}?limit=2")
    assert call(first, "DELETE", f"{path}/c3")[0] == 200
    _, rest = call(second, "GET", f"{path}?limit=9&continue={page['metadata']['continue']}")
    assert [one["metadata"]["name"] for one in rest["items"]] == ["c2", "c3"]
    assert rest["metadata"]["resourceVersion"] == page["metadata"]["resourceVersion"]


def test_one_leads_and_its_controllers_work_for_both(pair: tuple[Running, Running]) -> None:
    first, second = pair
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short"}}
    assert call(second, "POST", "/api/v1/namespaces", namespace)[0] == 201
    assert call(second, "DELETE", "/api/v1/namespaces/short")[0] == 200
    end = time.monotonic() + 60
    while call(second, "GET", "/api/v1/namespaces/short")[0] != 404:
        assert time.monotonic() < end, "nobody has finished the namespace"
        time.sleep(0.05)
    _, lease = call(first, "GET", LEASE)
    assert lease["spec"]["holderIdentity"]
    assert lease["spec"]["leaseTransitions"] == 0
    assert (
        call(second, "GET", LEASE)[1]["spec"]["holderIdentity"] == lease["spec"]["holderIdentity"]
    )


def test_without_etcd_only_old_answers_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celadon.storage.etcd.etcd_store.MOST_SILENCE", 0.0)
    with cluster() as alone:
        etcd = EtcdSettings(parse_endpoints(alone.urls), root=ROOT, prefix="/registry")
        server = Running(Settings(), etcd)
        try:
            assert call(server, "GET", "/readyz/etcd")[0] in (200, 500)
            alone.members[0].kill()
            monkeypatch.setattr("celadon.storage.etcd.etcd_client.CALL_SECONDS", 0.5)
            code, status = call(server, "GET", f"{CONFIGMAPS}/kube")
            assert (code, status["code"]) == (500, 500)
            assert call(server, "POST", CONFIGMAPS, config_map("a"))[0] == 500
            assert call(server, "GET", f"{CONFIGMAPS}?resourceVersion=0")[0] == 200
            code, text = call(server, "GET", "/readyz/etcd")
            assert code == 500
            assert text.startswith("internal server error: etcd has not answered for")
        finally:
            server.close()
