"""kubectl and the workloads of a simulated cluster that are no Deployments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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


def template(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "app", "image": "app:1", "ports": [{"containerPort": 80}]}]
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers, **spec}}


def workload(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    given = {
        "selector": {"matchLabels": {"app": name}},
        "template": template(name),
        **spec,
    }
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": given}


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def create(kubectl: Client, *manifests: dict[str, Any]) -> None:
    for one in manifests:
        kubectl("create", "-f", "-", given=json.dumps(one))


def values(kubectl: Client, kind: str, path: str) -> list[str]:
    return kubectl("get", kind, "-o", f"jsonpath={{.items[*]{path}}}").split()


def test_a_stateful_set_is_rolled_out_and_back(kubectl: Client) -> None:
    create(kubectl, workload("StatefulSet", "db", replicas=3, volumeClaimTemplates=[CLAIM]))
    done = kubectl("rollout", "status", "statefulset/db", PATIENCE)
    assert done.endswith("partitioned roll out complete: 3 new pods have been updated...\n")
    assert values(kubectl, "pods", ".metadata.name") == ["db-0", "db-1", "db-2"]
    assert set(values(kubectl, "pvc", ".status.phase")) == {"Bound"}
    kubectl("set", "image", "statefulset/db", "app=app:2")
    kubectl("rollout", "status", "statefulset/db", PATIENCE)
    assert set(values(kubectl, "pods", ".spec.containers[0].image")) == {"app:2"}
    assert kubectl("rollout", "undo", "statefulset/db") == "statefulset.apps/db rolled back\n"
    kubectl("rollout", "status", "statefulset/db", PATIENCE)
    assert set(values(kubectl, "pods", ".spec.containers[0].image")) == {"app:1"}
    history = kubectl("rollout", "history", "statefulset/db").splitlines()
    assert [line.split()[0] for line in history[2:4]] == ["2", "3"]
    told = kubectl("describe", "statefulset", "db")
    assert "statefulset-controller  Create Pod db-0 in StatefulSet db successful" in told


def test_a_daemon_set_is_rolled_out_and_back(kubectl: Client) -> None:
    create(kubectl, workload("DaemonSet", "agent"))
    done = 'daemon set "agent" successfully rolled out\n'
    assert kubectl("rollout", "status", "daemonset/agent", PATIENCE).endswith(done)
    assert len(set(values(kubectl, "pods", ".spec.nodeName"))) == 3
    kubectl("set", "image", "daemonset/agent", "app=app:2")
    assert kubectl("rollout", "status", "daemonset/agent", PATIENCE).endswith(done)
    kubectl("rollout", "undo", "daemonset/agent")
    assert kubectl("rollout", "status", "daemonset/agent", PATIENCE).endswith(done)
    assert set(values(kubectl, "pods", ".spec.containers[0].image")) == {"app:1"}


def test_jobs_end(kubectl: Client, api: KubeApi) -> None:
    kubectl("create", "job", "once", "--image=app")
    done = kubectl("wait", "job/once", "--for=condition=Complete", PATIENCE)
    assert done == "job.batch/once condition met\n"
    assert kubectl("get", "job", "once").splitlines()[1].split()[:3] == ["once", "Complete", "1/1"]
    kubectl("create", "cronjob", "tick", "--image=app", "--schedule=*/5 * * * *")
    kubectl("create", "job", "now", "--from=cronjob/tick")
    kubectl("wait", "job/now", "--for=condition=Complete", PATIENCE)
    api.advance(minutes=6)
    made = values(kubectl, "jobs", ".metadata.name")
    assert len([one for one in made if one.startswith("tick-")]) >= 1
    assert "cronjob-controller  Created job tick-" in kubectl("describe", "cronjob", "tick")


def test_a_drain_respects_a_budget(kubectl: Client, api: KubeApi) -> None:
    spread = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": {"app": "web"}},
                    "topologyKey": "kubernetes.io/hostname",
                }
            ]
        }
    }
    web = workload("Deployment", "web", replicas=3, template=template("web", affinity=spread))
    create(kubectl, web)
    kubectl("rollout", "status", "deployment/web", PATIENCE)
    kubectl("create", "pdb", "web", "--selector=app=web", "--min-available=3")
    api.settle()
    assert kubectl("get", "pdb", "web").splitlines()[1].split()[:4] == ["web", "3", "N/A", "0"]
    node = values(kubectl, "pods", ".spec.nodeName")[0]
    drain = ("drain", node, "--ignore-daemonsets", "--force")
    refused = kubectl.run(*drain, "--timeout=2s")
    assert refused.code != 0
    assert "Cannot evict pod as it would violate the pod's disruption budget" in refused.err
    kubectl("patch", "pdb", "web", "-p", '{"spec":{"minAvailable":2}}')
    api.settle()
    drained = kubectl.run(*drain, PATIENCE)
    assert f"node/{node} drained\n" in drained.out, drained.err
    api.settle()
    assert kubectl("get", "pdb", "web").splitlines()[1].split()[3] == "0"
    kubectl("uncordon", node)
    kubectl("rollout", "status", "deployment/web", PATIENCE)


def test_services_have_endpoints(kubectl: Client, api: KubeApi) -> None:
    create(kubectl, workload("Deployment", "web", replicas=2))
    kubectl("expose", "deployment", "web", "--port=80")
    kubectl("rollout", "status", "deployment/web", PATIENCE)
    api.settle()
    told = kubectl("describe", "service", "web")
    (line,) = [one for one in told.splitlines() if one.startswith("Endpoints:")]
    assert line.count(":80") == 2
    assert len(values(kubectl, "endpointslices", ".metadata.name")) == 1


def test_a_deployment_is_scaled_by_itself(kubectl: Client, api: KubeApi) -> None:
    create(kubectl, workload("Deployment", "web", replicas=2))
    kubectl("autoscale", "deployment", "web", "--min=2", "--max=5", "--cpu=50%")
    kubectl("annotate", "hpa", "web", "simulation.celadon.dev/usage=cpu=120%")
    api.settle()
    told = kubectl("describe", "hpa", "web")
    assert "missing request for cpu in container app of Pod web-" in told
    kubectl("set", "resources", "deployment", "web", "--requests=cpu=100m")
    kubectl("rollout", "status", "deployment/web", PATIENCE)
    api.advance(seconds=46)
    shown = kubectl("get", "hpa", "web").splitlines()[1].split()
    assert "120%/50%" in shown
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "5"
