"""Admission plugins at their places on the path of requests, and the switches for them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.kube.resources import enabled_plugins
from tests.apiserver.in_process import Running

PODS = "/api/v1/namespaces/{}/pods"
CONTAINERS = [{"name": "c", "image": "i"}]


def send(
    running: Running, method: str, path: str, body: Any = None, token: str = "admin-token"
) -> HttpAnswer:
    headers = [("authorization", f"Bearer {token}")]
    if method == "PATCH":
        headers.append(("content-type", "application/merge-patch+json"))
    data = b"" if body is None else json.dumps(body).encode()
    return running.answer(HttpRequest(method, path, headers, data))


def ask(running: Running, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
    answer = send(running, method, path, body, **more)
    return answer.code, json.loads(answer.body)


def namespace(running: Running, name: str, **labels: str) -> str:
    meta = {"name": name, "labels": {key.replace("_", "-"): labels[key] for key in labels}}
    assert ask(running, "POST", "/api/v1/namespaces", {"metadata": meta})[0] == 201
    return name


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": CONTAINERS, **spec}}


def message(found: tuple[int, Any]) -> tuple[int, str]:
    return found[0], found[1].get("message", "")


def warnings(answer: HttpAnswer) -> list[str]:
    return [value for key, value in answer.headers if key == "Warning"]


CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def test_a_default_class_and_a_second_one(running: Running) -> None:
    usual = {"metadata": {"name": "plugins-usual"}, "value": 3, "globalDefault": True}
    assert ask(running, "POST", CLASSES, usual)[0] == 201
    more = {"metadata": {"name": "plugins-more"}, "value": 4, "globalDefault": True}
    assert message(ask(running, "POST", CLASSES, more)) == (
        403,
        'priorityclasses.scheduling.k8s.io "plugins-more" is forbidden: PriorityClass '
        "plugins-usual is already marked as default. Only one default can exist",
    )
    path = PODS.format(namespace(running, "plugins-priority"))
    _, made = ask(running, "POST", path, pod())
    assert (made["spec"]["priority"], made["spec"]["priorityClassName"]) == (3, "plugins-usual")
    patch = {"metadata": {"labels": {"a": "b"}}, "spec": {"priority": None}}
    code, made = ask(running, "PATCH", f"{path}/p", patch)
    assert (code, made["spec"]["priority"]) == (200, 3)
    assert ask(running, "DELETE", f"{CLASSES}/plugins-usual")[0] == 200


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"serviceAccountName": "bot"},
            'error looking up service account plugins-pods/bot: serviceaccount "bot" not found',
        ),
        ({"priorityClassName": "no"}, "no PriorityClass with name no was found"),
        ({"runtimeClassName": "no"}, 'pod rejected: RuntimeClass "no" not found'),
        (
            {"overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
    ],
)
def test_pods_that_refer_to_nothing(running: Running, spec: dict[str, Any], text: str) -> None:
    ask(running, "POST", "/api/v1/namespaces", {"metadata": {"name": "plugins-pods"}})
    found = ask(running, "POST", PODS.format("plugins-pods"), pod(**spec))
    assert message(found) == (403, f'pods "p" is forbidden: {text}')


def test_pod_security(running: Running) -> None:
    prefix = "pod-security.kubernetes.io/"
    labels = {prefix + "enforce": "baseline", prefix + "warn": "restricted"}
    body = {"metadata": {"name": "plugins-secure", "labels": labels}}
    assert ask(running, "POST", "/api/v1/namespaces", body)[0] == 201
    path = PODS.format("plugins-secure")
    refused = send(running, "POST", path, pod(hostPID=True))
    assert json.loads(refused.body)["message"] == (
        'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces '
        "(hostPID=true)"
    )
    assert (warnings(refused), dict(refused.audit)) == (
        [],
        {
            "authorization.k8s.io/decision": "allow",
            "authorization.k8s.io/reason": "",
            prefix + "enforce-policy": "baseline:latest",
        },
    )
    made = send(running, "POST", path, pod())
    assert made.code == 201
    (warning,) = warnings(made)
    assert warning.startswith('299 - "would violate PodSecurity \\"restricted:latest\\": allow')
    stricter = {"metadata": {"labels": {prefix + "enforce": "restricted"}}}
    told = send(running, "PATCH", "/api/v1/namespaces/plugins-secure", stricter)
    assert told.code == 200
    assert warnings(told)[1].startswith('299 - "p: allowPrivilegeEscalation != false, unrestricted')


def signed_request(name: str, organization: str) -> str:
    """A request for a certificate as the API has it."""
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
        ]
    )
    key = ec.generate_private_key(ec.SECP256R1())
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    return base64.b64encode(made.public_bytes(Encoding.PEM)).decode()


RBAC = "/apis/rbac.authorization.k8s.io/v1"
SIGNING = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def test_certificates_are_not_for_everyone(running: Running) -> None:
    resources = [f"certificatesigningrequests{below}" for below in ("", "/approval")]
    rule = {"apiGroups": ["certificates.k8s.io"], "resources": resources, "verbs": ["*"]}
    role = {"metadata": {"name": "plugins-approver"}, "rules": [rule]}
    assert ask(running, "POST", f"{RBAC}/clusterroles", role)[0] == 201
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": "plugins-approver"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "plugins-approver"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "alice"}],
    }
    assert ask(running, "POST", f"{RBAC}/clusterrolebindings", binding)[0] == 201
    spec = {
        "request": signed_request("n", "devs"),
        "signerName": "example.com/s",
        "usages": ["client auth"],
    }
    body = {"metadata": {"name": "plugins-request"}, "spec": spec}
    assert ask(running, "POST", SIGNING, body, token="alice-token")[0] == 201
    condition = {"type": "Approved", "status": "True", "reason": "R", "message": "m"}
    patch = {"status": {"conditions": [condition]}}
    path = f"{SIGNING}/plugins-request/approval"
    assert message(ask(running, "PATCH", path, patch, token="alice-token")) == (
        403,
        'certificatesigningrequests.certificates.k8s.io "plugins-request" is forbidden: '
        'user not permitted to approve requests with signerName "example.com/s"',
    )
    assert ask(running, "PATCH", path, patch)[0] == 200


def test_nobody_becomes_an_administrator(running: Running) -> None:
    signer = "kubernetes.io/kube-apiserver-client"
    spec = {
        "request": signed_request("n", "system:masters"),
        "signerName": signer,
        "usages": ["client auth"],
    }
    body = {"metadata": {"name": "plugins-masters"}, "spec": spec}
    assert message(ask(running, "POST", SIGNING, body)) == (
        403,
        'certificatesigningrequests.certificates.k8s.io "plugins-masters" is forbidden: '
        f"use of {signer} signer with system:masters group is not allowed",
    )


def test_a_limit(running: Running) -> None:
    space = namespace(running, "plugins-limits")
    limit = {"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "500m"}}
    body = {"metadata": {"name": "l"}, "spec": {"limits": [limit]}}
    assert ask(running, "POST", f"/api/v1/namespaces/{space}/limitranges", body)[0] == 201
    big = [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}}}]
    found = ask(running, "POST", PODS.format(space), pod(containers=big))
    text = 'pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    assert message(found) == (403, text)


def test_a_pod_on_a_node_has_its_zone(running: Running) -> None:
    zone = {"topology.kubernetes.io/zone": "z"}
    node = {"metadata": {"name": "plugins-node", "labels": zone}}
    assert ask(running, "POST", "/api/v1/nodes", node)[0] == 201
    path = PODS.format(namespace(running, "plugins-zone"))
    assert ask(running, "POST", path, pod())[0] == 201
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "plugins-node"}}
    assert ask(running, "POST", f"{path}/p/binding", binding)[0] == 201
    assert ask(running, "GET", f"{path}/p")[1]["metadata"]["labels"] == zone


# --- switches ---


@pytest.fixture
def choosing() -> Iterator[Any]:
    """Servers with some plugins more and some fewer."""
    started: list[Running] = []

    def start(enable: list[str], disable: list[str] | None = None) -> Running:
        settings = Settings(plugins=enabled_plugins(enable, disable or ()))
        started.append(Running(settings))
        return started[-1]

    yield start
    for one in started:
        one.close()


def test_a_plugin_that_is_off_does_nothing(choosing: Any) -> None:
    off = ["ServiceAccount", "Priority", "DefaultTolerationSeconds", "NamespaceLifecycle"]
    server = choosing([], off)
    spec = {"serviceAccountName": "bot", "priorityClassName": "no"}
    code, made = ask(server, "POST", PODS.format("nowhere"), pod(**spec))
    assert code == 201
    assert not {"volumes", "priority", "tolerations"} & made["spec"].keys()


def test_a_plugin_that_is_on_does_its_work(choosing: Any) -> None:
    server = choosing(["AlwaysPullImages", "DenyServiceExternalIPs", "ExtendedResourceToleration"])
    needs = [{"name": "c", "image": "i:1", "resources": {"limits": {"example.com/gpu": "1"}}}]
    _, made = ask(server, "POST", PODS.format("default"), pod(containers=needs))
    assert made["spec"]["containers"][0]["imagePullPolicy"] == "Always"
    assert {one["key"] for one in made["spec"]["tolerations"]} >= {"example.com/gpu"}
    service = {
        "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 1}], "externalIPs": ["1.2.3.4"]},
    }
    found = ask(server, "POST", "/api/v1/namespaces/default/services", service)
    text = 'services "s" is forbidden: Use of external IPs is denied by admission control'
    assert message(found) == (403, text)


def test_nothing_is_admitted(choosing: Any) -> None:
    server = choosing(["AlwaysDeny"])
    maps = "/api/v1/namespaces/default/configmaps"
    found = ask(server, "POST", maps, {"metadata": {"name": "c"}})
    text = 'configmaps "c" is forbidden: admission control is denying all modifications'
    assert message(found) == (403, text)
    assert ask(server, "GET", maps)[0] == 200


REGISTRATION = "/apis/admissionregistration.k8s.io/v1"


def _asks(label: str) -> dict[str, Any]:
    """Whom something is registered for: new pods with this label."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    return {
        "objectSelector": {"matchExpressions": [{"key": label, "operator": "Exists"}]},
        "resourceRules": [rule],
    }


def _webhook(label: str) -> dict[str, Any]:
    """One that nobody answers for."""
    asks = _asks(label)
    return {
        "name": f"{label}.e.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": asks["resourceRules"],
        "objectSelector": asks["objectSelector"],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }


def _refusing(running: Running, space: str) -> None:
    """Everything that can refuse a pod does: limits, quotas, policies and webhooks."""
    limit = {"type": "Container", "max": {"cpu": "1"}}
    expression = 'object.spec.absent ? [JSONPatch{op: "remove", path: "/spec"}] : []'
    failing = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    made: dict[str, dict[str, Any]] = {
        f"/api/v1/namespaces/{space}/limitranges": {"spec": {"limits": [limit]}},
        f"/api/v1/namespaces/{space}/resourcequotas": {"spec": {"hard": {"count/pods": "0"}}},
        f"{REGISTRATION}/mutatingadmissionpolicies": {
            "spec": {
                "matchConstraints": _asks("mutating-policy"),
                "mutations": [failing],
                "reinvocationPolicy": "Never",
            }
        },
        f"{REGISTRATION}/mutatingadmissionpolicybindings": {"spec": {"policyName": "order"}},
        f"{REGISTRATION}/mutatingwebhookconfigurations": {
            "webhooks": [_webhook("mutating-webhook")]
        },
        f"{REGISTRATION}/validatingadmissionpolicies": {
            "spec": {
                "matchConstraints": _asks("policy"),
                "validations": [{"expression": "false", "message": "never"}],
            }
        },
        f"{REGISTRATION}/validatingadmissionpolicybindings": {
            "spec": {"policyName": "order", "validationActions": ["Deny"]}
        },
        f"{REGISTRATION}/validatingwebhookconfigurations": {"webhooks": [_webhook("webhook")]},
    }
    for path, body in made.items():
        found = ask(running, "POST", path, {"metadata": {"name": "order"}, **body})
        assert found[0] == 201, message(found)


def test_who_comes_first_refuses_first() -> None:
    """A pod that everybody refuses, mended step by step."""
    running = Running()
    labels = {"mutating-policy": "", "mutating-webhook": "", "policy": "", "webhook": ""}
    container: dict[str, Any] = {"name": "c", "image": "i"}
    container["resources"] = {"limits": {"cpu": "2"}}
    bad = {"serviceAccountName": "no", "priorityClassName": "no", "runtimeClassName": "no"}
    body = pod(containers=[container], hostPID=True, restartPolicy="Sometimes", **bad)
    body["metadata"]["labels"] = labels
    spec = body["spec"]
    secure = {"pod-security.kubernetes.io/enforce": "baseline"}
    space = {"metadata": {"name": "order", "labels": secure}}
    steps: tuple[tuple[str, Callable[[], object]], ...] = (
        ('namespaces "order" not found', lambda: ask(running, "POST", "/api/v1/namespaces", space)),
        ("error looking up service account order/no", lambda: spec.pop("serviceAccountName")),
        ("no PriorityClass with name no", lambda: spec.pop("priorityClassName")),
        ('RuntimeClass "no" not found', lambda: spec.pop("runtimeClassName")),
        ("policy 'order' with binding 'order' denied", lambda: labels.pop("mutating-policy")),
        ('calling webhook "mutating-webhook.e.com"', lambda: labels.pop("mutating-webhook")),
        ('Unsupported value: "Sometimes"', lambda: spec.pop("restartPolicy")),
        ("maximum cpu usage per Container is 1", lambda: container.pop("resources")),
        ('violates PodSecurity "baseline:latest"', lambda: spec.pop("hostPID")),
        ("ValidatingAdmissionPolicy 'order' with binding", lambda: labels.pop("policy")),
        ('calling webhook "webhook.e.com"', lambda: labels.pop("webhook")),
    )
    try:
        for number, (complaint, mend) in enumerate(steps):
            if number == 1:
                _refusing(running, "order")
            _, told = message(ask(running, "POST", PODS.format("order"), body))
            assert complaint in told, told
            mend()
        _, told = message(ask(running, "POST", PODS.format("order"), body))
        assert "exceeded quota: order" in told, told
    finally:
        running.close()
