"""kyverno-test.yaml, run as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.case_results import FileResult, Status
from celadon.cli.policytest.case_running import RunOptions, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from tests.cli.files import Json, binding, config_map, policy, write

HEAD = {"apiVersion": "cli.kyverno.io/v1alpha1", "kind": "Test", "metadata": {"name": "limits"}}
OURS = {"policy": "limit", "isValidatingAdmissionPolicy": True, "kind": "ConfigMap"}
LABELLING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {"name": "label"},
    "spec": {
        "reinvocationPolicy": "Never",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ]
        },
        "mutations": [
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {
                    "expression": "Object{metadata: Object.metadata{labels: {'team': 'web'}}}"
                },
            }
        ],
    },
}


def ran(folder: Path, *results: Json, policies: tuple[Json, ...] = (), **fields: Any) -> FileResult:
    """What comes of a test file with these results, about two objects."""
    write(folder / "policy.yaml", *(policies or (policy(), binding())))
    write(
        folder / "resources.yaml",
        config_map("good", x="ok"),
        config_map("bad", "shop", x="no"),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "good"}},
    )
    document = {**HEAD, "policies": ["policy.yaml"], "resources": ["resources.yaml"], **fields}
    file = write(folder / "kyverno-test.yaml", {**document, "results": list(results)})
    given = given_tests([file])
    assert not given.problems
    (found,) = run_tests(given.tests, RunOptions(), lambda _: None).tests
    return found


def statuses(found: FileResult) -> list[tuple[str, str]]:
    assert not found.problems, found.problems
    return [(one.case.name, one.status.value) for one in found.cases]


BAD: Json = {
    "group": "",
    "version": "v1",
    "kind": "ConfigMap",
    "namespace": "shop",
    "name": "bad",
    "subresource": "",
}
"""All that may be said of a resource."""


@pytest.mark.parametrize(
    ("result", "names"),
    [
        ({"resources": ["good"], "result": "pass"}, ["ConfigMap good: pass"]),
        ({"resources": ["shop/bad"], "result": "fail"}, ["ConfigMap bad: fail"]),
        ({"resource": "bad", "namespace": "shop", "status": "fail"}, ["ConfigMap bad: fail"]),
        ({"kind": "Secret", "result": "skip"}, ["Secret good: skip"]),
        (
            {"resourceSpecs": [{"kind": "ConfigMap", "namespace": "shop"}], "result": "fail"},
            ["ConfigMap bad: fail"],
        ),
        ({"resourceSpecs": [BAD], "result": "fail"}, ["ConfigMap bad: fail"]),
    ],
)
def test_results_that_hold(tmp_path: Path, result: Json, names: list[str]) -> None:
    found = ran(tmp_path, {**OURS, **result})
    assert statuses(found) == [(f"limit: {name}", "passed") for name in names]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        *(
            ({name: "other"}, "no such object among the resources")
            for name in ("group", "version", "kind", "namespace", "name")
        ),
        ({"labels": {}}, "labels"),
    ],
)
def test_a_resource_that_is_not_there(tmp_path: Path, more: Json, text: str) -> None:
    found = ran(tmp_path, {**OURS, "resourceSpecs": [BAD | more], "result": "fail"})
    assert text in " ".join(one.text() for one in found.problems)


@pytest.mark.parametrize(
    "result", [{"resources": ["good"], "result": "fail"}, {"kind": "Secret", "result": "pass"}]
)
def test_results_that_do_not_hold(tmp_path: Path, result: Json) -> None:
    (only,) = ran(tmp_path, {**OURS, **result}).cases
    assert only.status is Status.FAILED


def test_no_resources_are_all_of_the_kind(tmp_path: Path) -> None:
    found = ran(tmp_path, {**OURS, "result": "fail"})
    assert statuses(found) == [
        ("limit: ConfigMap good: fail", "failed"),
        ("limit: ConfigMap bad: fail", "passed"),
    ]


def test_places_are_those_of_the_original(tmp_path: Path) -> None:
    found = ran(tmp_path, {**OURS, "resources": ["good"], "result": "pass"})
    place = found.cases[0].case.place
    lines = Path(place.file).read_text().splitlines()
    assert place.file.endswith("kyverno-test.yaml")
    assert '"policy": "limit"' in lines[place.line]


def test_a_policy_without_a_binding_is_evaluated_and_that_is_said(tmp_path: Path) -> None:
    found = ran(
        tmp_path, {**OURS, "resources": ["shop/bad"], "result": "fail"}, policies=(policy(),)
    )
    assert [status for _, status in statuses(found)] == ["passed"]
    assert "binding-assumed" in [one.vacuity.value for one in found.doubts]


def test_vacuity_is_named(tmp_path: Path) -> None:
    audits = (policy(), binding(actions="Audit"))
    result = {**OURS, "resources": ["shop/bad"], "result": "fail"}
    (only,) = ran(tmp_path, result, policies=audits).cases
    assert only.status is Status.FAILED
    assert "only-audits" in [one.vacuity.value for one in only.doubts]


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        ({}, "ClusterPolicy"),
        ({"isValidatingPolicy": True}, "ValidatingPolicy"),
        ({"isMUtatingPolicy": True}, "MutatingPolicy"),
        ({"isImageValidatingPolicy": True, "isMutatingPolicy": False}, "ImageValidatingPolicy"),
    ],
)
def test_policies_of_other_kinds_are_counted(tmp_path: Path, flags: Json, kind: str) -> None:
    """Whatever else the file has: it is not read."""
    result = {"policy": "own", "rule": "r", "kind": "ConfigMap", "resources": ["good", "other"]}
    fields: Json = {"exceptions": ["e.yaml"], "variables": 1, "clusterResources": ["gone.yaml"]}
    found = ran(tmp_path, {**result, **flags, "generatedResource": "g", "result": "pass"}, **fields)
    assert statuses(found) == [("own: good: pass", "skipped"), ("own: other: pass", "skipped")]
    assert {one.case.skip for one in found.cases} == {
        f"Kyverno's own {kind}: only policies of Kubernetes are evaluated"
    }


@pytest.mark.parametrize("version", ["cli.kyverno.io/v1alpha1", "kyverno.io/v1"])
def test_both_versions_of_the_kind(tmp_path: Path, version: str) -> None:
    result = {**OURS, "resources": ["good"], "result": "pass"}
    assert statuses(ran(tmp_path, result, apiVersion=version)) == [
        ("limit: ConfigMap good: pass", "passed")
    ]


@pytest.mark.parametrize(("operation", "wanted"), [("DELETE", "error"), ("UPDATE", "skipped")])
def test_operations(tmp_path: Path, operation: str, wanted: str) -> None:
    given = {**OURS, "resources": ["good"], "operation": operation, "result": "pass"}
    (only,) = ran(tmp_path, given).cases
    assert (only.outcome.verdict.value if only.outcome else only.status.value) == wanted


def test_a_test_without_results_expects_nothing(tmp_path: Path) -> None:
    write(tmp_path / "kyverno-test.yaml", {**HEAD, "policies": ["p.yaml"]})
    ((only,),) = (one.cases for one in given_tests([str(tmp_path)]).tests)
    assert only.skip == "the test has no `results`: it expects nothing"


def test_a_result_that_cannot_be_said_stops_no_other(tmp_path: Path) -> None:
    given = {**OURS, "resources": ["good"], "result": "pass"}
    found = ran(tmp_path, {**given, "generatedResource": "g.yaml"}, given)
    assert [status for _, status in statuses(found)] == ["skipped", "passed"]
    assert found.cases[0].case.skip == "`generatedResource` has no equal in a PolicyTest"
    found = ran(tmp_path, given, more="x")
    assert found.cases[0].case.skip == "`more` has no equal in a PolicyTest"


def test_hidden_folders_are_searched(tmp_path: Path) -> None:
    for folder in (".kyverno-test", ".git"):
        (tmp_path / folder).mkdir()
        ran(tmp_path / folder, {**OURS, "resources": ["good"], "result": "pass"})
    found = given_tests([str(tmp_path)])
    assert [one.file for one in found.tests] == [
        str(tmp_path / ".kyverno-test" / "kyverno-test.yaml")
    ]
    assert not found.problems


@pytest.mark.parametrize(("team", "status"), [("web", "passed"), ("db", "failed")])
def test_patched_resources(tmp_path: Path, team: str, status: str) -> None:
    wanted = config_map("good", x="ok")
    wanted["metadata"]["labels"] = {"team": team}
    write(tmp_path / "patched.yaml", wanted)
    result = {
        "policy": "label",
        "isMutatingAdmissionPolicy": True,
        "kind": "ConfigMap",
        "resources": ["good"],
        "patchedResources": "patched.yaml",
        "result": "pass",
    }
    found = ran(tmp_path, result, policies=(LABELLING,))
    assert [one for _, one in statuses(found)] == [status]


def test_user_and_namespace_labels(tmp_path: Path) -> None:
    expression = "request.userInfo.username == 'ann' && namespaceObject.metadata.labels.env == 'x'"
    write(tmp_path / "user.yaml", _values("UserInfo", userInfo={"username": "ann", "groups": []}))
    selectors = [{"name": "default", "labels": {"env": "x"}}]
    write(tmp_path / "values.yaml", _values("Values", namespaceSelector=selectors))
    found = ran(
        tmp_path,
        {**OURS, "resources": ["good"], "result": "pass"},
        policies=(policy(expression=expression), binding()),
        userinfo="user.yaml",
        variables="values.yaml",
    )
    assert [one for _, one in statuses(found)] == ["passed"]


def _values(kind: str, **fields: Any) -> Json:
    return {"apiVersion": HEAD["apiVersion"], "kind": kind, "metadata": {"name": "v"}, **fields}


@pytest.mark.parametrize(
    ("fields", "result", "text"),
    [
        ({}, {"resources": ["none"]}, "no ConfigMap `none` among the resources"),
        ({}, {"result": "maybe"}, "`result`, one of pass, fail, skip, error, warn, is needed"),
        ({}, {"policy": None}, "`policy` is needed"),
        ({"values": {"globalValues": {}}}, {}, "`globalValues` of the values has no equal"),
        ({"paramResources": "p.yaml"}, {}, "a list of files is expected here"),
        ({"variables": 1}, {}, "a file is expected here"),
    ],
)
def test_what_cannot_be_said(tmp_path: Path, fields: Json, result: Json, text: str) -> None:
    given = {**OURS, "resources": ["good"], "result": "pass", **result}
    found = ran(tmp_path, given, **fields)
    assert not found.cases
    assert text in " ".join(one.message for one in found.problems)
    assert all(one.line for one in found.problems)


def test_files_of_folders(tmp_path: Path) -> None:
    ran(tmp_path, {**OURS, "resources": ["good"], "result": "pass"})
    assert [one.name for one in given_tests([str(tmp_path)]).tests] == ["limits"]
