"""Policies and webhooks that have locked clusters, and some like them that do not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celadon.cli.bootstrap.bootstrap_report import BootstrapReport, simulate
from celadon.cli.check.manifests import Manifests, described
from celadon.cli.reading.documents import Document, DocumentReader, Text

API = "admissionregistration.k8s.io/v1"
ALL = "*/*"


def manifests_of(*objects: Mapping[str, Any]) -> Manifests:
    """The objects as if they stood in a file."""
    text = "\n---\n".join(map(json.dumps, objects))
    read = DocumentReader().read(Text("given.yaml", text))
    return described([one for one in read if isinstance(one, Document)])


def simulated(*objects: Mapping[str, Any], version: str = "1.36") -> BootstrapReport:
    """What a simulation finds about objects."""
    return simulate(manifests_of(*objects), version)


def rules(
    *resources: str,
    operations: Sequence[str] = ("CREATE", "UPDATE"),
    groups: Sequence[str] = ("*",),
) -> list[dict[str, Any]]:
    """Rules about resources of whatever version."""
    return [
        {
            "apiGroups": list(groups),
            "apiVersions": ["*"],
            "operations": list(operations),
            "resources": list(resources),
        }
    ]


NOT_KUBE_SYSTEM = {
    "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
    ]
}
KUBE_SYSTEM = {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}


def policy(
    name: str,
    constraints: Sequence[Mapping[str, Any]],
    expression: str,
    *,
    message: str = "",
    match: Mapping[str, Any] | None = None,
    conditions: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
    actions: Sequence[str] = ("Deny",),
    failure: str = "Fail",
) -> list[dict[str, Any]]:
    """A validating policy and its binding; `match` is the binding's namespaceSelector, `params`
    have the policy's paramKind and the binding's paramRef."""
    validation = {"expression": expression} | ({"message": message} if message else {})
    spec: dict[str, Any] = {
        "failurePolicy": failure,
        "matchConstraints": {"resourceRules": list(constraints)},
        "validations": [validation],
        "matchConditions": [
            {"name": f"c{number}", "expression": one} for number, one in enumerate(conditions)
        ],
    }
    bound: dict[str, Any] = {"policyName": name, "validationActions": list(actions)}
    if match is not None:
        bound["matchResources"] = {"namespaceSelector": match}
    elif name.endswith(".static.k8s.io"):
        bound["matchResources"] = {}
    if params is not None:
        spec["paramKind"], bound["paramRef"] = params["paramKind"], params["paramRef"]
    head = {"apiVersion": API, "metadata": {"name": name}}
    return [
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": bound},
    ]


def mutation(
    name: str, constraints: Sequence[Mapping[str, Any]], expression: str
) -> list[dict[str, Any]]:
    """A mutating policy and its binding: a list of operations, or a configuration that is
    merged."""
    head = {"apiVersion": API, "metadata": {"name": name}}
    patches = expression.startswith("[")
    kind = "JSONPatch" if patches else "ApplyConfiguration"
    return [
        {
            **head,
            "kind": "MutatingAdmissionPolicy",
            "spec": {
                "matchConstraints": {"resourceRules": list(constraints)},
                "reinvocationPolicy": "Never",
                "failurePolicy": "Fail",
                "mutations": [
                    {
                        "patchType": kind,
                        "jsonPatch" if patches else "applyConfiguration": {
                            "expression": expression
                        },
                    }
                ],
            },
        },
        {**head, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": name}},
    ]


def webhook(
    name: str,
    constraints: Sequence[Mapping[str, Any]],
    *,
    kind: str = "Validating",
    match: Mapping[str, Any] | None = None,
    failure: str = "Fail",
) -> list[dict[str, Any]]:
    """A configuration with one webhook behind Service `guard/guard`."""
    return [
        {
            "apiVersion": API,
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [
                {
                    "name": f"{name}.guard.example.com",
                    "clientConfig": {"service": {"namespace": "guard", "name": "guard"}},
                    "rules": list(constraints),
                    "failurePolicy": failure,
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    **({} if match is None else {"namespaceSelector": match}),
                }
            ],
        }
    ]


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "limits.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {
            "plural": "limits",
            "singular": "limit",
            "kind": "Limit",
            "listKind": "LimitList",
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"most": {"type": "integer"}},
                    }
                },
            }
        ],
    },
}
LIMIT = {"apiVersion": "example.com/v1", "kind": "Limit", "metadata": {"name": "limit"}, "most": 9}
LIMITED = {
    "paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"},
    "paramRef": {"name": "limit", "parameterNotFoundAction": "Deny"},
}
SETTINGS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "policies"},
    "data": {"owner": "platform"},
}
BY_SETTINGS = {
    "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    "paramRef": {
        "name": "settings",
        "namespace": "policies",
        "parameterNotFoundAction": "Deny",
    },
}
HUMANS = "!request.userInfo.username.startsWith('system:')"
PROTECTED = rules(
    "validatingwebhookconfigurations",
    operations=("UPDATE", "DELETE"),
    groups=("admissionregistration.k8s.io",),
)
GUARDED_PODS = webhook("guard", rules("pods", groups=("",)))


@dataclass(frozen=True, slots=True)
class LockOut:
    """What is given, and what must be found: how bad, who is to blame, by which request, what never
    comes about (names of states, in the order of their causes), and words of the message."""

    name: str
    given: Sequence[Mapping[str, Any]]
    level: str
    culprit: str
    request: str
    states: tuple[str, ...]
    message: str
    cycle: bool = False
    once: bool = False
    breaks: bool = False


NO_NETWORK = ("calico-node-runs", "node-is-ready", "coredns-runs")
CALICO = "CREATE Pod kube-system/calico-node-xxxxx"
LEADER = "UPDATE Lease kube-system/kube-controller-manager"
NO_LEADER = ("controllers-lead", "controllers-run", "kubelet-has-a-certificate")
NO_CERTIFICATE = ("kubelet-has-a-certificate", "node-is-ready", "coredns-runs")
NO_WEBHOOK = ("kube-proxy-runs", "webhook-guard-guard-answers")
UNREACHED = 'no endpoints available for service "guard"'

LOCK_OUTS = (
    LockOut(
        "labels required of all pods",
        policy("team", rules("pods"), "'team' in object.metadata.labels", message="no team"),
        "deadlocked",
        "team",
        CALICO,
        NO_NETWORK,
        "denied request: no team",
    ),
    LockOut(
        "everything denied in kube-system",
        policy("closed", rules(ALL, operations=["*"]), "false", match=KUBE_SYSTEM, message="no"),
        "deadlocked",
        "closed",
        LEADER,
        NO_LEADER,
        "denied request: no",
    ),
    LockOut(
        "an expression that fails on objects without labels",
        policy("owner", rules("*"), "'owner' in object.metadata.labels"),
        "deadlocked",
        "owner",
        LEADER,
        NO_LEADER,
        "no such key: labels",
    ),
    LockOut(
        "images from one registry only",
        policy(
            "registry",
            rules("pods"),
            "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
            message="a foreign image",
        ),
        "deadlocked",
        "registry",
        CALICO,
        NO_NETWORK,
        "a foreign image",
    ),
    LockOut(
        "no pods on the network of their node",
        policy("net", rules("pods"), "!object.spec.?hostNetwork.orValue(false)", message="host"),
        "deadlocked",
        "net",
        CALICO,
        NO_NETWORK,
        "denied request: host",
    ),
    LockOut(
        "leases for one group only",
        policy("leases", rules("leases"), "'platform' in request.userInfo.groups", message="mine"),
        "deadlocked",
        "leases",
        LEADER,
        NO_LEADER,
        "denied request: mine",
    ),
    LockOut(
        "node leases must be labelled",
        policy(
            "node-leases",
            rules("leases"),
            "has(object.metadata.labels)",
            match={"matchLabels": {"kubernetes.io/metadata.name": "kube-node-lease"}},
            message="no labels",
        ),
        "deadlocked",
        "node-leases",
        "CREATE Lease kube-node-lease/worker-1",
        ("node-is-ready", "coredns-runs"),
        "no labels",
    ),
    LockOut(
        "nodes need a zone",
        policy(
            "zones",
            rules("nodes"),
            "'topology.kubernetes.io/zone' in object.metadata.labels",
            message="no zone",
        ),
        "deadlocked",
        "zones",
        "CREATE Node worker-1",
        ("node-is-ready", "coredns-runs"),
        "no zone",
    ),
    LockOut(
        "the status of nodes is frozen",
        policy("frozen", rules("nodes/status"), "false", message="frozen"),
        "deadlocked",
        "frozen",
        "UPDATE nodes/status worker-1",
        ("node-is-ready", "coredns-runs"),
        "frozen",
    ),
    LockOut(
        "params whose definition the policy itself refuses",
        [*policy("limit", rules("*"), "params.most > 0", params=LIMITED), DEFINITION, LIMIT],
        "deadlocked",
        "limit",
        "CREATE CustomResourceDefinition limits.example.com",
        ("params-of-ValidatingAdmissionPolicy-limit", "controllers-lead", "controllers-run"),
        "failed to find resource referenced by paramKind",
        cycle=True,
    ),
    LockOut(
        "a param that the policy itself refuses",
        [
            *policy("settings", rules("configmaps"), "params.data.owner != ''", params=BY_SETTINGS),
            SETTINGS,
        ],
        "deadlocked",
        "settings",
        "CREATE ConfigMap policies/settings",
        ("params-of-ValidatingAdmissionPolicy-settings",),
        "no params found for policy binding with `Deny` parameterNotFoundAction",
        cycle=True,
    ),
    LockOut(
        "params that nobody creates",
        policy("settings", rules("pods"), "params.data.owner != ''", params=BY_SETTINGS),
        "deadlocked",
        "settings",
        CALICO,
        NO_NETWORK,
        "no params found",
    ),
    LockOut(
        "a webhook that is asked about all pods, its own included",
        GUARDED_PODS,
        "deadlocked",
        "guard",
        "CREATE Pod kube-system/kube-proxy-xxxxx",
        NO_WEBHOOK,
        UNREACHED,
        cycle=True,
    ),
    LockOut(
        "the same, of a webhook that changes pods",
        webhook("guard", rules("pods"), kind="Mutating"),
        "deadlocked",
        "guard",
        "CREATE Pod kube-system/kube-proxy-xxxxx",
        NO_WEBHOOK,
        UNREACHED,
        cycle=True,
    ),
    LockOut(
        "a webhook that leaves out kube-system, but not its own namespace",
        webhook("guard", rules("pods"), match=NOT_KUBE_SYSTEM),
        "deadlocked",
        "guard",
        "CREATE Pod guard/guard-5d78c9869d-xxxxx",
        ("webhook-guard-guard-runs", "webhook-guard-guard-answers"),
        UNREACHED,
        cycle=True,
    ),
    LockOut(
        "a webhook that is asked about its own Deployment",
        webhook("guard", rules("deployments"), match=NOT_KUBE_SYSTEM),
        "degraded",
        "guard",
        "CREATE Deployment guard/guard",
        ("webhook-guard-guard-runs", "webhook-guard-guard-answers"),
        UNREACHED,
        cycle=True,
        once=True,
    ),
    LockOut(
        "pods are bound by hand",
        policy("binding", rules("pods/binding"), HUMANS, message="by hand"),
        "deadlocked",
        "binding",
        "CREATE pods/binding kube-system/calico-node-xxxxx",
        NO_NETWORK,
        "by hand",
    ),
    LockOut(
        "the status of pods needs an annotation",
        policy("status", rules("pods/status"), "has(object.metadata.annotations)", message="note"),
        "deadlocked",
        "status",
        "UPDATE pods/status kube-system/calico-node-xxxxx",
        NO_NETWORK,
        "note",
    ),
    LockOut(
        "tokens are short-lived",
        policy(
            "tokens",
            rules("serviceaccounts/token"),
            "object.spec.expirationSeconds < 3600",
            message="too long",
        ),
        "deadlocked",
        "tokens",
        "CREATE serviceaccounts/token kube-system/replicaset-controller",
        ("controllers-run", "kubelet-has-a-certificate"),
        "too long",
    ),
    LockOut(
        "nothing may be deleted",
        policy("keep", rules(ALL, operations=["DELETE"]), "false", message="kept"),
        "degraded",
        "keep",
        "DELETE Pod kube-system/kube-apiserver-control-plane-1",
        ("control-plane-pods-are-seen",),
        "kept",
    ),
    LockOut(
        "a namespace must not be finalized without a label",
        policy("ns", rules("namespaces/*"), "'team' in object.metadata.labels", message="no team"),
        "degraded",
        "ns",
        "UPDATE namespaces/finalize shop",
        ("namespaces-can-be-deleted",),
        "no team",
    ),
    LockOut(
        "certificates are requested by humans",
        policy("csr", rules("certificatesigningrequests"), HUMANS, message="by humans"),
        "deadlocked",
        "csr",
        "CREATE CertificateSigningRequest node-csr-6lqZJ0cO",
        NO_CERTIFICATE,
        "by humans",
    ),
    LockOut(
        "certificates are approved by humans",
        policy("csr", rules("certificatesigningrequests/approval"), HUMANS, message="by humans"),
        "deadlocked",
        "csr",
        "UPDATE certificatesigningrequests/approval node-csr-6lqZJ0cO",
        NO_CERTIFICATE,
        "by humans",
    ),
    LockOut(
        "a mutation that takes pods off the network of their node",
        mutation("net", rules("pods"), "Object{spec: Object.spec{hostNetwork: false}}"),
        "deadlocked",
        "net",
        CALICO,
        NO_NETWORK,
        "`spec.hostNetwork` is changed from true",
        breaks=True,
    ),
    LockOut(
        "a mutation that sends pods to other nodes",
        mutation(
            "pool",
            rules("pods"),
            "[JSONPatch{op: 'add', path: '/spec/nodeSelector', value: {'pool': 'apps'}}]",
        ),
        "deadlocked",
        "pool",
        CALICO,
        NO_NETWORK,
        '`spec.nodeSelector` is changed from {"kubernetes.io/os": "linux"} to {"pool": "apps"}',
        breaks=True,
    ),
    LockOut(
        "a mutation that takes away tolerations",
        mutation(
            "tolerations", rules("pods"), "[JSONPatch{op: 'remove', path: '/spec/tolerations'}]"
        ),
        "deadlocked",
        "tolerations",
        CALICO,
        NO_NETWORK,
        "`spec.tolerations` is changed",
        breaks=True,
    ),
    LockOut(
        "a mutation that makes pods invalid",
        mutation("dns", rules("pods"), "Object{spec: Object.spec{dnsPolicy: 'Nope'}}"),
        "deadlocked",
        "dns",
        CALICO,
        NO_NETWORK,
        'spec.dnsPolicy: Unsupported value: "Nope"',
    ),
    LockOut(
        "endpoints must be labelled",
        policy("slices", rules("endpointslices"), "'team' in object.metadata.labels", message="no"),
        "deadlocked",
        "slices",
        "CREATE EndpointSlice default/kubernetes",
        ("api-server-is-reachable-from-pods",),
        "denied request: no",
    ),
    LockOut(
        "flow schemas are not for the API server to change",
        policy("flow", rules("flowschemas"), HUMANS, message="by humans"),
        "deadlocked",
        "flow",
        "UPDATE FlowSchema system-nodes",
        ("api-server-is-ready",),
        "by humans",
    ),
    LockOut(
        "configmaps must be labelled, but those of kube-system",
        policy(
            "maps",
            rules("configmaps"),
            "has(object.metadata.labels)",
            match=NOT_KUBE_SYSTEM,
            message="no labels",
        ),
        "degraded",
        "maps",
        "CREATE ConfigMap shop/kube-root-ca.crt",
        ("pods-in-new-namespaces-may-start",),
        "no labels",
    ),
    LockOut(
        "nodes must not create pods",
        policy(
            "mirror", rules("pods"), "!('system:nodes' in request.userInfo.groups)", message="node"
        ),
        "degraded",
        "mirror",
        "CREATE Pod kube-system/etcd-control-plane-1",
        ("control-plane-pods-are-seen",),
        "node",
    ),
    LockOut(
        "events must be labelled",
        policy("events", rules("events"), "has(object.metadata.labels)", message="no labels"),
        "degraded",
        "events",
        "CREATE Event kube-system/kube-scheduler.188f0a4f5b1c2d3e",
        ("events-are-written",),
        "no labels",
    ),
    LockOut(
        "no pod may be evicted",
        policy("stay", rules("pods/eviction"), "false", message="stays"),
        "degraded",
        "stay",
        "CREATE pods/eviction kube-system/coredns-5d78c9869d-xxxxx",
        ("nodes-can-be-drained",),
        "stays",
    ),
    LockOut(
        "definitions are changed by humans",
        policy("crds", rules("customresourcedefinitions/*"), HUMANS, message="by humans"),
        "degraded",
        "crds",
        "UPDATE customresourcedefinitions/status ippools.crd.projectcalico.org",
        ("definitions-are-served",),
        "by humans",
    ),
    LockOut(
        "volumes are made by humans",
        policy("volumes", rules("persistentvolumes"), HUMANS, message="by humans"),
        "degraded",
        "volumes",
        "CREATE PersistentVolume pvc-6a1f9d52-0d9f-4c53-9c3a-0e8f3c1a0004",
        ("volumes-are-attached",),
        "by humans",
    ),
    LockOut(
        "claims of volumes are kept",
        policy(
            "keep", rules("persistentvolumeclaims", operations=["DELETE"]), "false", message="kept"
        ),
        "degraded",
        "keep",
        "DELETE PersistentVolumeClaim shop/data",
        ("namespaces-can-be-deleted",),
        "kept",
    ),
    LockOut(
        "addresses belong to a team",
        policy(
            "addresses",
            rules("ipaddresses"),
            "'team' in object.metadata.labels",
            message="no team",
            conditions=["object.metadata.name != '10.96.0.1'"],
        ),
        "degraded",
        "addresses",
        "CREATE IPAddress 10.96.0.20",
        ("services-get-addresses",),
        "no team",
    ),
    LockOut(
        "where traffic goes is not changed",
        policy(
            "slices", rules("endpointslices", operations=["UPDATE"]), "false", message="unchanged"
        ),
        "degraded",
        "slices",
        "UPDATE EndpointSlice kube-system/kube-dns-xxxxx",
        ("coredns-stays-reachable",),
        "unchanged",
    ),
    LockOut(
        "quotas are written by humans",
        policy("quotas", rules("resourcequotas/status"), HUMANS, message="by humans"),
        "degraded",
        "quotas",
        "UPDATE resourcequotas/status kube-system/system",
        ("quotas-are-counted",),
        "by humans",
    ),
    LockOut(
        "Helm may not keep its releases",
        policy("secrets", rules("secrets"), "object.type != 'helm.sh/release.v1'", message="helm"),
        "degraded",
        "secrets",
        "CREATE Secret policy-system/sh.helm.release.v1.policies.v2",
        ("helm-can-repair",),
        "denied request: helm",
    ),
    LockOut(
        "priority classes of the system are too high, for an object",
        policy("classes", rules("priorityclasses"), "object.value < 1000000", message="too high"),
        "degraded",
        "classes",
        "CREATE PriorityClass system-cluster-critical",
        ("api-server-stays-up",),
        "too high",
        once=True,
    ),
    LockOut(
        "priority classes of the system are too high, for a file of the server",
        policy(
            "classes.static.k8s.io",
            rules("priorityclasses"),
            "object.value < 1000000",
            message="too high",
        ),
        "locked-out",
        "classes.static.k8s.io",
        "CREATE PriorityClass system-cluster-critical",
        ("api-server-stays-up",),
        "too high",
    ),
    LockOut(
        "a webhook that a file of the server protects",
        [*GUARDED_PODS, *policy("protect.static.k8s.io", PROTECTED, "false", message="protected")],
        "locked-out",
        "guard",
        "CREATE Pod kube-system/kube-proxy-xxxxx",
        NO_WEBHOOK,
        UNREACHED,
        cycle=True,
    ),
)
"""From the field, each with the chain that must be found."""

SAFE: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "no policy": [],
    "no binding": policy("team", rules("pods"), "false")[:1],
    "only audited": policy(
        "team", rules(ALL, operations=["*"]), "false", actions=["Audit", "Warn"]
    ),
    "pods and workloads outside of kube-system": policy(
        "team", rules("pods", "deployments", "daemonsets"), "false", match=NOT_KUBE_SYSTEM
    ),
    "errors that are ignored": policy(
        "owner", rules("leases"), "object.metadata.labels.owner != ''", failure="Ignore"
    ),
    "the system is left out by a condition": policy(
        "team", rules("*"), "false", conditions=["request.userInfo.username == 'alice'"]
    ),
    "params that come before they are needed": [
        *policy("settings", rules("pods"), "params.data.owner == 'platform'", params=BY_SETTINGS),
        SETTINGS,
    ],
    "params whose definition comes first": [
        *policy("limit", rules("deployments"), "params.most > 0", params=LIMITED),
        LIMIT,
        DEFINITION,
    ],
    "services are not published": policy(
        "services", rules("services"), "object.spec.type != 'LoadBalancer'"
    ),
    "claims of volumes name their class": policy(
        "classes", rules("persistentvolumeclaims"), "object.spec.?storageClassName.hasValue()"
    ),
    "humans do not delete what is protected": policy(
        "keep",
        rules("namespaces", "persistentvolumeclaims", operations=["DELETE"]),
        "request.userInfo.username.startsWith('system:')"
        " || !has(oldObject.metadata.labels) || !('keep' in oldObject.metadata.labels)",
    ),
    "a mutation that adds a label": mutation(
        "label",
        rules("pods"),
        "Object{metadata: Object.metadata{labels: Object.metadata.labels{team: 'x'}}}",
    ),
    "a mutation that renames the registry": mutation(
        "mirror",
        rules("pods"),
        "[JSONPatch{op: 'replace', path: '/spec/containers/0/image', "
        "value: 'mirror.example.com/' + object.spec.containers[0].image}]",
    ),
    "a webhook that fails open": webhook("guard", rules("*"), failure="Ignore"),
    "a webhook outside of its own namespace and kube-system": webhook(
        "guard",
        rules("pods", "deployments"),
        match={
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system", "guard"],
                }
            ]
        },
    ),
}
"""What does not lock anything, though some of it looks like what does."""
