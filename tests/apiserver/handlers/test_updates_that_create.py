"""Updates and applies of what is absent: which of them create it, and what that makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.asking import ask, read, said
from tests.apiserver.in_process import Running

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
SERVICES = "/api/v1/namespaces/default/services"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}], **spec},
        "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
    }


@pytest.mark.parametrize(
    ("method", "content_type"), [("PUT", "application/json"), ("PATCH", APPLY)]
)
def test_the_status_of_a_service_creates_it_without_addresses(
    running: Running, method: str, content_type: str
) -> None:
    name = f"through-{method.lower()}"
    path = f"{SERVICES}/{name}/status?fieldManager=m"
    answer = ask(running, method, path, service(name, type="NodePort"), content_type=content_type)
    made = read(answer)
    assert answer.code == 201
    assert made["status"] == {"loadBalancer": {}}
    assert {"clusterIP", "clusterIPs", "ipFamilies"}.isdisjoint(made["spec"])
    assert "nodePort" not in made["spec"]["ports"][0]
    assert [one["subresource"] for one in made["metadata"]["managedFields"]] == ["status"]

    labels = {"metadata": {"labels": {"a": "b"}}}
    spec = read(ask(running, "PATCH", f"{SERVICES}/{name}", labels, content_type=MERGE))["spec"]
    assert "clusterIPs" not in spec
    assert spec["ipFamilies"] == ["IPv4"]
    assert spec["ports"][0]["nodePort"] > 0


def test_what_is_wrong_with_the_addresses_of_such_a_service(running: Running) -> None:
    body = service("headless", clusterIP="None")
    assert said(ask(running, "PUT", f"{SERVICES}/headless/status", body)) == (
        422,
        'Service "headless" is invalid: spec.clusterIPs: Required value',
    )


def test_an_applied_status_creates_a_policy_and_an_update_of_it_does_not(running: Running) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "through"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "true"}],
        },
    }
    path = f"{POLICIES}/through/status?dryRun=All&fieldManager=m"
    assert ask(running, "PUT", path, policy).code == 404
    assert ask(running, "PATCH", path, policy, content_type=APPLY).code == 201


@pytest.mark.parametrize("path", [f"{SERVICES}/none", "/api/v1/nodes/none", f"{POLICIES}/none"])
def test_a_status_that_creates_nothing(running: Running, path: str) -> None:
    patched = ask(running, "PATCH", f"{path}/status", {"status": {}}, content_type=MERGE)
    assert patched.code == 404
    if not path.startswith(SERVICES):
        assert ask(running, "PUT", f"{path}/status", {"metadata": {"name": "none"}}).code == 404


@pytest.mark.parametrize(
    ("method", "content_type"), [("PUT", "application/json"), ("PATCH", APPLY)]
)
def test_the_version_that_an_update_says_of_what_is_absent(
    running: Running, method: str, content_type: str
) -> None:
    def sent(version: str, query: str = "") -> Any:
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": f"versioned-{method.lower()}", "resourceVersion": version},
        }
        path = f"{LEASES}/{body['metadata']['name']}?fieldManager=m{query}"
        return ask(running, method, path, body, content_type=content_type)

    for query in ("", "&dryRun=All"):
        assert said(sent("x", query)) == (500, 'strconv.ParseUint: parsing "x": invalid syntax')
    assert read(sent("4", "&dryRun=All"))["metadata"]["resourceVersion"] == "4"
    answer = sent("4")
    assert answer.code == 201
    assert read(answer)["metadata"]["resourceVersion"] != "4"


def test_a_new_object_says_no_version(running: Running) -> None:
    body = {**service("versioned"), "metadata": {"name": "versioned", "resourceVersion": "4"}}
    why = "resourceVersion should not be set on objects to be created"
    assert said(ask(running, "POST", SERVICES, body)) == (500, why)
