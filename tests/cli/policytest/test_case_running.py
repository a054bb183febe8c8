"""Cases against what really happens: each verdict, each thing that may be expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cel.extend import re2
from celadon.cli.policytest.case_results import CaseVerdict, Status
from celadon.cli.report.case_view import CaseView
from tests.cli.files import Json, binding, config_map, policy
from tests.cli.policytest.given_cases import OK, POLICY, report, result, written

NO_X = {"data": {"x": "no"}}
BOTH = {"data": {"x": "no", "y": ""}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
CREATED = {**POLICY["spec"]["matchConstraints"]["resourceRules"][0], "operations": ["CREATE"]}

VERDICTS: dict[str, tuple[Json, dict[str, Any], CaseVerdict]] = {
    "admitted": ({}, {}, CaseVerdict.ADMIT),
    "denied": ({"patch": NO_X}, {}, CaseVerdict.DENY),
    "another kind": ({"object": SECRET}, {}, CaseVerdict.NO_MATCH),
    "another operation": (
        {"operation": "DELETE"},
        {"documents": [policy(rules=[CREATED]), binding()]},
        CaseVerdict.NO_MATCH,
    ),
    "warned": ({"patch": NO_X}, {"documents": [POLICY, binding(actions="Warn")]}, CaseVerdict.WARN),
    "audited": (
        {"patch": NO_X},
        {"documents": [POLICY, binding(actions="Audit")]},
        CaseVerdict.AUDIT,
    ),
    "an error": ({"patch": {"data": {"x": None}}}, {}, CaseVerdict.ERROR),
    "an error ignored": (
        {"patch": {"data": {"x": None}}},
        {"documents": [policy(failurePolicy="Ignore"), binding()]},
        CaseVerdict.ERROR,
    ),
    "an error that warns": (
        {"patch": {"data": {"x": None}}},
        {"documents": [POLICY, binding(actions="Warn")]},
        CaseVerdict.ERROR,
    ),
    "refused by the server": ({"patch": {"data": {"/": "no"}}}, {}, CaseVerdict.INVALID),
    "denied by another policy": (
        {"patch": NO_X, "policy": "free"},
        {"documents": [POLICY, binding(), policy("free", "true"), binding("free")]},
        CaseVerdict.ADMIT,
    ),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name: str, tmp_path: Path) -> None:
    case, test, verdict = VERDICTS[name]
    found = result(tmp_path, {**case, "expect": verdict.value}, **test)
    assert found.outcome is not None
    assert found.outcome.verdict is verdict
    by_another = bool(found.outcome.other_violations)
    assert by_another == (name == "denied by another policy")
    assert found.status is (Status.FAILED if by_another else Status.PASSED)


@pytest.mark.parametrize("name", VERDICTS)
@pytest.mark.parametrize("expected", CaseVerdict)
def test_no_other_verdict_will_do(name: str, expected: CaseVerdict, tmp_path: Path) -> None:
    case, test, verdict = VERDICTS[name]
    if expected is not verdict:
        found = result(tmp_path, {**case, "expect": expected.value}, **test)
        assert [one.part for one in found.mismatches] == ["verdict"]
        assert found.mismatches[0].actual == verdict.value


DENIED = (
    "configmaps \"cm\" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'limit' "
    "denied request: x must be ok"
)
HELD: list[tuple[Json, Json]] = [
    ({"patch": NO_X}, {"deny": "x must be ok"}),
    ({"patch": NO_X}, {"deny": DENIED}),
    ({"patch": NO_X}, {"deny": {"contains": "must be"}}),
    ({"patch": NO_X}, {"deny": {"matches": "^x must (be|have) ok$"}}),
    ({"patch": NO_X}, {"verdict": "deny", "message": "x must be ok"}),
    ({"patch": NO_X}, {"verdict": "deny", "validation": 0}),
    ({"patch": NO_X}, {"verdict": "deny", "validation": "object.data.x  ==  'ok'"}),
    ({"patch": NO_X}, {"verdict": "deny", "policy": "limit"}),
    ({"patch": NO_X}, {"verdict": "deny", "reason": "Invalid", "code": 422}),
    ({"patch": {"data": {"y": ""}}}, {"deny": "y must not be", "reason": "Forbidden", "code": 403}),
    ({"patch": BOTH}, {"deny": "y must not be", "validation": 1}),
    ({}, {"object": {"data": {"x": "ok", "y": None}}}),
    ({}, {"patch": []}),
]
MISSED: list[tuple[Json, Json, str]] = [
    ({"patch": NO_X}, {"deny": "x must be"}, "message"),
    ({"patch": NO_X}, {"deny": {"contains": "must be not"}}, "message"),
    ({"patch": NO_X}, {"deny": {"matches": "^must"}}, "message"),
    ({"patch": NO_X}, {"verdict": "deny", "validation": 1}, "validation"),
    ({"patch": NO_X}, {"verdict": "deny", "validation": "true"}, "validation"),
    ({"patch": NO_X}, {"verdict": "deny", "reason": "Forbidden"}, "reason"),
    ({"patch": NO_X}, {"verdict": "deny", "code": 403}, "code"),
    ({"patch": NO_X}, {"verdict": "deny", "warnings": ["w"]}, "warnings"),
    ({"patch": BOTH}, {"deny": "x must be ok", "validation": 1}, "message"),
    ({}, {"verdict": "admit", "auditAnnotations": {"a": "b"}}, "auditAnnotations.a"),
    ({}, {"object": {"data": {"x": None}}}, "object"),
    ({}, {"patch": [{"op": "remove", "path": "/data/x"}]}, "patch"),
    ({}, {"patch": [{"op": "remove", "path": "/data/z"}]}, "patch"),
]


@pytest.mark.parametrize(("case", "expect"), HELD, ids=[str(expect) for _, expect in HELD])
def test_what_holds(case: Json, expect: Json, tmp_path: Path) -> None:
    found = result(tmp_path, {**case, "expect": expect})
    assert found.mismatches == ()
    assert found.outcome is not None


@pytest.mark.parametrize(
    ("case", "expect", "what"), MISSED, ids=[str(expect) for _, expect, _ in MISSED]
)
def test_what_does_not_hold(case: Json, expect: Json, what: str, tmp_path: Path) -> None:
    found = result(tmp_path, {**case, "expect": expect})
    assert [one.part for one in found.mismatches] == [what]
    assert found.status is Status.FAILED


def test_warnings_and_annotations(tmp_path: Path) -> None:
    annotated = policy(
        auditAnnotations=[{"key": "team", "valueExpression": "'shop'"}],
        validations=POLICY["spec"]["validations"],
    )
    documents = [annotated, binding(actions="Warn Audit")]
    expect = {
        "warn": "x must be ok",
        "warnings": ["x must be ok", {"matches": "y must not be$"}],
        "auditAnnotations": {"team": "shop", "limit/team": {"contains": "ho"}},
    }
    found = result(tmp_path, {"patch": BOTH, "expect": expect}, documents=documents)
    assert found.mismatches == ()


CASES: dict[str, tuple[str, Json]] = {
    "user": ("request.userInfo.username == 'alice'", {"user": "alice"}),
    "groups": (
        "request.userInfo.groups == ['dev', 'system:authenticated']",
        {"user": "alice", "groups": ["dev"]},
    ),
    "uid and extra": (
        "request.userInfo.uid == '7' && request.userInfo.extra['x'] == ['y']",
        {"user": "alice", "uid": "7", "extra": {"x": ["y"]}},
    ),
    "operation": (
        "request.operation == 'DELETE' && object == null && oldObject.data.x == 'ok'",
        {"operation": "DELETE"},
    ),
    "old object": (
        "oldObject.data.x == 'ok' && object.data.x == 'new'",
        {"operation": "UPDATE", "patch": {"data": {"x": "new"}}},
    ),
    "old object of its own": (
        "oldObject.data.x == 'old' && object.data.x == 'ok'",
        {"operation": "UPDATE", "oldPatch": {"data": {"x": "old"}}},
    ),
    "old object from elsewhere": (
        "oldObject.data.x == 'old'",
        {"operation": "UPDATE", "oldObject": config_map(x="old")},
    ),
    "JSON patch": (
        "object.data.x == 'new'",
        {"patch": [{"op": "replace", "path": "/data/x", "value": "new"}]},
    ),
    "dry run": ("request.dryRun", {"dryRun": True}),
    "namespace": (
        "request.namespace == 'shop'",
        {"namespace": "shop", "patch": {"metadata": {"namespace": None}}},
    ),
    "namespace labels": (
        "namespaceObject.metadata.labels.env == 'test'",
        {"namespace": {"labels": {"env": "test"}}},
    ),
    "namespaces": (
        "namespaceObject.metadata.labels.env == 'prod'",
        {"namespaces": {"default": {"env": "prod"}}},
    ),
    "authorizer": (
        "authorizer.group('apps').resource('deployments').check('create').allowed()"
        " && !authorizer.group('').resource('pods').check('create').allowed()",
        {
            "user": "alice",
            "authorizer": [{"decision": "allow", "group": "apps", "verb": "create"}],
        },
    ),
    "authorizer's reason": (
        "authorizer.path('/x').check('get').reason() == 'because'",
        {"authorizer": [{"decision": "deny", "path": "/x", "reason": "because"}]},
    ),
    "inline": ("object.data.x == 'y'", {"object": config_map(x="y")}),
}


@pytest.mark.parametrize("name", CASES)
def test_fields_of_cases(name: str, tmp_path: Path) -> None:
    """The expression holds for a case with the field, and not for one without."""
    expression, case = CASES[name]
    documents = [policy(expression=expression), binding()]
    found = result(tmp_path, {**case, "expect": "admit"}, documents=documents)
    assert found.status is Status.PASSED, found
    found = result(tmp_path, {"expect": "admit"}, documents=documents)
    assert found.status is Status.FAILED


PARAMS = policy(
    paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    validations=[{"expression": "object.data.x == params.data.x"}],
)


def test_params_and_short_bindings(tmp_path: Path) -> None:
    bound = {"policyName": "limit", "paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}}
    cases = (
        {"params": [config_map("p", x="ok")], "expect": "admit"},
        {"params": [config_map("p", x="other")], "expect": "deny"},
        {"expect": {"error": {"contains": "no params found"}}},
    )
    found = report(written(tmp_path, *cases, documents=[PARAMS], bindings=[bound]))
    assert [one.status for one in found.cases] == [Status.PASSED] * 3


def test_a_binding_of_a_case_replaces_the_policy_s_own(tmp_path: Path) -> None:
    bound = {"policyName": "limit", "validationActions": ["Warn"]}
    cases = (
        {"patch": NO_X, "expect": "deny"},
        {"patch": NO_X, "bindings": [bound], "expect": "warn"},
    )
    assert report(written(tmp_path, *cases)).count(Status.PASSED) == 2


def test_versions(tmp_path: Path) -> None:
    """Each case with each version: of its own, of the test, of the command."""
    found = report(written(tmp_path, {"expect": "admit"}), versions=("1.33", "1.36"))
    assert [one.version for one in found.cases] == ["1.33", "1.36"]
    path = written(
        tmp_path,
        {"expect": "admit"},
        {"expect": "admit", "kubernetesVersions": ["v1.34"]},
        kubernetesVersions=["1.30", "1.31"],
    )
    assert [one.version for one in report(path).cases] == ["1.30", "1.31", "1.34"]


def test_some_cases_only(tmp_path: Path) -> None:
    path = written(tmp_path, {"expect": "admit"}, {"expect": "deny"}, {"expect": "deny"})
    found = report(path, only=re2.compile("policytest.yaml::case [01]$"))
    assert ([one.case.name for one in found.cases], found.deselected) == (["case 0", "case 1"], 1)
    found = report(path, fail_fast=True)
    assert ([one.case.name for one in found.cases], found.stopped) == (["case 0", "case 1"], True)


def test_skipped(tmp_path: Path) -> None:
    found = result(tmp_path, {"skip": "later", "expect": "deny"})
    assert found.status is Status.SKIPPED
    assert not found.is_bad


BROKEN: dict[str, tuple[Json, dict[str, Any], str]] = {
    "no API server would take the policy": (
        {},
        {"documents": [policy(expression="object."), binding()]},
        "ValidatingAdmissionPolicy `limit`: ",
    ),
    "no policy of that name": (
        {"policy": "limti"},
        {},
        "no policy `limti` is loaded, did you mean `limit`?",
    ),
    "no policy at all": ({}, {"policies": []}, "no policy is loaded"),
    "no such kind": (
        {"object": {"apiVersion": "v1", "kind": "ConfigMaps", "metadata": {"name": "x"}}},
        {},
        "ConfigMaps",
    ),
    "no such policy to decide": (
        {"expect": {"verdict": "admit", "policy": "other"}},
        {},
        "no policy `other` is loaded",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_run(name: str, tmp_path: Path) -> None:
    case, test, text = BROKEN[name]
    found = result(tmp_path, {"expect": "admit", **case}, **test)
    assert found.status is Status.BROKEN
    assert text in found.problems[0].text()


def test_mutations(tmp_path: Path) -> None:
    mutating = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "limit"},
        "spec": {
            "matchConstraints": {"resourceRules": [CREATED]},
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {
                        "expression": "[JSONPatch{op: 'add', path: '/data/z', value: 'new'}]"
                    },
                }
            ],
        },
    }
    added = {"op": "add", "path": "/data/z", "value": "new"}
    cases: tuple[Json, ...] = (
        {"expect": {"object": {"data": {"z": "new"}}}},
        {"expect": {"patch": [added]}},
        {"expect": {"object": {"data": {"z": None}}}},
        {"expect": {"patch": []}},
    )
    path = written(tmp_path, *cases, documents=[mutating], bindings=[{"policyName": "limit"}])
    held = [one.status is Status.PASSED for one in report(path).cases]
    assert held == [True, True, False, False]


def test_an_accident_of_ours_is_one_case_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("celadon.cli.policytest.case_judging.mismatches", fail)
    found = report(written(tmp_path, {"expect": "admit"}))
    assert (found.count(Status.BROKEN), found.exit) == (1, 70)


def test_verdicts_are_those_of_check(tmp_path: Path) -> None:
    """A case has the very result of `celadon check`."""
    found = result(tmp_path, {"patch": BOTH, "expect": "deny"})
    assert found.outcome is not None
    assert found.outcome.result.sentence == DENIED
    assert [one.message for one in found.outcome.deciding] == ["x must be ok", "y must not be"]
    assert found.outcome.result.operation == "CREATE"
    assert OK["metadata"]["name"] == found.outcome.result.name


def test_workers_find_what_one_process_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celadon.cli.policytest.case_running.WORTH_WORKERS", 1)
    paths = []
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        cases = ({"expect": "admit"}, {"patch": NO_X, "expect": {"deny": name}})
        paths.append(written(tmp_path / name, *cases))
    found = [CaseView(report(*paths, jobs=jobs)).data() for jobs in (1, 2, 8)]
    assert found[0] == found[1] == found[2]
    assert found[0]["summary"]["failed"] == 3


def test_doubts_about_a_whole_test_need_all_of_it(tmp_path: Path) -> None:
    """Cases that are left out of one test are no matter of another's."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first = written(tmp_path / "a", {"expect": "admit"}, {"expect": "admit", "name": "other"})
    second = written(tmp_path / "b", {"expect": "admit"})
    found = report(first, second, only=re2.compile("case 0"))
    assert [len(one.doubts) for one in found.tests] == [0, 1]
