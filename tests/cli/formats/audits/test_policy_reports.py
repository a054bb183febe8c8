"""`celadon audit` as policy reports: objects that a server with the definitions takes, strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.testing import KubeApi
from tests.cli.formats.audits.audited import audited

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
REFERENCE = {
    "type": "object",
    "properties": dict.fromkeys(
        (*("apiVersion", "kind", "namespace", "name"), *("uid", "resourceVersion", "fieldPath")),
        TEXT,
    ),
}
TIMESTAMP = {
    "type": "object",
    "required": ["nanos", "seconds"],
    "properties": {
        "nanos": {"type": "integer", "format": "int32"},
        "seconds": {"type": "integer", "format": "int64"},
    },
}
RESULT = {
    "type": "object",
    "required": ["policy"],
    "properties": {
        "category": TEXT,
        "message": TEXT,
        "policy": TEXT,
        "properties": {"type": "object", "additionalProperties": TEXT},
        "resourceSelector": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "resources": {"type": "array", "items": REFERENCE},
        "result": {"type": "string", "enum": ["pass", "fail", "warn", "error", "skip"]},
        "rule": TEXT,
        "scored": {"type": "boolean"},
        "severity": {"type": "string", "enum": ["high", "low", "medium"]},
        "source": TEXT,
        "timestamp": TIMESTAMP,
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "apiVersion": TEXT,
        "kind": TEXT,
        "metadata": {"type": "object"},
        "results": {"type": "array", "items": RESULT},
        "scope": REFERENCE,
        "scopeSelector": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "summary": {
            "type": "object",
            "properties": dict.fromkeys(("error", "fail", "pass", "skip", "warn"), NUMBER),
        },
    },
}
"""As the definitions of the policy working group have it in wgpolicyk8s.io/v1alpha2."""


LATER: dict[str, Any] = {
    "source": TEXT,
    "configuration": {"type": "object", "properties": {"limits": {"type": "object"}}},
}
"""What openreports.io/v1alpha1 has beside it."""


def definition(group: str, version: str, kind: str, scope: str) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    schema: dict[str, Any] = SCHEMA
    if group == "openreports.io":
        schema = {**SCHEMA, "properties": {**SCHEMA["properties"], **LATER}}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": names, "scope": scope, "versions": [served]},
    }


FORMS = {
    "policyreport": ("wgpolicyk8s.io", "v1alpha2", "PolicyReport"),
    "openreports": ("openreports.io", "v1alpha1", "Report"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_server_takes_them(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    group, version, kind = FORMS[form]
    _, out = audited(tmp_path, monkeypatch, capsys, form)
    cluster, one = json.loads(out)["items"]
    assert (cluster["kind"], one["kind"]) == (f"Cluster{kind}", kind)
    assert cluster["summary"] == {"pass": 0, "fail": 0, "warn": 1, "error": 0, "skip": 0}
    assert [row["result"] for row in one["results"]] == ["fail", "error"]
    assert one["results"][0]["resources"][0]["name"] == "bad<b>"
    definitions = [
        definition(group, version, kind, "Namespaced"),
        definition(group, version, f"Cluster{kind}", "Cluster"),
    ]
    base, plural = f"/apis/{group}/{version}", f"{kind.lower()}s?fieldValidation=Strict"
    with KubeApi(definitions) as api:
        made = api.request("POST", f"{base}/namespaces/default/{plural}", one)
        assert made["results"] == one["results"]
        made = api.request("POST", f"{base}/cluster{plural}", cluster)
        assert made["summary"] == cluster["summary"]
