"""How many findings each rule has: the most frequent first."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from celadon.cli.linting.lint_report import LintReport


def render(report: LintReport, *, as_json: bool) -> str:
    """A line per rule that has findings, or a list of objects."""
    counts = Counter((one.code, one.name, one.severity.value) for one in report.findings)
    fixable = Counter(one.code for one in report.findings if one.is_fixable)
    found: list[dict[str, Any]] = [
        {"code": code, "rule": name, "severity": severity, "count": count, "fixable": fixable[code]}
        for (code, name, severity), count in sorted(
            counts.items(), key=lambda one: (-one[1], one[0])
        )
    ]
    if as_json:
        return json.dumps(found, indent=2) + "\n"
    names = max((len(one["rule"]) for one in found), default=0)
    digits = max((len(str(one["count"])) for one in found), default=0)
    return "".join(
        f"{one['count']:>{digits}}  {one['code']}  {one['rule']:{names}}  {one['severity']}"
        f"{_fixable(one['fixable'])}\n"
        for one in found
    )


def _fixable(count: int) -> str:
    return f"  ({count} can be fixed with --fix)" if count else ""
