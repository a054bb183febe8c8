"""Tests of Chainsaw, played with what policies of Kyverno become."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import yaml
from tools.kyverno_conformance import Played, played, table

from celadon.kube import Json
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, rule

NO_HOST_NETWORK = kyverno_policy(
    rule({"pattern": {"spec": {"=(hostNetwork)": False}}}), validationFailureAction="Enforce"
)


def play(folder: Path, *steps: Json, **files: object) -> Played:
    test = {"kind": "Test", "spec": {"steps": [{"try": [step]} for step in steps]}}
    for name, value in {**files, "policy": NO_HOST_NETWORK, "chainsaw_test": test}.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(value))
    return played(folder / "chainsaw_test.yaml", "folder/test")


def applied(file: str, **more: Json) -> dict[str, Json]:
    return {"apply": {"file": f"{file}.yaml", **more}}


REFUSED: dict[str, Json] = {"expect": [{"check": {"($error != null)": True}}]}


@pytest.mark.parametrize(
    ("spec", "step", "otherwise"),
    [
        ({}, applied("pod"), 0),
        ({"hostNetwork": True}, applied("pod", **REFUSED), 0),
        ({"hostNetwork": True}, applied("pod"), 1),
        ({}, applied("pod", **REFUSED), 1),
        (
            {"hostNetwork": True},
            {"script": {"content": "kubectl apply -f pod.yaml", "check": {"($error)": "no"}}},
            0,
        ),
        (
            {"hostNetwork": True},
            {
                "script": {
                    "content": "if kubectl apply -f pod.yaml\nthen\n  exit 1\nelse\n  exit 0\nfi"
                }
            },
            0,
        ),
    ],
)
def test_what_is_sent_is_refused_as_expected(
    tmp_path: Path, spec: dict[str, Json], step: Json, otherwise: int
) -> None:
    result = play(tmp_path, applied("policy"), step, pod=pod(spec))
    assert (result.reason, result.cases, len(result.otherwise)) == ("", 1, otherwise)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"script": {"content": "kubectl debug x"}}, "scripts"),
        ({"wait": {}}, "`wait` in its steps"),
        (applied("policy", **REFUSED), "it is about what policies Kyverno takes"),
        (applied("missing"), "a file that is not there: missing.yaml"),
        (applied("images"), "not translated: it verifies images"),
    ],
)
def test_what_is_not_played_says_why(tmp_path: Path, step: Json, reason: str) -> None:
    images = kyverno_policy({**rule({}), "verifyImages": [{"imageReferences": ["*"]}]})
    del images["spec"]["rules"][0]["validate"]
    result = play(tmp_path, applied("policy"), step, images=images)
    assert result.reason == reason


def test_policies_and_objects_are_patched(tmp_path: Path) -> None:
    audited = copy.deepcopy(NO_HOST_NETWORK)
    audited["spec"]["validationFailureAction"] = "Audit"
    enforced: Json = {
        "apiVersion": "kyverno.io/v1",
        "kind": "ClusterPolicy",
        "metadata": audited["metadata"],
        "spec": {"validationFailureAction": "Enforce"},
    }
    labels: Json = {"name": "a", "labels": {"c": "d"}}
    labelled: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": labels}
    result = play(
        tmp_path,
        applied("audited"),
        applied("pod"),
        {"patch": {"resource": labelled}},
        {"assert": {"resource": labelled}},
        {"patch": {"resource": enforced}},
        applied("other", **REFUSED),
        audited=audited,
        pod=pod({"hostNetwork": True}),
        other={**pod({"hostNetwork": True}), "metadata": {"name": "b"}},
    )
    assert (result.reason, result.cases, result.otherwise) == ("", 4, [])


def test_objects_without_a_name_are_not_looked_for(tmp_path: Path) -> None:
    result = play(
        tmp_path,
        applied("policy"),
        {"assert": {"file": "unnamed.yaml"}},
        unnamed={"apiVersion": "v1", "kind": "Pod"},
    )
    assert result.reason == "objects that no name says which they are"


def test_assertions_are_cases(tmp_path: Path) -> None:
    steps = [{"assert": {"file": f"{name}.yaml"}} for name in ("pod", "other")]
    result = play(
        tmp_path, applied("policy"), applied("pod"), *steps, pod=pod(), other=pod(labels={"a": "b"})
    )
    assert (result.cases, result.otherwise) == (3, ["Pod a is not as asserted"])


def test_the_table_counts_what_was_played() -> None:
    results = [Played("a/x", cases=2, otherwise=["no"]), Played("a/y", "scripts"), Played("b/z")]
    assert list(table(results))[2:] == [
        "| a | 2 | 1 | 2 | 1 |",
        "| b | 1 | 1 | 0 | 0 |",
        "| **all** | 3 | 2 | 2 | 1 |",
        "",
        "| tests | why they are not played |",
        "|---:|---|",
        "| 1 | scripts |",
    ]


def test_rare_reasons_and_folders_that_are_not_played_share_a_line() -> None:
    results = [Played("a/x", "scripts"), Played("b/y", "waits"), Played("c/z")]
    assert list(table(results))[2:] == [
        "| c | 1 | 1 | 0 | 0 |",
        "| others | 2 | 0 | 0 | 0 |",
        "| **all** | 3 | 1 | 0 | 0 |",
        "",
        "| tests | why they are not played |",
        "|---:|---|",
        "| 2 | each for another reason |",
    ]
