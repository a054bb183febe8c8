"""PodSecurity in `celadon audit`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.check.test_plugin_desk import Json, namespace, pod, typed
from tests.cli.files import binding, policy, run, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def audited(
    capsys: pytest.CaptureFixture[str], labels: dict[str, str], *objects: Json, words: str = ""
) -> tuple[int, Json]:
    write(Path("dump.json"), namespace(**labels), *objects)
    write(Path("policies.json"), policy(), binding())
    given = ("audit", "-f", "policies.json", "dump.json")
    code, out, err = run(capsys, *given, "-o", "json", *words.split())
    assert err == ""
    return code, json.loads(out)


def found(report: Json) -> list[tuple[Any, ...]]:
    return [
        (one["object"]["name"], one["policy"], one["effect"], one["field"])
        for one in report["results"]
    ]


@pytest.mark.parametrize(
    ("mode", "effect", "code"), [("enforce", "deny", 1), ("warn", "warn", 0), ("audit", "audit", 0)]
)
def test_pods(capsys: pytest.CaptureFixture[str], mode: str, effect: str, code: int) -> None:
    given, report = audited(capsys, {mode: "baseline"}, pod())
    assert given == code
    label = f"pod-security.kubernetes.io/{mode}"
    assert found(report) == [("p", "PodSecurity", effect, label)]
    assert report["results"][0]["message"].startswith(
        'violates PodSecurity "baseline:latest": privileged'
        if mode == "enforce"
        else 'would violate PodSecurity "baseline:latest": privileged'
    )


def test_workloads_are_only_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    web = typed("apps/v1", "Deployment", "web", own={"namespace": "shop"}, spec=spec)
    code, report = audited(capsys, {"enforce": "baseline", "warn": "baseline"}, web)
    assert (code, [one[2] for one in found(report)]) == (0, ["warn"])


def test_namespaces_without_labels_are_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = audited(capsys, {}, pod())
    assert (code, report["results"]) == (0, [])
    assert [one["name"] for one in report["policies"]] == ["limit"]


def test_an_update_that_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = audited(capsys, {"enforce": "baseline"}, pod(), words="--operation UPDATE")
    assert (code, report["results"]) == (0, [])


def test_people_see_the_label(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("dump.json"), namespace(enforce="baseline"), pod())
    write(Path("policies.json"), policy(), binding())
    given = ("audit", "-f", "policies.json", "dump.json")
    _, out, _ = run(capsys, *given)
    assert "PodSecurity\n  rule    pod-security.kubernetes.io/enforce\n  deny    dump.json:" in out
    _, out, _ = run(capsys, *given, "-o", "sarif")
    assert '"ruleId": "plugin/PodSecurity"' in out
