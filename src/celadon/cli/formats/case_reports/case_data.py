"""The report of a run of tests for programs: one JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from celadon.cli.checking.check_report import Place, Violation
from celadon.cli.formats.case_reports.coverage_files import coverage_document
from celadon.cli.formats.check_data import API_VERSION, plugins_data
from celadon.cli.policy_tests.alteration_counts import AlterationResult, Alterations, Fate
from celadon.cli.policy_tests.case_results import (
    CaseOutcome,
    CaseResult,
    FileResult,
    Mismatch,
    RunReport,
    Status,
)
from celadon.cli.policy_tests.vacuities import Doubt
from celadon.cli.reading.problems import Problem


def render_json(report: RunReport) -> str:
    """Two spaces of indentation, text as it is."""
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"


def document(report: RunReport) -> dict[str, Any]:
    """The report as plain data; empty members are left out below the top."""
    coverage = report.coverage
    measured = {} if coverage is None else {"coverage": coverage_document(coverage)}
    if report.alterations is not None:
        measured["mutants"] = _alterations(report.alterations)
    return {
        "apiVersion": API_VERSION,
        "kind": "TestReport",
        "summary": {
            "tests": len(report.tests),
            "cases": sum(1 for _ in report.cases),
            **{one.value: report.count(one) for one in Status},
            "deselected": report.deselected,
            "stopped": report.stopped,
            "exitCode": int(report.exit),
        },
        "tests": [_test(one) for one in report.tests],
        "problems": [_problem(one) for one in report.all_problems],
        **measured,
    }


def _alterations(found: Alterations) -> dict[str, Any]:
    """With the percentage of those that a case could notice, as far as is known."""
    return {
        "percentage": round(found.score, 2),
        **{fate.value: found.count(fate) for fate in Fate},
        "policies": [
            {
                **_place(Place(policy.file, policy.line)),
                "kind": policy.kind,
                "name": policy.name,
                "percentage": round(own.score, 2),
                "mutants": [_alteration(one) for one in own.results],
            }
            for policy, own in found.of_policies().items()
        ],
    }


def _alteration(one: AlterationResult) -> dict[str, Any]:
    return _full(
        {
            **_place(one.place),
            "kind": one.kind.value,
            "field": one.field,
            "change": one.text,
            "fate": one.fate.value,
            "killer": one.killer,
            "reason": one.reason,
            "requests": one.requests,
            "diff": one.diff,
            "case": one.case,
        }
    )


def _test(test: FileResult) -> dict[str, Any]:
    return _full(
        {
            "name": test.name,
            "file": test.file,
            "cases": [_case(one) for one in test.cases],
            "doubts": [_doubt(one) for one in test.doubts],
            "plugins": None
            if test.plugins is None
            else plugins_data(test.asked_plugins, test.unasked_plugins),
        }
    )


def _case(found: CaseResult) -> dict[str, Any]:
    case = found.case
    return _full(
        {
            "name": case.name,
            **_place(case.place),
            "kubernetesVersion": found.version,
            "status": found.status.value,
            "skip": case.skip,
            "expected": "" if case.expect.snapshot else case.expect.verdict.value,
            "mismatches": [_mismatch(one) for one in found.mismatches],
            "doubts": [_doubt(one) for one in found.doubts],
            "problems": [_problem(one) for one in found.problems],
            "values": [{"expression": one.text, "value": one.value} for one in found.values],
            "outcome": None if found.outcome is None else _outcome(found.outcome),
        }
    )


def _outcome(outcome: CaseOutcome) -> dict[str, Any]:
    result = outcome.result
    return _full(
        {
            "verdict": outcome.verdict.value,
            "code": result.code,
            "sentence": result.sentence,
            "reached": sorted(outcome.reached),
            "deciding": [_violation(one) for one in outcome.deciding],
            "others": [_violation(one) for one in outcome.others],
            "ignored": [{**_place(one.place), "message": one.message} for one in outcome.ignored],
            "warnings": [one.text for one in result.warnings],
            "auditAnnotations": dict(result.audit_annotations),
            "patch": [] if result.mutated is None else list(result.mutated.patch),
        }
    )


def _violation(one: Violation) -> dict[str, Any]:
    return _full(
        {
            "policy": one.policy,
            "binding": one.binding,
            "param": one.param,
            "field": one.field,
            **_place(one.rule),
            "expression": one.expression,
            "message": one.message,
            "isError": one.is_error,
        }
    )


def _mismatch(one: Mismatch) -> dict[str, Any]:
    found = {"what": one.what, "expected": one.expected, "actual": one.actual}
    return {**found, **_place(one.place)}


def _doubt(one: Doubt) -> dict[str, Any]:
    said = {"name": one.vacuity.value, "fatal": one.is_fatal, "message": one.text}
    return _full({**said, **_place(one.place), "help": one.help})


def _problem(one: Problem) -> dict[str, Any]:
    said = {"file": one.file, "line": one.line, "column": one.column, "message": one.message}
    return _full({**said, "help": one.help})


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line}


def _full(members: Mapping[str, Any]) -> dict[str, Any]:
    """Those that say something."""
    return {name: one for name, one in members.items() if one or (one is False and name == "fatal")}
