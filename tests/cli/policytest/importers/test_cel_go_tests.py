"""tests.yaml as cel-go has them beside its policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.case_results import FileResult
from celadon.cli.policytest.case_running import RunOptions, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from tests.cli.files import Json, binding, config_map, policy, write

RULE = {"expression": "object.data.x == 'ok'", "message": "x must be ok"}
BY_USER = {"expression": "request.userInfo.username == 'ann'"}
BY_PARAM = {"expression": "object.data.x == params.data.x"}
OLD = {
    "expression": "object == null ? oldObject.data.x == 'ok' : object.data.x != oldObject.data.x"
}
BY_NAMESPACE = {"expression": "namespaceObject.metadata.labels['a'] == 'b'"}


ROW = f"[{','.join('1' * 100)}]"
ENDLESS = f"{ROW}.all(a, {ROW}.all(b, {ROW}.all(c, {ROW}.all(d, {ROW}.all(e, e > 0)))))"


def ran(folder: Path, given: Json, output: Any, rule: Json = RULE) -> FileResult:
    """What comes of a file with one test."""
    params: Json = {}
    bound: Json = {}
    if rule is BY_PARAM:
        params = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
        bound = {"paramRef": {"name": "params", "parameterNotFoundAction": "Deny"}}
    write(folder / "policy.yaml", policy(validations=[rule], **params), binding(**bound))
    test = {"name": "one", "input": given, "output": output}
    value = {"description": "d", "section": [{"name": "s", "tests": [test]}]}
    found = given_tests([write(folder / "tests.yaml", value)])
    assert not found.problems
    (only,) = run_tests(found.tests, RunOptions(), lambda _: None).tests
    return only


GOOD: Json = {"object": {"value": config_map(x="ok")}}
BAD: Json = {"object": {"value": config_map(x="no")}}
MESSAGE = "'x must be ok'"


@pytest.mark.parametrize(
    ("given", "output", "rule", "status"),
    [
        (GOOD, "optional.none()", RULE, "passed"),
        (GOOD, {"value": True}, RULE, "passed"),
        (GOOD, "false", RULE, "failed"),
        (BAD, MESSAGE, RULE, "passed"),
        (BAD, {"expr": "'x must ' + 'be ok'"}, RULE, "passed"),
        (BAD, {"value": "x must be ok"}, RULE, "passed"),
        (BAD, "'another'", RULE, "failed"),
        (BAD, {"value": False}, RULE, "passed"),
        ({**GOOD, "request.userInfo.username": {"expr": "'a' + 'nn'"}}, "true", BY_USER, "passed"),
        ({**GOOD, "request.userInfo.username": {"value": "bob"}}, "true", BY_USER, "failed"),
        ({**GOOD, "params": {"value": config_map("params", x="ok")}}, "true", BY_PARAM, "passed"),
        ({**GOOD, "oldObject": BAD["object"]}, "true", OLD, "passed"),
        ({"oldObject": GOOD["object"]}, "true", OLD, "passed"),
        ({"oldObject": BAD["object"]}, "true", OLD, "failed"),
        (
            {**GOOD, "namespaceObject": {"value": {"metadata": {"labels": {"a": "b"}}}}},
            "true",
            BY_NAMESPACE,
            "passed",
        ),
    ],
)
def test_outputs(tmp_path: Path, given: Json, output: Any, rule: Json, status: str) -> None:
    found = ran(tmp_path, given, output, rule)
    assert [one.message for one in found.problems] == []
    assert [(one.case.name, one.status.value) for one in found.cases] == [("s: one", status)]


@pytest.mark.parametrize(
    ("given", "output", "text"),
    [
        (
            {**GOOD, "resource.labels": {"value": {}}},
            "true",
            "a cluster has no variable `resource`",
        ),
        ({}, "true", "`object` or `oldObject` is needed"),
        ({"object": {}}, "true", "input `object` has neither `value` nor `expr`"),
        (GOOD, "1 +", "`1 +` cannot be evaluated"),
        (GOOD, ENDLESS, f"`{ENDLESS}` cannot be evaluated: operation cancelled"),
        (GOOD, "3", "the output of an admission policy is a message"),
    ],
)
def test_what_cannot_be_said(tmp_path: Path, given: Json, output: str, text: str) -> None:
    found = ran(tmp_path, given, output)
    assert not found.cases
    assert any(one.message.startswith(text) for one in found.problems), found.problems
