"""The audit for programs: one JSON document, or a line of JSON for each violation."""

from __future__ import annotations

import json
from typing import Any, Final

from celadon.cli.auditing.audit_findings import Tally, Violation
from celadon.cli.auditing.audit_report import AuditedPolicy, AuditReport
from celadon.cli.formats.check_data import (
    API_VERSION,
    filled,
    notice_data,
    place_data,
    plugins_data,
    policy_error_data,
    problem_data,
)

KIND: Final = "AuditReport"


def render_json(report: AuditReport) -> str:
    """Two spaces of indentation, text as it is."""
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"


def render_end(report: AuditReport) -> str:
    """The last line of JSON lines: the report without its violations, which stand before it."""
    made = document(report)
    made["summary"].pop("violationsOmitted")
    return _line(made | {"results": None})


def violation_line(violation: Violation) -> str:
    """One of the lines before it."""
    return _line(violation_data(violation))


def _line(value: dict[str, Any]) -> str:
    given = {key: one for key, one in value.items() if one is not None}
    return json.dumps(given, ensure_ascii=False, separators=(",", ":")) + "\n"


def document(report: AuditReport) -> dict[str, Any]:
    """The report as plain data."""
    made = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "summary": {
            "operation": report.operation,
            "objects": report.objects,
            **tally_data(report.total),
            "violations": report.found,
            "violationsOmitted": report.omitted,
            "exitCode": int(report.exit),
        },
        "policies": [_policy(one) for one in report.policies],
    }
    if report.summary_by != "policy":
        made["groups"] = {
            "by": report.summary_by,
            "items": [{"name": name, **tally_data(tally)} for name, tally in report.groups],
        }
    return made | {
        "results": [violation_data(one) for one in report.violations],
        "plugins": plugins_data(report.plugins, report.unasked_plugins),
        "policyErrors": [policy_error_data(error) for error in report.policy_errors],
        "notices": [notice_data(notice) for notice in report.notices],
        "problems": [problem_data(problem) for problem in report.problems],
    }


def tally_data(tally: Tally) -> dict[str, int]:
    """Its numbers."""
    return {
        "matched": tally.matched,
        "denied": tally.denied,
        "warned": tally.warned,
        "audited": tally.audited,
        "errors": tally.errors,
    }


def _policy(policy: AuditedPolicy) -> dict[str, Any]:
    return filled(
        name=policy.name,
        place=place_data(policy.place),
        bindings=list(policy.bindings),
        validationActions=list(policy.actions),
    ) | tally_data(policy.tally)


def violation_data(one: Violation) -> dict[str, Any]:
    """Everything about it."""
    about = one.object
    return filled(
        object=filled(
            apiVersion=about.api_version,
            kind=about.kind,
            namespace=about.namespace,
            name=about.name,
            uid=about.uid,
        ),
        **place_data(about.place),
        effect=one.effect,
        policy=one.policy,
        binding=one.binding,
        param=one.param,
        field=one.field,
        rule=place_data(one.rule),
        message=one.message,
        error=one.is_error or None,
    )
