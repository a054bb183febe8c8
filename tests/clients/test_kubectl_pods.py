"""kubectl run, logs, exec, cordon, taint, drain: there are no machines here, and it is said so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.manifests import POD
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough


@pytest.fixture
def node(kubectl: Client) -> Iterator[str]:
    """A node, which no other test has."""
    name = f"node-of-{kubectl.arguments[1]}"
    kubectl("create", "-f", "-", given=f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n")
    yield name
    kubectl.run("delete", "node", name)


def test_run(kubectl: Client) -> None:
    assert kubectl("run", "one", "--image=busybox", "--labels=app=one") == "pod/one created\n"
    assert kubectl("get", "pod", "one", "--no-headers").split()[:4] == [
        "one",
        "0/1",
        "Pending",
        "0",
    ]
    assert kubectl("run", "two", "--image=b", "--dry-run=server", "-o", "name") == "pod/two\n"


def test_nobody_runs_what_a_pod_says(kubectl: Client) -> None:
    kubectl("create", "-f", "-", given=POD)
    assert kubectl("logs", "one") == ""
    for command in (("exec", "one", "--", "ls"), ("attach", "one")):
        assert "pod one does not have a host assigned" in kubectl.fails(*command)
    assert "container other is not valid for pod one" in kubectl.fails("logs", "one", "-c", "other")
    assert "pod is not running" in kubectl.fails("port-forward", "one", "8080:80")
    assert 'pods "none" not found' in kubectl.fails("logs", "none")
    kubectl.write("note", "text")
    assert "pod one does not have a host assigned" in kubectl.fails("cp", "note", "one:/note")
    for kind in ("pods", "nodes"):
        assert kubectl.fails("top", kind) == "error: Metrics API not available\n"


def test_debugging_adds_a_container(kubectl: Client) -> None:
    kubectl("create", "-f", "-", given=POD)
    kubectl.run("debug", "one", "--image=tools", "--container=look")
    (look,) = kubectl.json("get", "pod", "one")["spec"]["ephemeralContainers"]
    assert (look["name"], look["image"]) == ("look", "tools")
    assert "Ephemeral Containers:\n  look:\n" in kubectl("describe", "pod", "one")


def test_nobody_answers_for_a_node(kubectl: Client, node: str) -> None:
    kubectl("create", "-f", "-", given=POD + f"  nodeName: {node}\n")
    for command in (("logs", "one"), ("exec", "one", "--", "ls")):
        assert "no preferred addresses found" in kubectl.fails(*command)


def test_cordon_taint_and_drain(kubectl: Client, node: str) -> None:
    assert kubectl("taint", "node", node, "a=b:NoSchedule") == f"node/{node} tainted\n"
    assert kubectl("taint", "node", node, "a-") == f"node/{node} untainted\n"
    assert kubectl("cordon", node) == f"node/{node} cordoned\n"
    assert "SchedulingDisabled" in kubectl("get", "node", node)
    assert kubectl("uncordon", node) == f"node/{node} uncordoned\n"
    assert kubectl("drain", node) == f"node/{node} cordoned\nnode/{node} drained\n"
    assert f"Name:               {node}\n" in kubectl("describe", "node", node)


def test_eviction_asks_the_budget(kubectl: Client, node: str) -> None:
    kubectl("create", "-f", "-", given=POD + f"  nodeName: {node}\n")
    running = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
    kubectl("patch", "pod", "one", "--subresource=status", "-p", running)
    kubectl("create", "poddisruptionbudget", "all", "--selector=app=one", "--min-available=1")
    path = f"/api/v1/namespaces/{kubectl.arguments[1]}/pods/one/eviction"
    eviction = '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"one"}}'
    refused = kubectl.fails("create", "--raw", path, "-f", "-", given=eviction)
    assert "Cannot evict pod as it would violate the pod's disruption budget." in refused
    kubectl("delete", "poddisruptionbudget", "all")
    assert '"status":"Success"' in kubectl("create", "--raw", path, "-f", "-", given=eviction)
    assert kubectl.json("get", "pod", "one")["metadata"]["deletionTimestamp"]
