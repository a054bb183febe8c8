"""The audit as SARIF: a rule for each policy that is violated, and for PodSecurity. Results are
where the objects stand, and name the rules of policies beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.cli.auditing.audit_findings import Violation
from celadon.cli.auditing.audit_report import AuditReport
from celadon.cli.checking.check_report import Place
from celadon.cli.formats import sarif
from celadon.cli.formats.sarif import Position, Result
from celadon.kube.catalogue import PLUGIN_ORDER

_LEVELS: Final = {"deny": "error", "warn": "warning", "audit": "note"}


def render(report: AuditReport) -> str:
    """One run, with the rules that have results."""
    results = list(_results(report))
    rules = [
        {"id": name, "name": name, "shortDescription": {"text": f"found by {name}"}}
        for name in dict.fromkeys(one.rule for one in results)
    ]
    return sarif.document(rules, results, report.problems)


def _results(report: AuditReport) -> Iterator[Result]:
    for error in report.policy_errors:
        name = f"{error.kind} {error.name}"
        yield Result("policy-error", "error", error.message, _position(error.place), name)
    for one in report.violations:
        related = [(_position(one.rule), one.field)] if one.rule.file else []
        rule, level = _rule(one), _LEVELS[one.effect]
        place = _position(one.object.place)
        yield Result(rule, level, one.message, place, one.object.title, related)
    for notice in report.notices:
        level = "error" if report.strict else "note"
        reason = notice.silence.value
        yield Result(f"notice/{reason}", level, notice.message, _position(notice.place), reason)


def _rule(one: Violation) -> str:
    kind = "plugin" if one.policy in PLUGIN_ORDER else "policy"
    return f"{kind}/{one.policy}"


def _position(place: Place) -> Position:
    return Position(place.file, place.line)
