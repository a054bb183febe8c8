"""Suites of gator, with templates that have CEL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.case_results import CaseResult, FileResult
from celadon.cli.policytest.case_running import RunOptions, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from tests.cli.files import Json, config_map, write

VALIDATIONS = [
    {
        "expression": "variables.params.keys.all(k, k in variables.anyObject.data)",
        "messageExpression": "'missing ' + variables.params.keys.join()",
    }
]
SOURCE: Json = {"validations": VALIDATIONS, "generateVAP": True}
HEAD = {"apiVersion": "test.gatekeeper.sh/v1alpha1", "kind": "Suite", "metadata": {"name": "keys"}}
YES = {"violations": "yes"}
NO = {"violations": "no"}


def template(source: Json, engine: str = "K8sNativeValidation") -> Json:
    target = {
        "target": "admission.k8s.gatekeeper.sh",
        "code": [{"engine": "Rego", "source": {}}, {"engine": engine, "source": source}],
    }
    return {
        "apiVersion": "templates.gatekeeper.sh/v1",
        "kind": "ConstraintTemplate",
        "metadata": {"name": "needskeys"},
        "spec": {"crd": {"spec": {"names": {"kind": "NeedsKeys"}}}, "targets": [target]},
    }


def constraint(match: Json) -> Json:
    return {
        "apiVersion": "constraints.gatekeeper.sh/v1beta1",
        "kind": "NeedsKeys",
        "metadata": {"name": "needs-owner"},
        "spec": {
            "enforcementAction": "dryrun",
            "match": match,
            "parameters": {"keys": ["owner"]},
        },
    }


def ran(
    folder: Path,
    *assertions: Any,
    match: Json | None = None,
    source: Json = SOURCE,
    engine: str = "K8sNativeValidation",
    about: Json | None = None,
    **case: Any,
) -> FileResult:
    """What comes of a suite with one case."""
    write(folder / "template.yaml", template(source, engine))
    write(folder / "constraint.yaml", constraint(match or {}))
    write(folder / "object.yaml", about or config_map("web", "shop", x="y"))
    write(
        folder / "ns.yaml",
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "shop", "labels": {"a": "b"}},
        },
    )
    one = {"name": "web", "object": "object.yaml", "assertions": list(assertions), **case}
    test = {"name": "t", "template": "template.yaml", "constraint": "constraint.yaml"}
    suite = {**HEAD, "tests": [{**test, "cases": [one]}]}
    found = given_tests([write(folder / "suite.yaml", suite)])
    assert not found.problems
    (only,) = run_tests(found.tests, RunOptions(), lambda _: None).tests
    return only


def cases(found: FileResult) -> tuple[CaseResult, ...]:
    assert [one.message for one in found.problems] == []
    return found.cases


REVIEW: Json = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "operation": "DELETE",
        "userInfo": {"username": "ann"},
        "oldObject": config_map("web", "shop", x="y"),
    },
}


@pytest.mark.parametrize(
    ("assertion", "about", "status"),
    [
        (YES, config_map(x="y"), "passed"),
        (YES, config_map(owner="y"), "failed"),
        (NO, config_map(owner="y"), "passed"),
        (NO, config_map(x="y"), "failed"),
        ({}, config_map(x="y"), "passed"),
        ({"violations": 1}, config_map(x="y"), "passed"),
        ({"violations": 0}, config_map(x="y"), "failed"),
        ({"violations": 2}, config_map(x="y"), "failed"),
        ({**YES, "message": "^missing o"}, config_map(x="y"), "passed"),
        ({**YES, "message": "^owner"}, config_map(x="y"), "failed"),
        (YES, REVIEW, "passed"),
    ],
)
def test_assertions(tmp_path: Path, assertion: Json, about: Json, status: str) -> None:
    (one,) = cases(ran(tmp_path, assertion, about=about))
    assert one.status.value == status


@pytest.mark.parametrize(
    ("match", "matched"),
    [
        ({"kinds": [{"apiGroups": [""], "kinds": ["ConfigMap", "Secret"]}]}, True),
        ({"kinds": [{"apiGroups": ["*"], "kinds": ["*"]}]}, True),
        ({"kinds": [{"apiGroups": ["apps"], "kinds": ["*"]}]}, False),
        ({"namespaces": ["sh*"]}, True),
        ({"namespaces": ["*op", "x"]}, True),
        ({"namespaces": ["*ho*"]}, True),
        ({"namespaces": ["other"]}, False),
        ({"excludedNamespaces": ["shop"]}, False),
        ({"excludedNamespaces": ["kube-*"]}, True),
        ({"name": "web"}, True),
        ({"name": "db*"}, False),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
        ({"labelSelector": {"matchLabels": {"a": "b"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"a": "b"}}}, True),
    ],
)
def test_matching(tmp_path: Path, match: Json, matched: bool) -> None:
    (one,) = cases(ran(tmp_path, YES, match=match, inventory=["ns.yaml"]))
    assert one.outcome is not None
    assert (one.outcome.verdict.value == "deny") is matched


def test_several_assertions_are_several_cases(tmp_path: Path) -> None:
    found = cases(ran(tmp_path, YES, {**YES, "message": "missing"}))
    assert [one.case.name for one in found] == ["t: web", "t: web, assertion 2"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"engine": "Other"}, "the template has no code for K8sNativeValidation"),
        ({"skip": True}, "the suite skips it"),
        ({"more": 1}, "`more` has no equal in a PolicyTest"),
        (
            {"source": {**SOURCE, "more": 1}},
            "`more` of ConstraintTemplate `needskeys` has no equal in a PolicyTest",
        ),
        (
            {"match": {"source": "All"}},
            "`source` of NeedsKeys `needs-owner` has no equal in a PolicyTest",
        ),
        (
            {
                "about": {
                    **REVIEW,
                    "request": {"operation": "UPDATE", "object": config_map("web", "shop")},
                }
            },
            "an UPDATE without an `oldObject`: no API server sends such a request",
        ),
    ],
)
def test_skipped(tmp_path: Path, given: Json, why: str) -> None:
    (one,) = cases(ran(tmp_path, YES, **given))
    assert (one.case.skip or one.status.value) == why


@pytest.mark.parametrize(
    ("assertion", "why"),
    [
        ({"violations": "many"}, "`violations: many` is neither `yes`, `no` nor a number"),
        ({**NO, "message": "x"}, "no violation with some message: whether there are others"),
        ({**YES, "more": 1}, "`more` has no equal in a PolicyTest"),
    ],
)
def test_a_case_that_cannot_be_said_stops_no_other(
    tmp_path: Path, assertion: Json, why: str
) -> None:
    first, left_out, last = cases(ran(tmp_path, YES, assertion, YES))
    assert [first.status.value, last.status.value] == ["passed", "passed"]
    assert left_out.case.skip.startswith(why)


TWO: Json = {
    "validations": [
        {"expression": "'owner' in variables.anyObject.data", "message": "no owner"},
        {"expression": "'team' in variables.anyObject.data", "message": "no team"},
    ]
}


@pytest.mark.parametrize(
    ("assertion", "status"),
    [
        ({"violations": 2}, "passed"),
        ({"violations": 1}, "failed"),
        ({"violations": 1, "message": "^no team"}, "passed"),
        ({"violations": 2, "message": "^no"}, "passed"),
    ],
)
def test_violations_are_counted(tmp_path: Path, assertion: Json, status: str) -> None:
    (one,) = cases(ran(tmp_path, assertion, source=TWO))
    assert one.status.value == status


@pytest.mark.parametrize(
    "match",
    [
        {"kinds": [{"apiGroups": ["apps"], "kinds": ["*"]}]},
        {"namespaces": ["other"]},
        {"excludedNamespaces": ["sh*"]},
    ],
)
def test_what_a_constraint_is_not_about_has_no_violation(tmp_path: Path, match: Json) -> None:
    (one,) = cases(ran(tmp_path, NO, match=match))
    assert one.status.value == "passed"


@pytest.mark.parametrize(("point", "status"), [("*", "passed"), ("audit", "skipped")])
def test_enforcement_points(tmp_path: Path, point: str, status: str) -> None:
    ran(tmp_path, YES)
    given = constraint({})
    actions = [{"action": "deny", "enforcementPoints": [{"name": point}]}]
    given["spec"] |= {"enforcementAction": "scoped", "scopedEnforcementActions": actions}
    write(tmp_path / "constraint.yaml", given)
    found = given_tests([str(tmp_path / "suite.yaml")])
    ((one,),) = (test.cases for test in run_tests(found.tests, RunOptions(), lambda _: None).tests)
    assert one.status.value == status


def test_each_test_has_its_own_constraint(tmp_path: Path) -> None:
    """A sibling's constraint would refuse the same object, and is not asked."""
    ran(tmp_path, YES)
    strict = constraint({})
    strict["spec"]["parameters"] = {"keys": ["owner", "team"]}
    write(tmp_path / "strict.yaml", strict)
    write(tmp_path / "owned.yaml", config_map("web", "shop", owner="y"))
    about = {"template": "template.yaml", "cases": [{"object": "owned.yaml", "assertions": [NO]}]}
    lax = {"name": "lax", "constraint": "constraint.yaml", **about}
    other = {**about, "name": "strict", "constraint": "strict.yaml"}
    other["cases"] = [{"object": "owned.yaml", "assertions": [YES]}]
    found = given_tests(
        [write(tmp_path / "suite.yaml", {**HEAD, "tests": [lax, other, {"name": "none"}]})]
    )
    report = run_tests(found.tests, RunOptions(), lambda _: None)
    assert [test.name for test in report.tests] == ["keys: lax", "keys: strict"]
    assert [one.status.value for one in report.cases] == ["passed", "passed"]


def expansion(*kinds: str, source: str = "spec.template") -> list[Json]:
    return [
        {
            "apiVersion": "expansion.gatekeeper.sh/v1beta1",
            "kind": "ExpansionTemplate",
            "metadata": {"name": kind.lower()},
            "spec": {
                "applyTo": [{"groups": ["apps"], "kinds": ["Deployment"], "versions": ["v1"]}],
                "templateSource": source,
                "generatedGVK": {"group": "", "version": "v1", "kind": kind},
            },
        }
        for kind in kinds
    ]


@pytest.mark.parametrize(
    ("kinds", "image", "assertion", "wanted"),
    [
        (["Pod"], "bad", YES, [("deny", "passed")]),
        (["Pod"], "bad", {"violations": 1}, [("deny", "passed")]),
        (["Pod"], "good", YES, [("deny", "failed")]),
        (["Pod"], "good", NO, [("noMatch", "passed"), ("admit", "passed")]),
        (["Pod", "Deployment"], "bad", YES, ["violations of 2 objects are counted together"]),
    ],
)
def test_expansion(
    tmp_path: Path, kinds: list[str], image: str, assertion: Json, wanted: list[Any]
) -> None:
    containers = [{"name": "main", "image": image}]
    template_of_pods = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template_of_pods},
    }
    spec = "has(variables.anyObject.spec.template) ? true : "
    source = {
        "validations": [
            {"expression": f"{spec}variables.anyObject.spec.containers.all(c, c.image == 'good')"}
        ]
    }
    ran(tmp_path, YES, source=source, about=deployment)
    write(tmp_path / "constraint.yaml", constraint({"kinds": [{"kinds": kinds}]}))
    write(tmp_path / "expansion.yaml", *expansion("Pod"))
    one = {"name": "web", "object": "object.yaml", "assertions": [assertion]}
    test = {"name": "t", "template": "template.yaml", "constraint": "constraint.yaml"}
    suite = {**HEAD, "tests": [{**test, "expansion": "expansion.yaml", "cases": [one]}]}
    found = given_tests([write(tmp_path / "suite.yaml", suite)])
    ((*got,),) = (test.cases for test in run_tests(found.tests, RunOptions(), lambda _: None).tests)
    assert [
        one.case.skip or (one.case.expect.verdict.value, one.status.value) for one in got
    ] == wanted


@pytest.mark.parametrize(
    ("file", "spec", "text"),
    [
        ("template.yaml", {"targets": [{"code": [5]}]}, "`spec.targets[0].code[0]` must be a map"),
        ("template.yaml", "x", "`spec` must be a map, not text"),
        ("constraint.yaml", {"match": ["x"]}, "`spec.match` must be a map, not a list"),
        (
            "constraint.yaml",
            {"match": {"kinds": [{"apiGroups": -1}]}},
            "`spec.match.kinds[0].apiGroups` must be a list, not the number -1",
        ),
        ("expansion.yaml", {"applyTo": {"a": 1}}, "`spec.applyTo` must be a list, not a map"),
    ],
)
def test_files_that_have_another_shape(tmp_path: Path, file: str, spec: object, text: str) -> None:
    ran(tmp_path, YES)
    others = {
        "template.yaml": template({}),
        "constraint.yaml": constraint({}),
        "expansion.yaml": expansion("Pod")[0],
    }
    for name, one in others.items():
        write(tmp_path / name, {**one, "spec": spec} if name == file else one)
    one = {"name": "web", "object": "object.yaml", "assertions": [YES]}
    test = {name.partition(".")[0]: name for name in others}
    suite = {**HEAD, "tests": [{"name": "t", **test, "cases": [one]}]}
    found = given_tests([write(tmp_path / "suite.yaml", suite)])
    (got,) = run_tests(found.tests, RunOptions(), lambda _: None).tests
    assert any(
        one.message.startswith(f"`{file}`, line ") and text in one.message for one in got.problems
    ), got.problems


def test_templates_that_multiply_have_an_end(tmp_path: Path) -> None:
    """Two that expand what they make would make a billion objects."""
    deep: Json = {}
    for _ in range(40):
        deep = {"spec": deep}
    about = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, **deep}
    ran(tmp_path, YES, about=about)
    write(tmp_path / "expansion.yaml", *_circle("one"), *_circle("two"))
    one = {"name": "web", "object": "object.yaml", "assertions": [YES]}
    files = {"template": "template.yaml", "constraint": "constraint.yaml"}
    test = {"name": "t", **files, "expansion": "expansion.yaml", "cases": [one]}
    found = given_tests([write(tmp_path / "suite.yaml", {**HEAD, "tests": [test]})])
    ((got,),) = (test.cases for test in run_tests(found.tests, RunOptions(), lambda _: None).tests)
    assert got.case.skip == "more than 100 objects are made of this one"


def _circle(name: str) -> list[Json]:
    """A template that applies to what it makes."""
    (made,) = expansion("Deployment", source="spec")
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    return [{**made, "metadata": {"name": name}, "spec": {**made["spec"], "generatedGVK": kind}}]


@pytest.mark.parametrize(
    ("assertions", "given", "text"),
    [
        ([], {}, "no assertion in this case"),
        ([YES], {"object": "none.yaml"}, "`none.yaml` has 0 objects: one is expected"),
        ([YES], {"object": None}, "`object`, a file, is needed"),
    ],
)
def test_what_is_wrong(tmp_path: Path, assertions: list[Json], given: Json, text: str) -> None:
    found = ran(tmp_path, *assertions, **given)
    assert not found.cases
    assert any(one.message.startswith(text) for one in found.problems), found.problems
