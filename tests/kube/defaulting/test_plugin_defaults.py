"""The built-in mutating plugins, with and without objects in the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext, service_ca_source
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.create import admit_form
from celadon.kube.resources.api_resources import ObjectIndex

POD = GroupVersionKind("", "v1", "Pod")
CLAIM = GroupVersionKind("", "v1", "PersistentVolumeClaim")
INGRESS = GroupVersionKind("networking.k8s.io", "v1", "Ingress")
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


KINDS = {
    "limit_ranges": ("v1", "LimitRange"),
    "service_accounts": ("v1", "ServiceAccount"),
    "nodes": ("v1", "Node"),
    "priority_classes": ("scheduling.k8s.io/v1", "PriorityClass"),
    "runtime_classes": ("node.k8s.io/v1", "RuntimeClass"),
    "storage_classes": ("storage.k8s.io/v1", "StorageClass"),
    "ingress_classes": ("networking.k8s.io/v1", "IngressClass"),
}


def cluster_of(**objects: tuple[dict[str, Any], ...]) -> ObjectIndex:
    return ObjectIndex(
        {**one, "apiVersion": KINDS[field][0], "kind": KINDS[field][1]}
        for field, given in objects.items()
        for one in given
    )


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


def admitted(
    spec: dict[str, Any],
    gvk: GroupVersionKind = POD,
    meta: dict[str, Any] | None = None,
    **cluster: tuple[dict[str, Any], ...],
) -> dict[str, Any]:
    context = DefaultingContext(suffix="abcde", cluster=cluster_of(**cluster))
    return admit_form({"metadata": meta or {}, "spec": spec}, gvk, context)


def pod(**more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c"}], **more}


def test_an_empty_cluster() -> None:
    spec = admitted(pod())["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    assert [one["key"] for one in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    (volume,) = spec["volumes"]
    assert volume["name"] == "kube-api-access-abcde"
    assert volume["projected"]["sources"][0] == {
        "serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}
    }
    mount = {"name": "kube-api-access-abcde", "readOnly": True, "mountPath": TOKEN_PATH}
    assert spec["containers"][0]["volumeMounts"] == [mount]


def test_no_token() -> None:
    assert "volumes" not in admitted(pod(automountServiceAccountToken=False))["spec"]
    account = named("default", automountServiceAccountToken=False, imagePullSecrets=[{"name": "s"}])
    spec = admitted(pod(), service_accounts=(account,))["spec"]
    assert "volumes" not in spec
    assert spec["imagePullSecrets"] == [{"name": "s"}]
    mounted = {"name": "c", "volumeMounts": [{"name": "own", "mountPath": TOKEN_PATH}]}
    assert "volumes" not in admitted({"containers": [mounted]})["spec"]
    mirror = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    assert "serviceAccountName" not in admitted(pod(), meta=mirror)["spec"]


def test_more_token_sources() -> None:
    source = service_ca_source("more.crt")
    assert source["configMap"]["items"] == [{"key": "service-ca.crt", "path": "service-ca.crt"}]
    context = DefaultingContext(extra_token_sources=(source,))
    (volume,) = admit_form({"spec": pod()}, POD, context)["spec"]["volumes"]
    (upstream,) = admitted(pod())["spec"]["volumes"]
    sources = upstream["projected"]["sources"]
    kinds = ["serviceAccountToken", "configMap", "downwardAPI"]
    assert [next(iter(one)) for one in sources] == kinds
    assert volume["projected"]["sources"] == [*sources, source]


def test_an_existing_token_volume_is_used() -> None:
    volume = {"name": "kube-api-access-own", "emptyDir": {}}
    spec = admitted(pod(volumes=[volume]))["spec"]
    assert spec["volumes"] == [volume]
    assert spec["containers"][0]["volumeMounts"][0]["name"] == "kube-api-access-own"


@pytest.mark.parametrize(
    ("tolerations", "added"),
    [
        ([{"operator": "Exists"}], 0),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}], 1),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}], 2),
    ],
)
def test_tolerations(tolerations: list[dict[str, Any]], added: int) -> None:
    spec = admitted(pod(tolerations=tolerations))["spec"]
    assert len(spec["tolerations"]) == len(tolerations) + added


def test_priorities() -> None:
    high = named("high", value=1000, preemptionPolicy="Never")
    usual = named("usual", value=5, globalDefault=True)
    classes = (high, named("other", value=7, globalDefault=True), usual)

    def chosen(**spec: Any) -> tuple[Any, Any, Any]:
        made = admitted(pod(**spec), priority_classes=classes)["spec"]
        return made.get("priorityClassName"), made["priority"], made["preemptionPolicy"]

    assert chosen(priorityClassName="high") == ("high", 1000, "Never")
    assert chosen() == ("usual", 5, "PreemptLowerPriority")
    assert chosen(priorityClassName="system-node-critical") == (
        "system-node-critical",
        2000001000,
        "PreemptLowerPriority",
    )
    assert chosen(priorityClassName="nope") == ("nope", 0, "PreemptLowerPriority")


def test_limit_ranges() -> None:
    limits = {
        "spec": {
            "limits": [
                {"type": "Pod", "default": {"cpu": "9"}},
                {
                    "type": "Container",
                    "default": {"memory": "2Gi", "cpu": "2"},
                    "defaultRequest": {"cpu": "1"},
                },
            ]
        }
    }
    spec = {
        "containers": [{"name": "c", "resources": {"limits": {"cpu": "3"}}}],
        "initContainers": [{"name": "i"}],
    }
    made = admitted(spec, limit_ranges=(limits,))
    assert made["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: memory limit for container c; "
        "cpu request for init container i; cpu, memory limit for init container i"
    }
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "3", "memory": "2Gi"},
        "requests": {"cpu": "3"},
    }
    assert made["spec"]["initContainers"][0]["resources"]["requests"] == {"cpu": "1"}


def test_runtime_class() -> None:
    toleration = {"key": "gpu", "operator": "Exists"}
    runtime = named(
        "fast",
        overhead={"podFixed": {"cpu": "250m"}},
        scheduling={"nodeSelector": {"n": "1"}, "tolerations": [toleration]},
    )
    spec = admitted(
        pod(runtimeClassName="fast", nodeSelector={"m": "2"}), runtime_classes=(runtime,)
    )["spec"]
    assert spec["overhead"] == {"cpu": "250m"}
    assert spec["nodeSelector"] == {"m": "2", "n": "1"}
    keys = [one["key"] for one in spec["tolerations"]]
    assert keys == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "gpu"]
    assert "overhead" not in admitted(pod(runtimeClassName="gone"))["spec"]


def test_a_runtime_class_that_tolerates_everything() -> None:
    everything = {"operator": "Exists"}
    runtime = named("wide", scheduling={"tolerations": [everything]})
    spec = admitted(pod(runtimeClassName="wide"), runtime_classes=(runtime,))["spec"]
    assert spec["tolerations"] == [everything]


def test_a_runtime_class_that_adds_nothing() -> None:
    plain, empty = named("plain"), named("empty", scheduling={})
    context = DefaultingContext(
        plugins=frozenset({"RuntimeClass"}), cluster=cluster_of(runtime_classes=(plain, empty))
    )
    for name in ("plain", "empty"):
        spec = admit_form({"spec": pod(runtimeClassName=name)}, POD, context)["spec"]
        assert not {"tolerations", "nodeSelector", "overhead"} & set(spec)


def test_topology_labels() -> None:
    node = {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z", "x": "y"}}}
    made = admitted(pod(nodeName="n"), nodes=(node,))
    assert made["metadata"]["labels"] == {"topology.kubernetes.io/zone": "z"}


def test_default_classes() -> None:
    def marked(name: str, key: str, created: str) -> dict[str, Any]:
        meta = {"name": name, "annotations": {key: "true"}, "creationTimestamp": created}
        return {"metadata": meta}

    key = "storageclass.kubernetes.io/is-default-class"
    storage = (
        marked("old", key, "2025-01-01T00:00:00Z"),
        marked("new-b", key, "2026-01-01T00:00:00Z"),
        marked("new-a", key, "2026-01-01T00:00:00Z"),
        named("plain"),
    )
    made = admitted({}, CLAIM, storage_classes=storage)
    assert made["spec"]["storageClassName"] == "new-a"
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    explicit = admitted({"storageClassName": ""}, CLAIM, storage_classes=storage)
    assert explicit["spec"]["storageClassName"] == ""
    ingress = (marked("i", "ingressclass.kubernetes.io/is-default-class", ""),)
    made = admitted({}, INGRESS, ingress_classes=ingress)
    assert made["spec"]["ingressClassName"] == "i"
    annotated = {"annotations": {"kubernetes.io/ingress.class": "x"}}
    made = admitted({}, INGRESS, annotated, ingress_classes=ingress)
    assert "ingressClassName" not in made["spec"]


def test_nodes_start_not_ready() -> None:
    node = GroupVersionKind("", "v1", "Node")
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    assert admitted({}, node)["spec"]["taints"] == [taint]
    assert admitted({"taints": [taint]}, node)["spec"]["taints"] == [taint]
