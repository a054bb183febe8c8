"""What kubelets may do, and with which words they are refused, as beside kube-apiserver 1.36."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.authz.authorizer_chain import (
    ACCOUNT_GATES,
    SELECTORS_GATE,
    NodeAuthorizer,
)
from celadon.apiserver.http_messages import HttpRequest
from celadon.kube import Attributes, Ruling, User
from celadon.kube.rbac import PolicyRule
from celadon.kube.releases import answering_as
from celadon.kube.selectors import parse_field_selector
from tests.apiserver.in_process import Running

KUBELET = User("system:node:n", ("system:nodes",))
RULES = (PolicyRule(("get",), ("",), ("services", "pods", "nodes")),)
CLAIMS, CLASSES = "persistentvolumeclaims", "podcertificaterequests"
STRANGE = "no relationship found between node 'n' and this object"
ALL_GATES = frozenset((SELECTORS_GATE, *ACCOUNT_GATES))
GROUPS = {
    "leases": "coordination.k8s.io",
    "csinodes": "storage.k8s.io",
    "volumeattachments": "storage.k8s.io",
    "resourceslices": "resource.k8s.io",
    "resourceclaims": "resource.k8s.io",
    CLASSES: "certificates.k8s.io",
}


class Known:
    """Knows what is called `mine`, in the namespace `ns` or in none."""

    def has(self, node: str, resource: str, namespace: str, name: str) -> bool:
        return (node, name) == ("n", "mine") and namespace in ("", "ns")


def told(
    question: str, user: User = KUBELET, gates: frozenset[str] = ALL_GATES, selector: str = ""
) -> str | None:
    """The refusal of a question such as `get secrets/status ns mine`; None if it may."""
    verb, resource, *more = question.split(" ")
    namespace, name = (*more, "", "")[:2]
    resource, _, subresource = resource.partition("/")
    chosen: dict[str, Any] = {"field_selector": parse_field_selector(selector)} if selector else {}
    attributes = Attributes(
        user,
        verb,
        resource_request=True,
        group=GROUPS.get(resource, ""),
        resource=resource,
        subresource=subresource,
        namespace=namespace.strip("-"),
        name=name,
        **chosen,
    )
    ruling, reason, error = NodeAuthorizer(Known(), RULES, gates).authorize(attributes)
    assert error is None
    return None if ruling is Ruling.ALLOW else reason


SLICES = "can only list/watch/deletecollection resourceslices with nodeName field selector"
OLD_SLICES = "can only get, create, update, patch, or delete a ResourceSlice"
WRITE_LEASES = "can only get, create, update, patch, or delete a node lease"
INDIVIDUAL = "can only create tokens for individual service accounts"
ANSWERS: dict[str, str | None] = {
    "get secrets ns mine": None,
    "watch configmaps ns mine": None,
    "get secrets ns other": STRANGE,
    "get secrets other mine": STRANGE,
    "list secrets ns": "No Object name found",
    "update secrets ns mine": "can only read resources of this type",
    "get secrets/x ns mine": "cannot read subresource",
    "get secrets - mine": "can only read namespaced object of this type",
    "get persistentvolumes - mine": None,
    "list persistentvolumes -": "can only get individual resources of this type",
    f"get {CLAIMS}/x ns mine": "cannot get subresource",
    f"patch {CLAIMS}/status ns mine": None,
    f"get {CLAIMS}/status ns mine": "can only get/update/patch this type",
    "get volumeattachments - other": STRANGE,
    "get resourceclaims ns mine": None,
    "get serviceaccounts ns mine": None,
    "create serviceaccounts/token ns mine": None,
    "create serviceaccounts/token ns other": STRANGE,
    "create serviceaccounts/token ns": INDIVIDUAL,
    "update serviceaccounts ns mine": INDIVIDUAL,
    "create serviceaccounts ns mine": "can only create token subresource of serviceaccount",
    "create leases kube-node-lease": None,
    "patch leases kube-node-lease n": None,
    "list leases kube-node-lease": WRITE_LEASES,
    "get leases ns n": 'can only access leases in the "kube-node-lease" system namespace',
    "get leases kube-node-lease m": (
        "can only access node lease with the same name as the requesting node"
    ),
    "create csinodes -": None,
    "get csinodes - m": "can only access CSINode with the same name as the requesting node",
    "get csinodes/x - n": "cannot authorize CSINode subresources",
    "list csinodes -": "can only get, create, update, patch, or delete a CSINode",
    "create resourceslices -": None,
    "delete resourceslices - mine": None,
    "update resourceslices - other": STRANGE,
    "list resourceslices -": SLICES,
    "get resourceslices/x - mine": "cannot authorize ResourceSlice subresources",
    "x resourceslices -": (
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, "
        "update, patch, delete, deletecollection"
    ),
    "get nodes - n": None,
    "patch nodes - m": None,
    "update nodes/status - m": None,
    "get nodes - m": "node 'n' cannot read 'm', only its own Node object",
    "list nodes -": "node 'n' cannot read all nodes, only its own Node object",
    "delete nodes - n": "",
    "get nodes/x - n": "",
    "get pods ns mine": None,
    "watch pods ns mine": None,
    "list pods ns": "can only list/watch pods with spec.nodeName field selector",
    "create pods ns": None,
    "create pods/eviction ns other": None,
    "patch pods/status ns other": None,
    "update pods ns mine": "",
    f"create {CLASSES} ns": None,
    f"get {CLASSES} ns mine": None,
    f"list {CLASSES} ns": (
        "can only list/watch podcertificaterequests with nodeName field selector"
    ),
    f"delete {CLASSES} ns mine": "nodes may not delete podcertificaterequests",
    f"get {CLASSES}/status ns mine": (
        "nodes may not access the status subresource of PodCertificateRequests"
    ),
    "get services ns a": None,
    "create services ns a": "",
}


@pytest.mark.parametrize(("question", "answer"), ANSWERS.items(), ids=list(ANSWERS))
def test_answers(question: str, answer: str | None) -> None:
    assert told(question) == answer


@pytest.mark.parametrize("resource", ["pods ns", "resourceslices -", f"{CLASSES} ns"])
@pytest.mark.parametrize(
    ("selector", "is_enough"),
    [("spec.nodeName=n", True), ("a=b,spec.nodeName==n", True), ("spec.nodeName=m", False),
     ("spec.nodeName!=n", False)],
)  # fmt: skip
def test_a_selector_of_the_own_node(resource: str, selector: str, *, is_enough: bool) -> None:
    assert (told(f"list {resource}", selector=selector) is None) is is_enough


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("list resourceslices -", None),
        ("get pods ns other", None),
        ("get nodes - m", None),
        (f"create {CLASSES} ns", ""),
        ("get serviceaccounts ns mine", "not allowed to get service accounts"),
    ],
)
def test_without_gates(question: str, answer: str | None) -> None:
    """As before 1.32, where their role says what nodes may."""
    assert told(question, gates=frozenset()) == answer


@pytest.mark.parametrize(
    ("release", "question", "answer"),
    [
        ("1.30", "x resourceslices -", OLD_SLICES),
        ("1.30", "deletecollection resourceslices -", OLD_SLICES),
        ("1.31", "deletecollection resourceslices -", None),
        ("1.32", "get serviceaccounts ns mine", INDIVIDUAL),
    ],
)
def test_older_releases(release: str, question: str, answer: str | None) -> None:
    with answering_as(release):
        assert told(question, gates=frozenset()) == answer


@pytest.mark.parametrize(
    ("user", "answer"),
    [
        (User("system:node:", ("system:nodes",)), 'unknown node for user "system:node:"'),
        (User("system:node:n"), ""),
        (User("n", ("system:nodes",)), ""),
    ],
)
def test_who_is_no_node(user: User, answer: str) -> None:
    assert told("get services ns a", user) == answer


@pytest.mark.parametrize("authorizes_nodes", [True, False])
def test_a_server_asks_about_nodes_first(*, authorizes_nodes: bool) -> None:
    running = Running(Settings(authorizes_nodes=authorizes_nodes))
    as_node = [
        ("authorization", "Bearer admin-token"),
        ("impersonate-user", "system:node:n"),
        ("impersonate-group", "system:nodes"),
    ]
    try:
        secret = "/api/v1/namespaces/default/secrets/s"
        refusal = json.loads(running.answer(HttpRequest("GET", secret, as_node)).body)["message"]
        assert refusal.endswith(STRANGE) is authorizes_nodes
        own = running.answer(HttpRequest("GET", "/api/v1/nodes/n", as_node))
        assert own.code == (404 if authorizes_nodes else 403)
        path, body = (
            "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
            b'{"spec":{"namespace":"a"}}',
        )
        answer = running.answer(HttpRequest("POST", path, as_node, body))
        status = json.loads(answer.body)["status"]
        assert status["incomplete"] is authorizes_nodes
        error = "node authorizer does not support user rule resolution"
        assert status.get("evaluationError") == (error if authorizes_nodes else None)
    finally:
        running.close()
