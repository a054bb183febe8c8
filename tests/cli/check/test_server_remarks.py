"""What the server itself remarks, in the output of `celadon check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.files import binding, policy, run, write

PODS = [
    {
        "apiGroups": ["", "apps"],
        "apiVersions": ["*"],
        "operations": ["*"],
        "resources": ["pods", "deployments"],
    }
]
ALIASES = {"hostAliases": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]}
SAID = 'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    warns = policy(expression="false", rules=PODS)
    write(Path("policies.json"), warns, binding(actions="Warn"))


def pod(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"containers": [{"name": "c", "image": "nginx"}], **spec},
    }


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    _, out, _ = run(capsys, "check", "-f", "policies.json", *words, "-o", "json")
    (found,) = json.loads(out)["objects"]
    return found


def test_they_stand_before_those_of_policies(capsys: pytest.CaptureFixture[str]) -> None:
    found = checked(capsys, write(Path("a.json"), pod(**ALIASES)))
    assert found["verdict"] == "warned"
    first, second = found["warnings"]
    assert first == SAID
    assert second.startswith("Validation failed for ValidatingAdmissionPolicy 'limit'")
    (violation,) = found["violations"]
    assert violation["warning"] == second


def test_objects_no_policy_is_about_have_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    endpoints = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "e"}}
    path = write(Path("a.json"), endpoints)
    found = checked(capsys, path)
    assert (found["verdict"], found["warnings"]) == (
        "warned",
        ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
    )
    _, out, _ = run(capsys, "check", "-f", "policies.json", path)
    assert "warning: v1 Endpoints is deprecated in v1.33+" in out


def test_changed_objects(capsys: pytest.CaptureFixture[str]) -> None:
    new: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod(**ALIASES)["spec"]},
        },
    }
    old = {**new, "spec": {**new["spec"], "minReadySeconds": 3}}
    asked = ("--no-generated-pods", "--operation", "UPDATE", "--old", write(Path("old.json"), old))
    changed = checked(capsys, write(Path("a.json"), new), *asked)
    assert changed["warnings"][0] == f"spec.template.{SAID}"
    same = checked(capsys, write(Path("b.json"), old), *asked)
    assert len(same["warnings"]) == 1


@pytest.mark.parametrize("words", [("--no-defaulting",), ("--operation", "DELETE")])
def test_where_the_server_would_say_nothing(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    path = write(Path("a.json"), pod(**ALIASES))
    assert SAID not in json.dumps(checked(capsys, path, *words))


def test_the_version_of_an_object_that_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A server says it before it looks at the object."""
    version = "networking.k8s.io/v1beta1"
    cidr = {"apiVersion": version, "kind": "ServiceCIDR", "metadata": {"name": "o"}}
    found = checked(capsys, write(Path("a.json"), cidr))
    (warning,) = found["warnings"]
    assert (found["code"], warning.partition(",")[0]) == (
        422,
        "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+",
    )
