"""Random requests about who somebody is: tokens of service accounts, reviews of them, certificates
and their approval, trust bundles, and what kubelets may write; to our server and a real one.

Each scenario has a pod on a node, and what belongs to both. Kubelets may do everything by role, so
that the plugin alone refuses: the real server needs `--enable-admission-plugins NodeRestriction`.
"""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fuzz.servers import Sent, Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference, random_changes

Json = Any
JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
NODE: Final = "fuzz-node"
SIGNERS: Final = (
    *("kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet"),
    *(
        "kubernetes.io/kubelet-serving",
        "kubernetes.io/legacy-unknown",
        "e.com/s",
        "kubernetes.io/x",
    ),
    "kubernetes.io/kube-apiserver-client-pod",
)
USAGES: Final = ("digital signature", "key encipherment", "client auth", "server auth", "any", "x")
CONDITION: Final = {
    "type": "Approved", "status": "True", "reason": "R", "message": "m",
    "lastUpdateTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z",
}  # fmt: skip
_NODES: Final = "system:nodes"
_KEY: Final = ec.generate_private_key(ec.SECP256R1())


def _request(name: str, *organizations: str) -> str:
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, text) for text in organizations]
    subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(_KEY, hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


REQUESTS: Final = (
    *(_request(f"system:node:{name}", _NODES) for name in (NODE, "other")),
    *(_request("bob"), _request("bob", "system:masters"), _request("system:node:", _NODES)),
    *(_request(f"system:node:{NODE}"), _request(f"system:node:{NODE}", _NODES, "system:masters")),
    *(base64.b64encode(b"x").decode(), ""),
)
CORE: Final = "/api/v1/namespaces/SPACE"
CERTIFICATES: Final = "/apis/certificates.k8s.io"
POD: Final = {"containers": [{"name": "c", "image": "i"}], "serviceAccountName": "a"}


def _named(name: str, **members: Json) -> Json:
    return {"metadata": {"name": name}, **members}


def _certificate(signer: str, request: str, usages: tuple[str, ...]) -> Json:
    spec = {"signerName": signer, "request": request, "usages": list(usages)}
    return _named("SPACE", spec=spec)


MIRROR: Final = {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"}
OWNER: Final = {
    "apiVersion": "v1",
    "kind": "Node",
    "name": NODE,
    "uid": "NODE-UID",
    "controller": True,
}
ASKED: Final[tuple[tuple[str, str, str, Json], ...]] = (
    ("POST", f"{CORE}/serviceaccounts/a/token", JSON,
     {"spec": {"audiences": ["x"], "expirationSeconds": 600,
               "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p",
                                  "uid": "POD-UID"}}}),
    ("POST", f"{CORE}/serviceaccounts/a/token", JSON,
     {"spec": {"audiences": [], "expirationSeconds": 3607,
               "boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "s"}}}),
    ("POST", f"{CORE}/serviceaccounts/a/token", JSON,
     {"spec": {"boundObjectRef": {"kind": "Node", "apiVersion": "v1", "name": NODE,
                                  "uid": "NODE-UID"}}}),
    ("POST", f"{CORE}/serviceaccounts/a/token", JSON, {"metadata": {"name": "a"}, "spec": {}}),
    ("POST", f"{CORE}/serviceaccounts/none/token", JSON, {"spec": {}}),
    ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", JSON,
     {"spec": {"token": "TOKEN", "audiences": ["x"]}}),
    ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", JSON, {"spec": {"token": "TOKEN"}}),
    ("POST", f"{CORE}/pods", JSON,
     {"metadata": {"name": "m", "annotations": MIRROR, "ownerReferences": [OWNER]},
      "spec": {"nodeName": NODE, "containers": [{"name": "c", "image": "i"}]}}),
    ("POST", f"{CORE}/pods", JSON,
     {"metadata": {"name": "w"}, "spec": {
         **POD, "imagePullSecrets": [{"name": "s"}], "automountServiceAccountToken": True,
         "volumes": [{"name": "v", "secret": {"secretName": "s"}},
                     {"name": "t", "projected": {"sources": [{"serviceAccountToken": {
                         "path": "t", "audience": "x"}}]}}]}}),
    ("DELETE", f"{CORE}/pods/p", JSON, {"gracePeriodSeconds": 0}),
    ("DELETE", f"{CORE}/pods/q", JSON, {"gracePeriodSeconds": 0}),
    ("POST", f"{CORE}/pods/p/eviction", JSON, _named("p")),
    ("POST", f"{CORE}/pods/q/eviction", JSON, _named("q")),
    ("PATCH", f"{CORE}/pods/p/status", STRATEGIC,
     {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Running"}}),
    ("PATCH", f"{CORE}/pods/p/status", STRATEGIC,
     {"status": {"phase": "Running", "resourceClaimStatuses": [{"name": "c"}]}}),
    ("PATCH", f"{CORE}/pods/q/status", STRATEGIC, {"status": {"phase": "Running"}}),
    ("PATCH", f"{CORE}/pods/p", STRATEGIC, {"metadata": {"labels": {"a": "b"}}}),
    ("PATCH", f"{CORE}/persistentvolumeclaims/c/status", MERGE,
     {"status": {"capacity": {"storage": "2Gi"}, "conditions": [{"type": "Resizing",
                                                                  "status": "True"}]}}),
    ("PATCH", f"{CORE}/persistentvolumeclaims/c", MERGE, {"metadata": {"labels": {"a": "b"}}}),
    ("PATCH", f"/api/v1/nodes/{NODE}", STRATEGIC,
     {"metadata": {"labels": {"kubernetes.io/os": "linux", "node.kubernetes.io/a": "b",
                              "node-restriction.kubernetes.io/x": "y"}}}),
    ("PATCH", f"/api/v1/nodes/{NODE}", STRATEGIC,
     {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
    ("PATCH", f"/api/v1/nodes/{NODE}/status", STRATEGIC, {"status": {"capacity": {"cpu": "1"}}}),
    ("PATCH", "/api/v1/nodes/fuzz-other", STRATEGIC, {"metadata": {"labels": {"a": "b"}}}),
    ("POST", "/api/v1/nodes", JSON,
     _named("fuzz-new", metadata={"name": "fuzz-new", "labels": {"k8s.io/a": "b"}})),
    ("DELETE", f"/api/v1/nodes/{NODE}", JSON, None),
    ("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", JSON, _named(NODE)),
    ("POST", "/apis/coordination.k8s.io/v1/namespaces/SPACE/leases", JSON, _named(NODE)),
    ("POST", "/apis/storage.k8s.io/v1/csinodes", JSON, _named(NODE, spec={"drivers": []})),
    ("POST", "/apis/storage.k8s.io/v1/csinodes", JSON, _named("other", spec={"drivers": []})),
    ("POST", "/apis/resource.k8s.io/v1/resourceslices", JSON,
     _named("SPACE", spec={"driver": "e.com", "nodeName": NODE, "devices": [{"name": "d"}],
                           "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}})),
    *(("POST", f"{CERTIFICATES}/v1/certificatesigningrequests", JSON, _certificate(*one))
      for one in (
          (SIGNERS[0], REQUESTS[2], USAGES[:3]), (SIGNERS[1], REQUESTS[0], USAGES[:3]),
          (SIGNERS[2], REQUESTS[0], (USAGES[0], USAGES[3])), (SIGNERS[0], REQUESTS[3], USAGES[2:3]),
          (SIGNERS[4], REQUESTS[1], USAGES[2:3]))),
    ("PATCH", f"{CERTIFICATES}/v1/certificatesigningrequests/SPACE/approval", MERGE,
     {"status": {"conditions": [CONDITION]}}),
    ("PATCH", f"{CERTIFICATES}/v1/certificatesigningrequests/SPACE/approval", MERGE,
     {"status": {"conditions": [{**CONDITION, "type": "Denied"}], "certificate": "eA=="}}),
    ("PATCH", f"{CERTIFICATES}/v1/certificatesigningrequests/SPACE/status", MERGE,
     {"status": {"certificate": "eA==", "conditions": [{**CONDITION, "type": "Failed"}]}}),
    ("PATCH", f"{CERTIFICATES}/v1/certificatesigningrequests/SPACE", MERGE,
     {"metadata": {"labels": {"a": "b"}}, "spec": {"usages": ["any"]}}),
    ("POST", f"{CERTIFICATES}/v1beta1/clustertrustbundles", JSON,
     _named("e.com:s:SPACE", spec={"signerName": "e.com/s", "trustBundle": "x"})),
    ("POST", f"{CERTIFICATES}/v1beta1/clustertrustbundles", JSON,
     _named("SPACE", spec={"trustBundle": "x"})),
    ("POST", f"{CERTIFICATES}/v1beta1/namespaces/SPACE/podcertificaterequests", JSON,
     _named("r", spec={
         "signerName": "e.com/s", "podName": "p", "podUID": "POD-UID", "nodeName": NODE,
         "nodeUID": "NODE-UID", "serviceAccountName": "a", "serviceAccountUID": "ACCOUNT-UID",
         "maxExpirationSeconds": 86400, "pkixPublicKey": "eA==", "proofOfPossession": "eA=="})),
    ("POST", f"{CORE}/secrets", JSON,
     {"metadata": {"name": "t", "annotations": {"kubernetes.io/service-account.name": "a"}},
      "type": "kubernetes.io/service-account-token"}),
    ("POST", "/api/v1/namespaces/kube-system/secrets", JSON,
     {"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token",
      "stringData": {"token-id": "abcdef", "token-secret": "0123456789abcdef",
                     "usage-bootstrap-authentication": "true"}}),
    ("PATCH", f"{CORE}/serviceaccounts/a", MERGE,
     {"secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "s"}],
      "metadata": {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}}),
)  # fmt: skip
"""Method, path, content type, body."""
WHO: Final[tuple[Mapping[str, str], ...]] = (
    {},
    *([{"impersonate-user": f"system:node:{NODE}", "impersonate-group": _NODES}] * 4),
    {"impersonate-user": "fuzz-writer"},
    {"impersonate-user": "fuzz-signer"},
    {"impersonate-user": "system:node:", "impersonate-group": _NODES},
)
LEFT: Final = (
    "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef",
    f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{NODE}",
    *(f"/apis/storage.k8s.io/v1/csinodes/{name}" for name in (NODE, "other")),
    *(f"/api/v1/nodes/{name}" for name in (NODE, "fuzz-other", "fuzz-new")),
)
_RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
_ANY: Final = {
    "apiGroups": ["*"],
    "resources": ["*"],
    "verbs": ["get", "list", "create", "update", "patch"],
}
_SIGNER: Final = {
    "apiGroups": ["certificates.k8s.io"], "resources": ["signers"],
    "resourceNames": ["kubernetes.io/*", "e.com/s"], "verbs": ["approve", "attest"],
}  # fmt: skip
ROLES: Final = (
    ("fuzz-kubelets", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
     {"kind": "Group", "name": _NODES}),
    ("fuzz-writer", [_ANY], {"kind": "User", "name": "fuzz-writer"}),
    ("fuzz-signer", [_ANY, _SIGNER], {"kind": "User", "name": "fuzz-signer"}),
)  # fmt: skip


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many scenarios, request by request."""
    for server in (ours, real):
        for name, rules, subject in ROLES:
            server.call("POST", f"{_RBAC}/clusterroles", _named(name, rules=rules))
            ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
            binding = _named(name, roleRef=ref, subjects=[subject])
            server.call("POST", f"{_RBAC}/clusterrolebindings", binding)
        server.call("POST", "/api/v1/namespaces", _named("kube-node-lease"))
        server.settle()
    for number in range(count):
        scenario = _Scenario(ours, real, f"identities-{seed}-{number}", Random(f"{seed}-{number}"))
        yield from scenario.told()


class _Scenario:
    """A namespace and a node, and what is asked about them."""

    def __init__(self, ours: Server, real: Server, space: str, chance: Random) -> None:
        self.servers = (ours, real)
        self.space = space
        self.chance = chance
        self.texts: list[dict[str, str]] = []

    def told(self) -> Iterator[Difference | None]:
        """Ask a few times, whatever the answers are."""
        for server in self.servers:
            self.texts.append(self._prepared(server))
            server.settle()
        for _ in range(12):
            yield self._asked()
        for server in self.servers:
            path = f"{CERTIFICATES}/v1/certificatesigningrequests/{self.space}"
            for left in (path, *LEFT):
                server.call("DELETE", left)

    def _prepared(self, server: Server) -> dict[str, str]:
        core = CORE.replace("SPACE", self.space)
        server.call("POST", "/api/v1/namespaces", _named(self.space))
        account = server.call("POST", f"{core}/serviceaccounts", _named("a")).body
        server.call("POST", f"{core}/serviceaccounts", _named("default"))
        for name in (NODE, "fuzz-other"):
            server.call("POST", "/api/v1/nodes", _named(name))
        node = server.call("GET", f"/api/v1/nodes/{NODE}").body
        server.call("POST", f"{core}/secrets", _named("s"))
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        server.call("POST", f"{core}/persistentvolumeclaims", _named("c", spec=claim))
        tokens = {
            "projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": "x"}}]}
        }
        spec = {**POD, "nodeName": NODE, "volumes": [{"name": "v", **tokens}]}
        pod = server.call("POST", f"{core}/pods", _named("p", spec=spec)).body
        server.call("POST", f"{core}/pods", _named("q", spec={**POD, "nodeName": "fuzz-other"}))
        token = {"spec": {"audiences": ["x", "https://kubernetes.default.svc"]}}
        answer = server.call("POST", f"{core}/serviceaccounts/a/token", token).body
        return {
            "NODE-UID": node["metadata"]["uid"],
            "POD-UID": pod["metadata"]["uid"],
            "ACCOUNT-UID": account["metadata"]["uid"],
            "SPACE": self.space,
            "TOKEN": answer["status"]["token"],
        }

    def _asked(self) -> Difference | None:
        chance = self.chance
        method, path, content, template = chance.choice(ASKED)
        who = chance.choice(WHO)
        body = copy.deepcopy(template)
        if body is not None and chance.random() < 0.6:
            self._changed(path, body)
        query = "?dryRun=All" if chance.random() < 0.3 else ""
        headers = {"accept": JSON, "content-type": content, **who}
        text = "" if body is None else json.dumps(body)
        shown = []
        for server, texts in zip(self.servers, self.texts, strict=True):
            sent, target = text, path + query
            for name, value in texts.items():
                sent, target = sent.replace(name, value), target.replace(name, value)
            shown.append(_said(server.ask(method, target, sent.encode(), headers)))
        for server in self.servers:
            server.settle()
        if shown[0] == shown[1]:
            return None
        return Difference(method, path + query, f"{dict(who)}\n    {text}", *shown)

    def _changed(self, path: str, body: Json) -> None:
        chance = self.chance
        spec = body.get("spec", {})
        if "signerName" in spec and chance.random() < 0.7:
            spec["signerName"] = chance.choice(SIGNERS)
            if "request" in spec and chance.random() < 0.5:
                spec["request"] = chance.choice(REQUESTS)
            return
        kind = "TokenRequest" if path.endswith("/token") else "Pod"
        sent = {"apiVersion": "v1", "kind": kind, **body}
        if kind == "TokenRequest":
            sent["apiVersion"] = "authentication.k8s.io/v1"
        for change in random_changes(sent, chance):
            if change.path[0] in body or len(change.path) == 1:
                change.made(body)


_BESIDE: Final = re.compile(r',\{"configMap":\{"name":"openshift[^]]*\]\}\}')
"""What some builds of a real server mount besides."""
_TOKEN: Final = re.compile(r'"token":"[\w-]+\.([\w-]+)\.[\w-]+"')
_OWN: Final = re.compile(r'\\?"(exp|iat|nbf|warnafter)\\?":\d+')


def _said(reply: Sent) -> str:
    """The answer, with the claims of a token in place of it."""
    text = _BESIDE.sub("", _TOKEN.sub(_claims, reply.data.decode()))
    return told(Sent(reply.code, reply.headers, text.encode(), reply.warnings))


def _claims(match: re.Match[str]) -> str:
    claims = base64.urlsafe_b64decode(match[1] + "=" * (-len(match[1]) % 4)).decode()
    return '"token":' + _OWN.sub(r"\1", claims)
