"""kubectl get, describe, explain, api-resources: what people look at."""

from __future__ import annotations

import json
import re
import time
import urllib.request

import pytest

from tests.clients.manifests import DEPLOYMENT, POD, SETTINGS
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough


@pytest.fixture
def filled(kubectl: Client) -> Client:
    """With a deployment, a config map, a pod and a service."""
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
    text = "---\n".join((DEPLOYMENT, SETTINGS, POD, service))
    kubectl("create", "-f", kubectl.write("all.yaml", text))
    return kubectl


def cells(table: str) -> list[list[str]]:
    """What stands in a printed table; times like `3s` are AGE."""
    lines = [line.split() for line in table.splitlines()]
    return [["AGE" if re.fullmatch(r"\d+s", cell) else cell for cell in line] for line in lines]


def test_get_in_every_output(filled: Client) -> None:
    get = ("get", "deployment", "web", "-o")
    assert filled(*get, "name") == "deployment.apps/web\n"
    assert filled(*get, "jsonpath={.spec.template.spec.containers[*].image}") == "nginx:1"
    assert filled(*get, "go-template={{.metadata.name}} {{.spec.replicas}}") == "web 2"
    assert filled(*get, "custom-columns=NAME:.metadata.name,WANTED:.spec.replicas") == (
        "NAME   WANTED\nweb    2\n"
    )
    assert "  replicas: 2\n" in filled(*get, "yaml")
    shown = json.loads(filled(*get, "json"))
    assert (shown["kind"], shown["apiVersion"]) == ("Deployment", "apps/v1")
    assert "managedFields" not in shown["metadata"]
    wide = filled(*get, "wide").splitlines()
    assert wide[0].split() == [
        *("NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"),
    ]
    assert wide[1].split()[-3:] == ["nginx", "nginx:1", "app=web"]


def test_get_lists_of_several_kinds(filled: Client) -> None:
    assert filled("get", "deployments,configmaps", "-o", "name") == (
        "deployment.apps/web\nconfigmap/settings\n"
    )
    listed = filled("get", "all")
    for name in ("pod/one", "service/web", "deployment.apps/web"):
        assert name in listed
    assert filled("get", "pods", "--show-labels").split()[-1] == "app=one"
    assert cells(filled("get", "deploy", "-L", "tier,app")) == [
        ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "TIER", "APP"],
        ["web", "0/2", "0", "0", "AGE", "web"],
    ]


def test_get_selects_and_sorts(filled: Client) -> None:
    filled("create", "configmap", "another")
    named = ("get", "configmaps", "-o", "name")
    assert filled(*named, "--field-selector=metadata.name=another") == "configmap/another\n"
    assert filled(*named, "-l", "app=web") == ""
    assert filled(*named, "--sort-by=.metadata.name", "--chunk-size=1") == (
        "configmap/another\nconfigmap/settings\n"
    )
    assert (
        filled("get", "pods", "-o", "name", "--field-selector=status.phase=Pending") == "pod/one\n"
    )


def test_get_what_is_not_there(filled: Client) -> None:
    assert filled.fails("get", "pod", "none") == (
        'Error from server (NotFound): pods "none" not found\n'
    )
    assert filled("get", "pod", "none", "--ignore-not-found") == ""
    assert filled.fails("get", "galaxies") == (
        'error: the server doesn\'t have a resource type "galaxies"\n'
    )
    assert filled.run("get", "jobs").err.startswith("No resources found in space-")


def test_get_in_all_namespaces(filled: Client) -> None:
    space = filled.arguments[1]
    rows = [line.split()[:2] for line in filled("get", "all", "-A").splitlines() if line]
    assert ["default", "service/kubernetes"] in rows
    assert [space, "deployment.apps/web"] in rows
    assert filled.run("get", "nodes").err == "No resources found\n"


def test_a_dump_for_debugging(filled: Client) -> None:
    space = filled.arguments[1]
    told = filled("cluster-info", "dump", f"--namespaces={space}", "--output-directory=dump")
    assert told == "Cluster info dumped to dump\n"
    pods = json.loads((filled.folder / "dump" / space / "pods.json").read_text(encoding="utf-8"))
    assert [one["metadata"]["name"] for one in pods["items"]] == ["one"]


def test_proxy(filled: Client) -> None:
    with filled.lines("proxy", "--port=0") as line:
        address = line().split()[-1]
        with urllib.request.urlopen(f"http://{address}/version") as answer:  # loopback only
            assert json.load(answer)["minor"] == "36"
        path = f"/api/v1/namespaces/{filled.arguments[1]}/configmaps?watch=true"
        with urllib.request.urlopen(f"http://{address}{path}") as events:  # loopback only
            assert json.loads(events.readline())["object"]["metadata"]["name"] == "settings"


def test_watching(kubectl: Client) -> None:
    kubectl("create", "configmap", "before")
    with kubectl.lines("get", "configmaps", "-w", "--output-watch-events") as line:
        shown = [line(), line()]
        kubectl("create", "configmap", "seen", "--from-literal=a=b")
        shown.append(line())
        kubectl("label", "configmap", "seen", "x=y")
        shown.append(line())
        kubectl("delete", "configmap", "seen")
        shown.append(line())
    assert [one.split()[:3] for one in shown] == [
        ["EVENT", "NAME", "DATA"],
        ["ADDED", "before", "0"],
        ["ADDED", "seen", "1"],
        ["MODIFIED", "seen", "1"],
        ["DELETED", "seen", "1"],
    ]


def test_describe(filled: Client) -> None:
    deployment = filled("describe", "deployment", "web")
    assert "Selector:               app=web\n" in deployment
    assert "Replicas:               2 desired | 0 updated | 0 total" in deployment
    pod = filled("describe", "pod", "one")
    assert "Service Account:  default\n" in pod
    assert "QoS Class:                   BestEffort\n" in pod
    assert "color:\n----\ngreen\n" in filled("describe", "configmap", "settings")
    space = filled("describe", "namespace", filled.arguments[1])
    assert "Status:       Active\n" in space


def test_describe_shows_events(filled: Client) -> None:
    uid = filled.json("get", "pod", "one")["metadata"]["uid"]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "one.1"},
        "involvedObject": {
            "kind": "Pod",
            "name": "one",
            "namespace": filled.arguments[1],
            "uid": uid,
            "apiVersion": "v1",
        },
        "reason": "Tested",
        "message": "as told",
        "type": "Normal",
        "source": {"component": "test"},
        "firstTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "lastTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "count": 1,
    }
    filled("create", "-f", "-", given=json.dumps(event))
    last = filled("describe", "pod", "one").splitlines()[-1].split()
    assert [last[0], last[1], *last[3:]] == ["Normal", "Tested", "test", "as", "told"]
    assert "as told" in filled("events", "--for", "pod/one")
    assert "pod/one" in filled("get", "events")


def test_explain(kubectl: Client) -> None:
    text = kubectl("explain", "deployment.spec.strategy")
    assert text.startswith("GROUP:      apps\nKIND:       Deployment\nVERSION:    v1\n")
    assert "  rollingUpdate\t<RollingUpdateDeployment>\n" in text
    text = kubectl("explain", "validatingadmissionpolicy", "--recursive")
    assert "    validations\t<[]Validation>\n" in text
    assert "      expression\t<string> -required-\n" in text
    assert kubectl.fails("explain", "pod.spec.galaxies") == (
        'error: field "galaxies" does not exist\n'
    )


def test_what_the_server_serves(kubectl: Client) -> None:
    versions = kubectl("api-versions").split()
    assert {"v1", "apps/v1", "admissionregistration.k8s.io/v1"} <= set(versions)
    resources = kubectl("api-resources", "--api-group=apps", "--no-headers").splitlines()
    assert [line.split() for line in resources] == [
        ["controllerrevisions", "apps/v1", "true", "ControllerRevision"],
        ["daemonsets", "ds", "apps/v1", "true", "DaemonSet"],
        ["deployments", "deploy", "apps/v1", "true", "Deployment"],
        ["replicasets", "rs", "apps/v1", "true", "ReplicaSet"],
        ["statefulsets", "sts", "apps/v1", "true", "StatefulSet"],
    ]
    assert "\nServer Version: v1.36.0\n" in kubectl.run("version").out
    assert kubectl("get", "--raw", "/readyz") == "ok"
    assert kubectl("cluster-info").startswith("Kubernetes control plane is running at https://")
