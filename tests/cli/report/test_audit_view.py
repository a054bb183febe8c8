"""Reports of audits and fleets: pages, cases, findings, policy reports, violations as files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.audit.audit_report import AuditedObject, AuditReport, FleetReport, Tally, Violation
from celadon.cli.check.check_report import Place
from celadon.cli.report import audit_view
from celadon.cli.report.audit_view import COLUMNS, FleetView, violation_file
from celadon.cli.report.report_model import ReportStyle
from celadon.testing import KubeApi
from tests.browser import beyond, needs_browser, seen
from tests.cli.report.audited import audited
from tests.cli.report.page_text import read_page

# --- pages ----------------------------------------------------------------------------------------


Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]


def test_a_page(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    page = read_page(out)
    assert "b" not in page.names
    assert "ConfigMap default/bad<b>" in page.text
    assert "By namespace" in page.text
    assert "policy `idle` matched none of the objects" in page.text
    assert "d.jsonl:3: " in page.text
    assert '<td class="n deny" data-head="Denied">1</td>' in out


def test_what_is_left_out_is_counted(tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--max-results", "1")
    assert "and 2 more" in read_page(out).text


@pytest.mark.thorough
@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(dark: bool, tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    found = seen(out, tmp_path, dark=dark)
    assert "CONSOLE" not in found.log
    assert found.document.count("<tr>") == out.count("<tr>") > 6
    assert "ConfigMap default/bad&lt;b&gt;" in found.document
    assert found.picture.stat().st_size > 20_000


@pytest.mark.thorough
@needs_browser
@pytest.mark.parametrize("width", [500, 800])
def test_fits_the_screen(width: int, tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "html", "--summary-by", "namespace")
    assert beyond(out, tmp_path, width) == 0


# --- cases ----------------------------------------------------------------------------------------


CASES = {
    (): {"denies": "failure", "fails": "error", "idle": "", "warns": ""},
    ("--fail-on", "violation"): {
        "denies": "failure",
        "fails": "error",
        "idle": "",
        "warns": "failure",
    },
    ("--fail-on", "never"): {"denies": "", "fails": "error", "idle": "", "warns": ""},
}


@pytest.mark.parametrize("words", CASES)
def test_cases(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "junit", *words)
    root = ElementTree.fromstring(out)
    cases = list(root.iter("testcase"))
    found = {
        one.get("name"): "".join(child.tag for child in one)
        for one in cases
        if one.get("classname") == "policy"
    }
    assert found == CASES[words]
    assert root.get("tests") == str(len(cases))
    assert root.get("failures") == str(len(list(root.iter("failure"))))
    assert root.get("errors") == str(len(list(root.iter("error"))))
    assert [one.get("classname") for one in cases if one.find("skipped") is not None] == ["notice"]


# --- findings -------------------------------------------------------------------------------------


def test_results_where_objects_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = audited(tmp_path, monkeypatch, capsys, "sarif")
    found = json.loads(out)
    (one,) = found["runs"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    results = [(result["ruleId"], result["level"]) for result in one["results"]]
    assert results == [
        ("policy/denies", "error"),
        ("policy/fails", "note"),
        ("policy/warns", "warning"),
        ("notice/policy-unmatched", "note"),
    ]
    assert [rules[result["ruleIndex"]] for result in one["results"]] == [id for id, _ in results]
    (location,) = one["results"][0]["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "d.jsonl"
    assert location["logicalLocations"] == [{"fullyQualifiedName": "ConfigMap default/bad<b>"}]
    (run,) = one["invocations"]
    assert run["executionSuccessful"] is False


# --- policy reports -------------------------------------------------------------------------------


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


# --- fleets ---------------------------------------------------------------------------------------


def test_names_of_sources_stand_out() -> None:
    web = AuditedObject(Place("a.yaml", 1), "v1", "Pod", "shop", "web", "", "")
    found = Violation(web, "p", "b", "", "spec", Place("p.yaml", 3), "no", "deny", is_error=False)
    total = Tally(1, denied=1)
    none: tuple[()] = ()
    one = AuditReport("CREATE", 1, 1, total, none, "policy", none, 1, (found,), none, none, none)
    report = FleetReport((("east", one),))
    assert (
        FleetView(report)
        .text(ReportStyle())
        .startswith("== east\n\np/b\n  rule    p.yaml:3  spec\n")
    )
    assert (
        FleetView(report).text(ReportStyle(color=True)).startswith("\033[1m== east\033[0m\n\np/b\n")
    )


# --- violations as files --------------------------------------------------------------------------


def violation(name: str) -> Violation:
    about = AuditedObject(Place("d.jsonl", 7), "v1", "Pod", "shop", name, "uid", "9")
    rule = Place("p.yaml", 3)
    return Violation(about, "p", "b", "", "spec.validations[0]", rule, "no \u2713", "warn", False)


def test_lines_of_violations(tmp_path: Path) -> None:
    file = violation_file(str(tmp_path / "v.jsonl"))
    file.write("east", violation("a"))
    file.close()
    (line,) = (tmp_path / "v.jsonl").read_text(encoding="utf-8").splitlines()
    told = json.loads(line)
    assert (told["source"], told["object"]["name"], told["message"]) == ("east", "a", "no \u2713")


@pytest.mark.parametrize("rows", [0, 1, 4, 5])
def test_groups_of_rows(tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    monkeypatch.setattr(audit_view, "_ROWS", 2)
    path = tmp_path / "v.parquet"
    file = violation_file(str(path))
    for number in range(rows):
        file.write("east", violation(f"p{number}"))
    file.close()
    found = parquet.read_table(path).to_pylist()
    assert [one["name"] for one in found] == [f"p{number}" for number in range(rows)]
    assert parquet.read_schema(path).names == ["source", *COLUMNS]
    if rows:
        assert (found[0]["line"], found[0]["error"], found[0]["effect"]) == (7, False, "warn")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for name in ("v.jsonl", "v.parquet"):
        with pytest.raises(OSError, match="No such file"):
            violation_file(str(tmp_path / "none" / name))
