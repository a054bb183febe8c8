"""kaptest's manifests of both versions, run as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.case_results import FileResult
from celadon.cli.policytest.case_running import RunOptions, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from tests.cli.files import Json, binding, config_map, policy, write
from tests.cli.policytest.importers.test_kyverno_tests import LABELLING

OK = {"kind": "ConfigMap", "name": "good", "namespace": "default"}
BAD = {"kind": "ConfigMap", "name": "bad", "namespace": "shop"}
PARAMS = policy(
    expression="params.data.limit == object.data.x",
    paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
)


def ran(
    folder: Path,
    *tests: Json,
    policies: tuple[Json, ...] = (),
    suites: str = "testSuites",
    name: str = "limit",
    **fields: Any,
) -> FileResult:
    """What comes of a manifest with these tests."""
    write(folder / "policy.yaml", *(policies or (policy(),)))
    labelled = config_map("labelled", x="ok")
    labelled["metadata"]["labels"] = {"team": "web"}
    write(
        folder / "resources.yaml",
        config_map("good", x="ok"),
        config_map("bad", "shop", x="no"),
        config_map("param", limit="ok"),
        labelled,
    )
    key = "validatingAdmissionPolicies" if suites == "testSuites" else "policies"
    document = {
        key: ["policy.yaml"],
        "resources": ["resources.yaml"],
        suites: [{"policy": name, "tests": list(tests)}],
        **fields,
    }
    file = write(folder / "kaptest.yaml", document)
    given = given_tests([file])
    assert not given.problems
    (found,) = run_tests(given.tests, RunOptions(), lambda _: None).tests
    return found


def statuses(found: FileResult) -> list[str]:
    assert not found.problems, found.problems
    return [one.status.value for one in found.cases]


FALSE = policy(matchConditions=[{"name": "never", "expression": "false"}])
ERROR = policy(expression="object.data.none == 'x'")
BY_USER = policy(expression="request.userInfo.username == 'ann' && 'g' in request.userInfo.groups")


@pytest.mark.parametrize("suites", ["testSuites", "vapTestSuites"])
@pytest.mark.parametrize(
    ("test", "given", "status"),
    [
        ({"object": OK, "expect": "admit"}, policy(), "passed"),
        ({"object": OK, "expect": "deny"}, policy(), "failed"),
        ({"object": BAD, "expect": "deny"}, policy(), "passed"),
        ({"object": OK, "expect": "skip"}, FALSE, "passed"),
        ({"object": OK, "expect": "error"}, ERROR, "passed"),
        (
            {"object": {**OK, "group": "", "version": "v1"}, "oldObject": OK, "expect": "admit"},
            policy(expression="request.operation == 'UPDATE'"),
            "passed",
        ),
        (
            {"oldObject": OK, "expect": "admit"},
            policy(expression="request.operation == 'DELETE' && object == null"),
            "passed",
        ),
        (
            {"object": OK, "param": {"name": "param", "namespace": "default"}, "expect": "admit"},
            PARAMS,
            "passed",
        ),
        (
            {"object": BAD, "param": {"name": "param", "namespace": "default"}, "expect": "deny"},
            PARAMS,
            "passed",
        ),
        (
            {"object": OK, "userInfo": {"user": "ann", "groups": ["g"]}, "expect": "admit"},
            BY_USER,
            "passed",
        ),
        ({"object": OK, "userInfo": {"username": "bob"}, "expect": "deny"}, BY_USER, "passed"),
    ],
)
def test_expectations(tmp_path: Path, suites: str, test: Json, given: Json, status: str) -> None:
    assert statuses(ran(tmp_path, test, policies=(given,), suites=suites)) == [status]


@pytest.mark.parametrize(("message", "status"), [("x must be ok", "passed"), ("no", "failed")])
def test_messages(tmp_path: Path, message: str, status: str) -> None:
    rules = [{"expression": "object.data.x == 'ok'", "message": "x must be ok"}]
    test = {"object": BAD, "expect": "deny", "deniedMessage": message}
    assert statuses(ran(tmp_path, test, policies=(policy(validations=rules),))) == [status]


@pytest.mark.parametrize(("wanted", "status"), [("labelled", "passed"), ("param", "failed")])
def test_mutations(tmp_path: Path, wanted: str, status: str) -> None:
    test = {"object": OK, "expect": "mutate", "expectObject": {**OK, "name": wanted}}
    found = ran(tmp_path, test, policies=(LABELLING,), suites="mapTestSuites", name="label")
    assert statuses(found) == [status]


def test_names_are_compared_if_asked_for(tmp_path: Path) -> None:
    wanted = {**OK, "name": "labelled"}
    test = {"object": OK, "expect": "mutate", "expectObject": wanted, "disableNameOverwrite": True}
    found = ran(tmp_path, test, policies=(LABELLING,), suites="mapTestSuites", name="label")
    assert statuses(found) == ["failed"]


def test_what_kaptest_never_looks_at_is_named(tmp_path: Path) -> None:
    """It evaluates expressions alone: a cluster would not ask this policy."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["configmaps"],
    }
    found = ran(tmp_path, {"object": BAD, "expect": "deny"}, policies=(policy(rules=[rule]),))
    assert statuses(found) == ["failed"]
    assert "operation" in [one.vacuity.value for one in found.cases[0].doubts]


def test_bindings_that_are_there_count(tmp_path: Path) -> None:
    policies = (policy(), binding(actions="Warn"))
    found = ran(tmp_path, {"object": BAD, "expect": "deny"}, policies=policies)
    assert statuses(found) == ["failed"]
    assert "only-warns" in [one.vacuity.value for one in found.cases[0].doubts]


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ({"object": OK}, "`expect`, one of admit, deny, mutate, skip, error, is needed"),
        ({"object": OK, "expect": "admit", "namespace": "x"}, "`namespace` has no equal"),
        ({"expect": "admit"}, "`object` or `oldObject` is needed"),
        ({"object": {"kind": "ConfigMap"}, "expect": "admit"}, "`kind` and `name` are needed"),
        (
            {"object": {**OK, "name": "none"}, "expect": "admit"},
            "no ConfigMap `none` among the resources",
        ),
        (
            {"object": OK, "param": {"name": "p"}, "expect": "admit"},
            "a `paramKind` of policy `limit` is needed",
        ),
        (
            {"object": OK, "expect": "admit", "deniedMessage": "m"},
            "a message without `expect: deny`",
        ),
        (
            {"object": OK, "userInfo": {"name": "x"}, "expect": "admit"},
            "`name` has no equal in a PolicyTest",
        ),
    ],
)
def test_what_cannot_be_said(tmp_path: Path, test: Json, text: str) -> None:
    found = ran(tmp_path, test)
    assert not found.cases
    assert text in " ".join(one.message for one in found.problems)
    assert all(one.line > 1 for one in found.problems)
