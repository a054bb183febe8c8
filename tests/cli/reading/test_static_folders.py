"""Static policies and webhooks for `celadon check`: by their names, and from folders of plugins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.check.check_options import static_files
from tests.cli.files import Json, binding, config_map, policy, run, write

NAME = "limit.static.k8s.io"
CONFIG = "apiserver.config.k8s.io/v1"
REGISTRATION = "admissionregistration.k8s.io"
DENIAL = f"ValidatingAdmissionPolicy '{NAME}' with binding '{NAME}' denied request"


def configured(folder: Path, plugin: str = "ValidatingAdmissionPolicy", **files: list[Json]) -> str:
    """An AdmissionConfiguration whose plugin has a folder with these files."""
    (folder / "static").mkdir()
    for name, documents in files.items():
        write(folder / "static" / f"{name}.yaml", *documents)
    (folder / "static" / "notes.txt").write_text("{")
    kind = "WebhookAdmission" if plugin.endswith("Webhook") else plugin
    configuration = {
        "apiVersion": CONFIG,
        "kind": f"{kind}Configuration",
        "staticManifestsDir": str(folder / "static"),
    }
    (folder / "plugin.yaml").write_text(json.dumps(configuration))
    document = {
        "apiVersion": CONFIG,
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": plugin, "path": "plugin.yaml"}],
    }
    return write(folder / "admission.yaml", document)


def everything(**more: Any) -> Json:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    return policy(NAME, "false", rules=[rule], **more)


def webhooks(**client: Any) -> Json:
    webhook = {
        "name": "a.example.com",
        "clientConfig": client,
        "rules": policy()["spec"]["matchConstraints"]["resourceRules"],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": f"{REGISTRATION}/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "w.static.k8s.io"},
        "webhooks": [webhook],
    }


def test_policies_of_a_folder_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = configured(tmp_path, b=[binding(NAME)], a=[policy(NAME)])
    bad = write(tmp_path / "bad.json", config_map(x="no"))
    code, out, _ = run(capsys, "check", "--admission-control-config-file", told, bad)
    assert code == 1
    assert DENIAL in out
    assert "1 denied (1 policy, 1 binding)" in out
    files = [str(tmp_path / "static" / name) for name in ("a.yaml", "b.yaml")]
    assert static_files(told, "1.36") == files


def test_static_policies_come_first_and_judge_policies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = write(
        tmp_path / "f.json", everything(), binding(NAME), policy("a", "false"), binding("a")
    )
    bad = write(tmp_path / "bad.json", config_map())
    _, out, _ = run(capsys, "check", "-f", given, bad)
    assert f"is forbidden: {DENIAL}" in out, "the first is what a client is told"
    assert "also" in out
    judged = write(tmp_path / "p.json", policy("p"))
    code, out, _ = run(capsys, "check", "-f", given, judged, "--admit", "ValidatingAdmissionPolicy")
    assert code == 1
    assert f'validatingadmissionpolicies.{REGISTRATION} "p" is forbidden: {DENIAL}' in out
    assert "policy 'a'" not in out


WRONG: dict[str, tuple[str, list[Json], str]] = {
    "a name without suffix": (
        "ValidatingAdmissionPolicy",
        [policy("p")],
        'failed to load static policy manifests from "{folder}": error loading {folder}/a.yaml: '
        '"p" in file "{folder}/a.yaml" must have a name ending with ".static.k8s.io"',
    ),
    "a kind of another plugin": (
        "MutatingAdmissionPolicy",
        [policy(NAME)],
        'failed to load static policy manifests from "{folder}": error loading {folder}/a.yaml: '
        "unsupported resource type *v1.ValidatingAdmissionPolicy",
    ),
    "a service": (
        "ValidatingAdmissionWebhook",
        [webhooks(service={"namespace": "n", "name": "s"})],
        "clientConfig.service is not supported for static manifests; use clientConfig.url instead",
    ),
    "no object": (
        "ValidatingAdmissionPolicy",
        [{"a": 1}],
        "{folder}/a.yaml:1: ",
    ),
}


@pytest.mark.parametrize(("plugin", "documents", "text"), WRONG.values(), ids=list(WRONG))
def test_what_a_server_could_not_load(
    plugin: str,
    documents: list[Json],
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = configured(tmp_path, plugin, a=documents)
    bad = write(tmp_path / "bad.json", config_map())
    code, out, err = run(capsys, "check", "--admission-control-config-file", told, bad)
    assert (code, out) == (2, "")
    assert err.startswith("error: --admission-control-config-file: ")
    assert text.format(folder=tmp_path / "static") in err


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = configured(tmp_path)
    (tmp_path / "static" / "notes.txt").unlink()
    (tmp_path / "static").rmdir()
    code, _, err = run(capsys, "check", "--admission-control-config-file", told, "x")
    assert code == 2
    assert "staticManifestsDir: Invalid value" in err


@pytest.mark.parametrize(
    ("documents", "text"),
    [
        (
            [
                everything(paramKind={"apiVersion": "v1", "kind": "ConfigMap"}),
                binding(NAME),
            ],
            f'ValidatingAdmissionPolicy "{NAME}": spec.paramKind is not supported for static '
            "manifests",
        ),
        (
            [binding(NAME)],
            f'binding "{NAME}" references policy "{NAME}" which does not exist in the manifest '
            "directory",
        ),
        (
            [webhooks(service={"namespace": "n", "name": "s"})],
            "clientConfig.service is not supported for static manifests",
        ),
    ],
)
def test_what_is_wrong_with_names_for_files(
    documents: list[Json], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = write(tmp_path / "f.json", *documents)
    bad = write(tmp_path / "bad.json", config_map())
    code, out, _ = run(capsys, "check", "-f", given, bad)
    assert code == 3
    assert out.count("error: ") == 1
    assert text in out
