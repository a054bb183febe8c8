"""The audit as one page that needs nothing else: numbers, groups, violations, notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli.auditing.audit_findings import Tally, Violation
from celadon.cli.auditing.audit_report import AuditedPolicy, AuditReport
from celadon.cli.formats.audits.report_pages import (
    Cell,
    all_remarks,
    effect,
    named,
    number,
    report_page,
    said,
    table,
    tiles,
    told,
)

_NUMBERS: Final = ("Matched", "Denied", "Warned", "Audited", "Errors")


def render(report: AuditReport) -> str:
    """The whole document."""
    return report_page("celadon audit", _parts(report))


def _parts(report: AuditReport) -> Iterator[str]:
    total = report.total
    yield "<h1>Audit</h1>"
    yield f"<p>What policies would say on {told(report.operation)} of what exists.</p>"
    counts = [
        ("objects", report.objects, ""),
        ("matched by policies", total.matched, ""),
        ("would be denied", total.denied, "deny"),
        ("only warned about", total.warned, "warn"),
        ("only audited", total.audited, "audit"),
    ]
    yield tiles(counts)
    yield "<h2>Policies</h2>"
    yield table(("Policy", *_NUMBERS), (_policy(one) for one in report.policies))
    if report.groups:
        yield f"<h2>By {told(report.summary_by)}</h2>"
        groups = ([named(name), *_numbers(tally)] for name, tally in report.groups)
        yield table((report.summary_by, *_NUMBERS), groups)
    if report.violations:
        yield "<h2>Violations</h2>"
        heads = ("Effect", "Object", "Policy", "Message")
        yield table(heads, (_violation(one) for one in report.violations))
    if report.omitted:
        yield f"<p>and {report.omitted:,} more</p>"
    yield from all_remarks(report.policy_errors, report.notices, report.problems)


def _policy(policy: AuditedPolicy) -> Sequence[Cell]:
    actions = ", ".join(policy.actions) or ("no binding" if policy.place.file else "")
    return [named(policy.name, policy.place, actions), *_numbers(policy.tally)]


def _numbers(one: Tally) -> list[Cell]:
    effects = ((one.denied, "deny"), (one.warned, "warn"), (one.audited, "audit"))
    return [number(one.matched), *(number(*each) for each in effects), number(one.errors, "deny")]


def _violation(one: Violation) -> Sequence[Cell]:
    policy = f"{one.policy}/{one.binding}" if one.binding else one.policy
    rule = f"{one.rule}  {one.field}" if one.rule.file else one.field
    return [
        effect(one.effect),
        named(one.object.title, one.object.place),
        said(policy),
        said(one.message, rule),
    ]
