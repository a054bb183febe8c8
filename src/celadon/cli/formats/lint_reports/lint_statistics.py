"""How many findings each rule has: the most frequent first."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from celadon.cli.formats.check_human import Look
from celadon.cli.linting.lint_report import LintReport


def render_json(report: LintReport) -> str:
    """A list of objects, one for each rule that has findings."""
    return json.dumps(_counts(report), indent=2) + "\n"


def render(report: LintReport, _look: Look) -> str:
    """A line per rule that has findings."""
    found = _counts(report)
    names = max((len(one["rule"]) for one in found), default=0)
    digits = max((len(str(one["count"])) for one in found), default=0)
    return "".join(
        f"{one['count']:>{digits}}  {one['code']}  {one['rule']:{names}}  {one['severity']}"
        f"{_fixable(one['fixable'])}\n"
        for one in found
    )


def _counts(report: LintReport) -> list[dict[str, Any]]:
    """Rules with most findings first."""
    counts = Counter((one.code, one.name, one.severity.value) for one in report.findings)
    fixable = Counter(one.code for one in report.findings if one.is_fixable)
    return [
        {"code": code, "rule": name, "severity": severity, "count": count, "fixable": fixable[code]}
        for (code, name, severity), count in sorted(
            counts.items(), key=lambda one: (-one[1], one[0])
        )
    ]


def _fixable(count: int) -> str:
    return f"  ({count} can be fixed with --fix)" if count else ""
