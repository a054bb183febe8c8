"""`celadon check` with mutating policies: what it shows, what it judges, what it says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.files import Json, binding, config_map, policy, run, write


def mutating(name: str, expression: str, **spec: Any) -> list[Json]:
    """A policy about ConfigMaps that merges a configuration, and its binding."""
    mutation = {
        "patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": expression},
    }
    found = policy(name, rules=spec.pop("rules", RULES), **spec)
    del found["spec"]["validations"]
    found["kind"] = "MutatingAdmissionPolicy"
    found["spec"] |= {"mutations": [mutation], "reinvocationPolicy": "Never"}
    bound = binding(name)
    bound["kind"] = "MutatingAdmissionPolicyBinding"
    del bound["spec"]["validationActions"]
    return [found, bound]


RULES = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["configmaps"],
    }
]
OK = mutating("ok", "Object{data: {'x': 'ok'}}")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("policies.json"), policy(), binding(), *OK)
    write(Path("bad.json"), config_map("bad", x="no"))


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return run(capsys, "check", "-f", "policies.json", *words)


def test_the_mutated_object_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = check(capsys, "bad.json")
    assert code == 0
    assert "mutated: ConfigMap default/bad by ok" in out
    assert "    -  x: 'no'\n    +  x: ok" in out


def test_a_denial_says_that_it_is_about_a_mutated_object(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(Path("policies.json"), policy(expression="object.data.x == 'no'"), binding(), *OK)
    code, out, _ = check(capsys, "bad.json")
    assert code == 1
    assert "  object  bad.json:1  ConfigMap default/bad as mutated by ok" in out


def test_programs_get_the_patch(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = check(capsys, "bad.json", "-o", "yaml")
    (found,) = yaml.safe_load(out)["objects"]
    patch = [{"op": "replace", "path": "/data/x", "value": "ok"}]
    assert found["policies"] == 2
    assert found["mutation"] == {
        "policies": ["ok"],
        "patch": patch,
        "steps": [
            {
                "policy": "ok",
                "binding": "ok",
                "field": "spec.mutations[0].applyConfiguration.expression",
                "rule": found["mutation"]["steps"][0]["rule"],
                "patch": patch,
            }
        ],
    }


def test_each_mutation_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    twice = mutating("also", "Object{data: {'y': object.data.x}}")
    write(Path("policies.json"), *twice, *OK)
    _, out, _ = check(capsys, "bad.json", "--show-mutations")
    assert out.count("  rule    policies.json:") == 2
    assert "mutated: ConfigMap default/bad by also, ok" in out


def test_mutated_objects_as_files(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("good.json"), config_map("good", x="ok"))
    check(capsys, "bad.json", "good.json", "--mutated-out", "out/of/here")
    (written,) = Path("out/of/here").iterdir()
    assert written.name == "configmap-default-bad.yaml"
    assert yaml.safe_load(written.read_text())["data"] == {"x": "ok"}


def test_objects_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(capsys, "bad.json", "--mutated-out", "bad.json")
    assert (code, err) == (74, "error: `bad.json` cannot be written: file exists\n")
    assert out.endswith("1 object: 1 admitted, 0 denied (2 policies, 2 bindings)\n")


def test_a_failure_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), *mutating("fails", "Object{data: object.nothing}"))
    code, out, _ = check(capsys, "bad.json")
    assert code == 3
    assert "denied: policy 'fails' with binding 'fails' denied request: expression" in out
    assert "spec.mutations[0].applyConfiguration.expression" in out


def test_what_went_by_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    secrets = [{**RULES[0], "resources": ["secrets"]}]
    ignoring = mutating("ignoring", "Object{data: object.nothing}", failurePolicy="Ignore")
    unbound = mutating("unbound", "Object{}")[:1]
    unmatched = mutating("unmatched", "Object{}", rules=secrets)
    write(Path("policies.json"), *ignoring, *unbound, *unmatched)
    _, out, _ = check(capsys, "bad.json", "-o", "json")
    said = [(one["reason"], one["message"].split(" on ")[0]) for one in json.loads(out)["notices"]]
    assert said == [
        ("policy-without-binding", "policy `unbound` has no binding, so it does nothing"),
        (
            "policy-unmatched",
            "policy `unmatched` matched none of the objects: its rules are about secrets",
        ),
        ("error-ignored", "mutating policy `ignoring` ignored an error"),
    ]


def test_without_defaults_nothing_is_mutated(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = check(capsys, "bad.json", "--no-defaulting")
    assert code == 1
    assert "mutating policy `ok` is not applied" in out


def test_an_update_is_mutated_too(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("old.json"), config_map("bad", x="old"))
    code, out, _ = check(capsys, "bad.json", "--operation", "UPDATE", "--old", "old.json")
    assert code == 0
    assert "mutated: ConfigMap default/bad by ok" in out


def test_a_broken_policy_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), *mutating("broken", "{'a': 'b'}"))
    code, out, _ = check(capsys, "bad.json")
    assert code == 3
    assert "must evaluate to Object but got map(string, string)" in out
