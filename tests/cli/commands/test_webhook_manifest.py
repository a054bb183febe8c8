"""`celadon webhook manifest` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.kube import GroupVersionKind, parse_api_version
from celadon.kube.resources import known_resources
from tests.cli.files import binding, config_map, policy, run, write

WORDS = ("webhook", "manifest", "-f", "policies.json")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("policies.json"), policy(), binding())


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The manifests by kind."""
    code, out, err = run(capsys, *WORDS, *words)
    assert (code, err) == (0, "")
    return {one["kind"]: one for one in yaml.safe_load_all(out)}


def test_everything(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys)
    assert list(found) == [
        "Namespace",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "ConfigMap",
        "Deployment",
        "Service",
        "PodDisruptionBudget",
        "NetworkPolicy",
        "ValidatingWebhookConfiguration",
    ]
    (hook,) = found["ValidatingWebhookConfiguration"]["webhooks"]
    assert hook["rules"] == [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "resources": ["configmaps"],
            "scope": "*",
        }
    ]
    assert "matchConditions" not in hook


def test_the_policies_go_along_and_can_be_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    files = printed(capsys)["ConfigMap"]["data"]
    assert list(yaml.safe_load_all(files["policies.yaml"])) == [policy(), binding()]
    Path("again.yaml").write_text(files["policies.yaml"], encoding="utf-8")
    code, out, _ = run(capsys, "webhook", "manifest", "-f", "again.yaml")
    assert code == 0
    again = {one["kind"]: one for one in yaml.safe_load_all(out)}
    assert again["ConfigMap"]["data"] == files


def test_options(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ca.crt").write_text("PEM", encoding="utf-8")
    words = "--name n -n ns --image i --replicas 3 --timeout 9 --failure-policy Ignore"
    more = "--exclude-namespace a --exclude-namespace b --ca-bundle ca.crt --audit-only"
    found = printed(capsys, *words.split(), *more.split(), "--service-monitor")
    assert "ServiceMonitor" in found
    assert found["Namespace"]["metadata"]["name"] == "ns"
    spec = found["Deployment"]["spec"]
    assert (spec["replicas"], found["Deployment"]["metadata"]["namespace"]) == (3, "ns")
    container = spec["template"]["spec"]["containers"][0]
    assert container["image"] == "i"
    assert "--audit-only" in container["args"]
    (hook,) = found["ValidatingWebhookConfiguration"]["webhooks"]
    assert (hook["timeoutSeconds"], hook["failurePolicy"]) == (9, "Ignore")
    assert hook["clientConfig"]["caBundle"] == "UEVN"
    (excluded,) = hook["namespaceSelector"]["matchExpressions"]
    assert excluded["values"] == ["ns", "a", "b"]
    found = printed(capsys, "--include-own-namespace")
    (hook,) = found["ValidatingWebhookConfiguration"]["webhooks"]
    assert hook["namespaceSelector"]["matchExpressions"][0]["values"] == ["kube-system"]


def test_some_kinds_and_other_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(printed(capsys, "--only", "service,Deployment")) == {"Service", "Deployment"}
    _, out, _ = run(capsys, *WORDS, "-o", "json", "--only", "Service")
    assert [one["kind"] for one in json.loads(out)["items"]] == ["Service"]
    _, out, _ = run(capsys, *WORDS, "-o", "values")
    assert yaml.safe_load(out)["webhooks"][0]["rules"][0]["resources"] == ["configmaps"]


@pytest.mark.parametrize("words", [["-n", "kube-system"], ["-n", "default"], ["--no-namespace"]])
def test_a_namespace_that_is_there(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert "Namespace" not in printed(capsys, *words)


def test_a_bare_cluster_knows_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing that fails there can leave a configuration behind."""
    for words in ([], ["--certificates", "own"], ["--from-cluster", "--events"]):
        found = printed(capsys, *words)
        versions = [(one["apiVersion"], one["kind"]) for one in found.values()]
        known = known_resources()
        assert all(known.by_gvk(GroupVersionKind(*parse_api_version(a), k)) for a, k in versions)
        assert versions[0] == ("v1", "Namespace")
        assert versions[-1][1] == "ValidatingWebhookConfiguration"


def test_first_everything_but_the_configurations(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--certificates", "secret", "--except", "validatingwebhookconfiguration")
    found = printed(capsys, *words, "--except", "MutatingWebhookConfiguration,Service")
    assert "Deployment" in found
    assert not {"ValidatingWebhookConfiguration", "Service"} & set(found)


@pytest.mark.parametrize("words", [["--audit-only"], ["--failure-policy", "Ignore"]])
def test_what_may_fail_needs_no_authority(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    found = printed(capsys, "--certificates", "secret", *words)
    (hook,) = found["ValidatingWebhookConfiguration"]["webhooks"]
    assert "caBundle" not in hook["clientConfig"]


def test_policies_of_the_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "webhook", "manifest", "--from-cluster", "--events")
    assert code == 0
    found = {one["kind"]: one for one in yaml.safe_load_all(out)}
    (hook,) = found["ValidatingWebhookConfiguration"]["webhooks"]
    assert hook["rules"][0]["resources"] == ["*/*"]
    assert "ConfigMap" not in found
    resources = [rule["resources"] for rule in found["ClusterRole"]["rules"]]
    assert ["events"] in resources
    params = policy(paramKind={"apiVersion": "example.com/v1", "kind": "Limit"})
    write(Path("policies.json"), params, binding())
    found = printed(capsys, "--from-cluster")
    (hook,) = found["ValidatingWebhookConfiguration"]["webhooks"]
    assert hook["rules"][0]["resources"] == ["configmaps"]
    assert ["limits"] in [rule["resources"] for rule in found["ClusterRole"]["rules"]]


def test_mutating_policies(capsys: pytest.CaptureFixture[str]) -> None:
    both = [policy("m"), binding("m")]
    for document in both:
        document["kind"] = document["kind"].replace("Validating", "Mutating")
    del both[0]["spec"]["validations"], both[1]["spec"]["validationActions"]
    both[0]["spec"]["matchConstraints"]["resourceRules"][0]["operations"] = ["CREATE"]
    patch = {
        "patchType": "JSONPatch",
        "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/data'}]"},
    }
    both[0]["spec"] |= {"mutations": [patch], "reinvocationPolicy": "IfNeeded"}
    write(Path("policies.json"), *both)
    found = printed(capsys)
    assert "ValidatingWebhookConfiguration" not in found
    (hook,) = found["MutatingWebhookConfiguration"]["webhooks"]
    assert hook["reinvocationPolicy"] == "IfNeeded"
    assert list(yaml.safe_load_all(found["ConfigMap"]["data"]["policies.yaml"])) == both
    write(Path("policies.json"), *both, policy(), binding())
    kinds = printed(capsys).keys()
    assert {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} <= kinds


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no policies: give them with `-f`, or `--from-cluster`"),
        (["-f", "policies.json", "--timeout", "0"], "`--timeout` is 1 to 30 seconds"),
        (["-f", "policies.json", "--timeout", "31"], "`--timeout` is 1 to 30 seconds"),
        (["-f", "policies.json", "--events"], "`--events` goes with `--from-cluster`"),
        (
            ["-f", "policies.json", "--audit-only", "--failure-policy", "Fail"],
            "`--audit-only` and `--failure-policy Fail` exclude each other",
        ),
        (
            ["-f", "policies.json", "--only", "Deployment,Foo"],
            "`--only foo`: there are Namespace, ServiceAccount, ClusterRole, ",
        ),
        (["-f", "policies.json", "--except", "Foo"], "`--except foo`: there are Namespace, "),
        (["-f", "policies.json", "--certificates", "secret"], "give the authority"),
        (["--from-cluster", "--certificates", "secret", "-o", "values"], "give the authority"),
        (["-f", "policies.json", "--ca-bundle", "nope"], "`nope`: no such file or directory"),
        (["-f", "nope.yaml"], "cannot be read"),
        (["-f", "unbound.json"], "no policy with a binding is given"),
        (["-f", "policies.json", "-f", "secret.json"], "a Secret among the files"),
        (["-f", "policies.json", "-f", "large.json"], "too much for a ConfigMap"),
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    write(Path("unbound.json"), policy())
    write(Path("secret.json"), {**config_map("s"), "kind": "Secret"})
    write(Path("large.json"), config_map("l", x="x" * (1024 * 1024)))
    code, out, err = run(capsys, "webhook", "manifest", *words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_policy_the_server_would_not_accept(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(expression="+"), binding())
    code, out, err = run(capsys, *WORDS)
    assert (code, out) == (3, "")
    assert "error: policies.json:" in err
    assert "compilation failed" in err
