"""Findings for programs: our own JSON, and SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
from typing import Any, Final

from celadon import __version__
from celadon.admission.lint import RULES, Severity
from celadon.cli.formats.check_data import API_VERSION
from celadon.cli.linting.lint_report import LintReport, LocatedFinding
from celadon.cli.reading.problems import Problem

_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def render_json(report: LintReport) -> str:
    """One document, two spaces of indentation."""
    document = {
        "apiVersion": API_VERSION,
        "kind": "LintReport",
        "summary": {
            "objects": report.objects,
            "errors": report.count(Severity.ERROR),
            "warnings": report.count(Severity.WARNING),
            "infos": report.count(Severity.INFO),
            "silenced": report.suppressed,
            "fixed": report.fixed,
            "exitCode": int(report.exit),
        },
        "findings": [_finding(one) for one in report.findings],
        "problems": [
            {"file": one.file, "line": one.line, "message": one.message} for one in report.problems
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _finding(one: LocatedFinding) -> dict[str, Any]:
    return {
        "code": one.code,
        "rule": one.name,
        "severity": one.severity.value,
        "file": one.file,
        "line": one.line,
        "column": one.column,
        "object": one.subject,
        "field": one.field,
        "message": one.message,
        "help": one.help,
        "fixable": one.is_fixable,
    }


def render_sarif(report: LintReport) -> str:
    """One run; every rule is described, whether it found something or not."""
    numbers = {rule.code: number for number, rule in enumerate(RULES)}
    run = {
        "tool": {
            "driver": {
                "name": "celadon",
                "semanticVersion": __version__,
                "rules": [_rules(number) for number in range(len(RULES))],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, numbers[one.code]) for one in report.findings],
        "invocations": [
            {
                "executionSuccessful": not report.problems,
                "toolExecutionNotifications": [_notification(one) for one in report.problems],
            }
        ],
    }
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rules(number: int) -> dict[str, Any]:
    rule = RULES[number]
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.name.replace("-", " ")},
        "fullDescription": {"text": rule.doc},
        "help": {"text": f"{rule.doc}\n\nbad:\n{rule.bad}\ngood:\n{rule.good}"},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _result(one: LocatedFinding, number: int) -> dict[str, Any]:
    text = f"{one.message}. Help: {one.help}" if one.help else one.message
    return {
        "ruleId": one.code,
        "ruleIndex": number,
        "level": _SARIF_LEVELS[one.severity],
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": _physical(one.file, one.line, one.column),
                "logicalLocations": [{"fullyQualifiedName": f"{one.subject} {one.field}".rstrip()}],
            }
        ],
    }


def _notification(problem: Problem) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": _physical(problem.file, problem.line, 1)}],
    }


def _physical(file: str, line: int, column: int) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": file.replace("\\", "/")}}
    if line:
        location["region"] = {"startLine": line, "startColumn": column}
    return location
