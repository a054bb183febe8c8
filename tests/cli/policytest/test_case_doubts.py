"""The ways in which a green test means nothing: each one is reported, with its reason.

`tests/cases/doubts.txt` has all that is said of each case; `pytest --update-golden` writes it anew,
to be read like code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.case_results import POINTED_OUT, Status, Vacuity
from celadon.cli.report.case_view import explained_plainly
from tests.cli.files import Json, binding, config_map, policy
from tests.cli.policytest.given_cases import POLICY, report, result, written
from tests.paths import ROOT

EXPLANATIONS = ROOT / "tests" / "cases" / "doubts.txt"
NO = {"data": {"x": "no"}}
RULE = POLICY["spec"]["matchConstraints"]["resourceRules"][0]
DEPLOYMENT: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]},
        },
    },
}


def ruled(**changed: Any) -> list[Json]:
    """A policy whose rule is different, and its binding."""
    return [policy(rules=[{**RULE, **changed}]), binding()]


def constrained(**changed: Any) -> list[Json]:
    """A policy with more constraints than its rule, and its binding."""
    found = policy()
    found["spec"]["matchConstraints"] |= changed
    return [found, binding()]


def mutating(expression: str, version: str = "v1") -> list[Json]:
    """A policy that changes ConfigMaps, and its binding."""
    spec = {
        "matchConstraints": {"resourceRules": [{**RULE, "operations": ["CREATE"]}]},
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
    }
    group = "admissionregistration.k8s.io"
    kind, meta = "MutatingAdmissionPolicy", {"name": "limit"}
    bound = {"policyName": "limit"}
    return [
        {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": meta, "spec": spec},
        {
            "apiVersion": f"{group}/{version}",
            "kind": f"{kind}Binding",
            "metadata": meta,
            "spec": bound,
        },
    ]


ADD = "[JSONPatch{op: 'add', path: '/data/z', value: 'new'}]"
PARAM_KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
PARAMS = policy(expression="object.data.x == params.data.x", paramKind=PARAM_KIND)
ALLOWING = {"name": "p", "parameterNotFoundAction": "Allow"}


@dataclass(frozen=True)
class Row:
    """A case that could be green, what it is with, and what is said of it."""

    vacuity: Vacuity
    said: str
    case: Json
    documents: list[Json] = field(default_factory=lambda: [POLICY, binding()])
    test: Json = field(default_factory=dict)


ROWS: dict[str, Row] = {
    "wrong kind": Row(
        Vacuity.RESOURCE,
        "the rules are about resource configmaps, the request is about secrets",
        {"object": {**config_map(), "kind": "Secret", "data": None}},
    ),
    "wrong group": Row(
        Vacuity.GROUP,
        'the rules are about group apps, the request is about ""',
        {},
        ruled(apiGroups=["apps"]),
    ),
    "wrong version": Row(
        Vacuity.VERSION,
        "the rules are about version v1beta1, the request is about v1",
        {},
        ruled(apiVersions=["v1beta1"]),
    ),
    "wrong operation": Row(
        Vacuity.OPERATION,
        "the rules are about operation UPDATE, the request is about CREATE",
        {},
        ruled(operations=["UPDATE"]),
    ),
    "a subresource": Row(
        Vacuity.SUBRESOURCE,
        "the rules are about resource deployments, the request is about deployments/status",
        {
            "object": DEPLOYMENT,
            "operation": "UPDATE",
            "subresource": "status",
            "patch": {"status": {"replicas": 1}},
        },
        ruled(apiGroups=["apps"], resources=["deployments"]),
    ),
    "wrong scope": Row(
        Vacuity.SCOPE,
        "the rules are about scope Cluster, the request is about namespaced",
        {},
        ruled(scope="Cluster"),
    ),
    "wrong name": Row(
        Vacuity.RESOURCE_NAME,
        "the rules are about names other, the request is about cm",
        {},
        ruled(resourceNames=["other"]),
    ),
    "excluded": Row(
        Vacuity.EXCLUDED,
        "`excludeResourceRules` leave it out",
        {},
        constrained(excludeResourceRules=[RULE]),
    ),
    "labels of the namespace": Row(
        Vacuity.NAMESPACE_SELECTOR,
        "`namespaceSelector` does not select namespace `default`",
        {},
        constrained(namespaceSelector={"matchLabels": {"env": "prod"}}),
    ),
    "labels of the object": Row(
        Vacuity.OBJECT_SELECTOR,
        "`objectSelector` does not select the labels of the object",
        {},
        constrained(objectSelector={"matchLabels": {"app": "web"}}),
    ),
    "the binding's namespace": Row(
        Vacuity.NAMESPACE_SELECTOR,
        "binding `limit`: `namespaceSelector` does not select namespace `default`",
        {},
        [POLICY, binding(matchResources={"namespaceSelector": {"matchLabels": {"env": "prod"}}})],
    ),
    "the binding's rules": Row(
        Vacuity.OPERATION,
        "binding `limit`: the rules are about operation DELETE, the request is about CREATE",
        {},
        [POLICY, binding(matchResources={"resourceRules": [{**RULE, "operations": ["DELETE"]}]})],
    ),
    "two things at once": Row(
        Vacuity.GROUP,
        'the rules are about group apps, the request is about ""',
        {},
        ruled(apiGroups=["apps"], operations=["DELETE"]),
    ),
    "a condition": Row(
        Vacuity.CONDITION_FALSE,
        "match condition `never` of policy `limit` is false",
        {},
        [policy(matchConditions=[{"name": "never", "expression": "false"}]), binding()],
    ),
    "an exempt user": Row(
        Vacuity.EXEMPT_USER,
        "the condition exempts user `admin`, it would be true for others",
        {},
        [
            policy(
                matchConditions=[
                    {
                        "name": "people",
                        "expression": "!('system:masters' in request.userInfo.groups)",
                    }
                ]
            ),
            binding(),
        ],
    ),
    "a dry run": Row(
        Vacuity.DRY_RUN,
        "the condition would be true if it were no dry run",
        {"dryRun": True},
        [policy(matchConditions=[{"name": "real", "expression": "!request.dryRun"}]), binding()],
    ),
    "params not found": Row(
        Vacuity.PARAM_NOT_FOUND,
        "binding `limit` found no params, and its action for that is Allow",
        {},
        [PARAMS, binding(paramRef=ALLOWING)],
    ),
    "no binding": Row(
        Vacuity.NO_BINDING, "policy `limit` has no binding, so it does nothing", {}, [POLICY]
    ),
    "no binding, and nothing expected": Row(
        Vacuity.NO_BINDING,
        "policy `limit` has no binding, so it does nothing",
        {"expect": "noMatch"},
        [POLICY],
    ),
    "a binding that is misspelt": Row(
        Vacuity.STRAY_BINDING,
        "binding `limit` names policy `limits`, which is not there",
        {},
        [POLICY, binding(policy_name="limits")],
    ),
    "an exempt kind": Row(
        Vacuity.EXEMPT_RESOURCE,
        "no policy ever sees tokenreviews.authentication.k8s.io",
        {
            "object": {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "metadata": {"name": "x"},
                "spec": {"token": "x"},
            }
        },
        ruled(apiGroups=["*"], resources=["*"]),
    ),
    "refused before any policy": Row(
        Vacuity.REFUSED_BEFORE,
        "the API server refuses it before any policy is asked: ConfigMap",
        {"patch": {"data": {"/": "no"}}, "expect": "deny"},
    ),
    "refused for a field that is misspelt": Row(
        Vacuity.REFUSED_BEFORE,
        "the API server refuses it before any policy is asked: ",
        {"object": DEPLOYMENT, "patch": {"spec": {"replica": 9}}, "expect": "deny"},
        ruled(apiGroups=["apps"], resources=["deployments"]),
    ),
    "denied by another policy": Row(
        Vacuity.DENIED_BY_ANOTHER,
        "policy `other`, which is not under test, denies it: ",
        {"expect": "deny", "policy": "limit"},
        [POLICY, binding(), policy("other", "false"), binding("other")],
    ),
    "an error that is ignored": Row(
        Vacuity.ERROR_IGNORED,
        "`failurePolicy: Ignore` let an error pass: ",
        {"patch": {"data": {"x": None}}},
        [policy(failurePolicy="Ignore"), binding()],
    ),
    "an error in a condition that is ignored": Row(
        Vacuity.ERROR_IGNORED,
        "`failurePolicy: Ignore` let an error pass: ",
        {},
        [
            policy(
                failurePolicy="Ignore",
                matchConditions=[{"name": "c", "expression": "object.data.none == ''"}],
            ),
            binding(),
        ],
    ),
    "an error that denies": Row(
        Vacuity.ERROR_NOT_DENIAL,
        "an expression could not be evaluated: that is no answer of the policy",
        {"patch": {"data": {"x": None}}, "expect": "deny"},
    ),
    "a binding that only audits": Row(
        Vacuity.ONLY_AUDITS,
        "binding `limit` only audits",
        {"patch": NO, "expect": "admit"},
        [POLICY, binding(actions="Audit")],
    ),
    "a binding that only warns": Row(
        Vacuity.ONLY_WARNS,
        "binding `limit` warns, and does not deny",
        {"patch": NO, "expect": "deny"},
        [POLICY, binding(actions="Warn")],
    ),
    "a release that does not serve the policy": Row(
        Vacuity.NOT_SERVED,
        'no matches for kind "MutatingAdmissionPolicy" in version '
        '"admissionregistration.k8s.io/v1"',
        {"expect": {"object": {"data": {"z": "new"}}}, "kubernetesVersions": ["1.35"]},
        mutating(ADD),
    ),
    "no match, but for another reason": Row(
        Vacuity.OTHER_REASON,
        "nothing matches, but not because of `namespace-selector`: the rules are about operation",
        {"expect": {"verdict": "noMatch", "because": "namespace-selector"}},
        ruled(operations=["UPDATE"]),
    ),
    "an object that was so before": Row(
        Vacuity.TRUE_BEFORE,
        "`object` would be as expected without the policy, too",
        {"expect": {"object": {"data": {"x": "ok"}}}},
        mutating(ADD),
    ),
    "a message that any is": Row(
        Vacuity.ANY_TEXT,
        "any text contains ``",
        {"patch": NO, "expect": {"deny": {"contains": ""}}},
    ),
    "a pattern that matches everything": Row(
        Vacuity.ANY_TEXT,
        "any text matches `(?s).*`",
        {"patch": NO, "expect": {"deny": {"matches": "(?s).*"}}},
    ),
    "any of the validations": Row(
        Vacuity.ANY_DENIAL,
        "any of 2 validations could be the reason; it was spec.validations[0].expression: x must",
        {"patch": NO, "expect": "deny"},
    ),
    "any of the policies": Row(
        Vacuity.ANY_DENIAL,
        "any of 2 validations could be the reason; it was ",
        {"patch": NO, "expect": "deny"},
        [policy(), binding(), policy("other", "true"), binding("other")],
    ),
    "a change that nobody looks at": Row(
        Vacuity.CHANGE_UNSEEN,
        "the policy changes the object, and the case says nothing of that",
        {},
        mutating(ADD),
    ),
    "an update of nothing": Row(
        Vacuity.NOTHING_CHANGES,
        "the object is what it was: an UPDATE that changes nothing",
        {"operation": "UPDATE", "oldObject": "ok"},
    ),
    "no validations": Row(
        Vacuity.NO_VALIDATION,
        "policy `limit` has no validations: nothing can speak against the request",
        {},
        [
            policy(validations=[], auditAnnotations=[{"key": "a", "valueExpression": "'b'"}]),
            binding(),
        ],
    ),
    "no params asked for": Row(
        Vacuity.NULL_PARAMS,
        "binding `limit` has no paramRef, so `params` is null",
        {},
        [policy(expression="params == null", paramKind=PARAM_KIND), binding()],
    ),
    "a kind without a definition": Row(
        Vacuity.UNKNOWN_KIND,
        "kind `Shop` of example.com/v1 is not known: its fields and its resource are guessed",
        {"object": {"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "s"}}},
        [
            policy(expression="true", rules=[{**RULE, "apiGroups": ["*"], "resources": ["*"]}]),
            binding(),
        ],
    ),
    "a namespace that is assumed": Row(
        Vacuity.NAMESPACE_ASSUMED,
        "namespace `default` is not given, taken to have no labels but its name",
        {},
        [policy(expression="!('env' in namespaceObject.metadata.labels)"), binding()],
    ),
}

CLUSTER_WIDE: Json = {
    "object": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
}
MORE: dict[str, Row] = {
    "three things at once": Row(
        Vacuity.OPERATION, "", {}, ruled(apiGroups=["apps"], operations=["DELETE"], scope="Cluster")
    ),
    "four things at once": Row(
        Vacuity.NEVER_REACHED,
        "",
        {},
        ruled(
            apiGroups=["apps"],
            operations=["DELETE"],
            scope="Cluster",
            resourceNames=["other"],
        ),
    ),
    "a scope of the cluster": Row(
        Vacuity.SCOPE, "", CLUSTER_WIDE, ruled(resources=["namespaces"], scope="Namespaced")
    ),
    "any scope": Row(Vacuity.RESOURCE, "", CLUSTER_WIDE, ruled(scope="*")),
    "several of everything": Row(
        Vacuity.OPERATION,
        "",
        {},
        [
            policy(
                rules=[
                    {**RULE, "operations": ["UPDATE", "DELETE"]},
                    {**RULE, "operations": ["DELETE", "CONNECT"]},
                ]
            ),
            binding(),
        ],
    ),
    "the core group": Row(Vacuity.RESOURCE, "", {}, ruled(resources=["secrets"])),
    "another subresource": Row(
        Vacuity.SUBRESOURCE,
        "",
        {
            "object": DEPLOYMENT,
            "operation": "UPDATE",
            "subresource": "status",
            "patch": {"status": {"replicas": 1}},
        },
        ruled(apiGroups=["apps"], resources=["deployments/scale"]),
    ),
    "the binding's labels of objects": Row(
        Vacuity.OBJECT_SELECTOR,
        "",
        {},
        [POLICY, binding(matchResources={"objectSelector": {"matchLabels": {"app": "web"}}})],
    ),
    "two bindings": Row(
        Vacuity.OPERATION,
        "",
        {},
        [
            POLICY,
            *(
                binding(name, "limit", matchResources={"resourceRules": [{**RULE, **rule}]})
                for name, rule in (
                    ("first", {"operations": ["DELETE"]}),
                    ("second", {"resourceNames": ["other"]}),
                )
            ),
        ],
    ),
    "a dry run, and a user": Row(
        Vacuity.CONDITION_FALSE,
        "",
        {"dryRun": True, "user": "jane"},
        [
            policy(
                matchConditions=[
                    {"name": "real", "expression": "!request.dryRun"},
                    {"name": "people", "expression": "request.userInfo.username != 'jane'"},
                ]
            ),
            binding(),
        ],
    ),
    "mutations of something else": Row(
        Vacuity.RESOURCE,
        "",
        {"object": {**config_map(), "kind": "Secret", "data": None}},
        mutating(ADD),
    ),
    "mutations without a binding": Row(Vacuity.NO_BINDING, "", {}, mutating(ADD)[:1]),
    "mutations whose condition is false": Row(
        Vacuity.CONDITION_FALSE,
        "",
        {},
        [
            {
                **mutating(ADD)[0],
                "spec": {
                    **mutating(ADD)[0]["spec"],
                    "matchConditions": [{"name": "never", "expression": "false"}],
                },
            },
            mutating(ADD)[1],
        ],
    ),
    "a reason that nobody knows": Row(
        Vacuity.OTHER_REASON,
        "",
        {"patch": NO, "expect": {"verdict": "noMatch", "because": "condition-false"}},
        ruled(
            apiGroups=["apps"],
            operations=["DELETE"],
            scope="Cluster",
            resourceNames=["other"],
        ),
    ),
    "warnings and annotations that any is": Row(
        Vacuity.ANY_TEXT,
        "",
        {
            "patch": NO,
            "expect": {"warn": {"contains": ""}, "warnings": [{"matches": ".*"}, "x"]},
        },
        [POLICY, binding(actions="Warn")],
    ),
    "a pattern that matches some": Row(
        Vacuity.ANY_DENIAL, "", {"patch": NO, "expect": {"deny": {"matches": "^x"}}}
    ),
    "any of the validations, warned of": Row(
        Vacuity.ANY_DENIAL, "", {"patch": NO, "expect": "warn"}, [POLICY, binding(actions="Warn")]
    ),
    "any of the validations, audited": Row(
        Vacuity.ANY_DENIAL, "", {"patch": NO, "expect": "audit"}, [POLICY, binding(actions="Audit")]
    ),
    "any of the validations of one": Row(
        Vacuity.ANY_DENIAL,
        "",
        {"patch": NO, "expect": {"verdict": "deny", "policy": "limit"}},
        [POLICY, binding(), policy("other", "true"), binding("other")],
    ),
    "a reason of its own": Row(
        Vacuity.ANY_DENIAL, "", {"patch": NO, "expect": {"verdict": "deny", "reason": "Invalid"}}
    ),
    "a deletion": Row(Vacuity.NOTHING_CHANGES, "", {"operation": "DELETE", "expect": "admit"}),
    "a change as a patch": Row(
        Vacuity.CHANGE_UNSEEN,
        "",
        {"expect": {"patch": [{"op": "add", "path": "/data/z", "value": "new"}]}},
        mutating(ADD),
    ),
    "namespaces that no policy looks at": Row(Vacuity.NAMESPACE_ASSUMED, "", {}),
    "a namespace that a binding leaves out": Row(
        Vacuity.NAMESPACE_ASSUMED,
        "",
        {},
        [POLICY, binding(matchResources={"namespaceSelector": {"matchLabels": {"env": "prod"}}})],
    ),
    "a policy that has its params": Row(
        Vacuity.NULL_PARAMS,
        "",
        {"params": [config_map("p", x="ok")]},
        [PARAMS, binding(paramRef={"name": "p", "parameterNotFoundAction": "Deny"})],
    ),
}
"""More cases, most of them a step beside one of the rows."""


def test_whole_explanations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    written = ""
    for name, row in {**ROWS, **MORE}.items():
        case = {"expect": "admit", **row.case}
        found = result(Path(), case, documents=row.documents, **row.test)
        written += f"# {name}\n" + "".join(f"{line}\n" for line in explained_plainly(found))
        written += "".join(f"  at {one.place}: {one.vacuity.value}\n" for one in found.doubts)
        written += "\n"
    if request.config.getoption("--update-golden"):
        EXPLANATIONS.write_text(written, encoding="utf-8")
    assert written == EXPLANATIONS.read_text(encoding="utf-8")


def test_the_catalogue_is_long_enough() -> None:
    assert len(ROWS) >= 25


@pytest.mark.parametrize("name", ROWS)
def test_it_is_reported(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    case = {"expect": "admit", **row.case}
    found = result(tmp_path, case, documents=row.documents, **row.test)
    said = {one.vacuity: one.text for one in found.doubts}
    assert row.vacuity in said, found
    assert said[row.vacuity].startswith(row.said)
    assert found.is_bad != (row.vacuity in POINTED_OUT)


SOUND: dict[str, tuple[Json, list[Json]]] = {
    "admitted": ({"expect": "admit"}, [POLICY, binding()]),
    "denied by one validation": ({"patch": NO, "expect": "deny"}, [policy(), binding()]),
    "denied with a message": (
        {"patch": NO, "expect": {"deny": "x must be ok"}},
        [POLICY, binding()],
    ),
    "denied by index": (
        {"patch": NO, "expect": {"verdict": "deny", "validation": 0}},
        [POLICY, binding()],
    ),
    "not looked at": ({"expect": "noMatch"}, ruled(operations=["UPDATE"])),
    "not looked at for a reason": (
        {"expect": {"verdict": "noMatch", "because": "operation"}},
        ruled(operations=["UPDATE"]),
    ),
    "an error": ({"patch": {"data": {"x": None}}, "expect": "error"}, [POLICY, binding()]),
    "invalid": ({"patch": {"data": {"/": "no"}}, "expect": "invalid"}, [POLICY, binding()]),
    "changed": ({"expect": {"object": {"data": {"z": "new"}}}}, mutating(ADD)),
    "changed in 1.34": (
        {"expect": {"object": {"data": {"z": "new"}}}, "kubernetesVersions": ["1.34"]},
        mutating(ADD, "v1beta1"),
    ),
    "a namespace that is given": (
        {"namespaces": {"default": {"env": "x"}}, "expect": "admit"},
        [policy(expression="'env' in namespaceObject.metadata.labels"), binding()],
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_said_of_what_means_something(name: str, tmp_path: Path) -> None:
    case, documents = SOUND[name]
    found = result(tmp_path, case, documents=documents)
    assert found.doubts == ()
    assert found.status is Status.PASSED


def test_reasons_of_two_parts_are_both_told(tmp_path: Path) -> None:
    row = ROWS["two things at once"]
    found = result(tmp_path, {"expect": "admit"}, documents=row.documents)
    assert [one.vacuity for one in found.doubts] == [Vacuity.OPERATION, Vacuity.GROUP]


def test_strictness(tmp_path: Path) -> None:
    """What is only pointed out fails the run where somebody is strict."""
    path = written(tmp_path, {"patch": NO, "expect": "deny"}, {"expect": "admit"})
    assert report(path).exit == 0
    assert report(path, strict=True).exit == 1


def test_the_documentation_has_them_all() -> None:
    page = (ROOT / "docs" / "test-format.md").read_text(encoding="utf-8")
    assert [one.value for one in Vacuity if f"`{one.value}`" not in page] == []
