"""The audit as JUnit XML: a case for each policy, with what violates it, and one for each input
that could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from celadon.cli.auditing.audit_report import AuditReport, FailOn
from celadon.cli.formats.check_junit import bad, case, suites


def render(report: AuditReport) -> str:
    """The document, UTF-8."""
    return suites("celadon audit", list(_cases(report)))


def _cases(report: AuditReport) -> Iterator[str]:
    for problem in report.problems:
        yield case("input", problem.file, problem.file, problem.line, bad("error", problem.message))
    for error in report.policy_errors:
        name = f"{error.kind} {error.name}"
        yield case("policy", name, error.place.file, error.place.line, bad("error", error.message))
    for policy in report.policies:
        found = [one for one in report.violations if one.policy == policy.name]
        details = "\n".join(
            f"{one.effect} {one.object.place} {one.object.title}: {one.message}" for one in found
        )
        tally = policy.tally
        counts = f"{tally.violating} of {tally.matched} objects"
        everything = report.fail_on is FailOn.VIOLATION
        against = tally.violating if everything else tally.denied
        body = ""
        if tally.errors:
            body = bad("error", counts, details)
        elif against and report.fail_on is not FailOn.NEVER:
            body = bad("failure", counts, details)
        yield case("policy", policy.name, policy.place.file, policy.place.line, body)
    for notice in report.notices:
        body = bad("failure" if report.strict else "skipped", notice.message)
        place = notice.place
        yield case("notice", notice.silence.value, place.file, place.line, body)
