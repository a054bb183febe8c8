"""The built-in plugins in `celadon check`: refusals, remarks, and what could not be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission import ObjectWorld, Operation, Request
from celadon.cli.check.plugins import PluginChoice, PluginDesk
from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.cli.files import run as celadon
from tests.cli.files import write

Json = dict[str, Any]
PREFIX = "pod-security.kubernetes.io/"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def typed(api_version: str, kind: str, name: str, **fields: Any) -> Json:
    own = {"name": name, **fields.pop("own", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": own, **fields}


def namespace(name: str = "shop", **labels: str) -> Json:
    told = {PREFIX + mode: level for mode, level in labels.items()}
    return typed("v1", "Namespace", name, own={"labels": told})


def pod(name: str = "p", **spec: Any) -> Json:
    container = {"name": "c", "image": "i", "securityContext": {"privileged": True}}
    full = {"containers": [container], **spec}
    return typed("v1", "Pod", name, own={"namespace": "shop"}, spec=full)


def checked(
    capsys: pytest.CaptureFixture[str], there: list[Json], given: list[Json], *words: str
) -> tuple[int, Json]:
    write(Path("there.json"), *there)
    write(Path("given.json"), *given)
    code, out, err = celadon(
        capsys, "check", "-f", "there.json", "given.json", "-o", "json", *words
    )
    assert err == ""
    return code, json.loads(out)


def test_pod_security_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = checked(capsys, [namespace(enforce="baseline")], [pod()])
    (found,) = report["objects"]
    assert (code, found["verdict"], found["code"]) == (1, "denied", 403)
    assert found["plugin"] == "PodSecurity"
    assert found["message"] == (
        'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" '
        "must not set securityContext.privileged=true)"
    )
    assert found["auditAnnotations"] == {PREFIX + "enforce-policy": "baseline:latest"}
    assert report["plugins"]["unasked"] == []
    assert "PodSecurity" in report["plugins"]["asked"]


def test_pod_security_warns(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = checked(capsys, [namespace(warn="baseline", audit="baseline")], [pod()])
    (found,) = report["objects"]
    assert (code, found["verdict"]) == (0, "warned")
    assert found["warnings"][0].startswith('would violate PodSecurity "baseline:latest"')
    assert PREFIX + "audit-violations" in found["auditAnnotations"]


@pytest.mark.parametrize(
    "words", [("--disable-admission-plugins", "PodSecurity"), ("--no-validation",)]
)
def test_plugins_that_are_not_wanted(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    code, report = checked(capsys, [namespace(enforce="baseline")], [pod()], *words)
    assert code == 0
    assert "PodSecurity" not in report["plugins"]["asked"]


def test_a_configuration_file(capsys: pytest.CaptureFixture[str]) -> None:
    told = {
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline"},
    }
    plugins = [{"name": "PodSecurity", "configuration": told}]
    version = "apiserver.config.k8s.io/v1"
    file = {"apiVersion": version, "kind": "AdmissionConfiguration", "plugins": plugins}
    words = ("--admission-control-config-file", write(Path("admission.json"), file))
    code, report = checked(capsys, [namespace()], [pod()], *words)
    assert (code, report["objects"][0]["plugin"]) == (1, "PodSecurity")


MISSING = [
    ("priorityClassName", "Priority", "PriorityClass `gold` is not given"),
    ("runtimeClassName", "RuntimeClass", "RuntimeClass `gold` is not given"),
    ("serviceAccountName", "ServiceAccount", "ServiceAccount `gold` is not given"),
]


@pytest.mark.parametrize(("field", "plugin", "why"), MISSING)
def test_what_the_cluster_may_have(
    capsys: pytest.CaptureFixture[str], field: str, plugin: str, why: str
) -> None:
    code, report = checked(capsys, [namespace()], [pod(**{field: "gold"})])
    assert code == 0
    assert report["plugins"]["unasked"] == [{"plugin": plugin, "reason": why, "objects": 1}]
    code, report = checked(capsys, [namespace()], [pod(**{field: "gold"})], "--whole-cluster")
    (found,) = report["objects"]
    assert (code, found["code"], found["plugin"]) == (1, 403, plugin)
    assert report["plugins"]["unasked"] == []


def test_a_namespace_that_is_not_given(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = checked(capsys, [], [pod()])
    assert code == 0
    why = "namespace `shop` is not given"
    assert report["plugins"]["unasked"] == [
        {"plugin": one, "reason": why, "objects": 1}
        for one in ("LimitRanger", "PodSecurity", "ResourceQuota")
    ]
    code, report = checked(capsys, [], [pod()], "--whole-cluster")
    (found,) = report["objects"]
    assert (code, found["code"], found["plugin"]) == (1, 404, "NamespaceLifecycle")
    assert found["message"] == 'namespaces "shop" not found'


def test_each_kind_that_a_namespace_matters_to(capsys: pytest.CaptureFixture[str]) -> None:
    in_shop = {"own": {"namespace": "shop"}}
    spec = pod()["spec"]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    running = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    job = {"template": {"spec": {**spec, "restartPolicy": "Never"}}}
    workloads = [
        pod(),
        typed("v1", "PodTemplate", "t", **in_shop, template={"spec": spec}),
        typed("v1", "ReplicationController", "rc", **in_shop,
              spec={"selector": {"a": "b"}, "template": template}),
        *(typed("apps/v1", kind, "a", **in_shop, spec=running)
          for kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")),
        typed("batch/v1", "Job", "j", **in_shop, spec=job),
        typed("batch/v1", "CronJob", "c", **in_shop,
              spec={"schedule": "@daily", "jobTemplate": {"spec": job}}),
    ]  # fmt: skip
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    others = [
        typed("v1", "PersistentVolumeClaim", "v", **in_shop, spec=claim),
        typed("v1", "ConfigMap", "m", **in_shop),
    ]
    _, report = checked(capsys, [], [*workloads, *others], "--no-generated-pods")
    assert {one["plugin"]: one["objects"] for one in report["plugins"]["unasked"]} == {
        "LimitRanger": 2,
        "PodSecurity": len(workloads),
        "ResourceQuota": len(workloads) + len(others),
    }


ENDING = typed("v1", "Namespace", "old", own={"deletionTimestamp": "2026-01-01T00:00:00Z"})
POD, NODE = (
    (GroupVersionKind("", "v1", kind), GroupVersionResource("", "v1", resource))
    for kind, resource in (("Pod", "pods"), ("Node", "nodes"))
)


@pytest.mark.parametrize(
    ("there", "about", "concerned"),
    [
        ([], POD, False),
        ([namespace()], POD, False),
        ([namespace(enforce="baseline")], POD, True),
        ([namespace(warn="baseline")], POD, True),
        ([namespace(enforce="baseline")], NODE, False),
        ([ENDING], POD, True),
        ([ENDING], NODE, True),
    ],
)
def test_what_no_namespace_that_is_there_matters_to(
    there: list[Json], about: tuple[GroupVersionKind, GroupVersionResource], concerned: bool
) -> None:
    """It need not be read from a cluster."""
    names = frozenset({"PodSecurity", "NamespaceLifecycle"})
    desk = PluginDesk(PluginChoice(names), "1.36", ObjectWorld(there))
    assert desk.may_concern(Request(Operation.CREATE, *about, namespace="any")) is concerned


def test_deletions_are_asked_about_too(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--operation", "DELETE")
    code, report = checked(capsys, [], [namespace("default")], *words)
    assert (code, report["objects"][0]["plugin"]) == (1, "NamespaceLifecycle")


def test_only_one_default_class(capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        typed("scheduling.k8s.io/v1", "PriorityClass", name, value=5, globalDefault=True)
        for name in ("first", "second")
    ]
    code, report = checked(capsys, [], given)
    assert code == 1
    assert [one["verdict"] for one in report["objects"]] == ["untouched", "denied"]


def test_people_are_told_who_refuses_and_who_was_not_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(Path("there.json"), namespace(enforce="baseline"))
    write(Path("given.json"), pod(), pod("q", serviceAccountName="robot"))
    code, out, _ = celadon(capsys, "check", "-f", "there.json", "given.json")
    assert code == 1
    assert "  plugin  PodSecurity\n  object  given.json:" in out
    assert (
        "admission plugins not fully asked: ServiceAccount (ServiceAccount `robot` is not given)\n"
        in out
    )
    _, out, _ = celadon(capsys, "check", "-v", "-f", "there.json", "given.json")
    assert "admission plugins asked: NamespaceLifecycle, LimitRanger, ServiceAccount, " in out


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("github", "%0Aplugin: PodSecurity"),
        ("junit", "\nplugin: PodSecurity"),
        ("sarif", '"ruleId": "plugin/PodSecurity"'),
        ("yaml", "plugin: PodSecurity"),
    ],
)
def test_every_form_names_the_plugin(
    capsys: pytest.CaptureFixture[str], form: str, text: str
) -> None:
    write(Path("there.json"), namespace(enforce="baseline"))
    write(Path("given.json"), pod())
    code, out, _ = celadon(capsys, "check", "-f", "there.json", "given.json", "-o", form)
    assert code == 1
    assert text in out
