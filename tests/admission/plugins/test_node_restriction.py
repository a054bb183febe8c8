"""NodeRestriction: what a kubelet may do."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation, Request
from celadon.admission.plugins import PluginChain
from celadon.admission.plugins.node_restriction import forbidden_labels, node_name
from celadon.kube import User
from tests.admission.plugins.asking import ALICE, asked, obj, pod, text, world

KUBELET = User("system:node:n", ("system:nodes",))
NODE = obj("Node", "n")
NODE["metadata"]["uid"] = "u"
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}


def refused(request: Request, *objects: dict[str, Any]) -> str:
    found = text(PluginChain({"NodeRestriction"}).mutate(None, request, world(*objects)))
    return found.split(" is forbidden: ", 1)[-1]


def mirror(owner: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    made = pod({"kubernetes.io/config.mirror": "x"}, nodeName="n", **spec)
    made["metadata"]["ownerReferences"] = [OWNER | (owner or {})]
    return made


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (mirror(), ""),
        (
            pod(),
            'pod does not have "kubernetes.io/config.mirror" annotation, '
            'node "n" can only create mirror pods',
        ),
        (
            mirror({"name": "m"}),
            'node "n" can only create pods with an owner reference set to itself',
        ),
        (
            mirror({"controller": False}),
            'node "n" can only create pods with a controller owner reference set to itself',
        ),
        (
            mirror({"blockOwnerDeletion": True}),
            'node "n" must not set blockOwnerDeletion on an owner reference',
        ),
        (mirror({"uid": "v"}), "node n UID mismatch: expected v got u"),
        (
            mirror(serviceAccountName="default"),
            'node "n" can not create pods that reference a service account',
        ),
        (
            mirror(volumes=[{"name": "v", "secret": {"secretName": "s"}}]),
            'node "n" can not create pods that reference secrets',
        ),
        (
            mirror(volumes=[{"name": "v", "configMap": {"name": "m"}}]),
            'node "n" can not create pods that reference configmaps',
        ),
        (
            mirror(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
            'node "n" can not create pods that reference persistentvolumeclaims',
        ),
    ],
)
def test_new_pods(value: dict[str, Any], message: str) -> None:
    assert refused(asked(value, user=KUBELET), NODE) == message
    assert refused(asked(value, user=ALICE), NODE) == ""


HERE, ELSEWHERE = pod(nodeName="n"), pod(nodeName="m")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (asked(None, HERE, Operation.DELETE, user=KUBELET), ""),
        (
            asked(None, ELSEWHERE, Operation.DELETE, user=KUBELET),
            'node "n" can only delete pods with spec.nodeName set to itself',
        ),
        (
            asked(HERE, HERE, user=KUBELET),
            'unexpected operation "UPDATE", node "n" can only create and delete mirror pods',
        ),
        (asked(HERE, HERE, subresource="status", user=KUBELET), ""),
        (
            asked(ELSEWHERE, ELSEWHERE, subresource="status", user=KUBELET),
            'node "n" can only update pod status for pods with spec.nodeName set to itself',
        ),
        (
            asked(HERE, HERE, subresource="ephemeralcontainers", user=KUBELET),
            'unexpected pod subresource "ephemeralcontainers", '
            "only 'status' and 'eviction' are allowed",
        ),
        (asked(obj("Node", "n"), user=KUBELET), ""),
        (asked(obj("Node", "m"), user=KUBELET), 'node "n" is not allowed to modify node "m"'),
        (
            asked(obj("Node", "n", spec={"taints": [{"key": "k"}]}), NODE, user=KUBELET),
            'node "n" is not allowed to modify taints',
        ),
        (
            asked(obj("PersistentVolumeClaim", "c"), user=KUBELET),
            "may only update PVC status",
        ),
        (
            asked(obj("Lease", "n", "coordination.k8s.io/v1"), user=KUBELET),
            'can only access leases in the "kube-node-lease" system namespace',
        ),
        (
            asked(obj("CSINode", "m", "storage.k8s.io/v1"), user=KUBELET),
            "can only access CSINode with the same name as the requesting node",
        ),
        (asked(obj("ConfigMap", "c"), user=KUBELET), ""),
        (
            asked(obj("ConfigMap", "c"), user=User("system:node:", ("system:nodes",))),
            'could not determine node from user "system:node:"',
        ),
    ],
)
def test_requests(request_: Request, message: str) -> None:
    assert refused(request_) == message


def test_who_is_a_node() -> None:
    assert node_name(KUBELET) == "n"
    assert node_name(User("system:node:n")) is None
    assert node_name(User("n", ("system:nodes",))) is None


@pytest.mark.parametrize(
    ("label", "forbidden"),
    [
        ("example.com/x", False),
        ("plain", False),
        ("kubernetes.io/hostname", False),
        ("node.kubernetes.io/anything", False),
        ("kubernetes.io/unknown", True),
        ("sub.k8s.io/x", True),
        ("node-restriction.kubernetes.io/x", True),
        ("team.node-restriction.kubernetes.io/x", True),
    ],
)
def test_labels(label: str, forbidden: bool) -> None:
    assert forbidden_labels({label: "a"}, {}) == ([label] if forbidden else [])
    assert forbidden_labels({label: "a"}, {label: "a"}) == []
