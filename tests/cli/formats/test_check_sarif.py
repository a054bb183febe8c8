"""`celadon check -o sarif`: rules, results where the objects stand, the policies beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.files import binding, config_map, policy, run, write


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("p.json"), policy(), binding())


def sarif(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    _, out, err = run(capsys, "check", "-f", "p.json", "-o", "sarif", *words)
    assert err == ""
    found = json.loads(out)
    assert found["version"] == "2.1.0"
    (one,) = found["runs"]
    for result in one["results"]:
        assert one["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return one


def place(location: Any) -> tuple[str, int]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_a_denial_names_the_object_and_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = sarif(capsys, write(Path("a b.json"), config_map("bad", x="no")))["results"]
    assert (result["ruleId"], result["level"]) == ("policy/limit", "error")
    assert result["message"]["text"].startswith('configmaps "bad" is forbidden: ')
    (location,) = result["locations"]
    assert place(location) == ("a%20b.json", 1)
    assert location["logicalLocations"] == [{"fullyQualifiedName": "ConfigMap default/bad"}]
    (related,) = result["relatedLocations"]
    assert place(related) == ("p.json", 30)
    assert related["message"]["text"] == "spec.validations[0].expression"


def test_faults_warnings_and_notices(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.json"), policy(), binding(actions="Warn"), binding("other", "gone"))
    bad, odd = config_map("bad", x="no"), config_map("odd", x="ok") | {"dat": {}}
    found = sarif(capsys, write(Path("a.json"), bad, odd))["results"]
    assert [(one["ruleId"], one["level"]) for one in found] == [
        ("policy/limit", "warning"),
        ("invalid", "error"),
        ("notice/binding-without-policy", "note"),
    ]
    assert found[1]["message"]["text"] == 'dat: unknown field "dat"'
    strict = sarif(capsys, "--strict", "--fail-on", "warning", "a.json")["results"]
    assert {one["level"] for one in strict} == {"error"}


def test_what_is_refused_by_others(capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"type": "Container", "max": {"cpu": "1"}}
    given = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "default"},
        "spec": {"limits": [limits]},
    }
    resources = {"limits": {"cpu": "2"}}
    container = {"name": "c", "image": "i", "resources": resources}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [container]},
    }
    words = ("-f", write(Path("l.json"), given), write(Path("a.json"), pod))
    found = sarif(capsys, *words)["results"]
    assert found[0]["ruleId"] == "plugin/LimitRanger"
    assert "maximum cpu usage per Container is 1" in found[0]["message"]["text"]


def test_broken_policies_and_unreadable_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.json"), policy(expression="+"), binding())
    Path("b.yaml").write_text("a: b: c\n")
    one = sarif(capsys, write(Path("a.json"), config_map()), "b.yaml")
    assert [result["ruleId"] for result in one["results"]] == ["policy-error"]
    (invocation,) = one["invocations"]
    assert invocation["executionSuccessful"] is False
    (said,) = invocation["toolExecutionNotifications"]
    assert place(said["locations"][0]) == ("b.yaml", 1)
