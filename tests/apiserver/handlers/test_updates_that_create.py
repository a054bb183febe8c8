"""Updates and applies of what is absent: which of them create it, and what that makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.asking import ask, read, said, warnings
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


def test_such_a_service_is_warned_of(running: Running) -> None:
    body = service("warned", externalIPs=["1.2.3.4"])
    path = f"{SERVICES}/warned/status?dryRun=All"
    assert warnings(ask(running, "PUT", path, body)) == [
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    ]


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
        body: dict[str, Any] = {
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


@pytest.mark.parametrize(
    ("method", "path", "kind", "spec"),
    [
        ("PATCH", "/api/v1/namespaces/default/configmaps/new", "ConfigMap", {}),
        ("PATCH", "/api/v1/namespaces/default/services/new", "Service", {"ports": [{"port": 80}]}),
        ("PUT", "/api/v1/namespaces/default/services/new", "Service", {"ports": [{"port": 80}]}),
    ],
)
def test_a_link_of_an_object_that_is_created_where_it_is_not(
    method: str, path: str, kind: str, spec: dict[str, Any]
) -> None:
    """As kube-apiserver 1.36 answers."""
    started = Running()
    meta = {"name": "new", "selfLink": "/x"}
    body = {"apiVersion": "v1", "kind": kind, "metadata": meta, **({"spec": spec} if spec else {})}
    content = "application/apply-patch+yaml" if method == "PATCH" else "application/json"
    try:
        for dry, link in (("&dryRun=All", "/x"), ("", None)):
            query = f"?fieldManager=m{dry}"
            answer = ask(started, method, path + query, body, content_type=content)
            assert answer.code == 201
            assert read(answer)["metadata"].get("selfLink") == link
    finally:
        started.close()
