"""What controllers would create of workloads, judged by `celadon check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.check.test_plugin_desk import Json, checked, namespace, typed
from tests.cli.check.test_quota_ledger import deployment
from tests.cli.files import binding, policy, run, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def about(
    kind: str, expression: str = "false", group: str = "", actions: str = "Deny"
) -> list[Json]:
    rule = {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": [kind],
    }
    return [policy(kind, expression, rules=[rule]), binding(kind, actions=actions)]


def cron_job() -> Json:
    template = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}}
    return typed("batch/v1", "CronJob", "nightly", own={"namespace": "shop"}, spec=spec)


def stateful_set() -> Json:
    given = deployment(2)
    given["kind"] = "StatefulSet"
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    given["spec"]["volumeClaimTemplates"] = [
        {"metadata": {"name": name}, "spec": asked} for name in ("data", "logs")
    ]
    return given


def shown(report: Json) -> list[tuple[str, str, str]]:
    return [
        (one["kind"], one["verdict"], one.get("generatedBy", {}).get("object", ""))
        for one in report["objects"]
    ]


def test_the_pod_of_a_deployment(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), *about("pods", "request.userInfo.username.startsWith('system:nobody')")]
    code, report = checked(capsys, there, [deployment(1)])
    assert code == 1
    assert shown(report) == [
        ("Deployment", "untouched", ""),
        ("Pod", "denied", "Deployment shop/web"),
    ]
    pod = report["objects"][1]
    user = "system:serviceaccount:kube-system:replicaset-controller"
    assert pod["generatedBy"] == {
        "object": "Deployment shop/web",
        "file": "given.json",
        "line": 1,
        "user": user,
    }
    assert pod["line"] > 1, "the line of the template"
    summary = report["summary"]
    assert (summary["objects"], summary["admitted"], summary["denied"]) == (1, 1, 0)
    assert (summary["generated"], summary["generatedRefused"]) == (1, 1)


def test_somebody_looks_at_what_is_between(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), *about("replicasets", "true", "apps")]
    _, report = checked(capsys, there, [deployment(1)])
    assert [kind for kind, _, _ in shown(report)] == ["Deployment", "ReplicaSet", "Pod"]
    there = [namespace(), *about("replicasets", "false", "apps")]
    _, report = checked(capsys, there, [deployment(1)])
    assert shown(report)[1:] == [("ReplicaSet", "denied", "Deployment shop/web")]


def test_jobs_of_cron_jobs_have_pods(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), *about("pods", "object.metadata.ownerReferences[0].kind != 'Job'")]
    code, report = checked(capsys, there, [cron_job()])
    assert code == 1
    assert shown(report)[1:] == [
        ("Job", "untouched", "CronJob shop/nightly"),
        ("Pod", "denied", "CronJob shop/nightly"),
    ]


def test_what_is_refused_creates_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), *about("deployments", "false", "apps")]
    _, report = checked(capsys, there, [deployment(1)])
    assert shown(report) == [("Deployment", "denied", "")]


@pytest.mark.parametrize(
    "words", [("--no-generated-pods",), ("--operation", "DELETE"), ("--subresource", "status")]
)
def test_where_nothing_is_created(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    write(Path("old.json"), deployment(2))
    if "--subresource" in words:
        words = (*words, "--operation", "UPDATE", "--old", "old.json")
    _, report = checked(capsys, [namespace(), *about("pods")], [deployment(1)], *words)
    assert [one["kind"] for one in report["objects"]] == ["Deployment"]


def test_mutating_policies_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    version = "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["deployments"],
    }
    patch = "[JSONPatch{op: 'add', path: '/spec/template/metadata/labels/team', value: 'a'}]"
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
    }
    there = [
        namespace(),
        typed(version, "MutatingAdmissionPolicy", "team", spec=spec),
        typed(version, "MutatingAdmissionPolicyBinding", "team", spec={"policyName": "team"}),
        *about("pods", "object.metadata.labels['team'] == 'a'"),
    ]
    code, report = checked(capsys, there, [deployment(1)])
    assert (code, [one["verdict"] for one in report["objects"]]) == (0, ["admitted", "admitted"])


def test_a_name_that_is_too_long_for_a_pod(capsys: pytest.CaptureFixture[str]) -> None:
    given = deployment(1)
    given["kind"] = "StatefulSet"
    given["metadata"]["name"] = "a" * 63
    code, report = checked(capsys, [namespace()], [given])
    assert code == 1
    pod = report["objects"][1]
    assert (pod["kind"], pod["verdict"]) == ("Pod", "invalid")
    assert "must be no more than 63" in pod["message"]


def test_warnings_that_nobody_gets(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(warn="restricted"), *about("pods", actions="Warn")]
    _, report = checked(capsys, there, [deployment(1)])
    web, pod = report["objects"]
    assert web["warnings"][0].startswith("would violate PodSecurity")
    assert len(pod["warnings"]) == 1
    assert pod["warnings"][0].startswith("Validation failed for ValidatingAdmissionPolicy 'pods'")


def test_it_stands_below_its_workload(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("there.json"), namespace(), *about("pods"))
    write(Path("given.json"), deployment(1))
    code, out, _ = run(capsys, "check", "-f", "there.json", "given.json")
    assert code == 1
    assert " of Deployment shop/web\n" in out
    assert "\nuntouched  Deployment shop/web " in out
    assert "\ndenied       Pod shop/web-" in out
    assert "1 object: 1 admitted, 0 denied, 1 matched by no policy; 1 generated, 1 of them" in out


def test_explained(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("there.json"), namespace(), *about("pods"))
    write(Path("given.json"), deployment(1))
    words = ("explain", "-f", "there.json", "given.json")
    _, out, _ = run(capsys, *words)
    assert "created by the controller of Deployment shop/web" in out
    _, out, _ = run(capsys, *words, "--only", "1", "-o", "json")
    assert len(json.loads(out)["objects"]) == 1


def test_claims_of_a_stateful_set(capsys: pytest.CaptureFixture[str]) -> None:
    there = [namespace(), *about("persistentvolumeclaims", "object.metadata.name != 'data-web-0'")]
    code, report = checked(capsys, there, [stateful_set()])
    assert code == 1
    owner = "StatefulSet shop/web"
    assert shown(report) == [
        ("StatefulSet", "untouched", ""),
        ("PersistentVolumeClaim", "denied", owner),
        ("PersistentVolumeClaim", "admitted", owner),
    ], "there is no pod without its claims"
    data, logs = report["objects"][1:]
    assert (data["name"], logs["name"]) == ("data-web-0", "logs-web-0")
    template = Path("given.json").read_text(encoding="utf-8").splitlines()[data["line"] - 1 :]
    assert "data" in "".join(template[:4])
    user = "system:serviceaccount:kube-system:statefulset-controller"
    assert data["generatedBy"]["user"] == user


def test_claims_that_are_there_are_not_created(capsys: pytest.CaptureFixture[str]) -> None:
    claim = typed("v1", "PersistentVolumeClaim", "data-web-0", own={"namespace": "shop"})
    claim["spec"] = stateful_set()["spec"]["volumeClaimTemplates"][0]["spec"]
    there = [namespace(), *about("persistentvolumeclaims", "object.metadata.name != 'data-web-0'")]
    code, report = checked(capsys, [*there, claim], [stateful_set()])
    assert (code, [kind for kind, _, _ in shown(report)]) == (
        0,
        ["StatefulSet", "PersistentVolumeClaim", "Pod"],
    )


@pytest.mark.parametrize(
    ("most", "refused"),
    [
        ({"persistentvolumeclaims": "3"}, [("PersistentVolumeClaim", "logs-web-0", 1)]),
        ({"requests_storage": "1Gi"}, [("PersistentVolumeClaim", "data-web-0", 1)]),
    ],
)
def test_quotas_have_place_for_all_claims(
    most: dict[str, str], refused: list[tuple[str, str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    hard = {key.replace("requests_", "requests."): value for key, value in most.items()}
    quota = typed("v1", "ResourceQuota", "q", own={"namespace": "shop"}, spec={"hard": hard})
    _, report = checked(capsys, [namespace(), quota], [stateful_set()])
    found = [one for one in report["objects"] if one["verdict"] == "denied"]
    assert [(one["kind"], one["name"], one["fits"]) for one in found][:1] == refused
