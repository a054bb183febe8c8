"""`celadon migrate`: definitions of Azure Policy, with their templates and assignments."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.exit_codes import Exit
from tests.cli.commands.test_migrate import write
from tests.cli.files import run
from tests.migrate.gatekeeper.gatekeeper_documents import says, template

Capture = pytest.CaptureFixture[str]
DEMAND = template(
    says("size(object.spec.containers) <= variables.params.most", "too many"),
    {"type": "object", "properties": {"most": {"type": "integer"}}},
    kind="K8sAzureV2Demand",
)
URL = "https://store.example.net/kubernetes/demand/v2/template.yaml"


def definition(info: dict[str, Any], name: str = "demand") -> dict[str, Any]:
    details = {
        "templateInfo": info,
        "apiGroups": [""],
        "kinds": ["Pod"],
        "values": {"most": "[parameters('most')]"},
    }
    properties = {
        "mode": "Microsoft.Kubernetes.Data",
        "parameters": {"effect": {"defaultValue": "Audit"}, "most": {}},
        "policyRule": {"then": {"effect": "[parameters('effect')]", "details": details}},
    }
    return {"name": name, "id": f"/x/policyDefinitions/{name}", "properties": properties}


def assignment(of: str, name: str = "ours") -> dict[str, Any]:
    given = {"effect": {"value": "Deny"}, "most": {"value": 2}}
    return {"name": name, "policyDefinitionId": f"/x/policyDefinitions/{of}", "parameters": given}


def migrated(tmp_path: Path, capsys: Capture, *documents: Any) -> list[Any]:
    folder = tmp_path / "policies"
    folder.mkdir(exist_ok=True)
    for number, one in enumerate(documents):
        (folder / f"{number}.json").write_text(json.dumps(one))
    words = ("migrate", str(folder), "-o", str(tmp_path / "out"), "--report", "json", "--force")
    _, out, err = run(capsys, *words)
    assert err == ""
    found: list[Any] = json.loads(out)
    return found


def test_templates_at_urls_are_found_among_the_files(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "policies").mkdir()
    write(tmp_path / "policies" / "demand" / "template.yaml", DEMAND)
    (found,) = migrated(tmp_path, capsys, [definition({"url": URL})], assignment("demand"))
    assert (found["state"], found["rule"]) == ("translated", "ours")
    assert found["position"].endswith("0.json:1")
    made = list(yaml.safe_load_all((tmp_path / "out" / "k8sazurev2demand.yaml").read_text()))
    binding, params = made[-1], made[-2]
    assert params["spec"] == {"most": 2}
    assert binding["spec"]["validationActions"] == ["Deny"]
    assert run(capsys, "lint", str(tmp_path / "out"))[0] == Exit.OK


def test_templates_in_definitions(tmp_path: Path, capsys: Capture) -> None:
    content = base64.b64encode(yaml.safe_dump(DEMAND).encode()).decode()
    info = {"sourceType": "Base64Encoded", "content": content}
    given = (definition(info), assignment("demand"), assignment("demand", "theirs"))
    found = migrated(tmp_path, capsys, *given)
    assert [(one["rule"], one["state"]) for one in found] == [
        ("ours", "translated"),
        ("theirs", "translated"),
    ]


def test_what_is_left_out_is_named(tmp_path: Path, capsys: Capture) -> None:
    content = base64.b64encode(yaml.safe_dump(DEMAND).encode()).decode()
    embedded = {"sourceType": "Base64Encoded", "content": content}
    found = migrated(
        tmp_path,
        capsys,
        definition({"url": URL}),
        definition(embedded, "unassigned"),
        definition({"content": "%"}, "broken"),
    )
    assert {one["policy"]: one["reason"] for one in found} == {
        "demand": f"a definition without its template ({URL})",
        "unassigned": "a parameter without a value (`most`)",
        "broken": "a template that is no Base64",
    }


def test_definitions_of_another_shape(tmp_path: Path, capsys: Capture) -> None:
    wrong = {"name": "x", "mode": "Microsoft.Kubernetes.Data", "policyRule": {"then": []}}
    (tmp_path / "x.json").write_text(json.dumps(wrong))
    code, _, err = run(capsys, "migrate", str(tmp_path))
    assert code == Exit.USAGE
    assert "x.json:1: `properties.policyRule.then` must be a map" in err
