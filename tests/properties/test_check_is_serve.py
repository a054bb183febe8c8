"""What `celadon check` says of files is what `celadon serve` says of the same objects.

A world (namespaces with Pod Security labels, quotas, LimitRanges, classes, accounts, policies) and
a few objects are drawn. A server in process gets the world, waits for its controllers, and then the
objects one after the other; `check --whole-cluster` gets both as files. Code, sentence, warnings
and audit annotations must be the same.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celadon.cli.main import main
from celadon.kube import metadata
from celadon.kube.resources import known_resources
from tests.apiserver.asking import ask, make, read, warnings
from tests.apiserver.in_process import Running
from tests.examples import examples

pytestmark = pytest.mark.thorough

Json = dict[str, Any]
NAMESPACES = ("calm", "strict", "third")
"""Not `default`: a server keeps a Service of its own there, which quotas count."""
PREFIX = "pod-security.kubernetes.io/"


def typed(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Json:
    own = {"name": name, **({"namespace": namespace} if namespace else {})}
    own |= fields.pop("own", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": own, **fields}


# --- worlds ---

LEVELS = st.sampled_from(["privileged", "baseline", "restricted"])
VERSIONS = st.sampled_from(["latest", "v1.24", "v1.30"])


@st.composite
def security_labels(draw: st.DrawFn) -> Json:
    labels: Json = {}
    for mode in draw(st.sets(st.sampled_from(["enforce", "warn", "audit"]))):
        labels[PREFIX + mode] = draw(LEVELS)
        if draw(st.booleans()):
            labels[f"{PREFIX}{mode}-version"] = draw(VERSIONS)
    return labels


HARD = {
    "pods": ["0", "1", "2"],
    "requests.cpu": ["100m", "1"],
    "limits.memory": ["128Mi", "1Gi"],
    "count/configmaps": ["0", "2"],
    "configmaps": ["2"],
    "count/deployments.apps": ["0", "1"],
    "services": ["1"],
    "services.nodeports": ["0"],
    "persistentvolumeclaims": ["1"],
    "requests.storage": ["1Gi", "5Gi"],
}
SCOPES = st.sampled_from([None, ["BestEffort"], ["NotTerminating"], ["NotBestEffort"]])


@st.composite
def quotas(draw: st.DrawFn, namespace: str) -> list[Json]:
    found = []
    for number in range(draw(st.integers(0, 2))):
        names = draw(st.sets(st.sampled_from(sorted(HARD)), min_size=1, max_size=3))
        spec: Json = {"hard": {one: draw(st.sampled_from(HARD[one])) for one in sorted(names)}}
        scopes = draw(SCOPES)
        if scopes and names == {"pods"}:
            spec["scopes"] = scopes
        found.append(typed("v1", "ResourceQuota", f"quota-{number}", namespace, spec=spec))
    return found


LIMITS = st.sampled_from(
    [
        {"type": "Container", "max": {"cpu": "500m"}},
        {"type": "Container", "default": {"memory": "64Mi"}, "defaultRequest": {"cpu": "50m"}},
        {"type": "Pod", "max": {"memory": "256Mi"}},
        {"type": "Container", "min": {"memory": "32Mi"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}},
    ]
)


def policy(name: str, expression: str, resources: list[str], *actions: str) -> list[Json]:
    group = "apps" if resources == ["deployments"] else ""
    rule = {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": resources,
    }
    version = "admissionregistration.k8s.io/v1"
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression}],
        "auditAnnotations": [
            {"key": "seen", "valueExpression": "'by ' + request.userInfo.username"}
        ],
    }
    binding = {"policyName": name, "validationActions": list(actions)}
    return [
        typed(version, "ValidatingAdmissionPolicy", name, spec=spec),
        typed(version, "ValidatingAdmissionPolicyBinding", name, spec=binding),
    ]


POLICIES = (
    policy("owner", "has(object.metadata.labels)", ["pods", "configmaps"], "Deny", "Audit"),
    policy("few", "object.spec.replicas < 3", ["deployments"], "Warn"),
    policy("named", "namespaceObject.metadata.name != 'strict'", ["services"], "Deny"),
)
CLASSES = (
    typed("scheduling.k8s.io/v1", "PriorityClass", "high", value=1000),
    typed("node.k8s.io/v1", "RuntimeClass", "sandbox", handler="runsc",
          overhead={"podFixed": {"cpu": "10m"}}),
    typed("storage.k8s.io/v1", "StorageClass", "fast", provisioner="example.com/fast"),
)  # fmt: skip


@st.composite
def worlds(draw: st.DrawFn) -> list[Json]:
    found = [
        typed("v1", "Namespace", name, own={"labels": draw(security_labels())})
        for name in NAMESPACES
    ]
    for namespace in NAMESPACES:
        found += draw(quotas(namespace))
        if draw(st.booleans()):
            limits = [draw(LIMITS)]
            found.append(typed("v1", "LimitRange", "limits", namespace, spec={"limits": limits}))
    found.append(typed("v1", "ServiceAccount", "builder", "calm", own={
        "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}
    }))  # fmt: skip
    found += [one for one in CLASSES if draw(st.booleans())]
    for pair in POLICIES:
        found += pair if draw(st.booleans()) else []
    return found


# --- objects ---

SECURITY = st.sampled_from(
    [
        {},
        {"privileged": True},
        {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
         "seccompProfile": {"type": "RuntimeDefault"}},
        {"capabilities": {"add": ["SYS_ADMIN"]}},
        {"runAsUser": 0},
    ]
)  # fmt: skip
RESOURCES = st.sampled_from(
    [
        {},
        {"requests": {"cpu": "100m"}},
        {"limits": {"cpu": "1", "memory": "512Mi"}},
        {"limits": {"cpu": "100m", "memory": "48Mi"}},
    ]
)


@st.composite
def pod_specs(draw: st.DrawFn) -> Json:
    container: Json = {"name": "c", "image": "example.com/c:1"}
    security, resources = draw(SECURITY), draw(RESOURCES)
    container |= {"securityContext": security} if security else {}
    container |= {"resources": resources} if resources else {}
    spec: Json = {"containers": [container]}
    for field, values in (
        ("hostNetwork", [True]),
        ("priorityClassName", ["high", "system-node-critical", "missing"]),
        ("runtimeClassName", ["sandbox", "missing"]),
        ("serviceAccountName", ["default", "builder", "missing"]),
        ("volumes", [[{"name": "v", "secret": {"secretName": "s"}}],
                     [{"name": "v", "hostPath": {"path": "/"}}]]),
        ("priority", [7]),
        ("tolerations", [[{"key": "a", "operator": "Exists"}]]),
    ):  # fmt: skip
        if draw(st.integers(0, 4)) == 0:
            spec[field] = draw(st.sampled_from(values))
    return spec


@st.composite
def objects(draw: st.DrawFn, number: int) -> Json:
    name, namespace = f"o{number}", draw(st.sampled_from([*NAMESPACES, "calm", "absent"]))
    own = {"labels": {"app": "a"}} if draw(st.booleans()) else {}
    match draw(st.integers(0, 8)):
        case 0 | 1 | 2:
            return typed("v1", "Pod", name, namespace, own=own, spec=draw(pod_specs()))
        case 3:
            template = {"metadata": {"labels": {"app": "a"}}, "spec": draw(pod_specs())}
            selector = {"matchLabels": {"app": "a"}}
            spec: Json = {"selector": selector, "template": template}
            spec["replicas"] = draw(st.integers(0, 4))
            return typed("apps/v1", "Deployment", name, namespace, own=own, spec=spec)
        case 4:
            return typed("v1", "ConfigMap", name, namespace, own=own)
        case 5:
            ports = [{"port": 80}]
            kind = draw(st.sampled_from(["ClusterIP", "NodePort"]))
            return typed("v1", "Service", name, namespace, spec={"ports": ports, "type": kind})
        case 6:
            size = draw(st.sampled_from(["1Gi", "3Gi"]))
            claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
            return typed("v1", "PersistentVolumeClaim", name, namespace, spec=claim)
        case 7:
            labels = draw(security_labels())
            if draw(st.booleans()):
                labels[PREFIX + "enforce"] = "wrong"
            return typed("v1", "Namespace", name, own={"labels": labels})
    is_default: Json = {"globalDefault": draw(st.booleans())}
    return typed("scheduling.k8s.io/v1", "PriorityClass", name, value=5, **is_default)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    count = draw(st.integers(1, 6))
    given_objects = [draw(objects(number)) for number in range(count)]
    # `check` sees classes that are still to come, so pods come behind them
    return draw(worlds()), sorted(given_objects, key=lambda one: one["kind"] != "PriorityClass")


# --- both ---


def path_of(value: Json) -> str:
    resource = known_resources().by_gvk(metadata.gvk(value))
    assert resource is not None
    group, version, name = resource.gvr
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    namespace = value["metadata"].get("namespace")
    return f"{root}/namespaces/{namespace}/{name}" if namespace else f"{root}/{name}"


def served(world: list[Json], given: list[Json]) -> list[Json]:
    running = Running()
    try:
        for one in world:
            make(running, path_of(one), one)
        running.settle()
        return [answered(running, one) for one in given]
    finally:
        running.close()


def answered(running: Running, value: Json) -> Json:
    query = "?fieldManager=kubectl-create&fieldValidation=Strict"
    answer = ask(running, "POST", path_of(value) + query, value)
    running.settle()
    found = read(answer)
    refused = found.get("kind") == "Status"
    return {
        "code": answer.code if refused else 200,
        "status": found if refused else None,
        "warnings": warnings(answer),
    }


def checked(world: list[Json], given: list[Json]) -> list[Json]:
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        for name, values in (("world", world), ("given", given)):
            listed = {"apiVersion": "v1", "kind": "List", "items": values}
            (Path(folder) / f"{name}.json").write_text(json.dumps(listed))
        with contextlib.chdir(folder), contextlib.redirect_stdout(out):
            options = ["--whole-cluster", "--no-generated-pods", "--jobs", "1", "-o", "json"]
            main(["check", "-f", "world.json", "given.json", *options])
    report = json.loads(out.getvalue())
    assert report["problems"] == []
    return [
        {
            "code": one["code"],
            "status": one.get("status"),
            "warnings": one.get("warnings", []),
        }
        for one in report["objects"]
    ]


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)
@given(cases())
def test_check_says_what_a_server_says(case: tuple[list[Json], list[Json]]) -> None:
    world, given_objects = case
    assert checked(world, given_objects) == served(world, given_objects)
