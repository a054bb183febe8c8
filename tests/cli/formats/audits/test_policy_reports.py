"""`celadon audit -o policyreport`: objects that a server with the definitions takes, strictly."""

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
        "severity": {"type": "string", "enum": ["critical", "high", "low", "medium", "info"]},
        "source": TEXT,
        "timestamp": TIMESTAMP,
    },
}
SCHEMA = {
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
"""As the definitions of the policy working group publish it for wgpolicyk8s.io/v1alpha2."""


def definition(kind: str, scope: str) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    version = {
        "name": "v1alpha2",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": SCHEMA},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.wgpolicyk8s.io"},
        "spec": {
            "group": "wgpolicyk8s.io",
            "names": names,
            "scope": scope,
            "versions": [version],
        },
    }


def test_a_server_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "policyreport")
    cluster, one = json.loads(out)["items"]
    assert (cluster["kind"], one["kind"]) == ("ClusterPolicyReport", "PolicyReport")
    assert cluster["summary"] == {"pass": 0, "fail": 0, "warn": 1, "error": 0, "skip": 0}
    assert [row["result"] for row in one["results"]] == ["fail", "error"]
    assert one["results"][0]["resources"][0]["name"] == "bad<b>"
    definitions = [
        definition("PolicyReport", "Namespaced"),
        definition("ClusterPolicyReport", "Cluster"),
    ]
    strictly = "?fieldValidation=Strict"
    base = "/apis/wgpolicyk8s.io/v1alpha2"
    with KubeApi(definitions) as api:
        path = f"{base}/namespaces/default/policyreports{strictly}"
        assert api.request("POST", path, one)["results"] == one["results"]
        path = f"{base}/clusterpolicyreports{strictly}"
        assert api.request("POST", path, cluster)["summary"] == cluster["summary"]
