"""kubectl auth, create token, certificate, config: who may do what."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from celadon.testing import KubeApi
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough


def test_who_am_i(kubectl: Client) -> None:
    lines = [line.split(maxsplit=1) for line in kubectl("auth", "whoami").splitlines()]
    assert lines == [
        ["ATTRIBUTE", "VALUE"],
        ["Username", "kubernetes-admin"],
        ["Groups", "[system:masters system:authenticated]"],
    ]
    assert "Username    alice\n" in kubectl("auth", "whoami", "--as=alice", "--as-group=devs")


def test_what_may_i_do(kubectl: Client) -> None:
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    done = kubectl.run("auth", "can-i", "create", "pods", "--as=bob")
    assert (done.code, done.out) == (1, "no\n")
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods,pods/log")
    kubectl("create", "rolebinding", "bob", "--role=reader", "--user=bob")
    assert kubectl("auth", "can-i", "list", "pods", "--as=bob") == "yes\n"
    listed = kubectl("auth", "can-i", "--list", "--as=bob").splitlines()
    rules = [line.split() for line in listed]
    assert ["pods", "[]", "[]", "[get", "list]"] in rules
    assert ["pods/log", "[]", "[]", "[get", "list]"] in rules
    refused = kubectl.fails("get", "secrets", "--as=bob")
    assert refused == (
        'Error from server (Forbidden): secrets is forbidden: User "bob" cannot list resource '
        f'"secrets" in API group "" in the namespace "{kubectl.arguments[1]}"\n'
    )


def test_reconcile(kubectl: Client) -> None:
    role = (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
        f"metadata: {{name: r, namespace: {kubectl.arguments[1]}}}\n"
        "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"
    )
    kubectl.run("auth", "reconcile", "-f", kubectl.write("r.yaml", role))
    kubectl.write("r.yaml", role.replace("[get]", "[get, list]"))
    kubectl.run("auth", "reconcile", "-f", "r.yaml")
    rules = kubectl.json("get", "role", "r")["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list"}


def test_tokens_of_service_accounts(kubectl: Client) -> None:
    kubectl("create", "serviceaccount", "robot")
    token = kubectl("create", "token", "robot").strip()
    space = kubectl.arguments[1]
    config = ("--kubeconfig=/dev/null", f"--server={server(kubectl)}", "--insecure-skip-tls-verify")
    robot = replace(kubectl, environment={"HOME": str(kubectl.folder)})
    told = robot(*config, f"--token={token}", "auth", "whoami")
    assert f"system:serviceaccount:{space}:robot\n" in told
    assert "system:serviceaccounts:" + space in told
    assert kubectl.fails("create", "token", "nobody") == (
        'error: failed to create token: serviceaccounts "nobody" not found\n'
    )


def server(kubectl: Client) -> str:
    return kubectl("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")


def test_certificates_are_approved_and_denied(kubectl: Client) -> None:
    for name, verb, state in (("eve", "approve", "Approved"), ("mallory", "deny", "Denied")):
        request = (
            "apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\n"
            f"metadata: {{name: {name}}}\n"
            f"spec: {{request: {signing_request(name)}, usages: [client auth],\n"
            "  signerName: kubernetes.io/kube-apiserver-client}\n"
        )
        kubectl("create", "-f", "-", given=request)
        shown = kubectl("get", "csr", name, "--no-headers").split()
        assert [*shown[2:4], shown[-1]] == [
            "kubernetes.io/kube-apiserver-client",
            "kubernetes-admin",
            "Pending",
        ]
        kubectl("certificate", verb, name)
        assert kubectl("get", "csr", name, "--no-headers").split()[-1] == state
        assert f"Common Name:    {name}\n" in kubectl("describe", "csr", name)
    assert "already Approved" in kubectl.fails("certificate", "deny", "eve")


def signing_request(name: str) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    request = (
        x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    )
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


def test_config(kubectl: Client, api: KubeApi) -> None:
    assert kubectl("config", "current-context") == "celadon\n"
    assert kubectl("config", "get-users") == "NAME\nceladon\n"
    assert server(kubectl) == api.url


def test_another_user(kubectl: Client, api: KubeApi) -> None:
    alice = replace(kubectl, environment=api.as_user("alice", ["devs"]).environment())
    assert "Username    alice\n" in alice("auth", "whoami")
    assert alice.fails("get", "pods").startswith("Error from server (Forbidden): pods is forbidden")
