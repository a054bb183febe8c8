"""The manifests are fit for a server that takes everything seriously."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.testing import KubeApi
from celadon.webhook.installation import POLICIES, TLS, namespace_manifests
from celadon.webhook.webhook_rules import InstallationSettings
from tests.cli.files import run
from tests.webhook.installation.installations import INSTALLATIONS, by_name, documents

Json = dict[str, Any]
LEVELS = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
FOREIGN = {
    "ServiceMonitor": "monitoring.coreos.com",
    "Issuer": "cert-manager.io",
    "Certificate": "cert-manager.io",
}
KINDS = ("Mutating", "Validating")
RESTRICTED = "tests/webhook/installation/restricted.yaml"


def definition(kind: str, group: str) -> Json:
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [version],
        },
    }


@pytest.mark.thorough
@pytest.mark.parametrize("settings", INSTALLATIONS.values(), ids=INSTALLATIONS)
def test_a_server_takes_all_of_them(settings: InstallationSettings) -> None:
    space = {"name": settings.namespace, "labels": LEVELS}
    with KubeApi() as api:
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": space})
        api.create(*(definition(kind, group) for kind, group in FOREIGN.items()))
        made = by_name(documents(settings))
        last = [made.pop((f"{kind}WebhookConfiguration", settings.name)) for kind in KINDS]
        api.create(*made.values())
        api.create(*last)
        template = made["Deployment", settings.name]["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", **template}
        pod["metadata"] = {"name": "one", "namespace": settings.namespace}
        if settings.excludes_own_namespace:
            assert api.create(pod)[0]["metadata"]["name"] == "one"


@pytest.mark.parametrize("settings", INSTALLATIONS.values(), ids=INSTALLATIONS)
def test_check_and_lint_have_nothing_against_them(
    settings: InstallationSettings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "all.json"
    made = [one for one in documents(settings) if one["kind"] not in FOREIGN]
    file.write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
    admit = ("--admit", "ClusterRole,ClusterRoleBinding,Role,RoleBinding")
    code, out, _ = run(capsys, "check", "-f", RESTRICTED, str(file), *admit, "-o", "json")
    report = json.loads(out)
    assert report["summary"]["denied"] == report["summary"]["invalid"] == 0, out
    assert report["policyErrors"] == report["problems"] == []
    (deployment,) = [one for one in report["objects"] if one["kind"] == "Deployment"]
    assert deployment["policies"] == 1
    assert run(capsys, "lint", str(file))[0] == 0
    assert code == 0


def test_the_policy_of_that_test_refuses_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = by_name(documents(InstallationSettings()))["Deployment", "celadon-webhook"]
    container = template["spec"]["template"]["spec"]["containers"][0]
    container["securityContext"]["allowPrivilegeEscalation"] = True
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(template), encoding="utf-8")
    assert run(capsys, "check", "-f", RESTRICTED, str(file))[0] == 1


def test_what_is_mounted_is_what_the_arguments_name() -> None:
    for settings in INSTALLATIONS.values():
        deployment = by_name(documents(settings))["Deployment", settings.name]
        pod = deployment["spec"]["template"]["spec"]
        container = pod["containers"][0]
        mounts = {one["mountPath"] for one in container["volumeMounts"]}
        text = " ".join(container["args"])
        assert (POLICIES in mounts) == (POLICIES in text) == (not settings.from_cluster)
        assert (TLS in mounts) == (TLS in text)
        assert {one["name"] for one in container["volumeMounts"]} == {
            one["name"] for one in pod["volumes"]
        }


def test_selectors_find_the_pods() -> None:
    settings = InstallationSettings(service_monitor=True)
    made = by_name(documents(settings))
    labels = made["Deployment", settings.name]["spec"]["template"]["metadata"]["labels"]
    assert settings.selector.items() <= labels.items()
    assert made["Service", settings.name]["spec"]["selector"] == settings.selector
    for kind in ("PodDisruptionBudget", "ServiceMonitor"):
        selector = made[kind, settings.name]["spec"]["selector"]
        assert selector["matchLabels"] == settings.selector


def test_a_namespace_unless_every_cluster_has_it() -> None:
    (made,) = namespace_manifests(InstallationSettings(namespace="platform"))
    assert (made["kind"], made["metadata"]["name"]) == ("Namespace", "platform")
    assert not list(namespace_manifests(InstallationSettings(namespace="kube-system")))
