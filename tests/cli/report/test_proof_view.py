"""Answers of `celadon prove` as people and programs see them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.check.check_report import Place
from celadon.cli.proof_report import (
    PART,
    RULE,
    VALIDATION,
    ProofExample,
    ProofItem,
    ProofReport,
    Remark,
)
from celadon.cli.report.proof_view import ProofView
from celadon.cli.report.report_model import CaseState, Level, ReportStyle

FAULT = Remark("never true", "whatever comes", is_fault=True)
FINE = Remark("no error (proved)")
OPEN = Remark("not decided", "too large")
EXAMPLES = (ProofExample({"a": 1}, "before"), ProofExample({"b": 2}, ""))


def item(sort: str, *remarks: Remark, **more: Any) -> ProofItem:
    return ProofItem(
        sort, "Policy p", "spec.x", ("spec",), remarks, {"k": 1}, place=Place("p.yaml", 3), **more
    )


def found(sort: str) -> ProofItem:
    return item(sort, FAULT, is_finding=True, examples=EXAMPLES)


def undecided(sort: str) -> ProofItem:
    return item(sort, OPEN, is_undecided=True)


HEAD = "p.yaml:3: Policy p spec.x"
FOUND = [
    *(HEAD, "  never true: whatever comes", "  for instance:"),
    *("    # before", "    a: 1", "    ---", "    b: 2"),
]
PARTS = "parts of policies"
QUESTION = "question about rules of definitions"
QUESTIONS = "questions about rules of definitions"


@pytest.mark.parametrize(
    ("items", "lines"),
    [
        ([], []),
        (
            [item(VALIDATION, FINE)],
            [HEAD, "  no error (proved)", "", "1 validation, 0 with findings, 0 not decided"],
        ),
        ([item(PART, FINE)], []),
        (
            [item(RULE, FINE)],
            ["", f"1 {QUESTION}, 0 with findings, 0 not decided"],
        ),
        (
            [item(PART, FINE), found(PART)],
            [*FOUND, "", f"2 {PARTS}, 1 with findings, 0 not decided"],
        ),
        (
            [item(PART, FINE), undecided(PART)],
            [
                *(HEAD, "  not decided: too large", ""),
                f"2 {PARTS}, 0 with findings, 1 not decided",
            ],
        ),
        (
            [found(RULE), item(RULE, FAULT, OPEN, is_finding=True, is_undecided=True)],
            [
                *(*FOUND, HEAD, "  never true: whatever comes", "  not decided: too large", ""),
                f"2 {QUESTIONS}, 2 with findings, 0 not decided",
            ],
        ),
        (
            [found(VALIDATION), found(PART), item(RULE, FINE)],
            [
                *(*FOUND, *FOUND, "", "1 validation, 1 with findings, 0 not decided"),
                "1 part of a policy, 1 with findings, 0 not decided",
                f"1 {QUESTION}, 0 with findings, 0 not decided",
            ],
        ),
    ],
)
def test_for_people(items: list[ProofItem], lines: list[str]) -> None:
    """Validations are all told of, other places if something is to be said of them."""
    assert ProofView(ProofReport(tuple(items))).text(ReportStyle()).splitlines() == lines


def test_colours() -> None:
    shown = ProofView(ProofReport((found(RULE),))).text(ReportStyle(color=True)).splitlines()
    assert shown[:2] == [f"\033[1m{HEAD}\033[0m", "  \033[31;1mnever true\033[0m: whatever comes"]


@pytest.mark.parametrize(("sort", "name"), [(VALIDATION, "policy"), (RULE, "definition")])
def test_as_json(sort: str, name: str) -> None:
    assert ProofView(ProofReport((item(sort, FINE),))).data() == [
        {name: "Policy p", "field": "spec.x", "position": "p.yaml:3", "k": 1}
    ]


def test_findings() -> None:
    proved = Remark("always true (proved)", is_fault=True)
    report = ProofReport((item(RULE, FINE, proved, OPEN, examples=EXAMPLES),))
    error, warning = ProofView(report).findings()
    assert (error.level, error.title, error.group) == (
        *(Level.ERROR, "always true (proved)", "always-true"),
    )
    assert error.message == "Policy p spec.x: always true (proved)"
    assert error.details == ("# before", "a: 1", "---", "b: 2")
    assert (warning.level, warning.group, warning.details) == (Level.WARNING, "not-decided", ())
    assert warning.message == "Policy p spec.x: not decided: too large"
    assert {one.subject for one in (error, warning)} == {"Policy p spec.x"}
    (rule,) = ProofView(report).rules(["not-decided"])
    assert (rule.group, rule.name, rule.text) == ("not-decided", "not-decided", "not decided")


@pytest.mark.parametrize(
    ("one", "state", "message"),
    [
        (item(RULE, FINE), CaseState.PASSED, ""),
        (found(RULE), CaseState.FAILED, "never true: whatever comes"),
        (undecided(RULE), CaseState.SKIPPED, "not decided: too large"),
        (
            item(RULE, Remark("bad", is_fault=True), OPEN, is_finding=True, is_undecided=True),
            CaseState.FAILED,
            "bad; not decided: too large",
        ),
    ],
)
def test_cases(one: ProofItem, state: CaseState, message: str) -> None:
    (case,) = ProofView(ProofReport((one,))).cases()
    assert (case.name, case.outcome, case.message) == ("Policy p spec.x", state, message)
