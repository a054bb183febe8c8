"""`celadon audit -o sarif`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.formats.audits.audited import audited


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
