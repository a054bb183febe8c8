"""Suites of gator, with templates that have CEL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policy_tests.case_results import CaseResult, FileResult
from celadon.cli.policy_tests.case_running import RunOptions, run_tests
from celadon.cli.policy_tests.found_tests import given_tests
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
    ],
)
def test_skipped(tmp_path: Path, given: Json, why: str) -> None:
    (one,) = cases(ran(tmp_path, YES, **given))
    assert (one.status.value, one.case.skip) == ("skipped", why)


@pytest.mark.parametrize(
    ("assertions", "given", "text"),
    [
        ([], {}, "no assertion in this case"),
        ([{"violations": 3}], {}, "`violations: 3` has no equal in a PolicyTest"),
        ([{**NO, "message": "x"}], {}, "no message is expected of what is admitted"),
        ([YES], {"source": {**SOURCE, "more": 1}}, "`more` of ConstraintTemplate `needskeys`"),
        ([YES], {"match": {"source": "All"}}, "`source` of NeedsKeys `needs-owner`"),
        ([YES], {"object": "none.yaml"}, "`none.yaml` has 0 objects: one is expected"),
        ([YES], {"object": None}, "`object`, a file, is needed"),
        ([YES], {"more": 1}, "`more` has no equal in a PolicyTest"),
    ],
)
def test_what_cannot_be_said(
    tmp_path: Path, assertions: list[Json], given: Json, text: str
) -> None:
    found = ran(tmp_path, *assertions, **given)
    assert not found.cases
    assert any(one.message.startswith(text) for one in found.problems), found.problems
