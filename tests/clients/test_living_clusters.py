"""kubectl and helm in a cluster whose workloads run: rollouts end, nodes are drained."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from celadon.testing import KubeApi, ServerOptions
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough

PATIENCE = "--timeout=300s"


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    """Three nodes; pods are ready at once."""
    with KubeApi([], ServerOptions(simulate=True, nodes=3)) as running:
        running.settle()
        yield running


@pytest.fixture
def web(kubectl: Client) -> Client:
    """With a deployment of four pods."""
    kubectl("create", "deployment", "web", "--image=web:1", "--replicas=4")
    return kubectl


def names(client: Client, kind: str, path: str = "{.items[*].metadata.name}") -> list[str]:
    return client("get", kind, "-o", f"jsonpath={path}").split()


def test_a_rollout_and_back(web: Client) -> None:
    done = 'deployment "web" successfully rolled out\n'
    assert web("rollout", "status", "deployment/web", PATIENCE).endswith(done)
    first = names(web, "pods")
    assert web("wait", "--for=condition=Available", "deployment/web", PATIENCE) == (
        "deployment.apps/web condition met\n"
    )
    web("set", "image", "deployment/web", "web=web:2")
    assert web("rollout", "status", "deployment/web", PATIENCE).endswith(done)
    second = names(web, "pods", "{.items[*].spec.containers[0].image}")
    assert set(second) == {"web:2"}
    assert not set(first) & set(names(web, "pods"))
    history = web("rollout", "history", "deployment/web").splitlines()
    assert [line.split()[0] for line in history[2:4]] == ["1", "2"]
    assert web("rollout", "undo", "deployment/web") == "deployment.apps/web rolled back\n"
    assert web("rollout", "status", "deployment/web", PATIENCE).endswith(done)
    images = names(web, "pods", "{.items[*].spec.containers[0].image}")
    assert set(images) == {"web:1"}
    assert "3 " in web("rollout", "history", "deployment/web")


def test_pause_scale_and_restart(web: Client) -> None:
    web("rollout", "status", "deployment/web", PATIENCE)
    web("rollout", "pause", "deployment/web")
    web("set", "image", "deployment/web", "web=web:2")
    web("scale", "deployment/web", "--replicas=2")
    web("wait", "deployment/web", "--for=jsonpath={.status.replicas}=2", PATIENCE)
    assert set(names(web, "pods", "{.items[*].spec.containers[0].image}")) == {"web:1"}
    web("rollout", "resume", "deployment/web")
    web("rollout", "status", "deployment/web", PATIENCE)
    assert set(names(web, "pods", "{.items[*].spec.containers[0].image}")) == {"web:2"}
    before = names(web, "pods")
    web("rollout", "restart", "deployment/web")
    web("rollout", "status", "deployment/web", PATIENCE)
    assert not set(before) & set(names(web, "pods"))


def test_a_rollout_that_fails(api: KubeApi, web: Client) -> None:
    web("rollout", "status", "deployment/web", PATIENCE)
    template = {"metadata": {"annotations": {"simulation.celadon.dev/fail": "pull"}}}
    broken = json.dumps({"spec": {"progressDeadlineSeconds": 30, "template": template}})
    web("patch", "deployment", "web", "-p", broken)
    api.advance(minutes=1)
    failed = web.fails("rollout", "status", "deployment/web", PATIENCE)
    assert failed == 'error: deployment "web" exceeded its progress deadline\n'
    shown = web("get", "pods")
    assert shown.count("ImagePullBackOff") == 2
    assert shown.count("1/1     Running") == 3


def test_a_drained_node(web: Client) -> None:
    web("rollout", "status", "deployment/web", PATIENCE)
    node = names(web, "pods", "{.items[0].spec.nodeName}")[0]
    drained = web.run("drain", node, "--ignore-daemonsets", "--force", PATIENCE)
    assert drained.code == 0, drained.err
    assert f"node/{node} drained\n" in drained.out
    web("rollout", "status", "deployment/web", PATIENCE)
    assert node not in names(web, "pods", "{.items[*].spec.nodeName}")
    assert "SchedulingDisabled" in web("get", "node", node)
    web("uncordon", node)
    assert "SchedulingDisabled" not in web("get", "node", node)


def test_what_describe_tells(web: Client) -> None:
    web("rollout", "status", "deployment/web", PATIENCE)
    told = web("describe", "deployment", "web")
    assert "4 desired | 4 updated | 4 total | 4 available | 0 unavailable" in told
    assert "deployment-controller  Scaled up replica set web-" in told
    pod = names(web, "pods")[0]
    told = web("describe", "pod", pod)
    assert "default-scheduler  Successfully assigned " in told
    assert "spec.containers{web}: Container started\n" in told
    table = web("get", "pods").splitlines()
    assert all(line.split()[1:4] == ["1/1", "Running", "0"] for line in table[1:])


def test_pods_that_wait_and_end(kubectl: Client) -> None:
    kubectl("run", "once", "--image=once", "--restart=Never")
    done = kubectl("wait", "pod/once", "--for=jsonpath={.status.phase}=Succeeded", PATIENCE)
    assert done == "pod/once condition met\n"
    kubectl("run", "runs", "--image=runs")
    assert kubectl("wait", "pod/runs", "--for=condition=Ready", PATIENCE) == (
        "pod/runs condition met\n"
    )
    kubectl("delete", "pod", "runs", PATIENCE)
    assert names(kubectl, "pods") == ["once"]


def test_helm_waits(helm: Client, kubectl: Client) -> None:
    helm("create", "shop")
    installed = helm("install", "shop", "shop", "--wait", "--set", "replicaCount=2", PATIENCE)
    assert "STATUS: deployed\n" in installed
    assert kubectl("get", "deployment", "shop", "-o", "jsonpath={.status.availableReplicas}") == "2"
    upgraded = helm("upgrade", "shop", "shop", "--wait", "--set", "image.tag=9", PATIENCE)
    assert "REVISION: 2\n" in upgraded
    helm("rollback", "shop", "1", "--wait", PATIENCE)
    assert helm("uninstall", "shop", "--wait", PATIENCE) == 'release "shop" uninstalled\n'
    assert kubectl("get", "deployments,pods", "-o", "name") == ""
