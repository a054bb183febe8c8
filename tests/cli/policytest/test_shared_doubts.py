"""What the cases of a test leave out together."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.policytest.case_results import Vacuity
from tests.cli.files import Json, binding, policy
from tests.cli.policytest.given_cases import POLICY, report, written

NO = {"data": {"x": "no"}}
DENIED: Json = {"patch": NO, "expect": {"deny": "x must be ok"}}
ADMITTED: Json = {"expect": "admit"}
UNMATCHED: Json = {
    "object": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},
    "expect": "noMatch",
}
OTHER = [
    policy(
        "other",
        rules=[{**POLICY["spec"]["matchConstraints"]["resourceRules"][0], "resources": ["pods"]}],
    ),
    binding("other"),
]


@pytest.mark.parametrize(
    ("cases", "vacuity", "text"),
    [
        ([ADMITTED, DENIED], None, ""),
        (
            [ADMITTED, DENIED, ADMITTED],
            Vacuity.SAME_CASE,
            "case `case 2` asks what case `case 0` asks",
        ),
        ([UNMATCHED], Vacuity.NEVER_REACHED, "no case reaches policy `limit`"),
        ([ADMITTED, UNMATCHED], Vacuity.NEVER_SPEAKS, "in no case policy `limit` speaks against"),
        (
            [DENIED, UNMATCHED],
            Vacuity.NEVER_CONTENT,
            "in no case policy `limit` looks at a request",
        ),
    ],
)
def test_what_is_left_out(
    cases: list[Json], vacuity: Vacuity | None, text: str, tmp_path: Path
) -> None:
    (test,) = report(written(tmp_path, *cases)).tests
    assert [one.vacuity for one in test.doubts] == ([] if vacuity is None else [vacuity])
    assert all(one.text.startswith(text) for one in test.doubts)


def test_each_policy_under_test_counts(tmp_path: Path) -> None:
    documents = [POLICY, binding(), *OTHER]
    (test,) = report(written(tmp_path, ADMITTED, DENIED, documents=documents)).tests
    assert [one.text for one in test.doubts] == ["no case reaches policy `other`"]
    path = written(tmp_path, ADMITTED, DENIED, documents=documents, policy="limit")
    (test,) = report(path).tests
    assert test.doubts == ()


def test_parts_of_a_test_say_nothing_of_the_whole(tmp_path: Path) -> None:
    from celadon.cel.extend import re2

    path = written(tmp_path, ADMITTED, DENIED)
    (test,) = report(path, only=re2.compile("case 0")).tests
    assert test.doubts == ()
