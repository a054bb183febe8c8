"""Random questions about what kubelets may do, with `--authorization-mode Node,RBAC`, to our server
and a real one.

Each scenario has two nodes, pods on them that name secrets and much more, volumes, and what is
about a node; then some of that changes, and all is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

from tests.fuzz.servers import SENT_JSON, Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference

Json = Any
MERGE: Final = {"content-type": "application/merge-patch+json"}
ACCESS: Final = "authorization.k8s.io/v1"
REVIEWS: Final = f"/apis/{ACCESS}/subjectaccessreviews"
VERBS: Final = (
    *("get", "get", "get", "list", "watch", "create", "update", "patch", "delete"),
    *("deletecollection", "x"),
)
GROUPS: Final = {
    "leases": "coordination.k8s.io",
    **dict.fromkeys(("csinodes", "volumeattachments", "csidrivers"), "storage.k8s.io"),
    **dict.fromkeys(("resourceslices", "resourceclaims"), "resource.k8s.io"),
    **dict.fromkeys(
        ("podcertificaterequests", "clustertrustbundles", "certificatesigningrequests"),
        "certificates.k8s.io",
    ),
    "runtimeclasses": "node.k8s.io",
    "tokenreviews": "authentication.k8s.io",
    "deployments": "apps",
}
_SECRETS: Final = tuple(f"s{number}" for number in range(8))
NAMES: Final = {
    "secrets": _SECRETS,
    "configmaps": ("c0", "c1", "c2", "c3"),
    "persistentvolumeclaims": ("v0", "v1", "v2", "q-e"),
    "persistentvolumes": ("SPACE-0", "SPACE-1", "SPACE-2"),
    "pods": ("p", "q", "r"),
    "nodes": ("n1", "n2"),
    "serviceaccounts": ("a", "b", "default"),
    "resourceclaims": ("rc", "made", "none"),
    "volumeattachments": ("SPACE-n1", "SPACE-n2"),
    "resourceslices": ("SPACE-n1", "SPACE-n2"),
}
RARE: Final = ("services", "endpoints", "events", *GROUPS)
EVERYWHERE: Final = ("persistentvolumes", "nodes", "volumeattachments", "resourceslices")
SELECTORS: Final = (
    *("spec.nodeName=n1", "spec.nodeName=n2", "metadata.name=p", "spec.nodeName!=n1"),
    "a=b,spec.nodeName==n1",
)
CLAIM: Final = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}
POOL: Final = {"name": "p", "generation": 1, "resourceSliceCount": 1}
SOURCES: Final[tuple[Json, ...]] = (
    {"csi": {"driver": "d", "volumeHandle": "h",
             "nodePublishSecretRef": {"name": "s5", "namespace": "SPACE"},
             "controllerPublishSecretRef": {"name": "s6", "namespace": "SPACE"}}},
    {"iscsi": {"targetPortal": "1.2.3.4:1", "iqn": "iqn.2015-02.example.com:t", "lun": 0,
               "secretRef": {"name": "s7"}}},
    {"azureFile": {"secretName": "s4", "shareName": "x", "secretNamespace": "SPACE"}},
)  # fmt: skip
PODS: Final[dict[str, Json]] = {
    "p": {"nodeName": "n1", "serviceAccountName": "a", "containers": [
        {"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": "c0"}}],
         "env": [{"name": "x", "valueFrom": {"secretKeyRef": {"name": "s0", "key": "k"}}}]}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v0"}},
                    {"name": "w", "projected": {"sources": [
                        {"secret": {"name": "s1"}}, {"configMap": {"name": "c1"}}]}}],
        "imagePullSecrets": [{"name": "s2"}]},
    "q": {"nodeName": "n2", "serviceAccountName": "b", "containers": [{"name": "c", "image": "i"}],
          "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v1"}},
                      {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
                      {"name": "c", "configMap": {"name": "c2"}}],
          "resourceClaims": [{"name": "r", "resourceClaimName": "rc"},
                             {"name": "t", "resourceClaimTemplateName": "rt"}]},
    "r": {"containers": [{"name": "c", "image": "i"}],
          "volumes": [{"name": "s", "secret": {"secretName": "s3"}}]},
}  # fmt: skip
MADE: Final = [{"name": "t", "resourceClaimName": "made"}]
CHANGES: Final[tuple[tuple[str, str, Json], ...]] = (
    ("DELETE", "/api/v1/namespaces/SPACE/pods/p", {"gracePeriodSeconds": 0}),
    ("DELETE", "/api/v1/persistentvolumes/SPACE-1", None),
    ("PATCH", "/api/v1/namespaces/SPACE/pods/q/status",
     {"status": {"resourceClaimStatuses": None}}),
    ("PATCH", "/api/v1/namespaces/SPACE/pods/q",
     {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}}),
    ("DELETE", "/apis/storage.k8s.io/v1/volumeattachments/SPACE-n1", None),
)  # fmt: skip


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many scenarios, request by request."""
    servers = (ours, real)
    for number in range(count):
        space, chance = f"nodes-{seed}-{number}", Random(f"{seed}-{number}")
        for method, path, body in _prepared(space):
            _both(servers, space, method, path, body)
        for changes in ((), CHANGES):
            for method, path, body in changes:
                if chance.random() < 0.7:
                    _both(servers, space, method, path, body)
            for server in servers:
                server.settle()
            for _ in range(40):
                yield _asked(servers, space, chance)
        _both(servers, space, "DELETE", "/api/v1/namespaces/SPACE", None)


def _both(servers: Sequence[Server], space: str, method: str, path: str, body: Json) -> None:
    headers = MERGE if method == "PATCH" else SENT_JSON
    sent = json.loads(json.dumps(body).replace("SPACE", space))
    for server in servers:
        server.call(method, path.replace("SPACE", space), sent, headers)


def _prepared(space: str) -> Iterator[tuple[str, str, Json]]:
    core = f"/api/v1/namespaces/{space}"
    yield "POST", "/api/v1/namespaces", _named(space)
    for name in ("a", "b", "default"):
        yield "POST", f"{core}/serviceaccounts", _named(name)
    for number, source in enumerate(SOURCES):
        claim = _named(f"v{number}", spec={**CLAIM, "volumeName": f"{space}-{number}"})
        yield "POST", f"{core}/persistentvolumeclaims", claim
        bound = {"claimRef": {"namespace": space, "name": f"v{number}"}}
        spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, **bound, **source}
        yield "POST", "/api/v1/persistentvolumes", _named(f"{space}-{number}", spec=spec)
    for name, spec in PODS.items():
        pod = _named(name, spec={"automountServiceAccountToken": False, **spec})
        yield "POST", f"{core}/pods", pod
    yield "PATCH", f"{core}/pods/q/status", {"status": {"resourceClaimStatuses": MADE}}
    for node in ("n1", "n2"):
        spec = {"attacher": "d", "nodeName": node, "source": {"persistentVolumeName": "x"}}
        attached = _named(f"{space}-{node}", spec=spec)
        yield "POST", "/apis/storage.k8s.io/v1/volumeattachments", attached
        spec = {"driver": "e.com", "nodeName": node, "devices": [{"name": "d"}], "pool": POOL}
        for version in ("v1", "v1beta1"):
            path = f"/apis/resource.k8s.io/{version}/resourceslices"
            yield "POST", path, _named(f"{space}-{node}", spec=spec)


def _named(name: str, **members: Json) -> Json:
    return {"metadata": {"name": name}, **members}


def _asked(servers: Sequence[Server], space: str, chance: Random) -> Difference | None:
    resource = chance.choice(RARE if chance.random() < 0.25 else tuple(NAMES))
    asked = {"verb": chance.choice(VERBS), "resource": resource, "group": GROUPS.get(resource, "")}
    if chance.random() < 0.85:
        asked["name"] = chance.choice(NAMES.get(resource, ("n1", "n2")))
    if chance.random() < 0.8 and resource not in EVERYWHERE:
        asked["namespace"] = chance.choice(("SPACE", "SPACE", "SPACE", "kube-node-lease"))
    if chance.random() < 0.2:
        asked["subresource"] = chance.choice(("status", "token", "eviction", "log"))
    attributes: Json = asked
    if chance.random() < 0.25:
        attributes = {**asked, "fieldSelector": {"rawSelector": chance.choice(SELECTORS)}}
    user = chance.choice(("n1", "n1", "n1", "n2", "n2", "n2", "n3", ""))
    groups = ["system:nodes"] if chance.random() < 0.95 else ["g"]
    spec = {"resourceAttributes": attributes, "user": f"system:node:{user}", "groups": groups}
    text = json.dumps({"apiVersion": ACCESS, "kind": "SubjectAccessReview", "spec": spec})
    data = text.replace("SPACE", space).encode()
    headers = {"accept": "application/json", **SENT_JSON}
    shown = [told(server.ask("POST", REVIEWS, data, headers)) for server in servers]
    return None if shown[0] == shown[1] else Difference("POST", REVIEWS, data.decode(), *shown)
