"""The script that runs public suites: what it reads of test programs, what it writes."""

from __future__ import annotations

import pytest
from tools.public_suites import PAGE, SUITES, Outcome, Suite, outcome_of, row, unexpected, with_row

SUITE = Suite("`pkg`", "owner/name", "0123abcd", "1.33", ("pkg",), passed=3)

GINKGO = """\
=== RUN   TestIntegration
Running Suite: Integration - /a
Ran 4 of 6 Specs in 2.5 seconds
\x1b[38;5;9m\x1b[1mFAIL!\x1b[0m -- 3 Passed | 1 Failed | 1 Pending | 1 Skipped
--- FAIL: TestIntegration (2.50s)
FAIL
"""
FAILED_SPEC = "  [FAIL] Works [It] is made anew\n  /a/file.go:1\n"
ALL_PASS = """\
=== RUN   TestIntegration
Running Suite: Integration - /a
Ran 4 of 4 Specs in 2.5 seconds
SUCCESS! -- 4 Passed | 0 Failed | 0 Pending | 0 Skipped
--- PASS: TestIntegration (2.50s)
PASS
"""
PLAIN = """\
--- PASS: TestOne (0.00s)
    --- PASS: TestOne/a (0.00s)
    --- SKIP: TestOne/b (0.00s)
--- FAIL: TestTwo (0.00s)
--- PASS: TestThree (0.00s)
FAIL
"""


@pytest.mark.parametrize(
    ("output", "code", "outcome"),
    [
        (GINKGO + FAILED_SPEC, 1, Outcome(3, ("Works [It] is made anew",), 2)),
        (ALL_PASS, 0, Outcome(4)),
        (ALL_PASS + "\npanic: at the end\n", 2, Outcome(4, ("exit code 2: panic: at the end",))),
        (PLAIN, 1, Outcome(2, ("TestTwo",), 1)),
        (PLAIN + ALL_PASS, 1, Outcome(6, ("TestTwo",), 1)),
        ("=== RUN   TestOne\n" + ALL_PASS + PLAIN, 1, Outcome(6, ("TestTwo",), 1)),
        (PLAIN + GINKGO + FAILED_SPEC, 1, Outcome(5, ("Works [It] is made anew", "TestTwo"), 3)),
        ("", 1, Outcome(0, ("exit code 1: no output",))),
    ],
)
def test_what_a_program_came_to(output: str, code: int, outcome: Outcome) -> None:
    assert outcome_of(output, code, 0.0) == outcome


def test_rows_are_written_anew() -> None:
    head = "# A\n\n| suite | commit | release | what runs |\n|---|---|---|---|\n"
    page = f"{head}| x | y | z | t |\n\nEnd\n"
    once = with_row(page, SUITE, Outcome(3, seconds=12.4))
    assert once.splitlines()[5] == (
        "| [owner/name](https://github.com/owner/name) `pkg` | `0123abcd` | 1.33 | "
        "3 tests: all pass, 12 s |"
    )
    again = with_row(once, SUITE, Outcome(2, ("a",), 1, 3.0))
    assert "| 3 tests: 2 pass, 1 fail, 1 are skipped, 3 s |" in again
    assert len(again.splitlines()) == len(once.splitlines())


def test_only_what_was_not_known_is_wrong() -> None:
    known = Suite("a", "b", "c", "d", (), passed=3, known={"flaky": "why"})
    assert not unexpected(known, Outcome(3, ("a flaky one",)))
    assert unexpected(known, Outcome(2, ("another",))) == ["another", "2 passed, before 3"]


def test_the_page_has_all_suites() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for suite in SUITES:
        assert row(suite, Outcome()).split(" | ")[0] in page
        assert f"`{suite.commit}`" in page
