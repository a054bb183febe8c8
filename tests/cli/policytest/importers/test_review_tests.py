"""AdmissionReviews with their answers, run as tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.policytest.case_results import FileResult
from celadon.cli.policytest.case_running import RunOptions, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from tests.cli.files import Json, binding, config_map, policy, write

REQUEST: Json = {
    "uid": "1",
    "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
    "resource": {"group": "", "version": "v1", "resource": "configmaps"},
    "name": "cm",
    "namespace": "default",
    "operation": "CREATE",
    "userInfo": {"username": "ann", "groups": ["system:masters"]},
    "oldObject": None,
    "dryRun": False,
}
RULES = [{"expression": "object.data.x == 'ok'", "message": "x must be ok"}]
BY_USER = [{"expression": "request.userInfo.username == 'ann'"}]
UPDATES = [{"expression": "oldObject.data.x != object.data.x"}]


def ran(
    folder: Path,
    request: Json,
    response: Json | None,
    rules: list[Json] = RULES,
    expected: str = "",
) -> FileResult:
    write(folder / "policy.yaml", policy(validations=rules), binding())
    review: Json = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    review["request"] = {**REQUEST, **request}
    if response is not None:
        review["response"] = response
    given = given_tests([write(folder / "review.json", review)], expected)
    assert not given.problems
    (found,) = run_tests(given.tests, RunOptions(), lambda _: None).tests
    return found


OK = {"object": config_map(x="ok")}
BAD = {"object": config_map(x="no")}
DENIED = {"allowed": False, "status": {"message": "x must be ok", "code": 422}}


@pytest.mark.parametrize(
    ("request_", "response", "rules", "status"),
    [
        (OK, {"uid": "1", "allowed": True}, RULES, "passed"),
        (OK, {"allowed": False}, RULES, "failed"),
        (BAD, DENIED, RULES, "passed"),
        (BAD, {"allowed": False, "status": {"message": "no"}}, RULES, "failed"),
        (BAD, {"allowed": True}, BY_USER, "passed"),
        (
            {**BAD, "operation": "UPDATE", "oldObject": config_map(x="ok")},
            {"allowed": True},
            UPDATES,
            "passed",
        ),
    ],
)
def test_answers(
    tmp_path: Path, request_: Json, response: Json, rules: list[Json], status: str
) -> None:
    found = ran(tmp_path, request_, response, rules)
    assert not found.problems
    assert [one.status.value for one in found.cases] == [status]


@pytest.mark.parametrize(
    ("request_", "response", "text"),
    [
        (OK, None, "no expectation: the review has no `response` with `allowed`"),
        (OK, {"allowed": True, "patch": "W10="}, "`patch` has no equal in a PolicyTest"),
        ({**OK, "more": 1}, {"allowed": True}, "`more` has no equal in a PolicyTest"),
    ],
)
def test_what_cannot_be_said(
    tmp_path: Path, request_: Json, response: Json | None, text: str
) -> None:
    found = ran(tmp_path, request_, response)
    assert not found.cases
    assert text in [one.message for one in found.problems]


@pytest.mark.parametrize(
    ("request_", "response", "expected", "status"),
    [
        (OK, None, "admit", "passed"),
        (BAD, None, "admit", "failed"),
        (BAD, None, "deny", "passed"),
        (OK, {"allowed": True}, "deny", "passed"),
        ({"operation": "DELETE", "oldObject": config_map(x="no")}, None, "error", "passed"),
    ],
)
def test_expected_by_option(
    tmp_path: Path, request_: Json, response: Json | None, expected: str, status: str
) -> None:
    """A response of the review's own goes first."""
    found = ran(tmp_path, request_, response, expected=expected)
    assert not found.problems
    assert [one.status.value for one in found.cases] == [status]
