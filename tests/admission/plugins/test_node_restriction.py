"""NodeRestriction: what a kubelet may do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.admission import Operation, Request
from celadon.admission.plugins import PluginChain
from celadon.admission.plugins.node_restriction import forbidden_labels, node_name
from celadon.kube import GroupVersionKind, GroupVersionResource, User
from celadon.kube.releases import answering_as
from tests.admission.plugins.asking import ALICE, asked, obj, pod, text, world
from tests.admission.plugins.test_certificate_requests import request_of

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
            'node "n" can not create pods that reference serviceaccounts',
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


def volumes(**source: Any) -> list[dict[str, Any]]:
    return [{"name": "v", **source}]


REFERENCES = [
    ({"serviceAccountName": "a"}, "a service account", "serviceaccounts"),
    ({"resourceClaims": [{"name": "r"}]}, "resourceclaims", "resourceclaims"),
    ({"volumes": volumes(csi={"driver": "d"})}, "", "csidrivers (via CSI volumes)"),
    (
        {"volumes": volumes(ephemeral={})},
        "",
        "persistentvolumeclaims (via ephemeral volumes)",
    ),
    (
        {"volumes": volumes(projected={"sources": [{"serviceAccountToken": {"path": "t"}}]})},
        "",
        "serviceaccounts (via projected volumes)",
    ),
    ({"volumes": volumes(azureFile={"shareName": "s"})}, "", "secrets (via azureFile volumes)"),
    ({"volumes": volumes(hostPath={"path": "/"})}, "", ""),
    ({"volumes": volumes(projected={"sources": [{"downwardAPI": {}}]})}, "", ""),
]


@pytest.mark.parametrize(("spec", "before", "now"), REFERENCES)
def test_what_mirror_pods_refer_to_by_release(spec: dict[str, Any], before: str, now: str) -> None:
    intro = 'node "n" can not create pods that reference '
    request = asked(mirror(**spec), user=KUBELET)
    assert refused(request, NODE) == (intro + now if now else "")
    with answering_as("1.33"):
        assert refused(request, NODE) == (intro + before if before else "")
    if "resourceClaims" in spec:
        with answering_as("1.31"):
            assert refused(request, NODE) == ""


def test_mirror_pods_with_unknown_sources() -> None:
    request = asked(mirror(volumes=volumes(projected={"sources": [{}]})), user=KUBELET)
    assert refused(request, NODE) == (
        'error checking mirror pod for API references: unknown source for projected volume "v"'
    )


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
            asked(obj("Node", "n", spec={"configSource": {}}), user=KUBELET),
            'node "n" is not allowed to create pods with a non-nil configSource',
        ),
        (
            asked(obj("Node", "n", spec={"configSource": {}}), NODE, user=KUBELET),
            'node "n" is not allowed to update configSource to a new non-nil configSource',
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


# --- what belongs to a node ---


@pytest.mark.parametrize(
    ("running", "message"),
    [
        (HERE, ""),
        (ELSEWHERE, "node n can only evict pods with spec.nodeName set to itself"),
        (None, '404 pod "p" not found'),
    ],
)
def test_evictions(running: dict[str, Any] | None, message: str) -> None:
    request = asked(pod(), subresource="eviction", user=KUBELET)
    assert refused(request, *([running] if running else [])) == message


def labelled(made: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**made, "metadata": {**made["metadata"], "labels": labels}}


CLAIMS = {"resourceClaimStatuses": [{"name": "r"}]}


@pytest.mark.parametrize(
    ("new", "old", "message"),
    [
        ({**HERE, "status": {"phase": "Running"}}, HERE, ""),
        ({**HERE, "status": {"resourceClaimStatuses": []}}, HERE, ""),
        ({**HERE, "status": CLAIMS}, {**HERE, "status": CLAIMS}, ""),
        ({**HERE, "status": CLAIMS}, HERE, 'node "n" cannot update resource claim statues'),
        (
            {**HERE, "status": {"extendedResourceClaimStatus": {"resourceClaimName": "r"}}},
            HERE,
            'node "n" cannot update extended resource claim status',
        ),
        (labelled(HERE, a="b"), labelled(HERE, a="b"), ""),
        (
            labelled(HERE, a="b"),
            labelled(HERE, a="c"),
            'node "n" cannot update labels through pod status',
        ),
        (
            HERE,
            ELSEWHERE,
            'node "n" can only update pod status for pods with spec.nodeName set to itself',
        ),
    ],
)
def test_the_status_of_pods(new: dict[str, Any], old: dict[str, Any], message: str) -> None:
    assert refused(asked(new, old, subresource="status", user=KUBELET)) == message


TRUSTING = {"sources": [{"clusterTrustBundle": {"path": "p"}}]}


def test_mirror_pods_of_strangers() -> None:
    elsewhere = mirror()
    elsewhere["spec"]["nodeName"] = "m"
    whose = 'node "n" can only create pods with '
    assert refused(asked(elsewhere, user=KUBELET), NODE) == f"{whose}spec.nodeName set to itself"
    shared = mirror()
    shared["metadata"]["ownerReferences"] *= 2
    assert refused(asked(shared, user=KUBELET), NODE) == (
        f"{whose}a single owner reference set to itself"
    )
    alone = mirror()
    del alone["metadata"]["ownerReferences"]
    assert refused(asked(alone, user=KUBELET), NODE) == f"{whose}an owner reference set to itself"
    assert refused(asked(mirror(), user=KUBELET)) == '404 node "n" not found'
    trusting = mirror(volumes=[{"name": "v", "projected": TRUSTING}])
    assert refused(asked(trusting, user=KUBELET), NODE) == (
        'node "n" can not create pods that reference clustertrustbundles'
    )


RESERVED = "node-restriction.kubernetes.io/a"
UNKNOWN = "x.k8s.io/b"


@pytest.mark.parametrize(
    ("new", "old", "message"),
    [
        ({"plain": "x"}, None, ""),
        (
            {UNKNOWN: "x", RESERVED: "y", "plain": "z"},
            None,
            f'node "n" is not allowed to set the following labels: {RESERVED}, {UNKNOWN}',
        ),
        ({UNKNOWN: "x"}, {UNKNOWN: "x"}, ""),
        ({UNKNOWN: "x"}, {UNKNOWN: "y"}, f"is not allowed to modify labels: {UNKNOWN}"),
        ({}, {RESERVED: "y"}, f"is not allowed to modify labels: {RESERVED}"),
    ],
)
def test_labels_of_nodes(new: dict[str, str], old: dict[str, str] | None, message: str) -> None:
    before = None if old is None else labelled(obj("Node", "n"), **old)
    assert refused(asked(labelled(obj("Node", "n"), **new), before, user=KUBELET)) == message


def test_a_node_goes_without_a_word() -> None:
    assert refused(asked(None, obj("Node", "n"), Operation.DELETE, user=KUBELET)) == ""
    tainted = obj("Node", "n", spec={"taints": [{"key": "k"}]})
    assert refused(asked(tainted, tainted, user=KUBELET)) == ""
    assert (
        refused(asked(obj("Node", "n", spec={"taints": []}), obj("Node", "n"), user=KUBELET)) == ""
    )


def claim(size: str = "1", version: str = "1", **status: Any) -> dict[str, Any]:
    made = obj("PersistentVolumeClaim", "c", spec={"size": size}, status=status)
    made["metadata"] |= {"resourceVersion": version, "managedFields": [version]}
    return made


TOO_MUCH = (
    'node "n" is not allowed to update fields other than status.quantity and status.conditions: '
)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (claim(phase="Bound"), ""),
        (claim(version="2", phase="Bound"), ""),
        (claim(phase="Bound", capacity={"storage": "2"}, conditions=[{}]), ""),
        (claim(phase="Bound", allocatedResources={}, allocatedResourceStatuses={}), ""),
        (claim(phase="Lost"), TOO_MUCH),
        (claim("2", phase="Bound"), TOO_MUCH),
        (labelled(claim(phase="Bound"), a="b"), TOO_MUCH),
    ],
)
def test_the_status_of_claims(new: dict[str, Any], message: str) -> None:
    request = asked(new, claim(phase="Bound"), subresource="status", user=KUBELET)
    assert refused(request) == message


BOUND = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "pu"}
TOKEN_KIND = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
ACCOUNTS = GroupVersionResource("", "v1", "serviceaccounts")


def with_uid(made: dict[str, Any], uid: str = "pu") -> dict[str, Any]:
    return {**made, "metadata": {**made["metadata"], "uid": uid}}


@pytest.mark.parametrize(
    ("reference", "running", "message"),
    [
        (
            BOUND,
            [with_uid(HERE)],
            'audience "" not found in pod spec volume, system:node:n is not authorized to request '
            "tokens for this audience",
        ),
        (None, [], "node requested token not bound to a pod"),
        (BOUND | {"kind": "Secret"}, [], "node requested token not bound to a pod"),
        (BOUND | {"apiVersion": "v2"}, [], "node requested token not bound to a pod"),
        (BOUND | {"name": ""}, [], "node requested token not bound to a pod"),
        (BOUND | {"uid": ""}, [], "node requested token with a pod binding without a uid"),
        (BOUND, [], '404 pod "p" not found'),
        (
            BOUND,
            [with_uid(HERE, "other")],
            "the UID in the bound object reference (pu) does not match the UID in record. The "
            "object might have been deleted and then recreated",
        ),
        (
            BOUND,
            [with_uid(ELSEWHERE)],
            "node requested token bound to a pod scheduled on a different node",
        ),
    ],
)
def test_tokens(reference: Any, running: list[dict[str, Any]], message: str) -> None:
    wanted = obj("TokenRequest", "default", "authentication.k8s.io/v1")
    wanted["spec"] = {"boundObjectRef": reference}
    request = asked(wanted, subresource="token", user=KUBELET, kind=TOKEN_KIND, resource=ACCOUNTS)
    assert refused(request, *running) == message
    assert refused(replace(request, subresource="")) == ""
    assert refused(replace(request, operation=Operation.UPDATE)) == ""


def asked_for_token(*audiences: str) -> Request:
    wanted = obj("TokenRequest", "default", "authentication.k8s.io/v1")
    wanted["spec"] = {"boundObjectRef": BOUND, "audiences": [*audiences]}
    return asked(wanted, subresource="token", user=KUBELET, kind=TOKEN_KIND, resource=ACCOUNTS)


def running(**source: Any) -> dict[str, Any]:
    return with_uid(pod(nodeName="n", volumes=volumes(**source)))


DRIVER = obj("CSIDriver", "d", "storage.k8s.io/v1", spec={"tokenRequests": [{"audience": "a"}]})
OLD_DISK = {**DRIVER, "metadata": {"name": "ebs.csi.aws.com"}}
BOUND_CLAIM = obj("PersistentVolumeClaim", "c", spec={"volumeName": "pv"})
BOUND_CLAIM["metadata"]["namespace"] = "ns"
OF_DRIVER = obj("PersistentVolume", "pv", spec={"csi": {"driver": "d"}})
TOKENS = {"sources": [{"serviceAccountToken": {"audience": "a", "path": "t"}}]}
NOBODY = (
    'audience "a" not found in pod spec volume, system:node:n is not authorized to request tokens '
    "for this audience"
)


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([running(projected=TOKENS)], ""),
        ([running(csi={"driver": "d"}), DRIVER], ""),
        ([running(persistentVolumeClaim={"claimName": "c"}), BOUND_CLAIM, OF_DRIVER, DRIVER], ""),
        ([running(awsElasticBlockStore={"volumeID": "x"}), OLD_DISK], ""),
        ([running(emptyDir={})], NOBODY),
        (
            [running(csi={"driver": "d"})],
            'error validating audience "a": csidriver.storage.k8s.io "d" not found',
        ),
        (
            [running(persistentVolumeClaim={"claimName": "c"})],
            'error validating audience "a": persistentvolumeclaim "c" not found',
        ),
    ],
)
def test_for_whom_tokens_are(objects: list[dict[str, Any]], message: str) -> None:
    assert refused(asked_for_token("a"), *objects) == message
    assert refused(asked_for_token("a", "b"), *objects) == "node may only request 0 or 1 audiences"
    with answering_as("1.32"):
        assert refused(asked_for_token("a", "b"), *objects) == ""


@pytest.mark.parametrize(
    ("name", "signer", "message"),
    [
        ("system:node:n", "kubernetes.io/kubelet-serving", ""),
        ("system:node:m", "example.com/s", ""),
        (
            "system:node:m",
            "kubernetes.io/kubelet-serving",
            "can only create a node CSR with CN=system:node:n",
        ),
        (
            "x",
            "kubernetes.io/kube-apiserver-client-kubelet",
            "can only create a node CSR with CN=system:node:n",
        ),
    ],
)
def test_certificates_of_nodes(name: str, signer: str, message: str) -> None:
    made = obj("CertificateSigningRequest", "r", "certificates.k8s.io/v1")
    made["spec"] = {"request": request_of(name, "system:nodes"), "signerName": signer}
    assert refused(asked(made, user=KUBELET)) == message
    with answering_as("1.30"):
        assert refused(asked(made, user=KUBELET)) == ""


def test_what_is_no_request_for_a_certificate() -> None:
    made = obj("CertificateSigningRequest", "r", "certificates.k8s.io/v1")
    made["spec"] = {"request": "eA==", "signerName": "kubernetes.io/kubelet-serving"}
    assert refused(asked(made, user=KUBELET)) == (
        "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"
    )


def for_pod(**changed: str) -> Request:
    spec = {
        "nodeName": "n",
        "nodeUID": "u",
        "podName": "p",
        "podUID": "pu",
        "serviceAccountName": "default",
        "serviceAccountUID": "au",
    }
    made = obj("PodCertificateRequest", "r", "certificates.k8s.io/v1beta1", spec=spec | changed)
    return asked(made, user=KUBELET)


RUNNING = with_uid(pod(nodeName="n", serviceAccountName="default"))
GIVEN = 'PodCertificateRequest for pod "ns/p"'


@pytest.mark.parametrize(
    ("request_", "running", "message"),
    [
        (for_pod(), RUNNING, ""),
        (
            for_pod(nodeName="m"),
            RUNNING,
            'PodCertificateRequest.Spec.NodeName="m", which is not the requesting node "n"',
        ),
        (
            for_pod(nodeUID="x"),
            RUNNING,
            f'500 {GIVEN} names node UID "x", inconsistent with the running node ("u")',
        ),
        (
            for_pod(podName="q"),
            RUNNING,
            '500 while retrieving pod "ns/q" named in the PodCertificateRequest: pod "q" not found',
        ),
        (
            for_pod(podUID="x"),
            RUNNING,
            f'500 {GIVEN} contains pod UID ("x") which differs from running pod "pu"',
        ),
        (
            for_pod(),
            with_uid(pod(nodeName="m", serviceAccountName="default")),
            'pod "ns/p" is not running on node "n" named in the PodCertificateRequest',
        ),
        (for_pod(), with_uid(mirror(serviceAccountName="default")), 'pod "ns/p" is a mirror pod'),
        (
            for_pod(serviceAccountName="other"),
            RUNNING,
            f'{GIVEN} contains serviceAccountName ("other") that differs from running pod '
            '("default")',
        ),
        (
            for_pod(serviceAccountUID="x"),
            RUNNING,
            f'500 {GIVEN} names service account UID "x", which differs from the running service '
            'account ("au")',
        ),
    ],
)
def test_certificates_of_pods(request_: Request, running: dict[str, Any], message: str) -> None:
    account = with_uid(obj("ServiceAccount", "default"), "au")
    account["metadata"]["namespace"] = "ns"
    assert refused(request_, NODE, running, account) == message


def test_owners_of_nodes_stay() -> None:
    owned = {**NODE, "metadata": {**NODE["metadata"], "ownerReferences": [OWNER]}}
    request = asked(owned, NODE, user=KUBELET)
    assert refused(request) == 'node "n" is not allowed to modify ownerReferences'
    with answering_as("1.30"):
        assert refused(request) == ""


def lease(name: str, namespace: str = "kube-node-lease") -> Request:
    about = asked(obj("Lease", name, "coordination.k8s.io/v1"), user=KUBELET)
    return replace(about, namespace=namespace)


def resource_slice(node: str) -> dict[str, Any]:
    return obj("ResourceSlice", "s", "resource.k8s.io/v1", spec={"nodeName": node})


SLICE = "ResourceSlice with the same NodeName as the requesting node"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (lease("n"), ""),
        (lease("m"), "can only access node lease with the same name as the requesting node"),
        (asked(obj("CSINode", "n", "storage.k8s.io/v1"), user=KUBELET), ""),
        (asked(resource_slice("n"), user=KUBELET), ""),
        (asked(resource_slice("m"), user=KUBELET), f"can only create {SLICE}"),
        (asked(resource_slice("m"), resource_slice("m"), user=KUBELET), ""),
        (asked(None, resource_slice("n"), Operation.DELETE, user=KUBELET), ""),
        (
            asked(None, resource_slice("m"), Operation.DELETE, user=KUBELET),
            f"can only delete {SLICE}",
        ),
    ],
)
def test_what_is_named_after_a_node(request_: Request, message: str) -> None:
    assert refused(request_) == message


@pytest.mark.parametrize(
    "label",
    [
        *(f"beta.kubernetes.io/{name}" for name in ("arch", "instance-type", "os")),
        *(f"failure-domain.beta.kubernetes.io/{name}" for name in ("region", "zone")),
        *(f"kubernetes.io/{name}" for name in ("arch", "hostname", "os")),
        *(f"topology.kubernetes.io/{name}" for name in ("region", "zone")),
        "node.kubernetes.io/instance-type",
        "kubelet.kubernetes.io/x",
        "my.kubelet.kubernetes.io/x",
    ],
)
def test_labels_that_kubelets_know(label: str) -> None:
    assert forbidden_labels({label: "a"}, {label: "b"}) == []
    domain, _, name = label.partition("/")
    others = {f"{domain}x.k8s.io/{name}": "a", f"k8s.io/{name}": "a"}
    assert forbidden_labels(others, {}) == sorted(others)
