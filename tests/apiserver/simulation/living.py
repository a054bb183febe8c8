"""Clusters that come alive, and what tests ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from celadon.testing import KubeApi, ServerOptions

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
EVENTS = "/api/v1/namespaces/default/events"
FAIL = "simulation.celadon.dev/fail"


@contextmanager
def living(nodes: int = 3, **options: Any) -> Iterator[KubeApi]:
    """A cluster whose clock stands still."""
    with KubeApi([], ServerOptions(tls=False, simulate=True, nodes=nodes, **options)) as api:
        api.settle()
        yield api


def pod_spec(**more: Any) -> dict[str, Any]:
    """One container, which does nothing."""
    return {"containers": [{"name": "app", "image": "app:1", **more.pop("container", {})}], **more}


def deployment(name: str = "web", replicas: int = 3, **more: Any) -> dict[str, Any]:
    """`annotations` are those of its pods, `pod` is about their spec, all else its own."""
    labels = {"app": name}
    meta = {"labels": labels, "annotations": more.pop("annotations", {})}
    template = {"metadata": meta, "spec": pod_spec(**more.pop("pod", {}))}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template,
            **more,
        },
    }


def pod(name: str = "one", annotations: Mapping[str, str] | None = None, **spec: Any) -> Any:
    """A pod of nobody's."""
    meta = {"name": name, "namespace": "default", "annotations": dict(annotations or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec(**spec)}


def conditions(obj: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    """Status, reason and message by type."""
    return {
        one["type"]: (one["status"], one.get("reason", ""), one.get("message", ""))
        for one in obj["status"].get("conditions", ())
    }


def counts(obj: Mapping[str, Any]) -> dict[str, int]:
    """The numbers of a status."""
    return {key: value for key, value in obj["status"].items() if isinstance(value, int)}


def items(api: KubeApi, path: str) -> list[dict[str, Any]]:
    """Of a collection."""
    found: list[dict[str, Any]] = api.request("GET", path)["items"]
    return found


def told(api: KubeApi, name: str, namespace: str = "default") -> list[tuple[str, str]]:
    """Reasons and messages of the events about an object, each once, as they came."""
    found = items(api, f"/api/v1/namespaces/{namespace}/events")
    about = [one for one in found if one["involvedObject"]["name"] == name]
    about.sort(key=lambda one: int(one["metadata"]["name"].rpartition(".")[2], 16))
    return [(one["reason"], one["message"]) for one in about]


def change_template(api: KubeApi, name: str, **annotations: str | None) -> None:
    """Another revision of a Deployment; `fail` is the annotation by which its pods fail."""
    named = {FAIL if key == "fail" else key: value for key, value in annotations.items()}
    patch = {"spec": {"template": {"metadata": {"annotations": named}}}}
    api.request("PATCH", f"{DEPLOYMENTS}/{name}", patch)
