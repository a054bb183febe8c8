"""kubectl rollout, expose, autoscale: what goes beyond one object.

No controller here makes ReplicaSets; the tests write what it would have written.
"""

from __future__ import annotations

import json

import pytest

from tests.clients.manifests import DEPLOYMENT
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough


@pytest.fixture
def web(kubectl: Client) -> Client:
    """With a deployment."""
    kubectl("create", "-f", kubectl.write("web.yaml", DEPLOYMENT))
    return kubectl


def observed(web: Client) -> None:
    """What the controller writes when all replicas are there."""
    generation = web.json("get", "deployment", "web")["metadata"]["generation"]
    counts = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas", "availableReplicas"), 2)
    patch = json.dumps({"status": {"observedGeneration": generation, **counts}})
    web("patch", "deployment", "web", "--subresource=status", "--type=merge", "-p", patch)


def revision(web: Client, number: int, image: str) -> None:
    """A ReplicaSet as the controller makes it."""
    deployment = web.json("get", "deployment", "web")
    template = deployment["spec"]["template"]
    template["spec"]["containers"][0]["image"] = image
    template["metadata"]["labels"]["pod-template-hash"] = str(number)
    labels = {"app": "web", "pod-template-hash": str(number)}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"web-{number}",
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": str(number)},
            "ownerReferences": [owner | {"uid": deployment["metadata"]["uid"]}],
        },
        "spec": {"selector": {"matchLabels": labels}, "template": template, "replicas": 0},
    }
    web("create", "-f", "-", given=json.dumps(replica_set))


def test_status(web: Client) -> None:
    assert "timed out" in web.fails("rollout", "status", "deployment/web", "--timeout=100ms")
    observed(web)
    assert web("rollout", "status", "deployment/web") == (
        'deployment "web" successfully rolled out\n'
    )


def test_restart_pause_and_resume(web: Client) -> None:
    assert web("rollout", "restart", "deployment/web") == "deployment.apps/web restarted\n"
    spec = web.json("get", "deployment", "web")["spec"]
    assert "kubectl.kubernetes.io/restartedAt" in spec["template"]["metadata"]["annotations"]
    assert web("rollout", "pause", "deployment/web") == "deployment.apps/web paused\n"
    assert web.fails("rollout", "pause", "deployment/web") == (
        'error: deployments.apps "web" is already paused\n'
    )
    assert web("rollout", "resume", "deployment/web") == "deployment.apps/web resumed\n"
    assert "paused" not in web.json("get", "deployment", "web")["spec"]


def test_history_and_undo(web: Client) -> None:
    assert web("rollout", "history", "deployment/web") == (
        "deployment.apps/web \nNo rollout history found.\n"
    )
    revision(web, 1, "nginx:0")
    revision(web, 2, "nginx:1")
    history = web("rollout", "history", "deployment/web")
    assert [line.split() for line in history.splitlines()[2:4]] == [
        ["1", "<none>"],
        ["2", "<none>"],
    ]
    assert "Image:" in web("rollout", "history", "deployment/web", "--revision=1")
    assert web("rollout", "undo", "deployment/web", "--to-revision=1") == (
        "deployment.apps/web rolled back\n"
    )
    spec = web.json("get", "deployment", "web")["spec"]
    assert spec["template"]["spec"]["containers"][0]["image"] == "nginx:0"


def test_expose_and_autoscale(web: Client) -> None:
    assert web("expose", "deployment", "web", "--port=80") == "service/web exposed\n"
    service = web.json("get", "service", "web")["spec"]
    assert service["selector"] == {"app": "web"}
    assert service["clusterIP"].startswith("10.")
    assert web("autoscale", "deployment", "web", "--min=1", "--max=3") == (
        "horizontalpodautoscaler.autoscaling/web autoscaled\n"
    )
    line = web("get", "hpa", "web", "--no-headers").split()
    assert (line[:2], line[-4:-1]) == (["web", "Deployment/web"], ["1", "3", "0"])
