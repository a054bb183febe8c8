"""Findings for programs: our own JSON, and SARIF."""

from __future__ import annotations

import json
from typing import Any, Final

from celadon.admission.lint import Rule, Severity
from celadon.cli.formats import sarif
from celadon.cli.formats.check_data import API_VERSION
from celadon.cli.linting.comment_rule import EVERY_RULE
from celadon.cli.linting.lint_report import LintReport, LocatedFinding

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
        "findings": [finding_data(one) for one in report.findings],
        "problems": [
            {"file": one.file, "line": one.line, "message": one.message} for one in report.problems
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def finding_data(one: LocatedFinding) -> dict[str, Any]:
    """Of one finding."""
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
    rules = [_rule(one) for one in EVERY_RULE]
    return sarif.document(rules, [_result(one) for one in report.findings], report.problems)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.name.replace("-", " ")},
        "fullDescription": {"text": rule.doc},
        "help": {"text": f"{rule.doc}\n\nbad:\n{rule.bad}\ngood:\n{rule.good}"},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _result(one: LocatedFinding) -> sarif.Result:
    return sarif.Result(
        one.code,
        _SARIF_LEVELS[one.severity],
        f"{one.message}. Help: {one.help}" if one.help else one.message,
        sarif.Position(one.file, one.line, one.column),
        f"{one.subject} {one.field}".rstrip(),
    )
