"""A replay for programs: one JSON document."""

from __future__ import annotations

import json
from typing import Any

from celadon.cli.formats.check_data import (
    API_VERSION,
    filled,
    notice_data,
    place_data,
    plugins_data,
    policy_error_data,
    problem_data,
)
from celadon.cli.replaying.logged_requests import Undecidable
from celadon.cli.replaying.replay_findings import (
    BY,
    Occurrence,
    ReplayReport,
    Sighted,
    Sightings,
    largest,
)


def render_json(report: ReplayReport) -> str:
    """Two spaces of indentation, text as it is."""
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"


def document(report: ReplayReport) -> dict[str, Any]:
    """The report as plain data."""
    found = report.findings
    return {
        "apiVersion": API_VERSION,
        "kind": "ReplayReport",
        "summary": filled(first=found.first, last=found.last)
        | {
            "events": found.events,
            "judged": found.judged,
            "wouldBeDenied": found.denied,
            "undecidable": found.undecidable.total(),
            "unconcerned": found.unconcerned,
            "reads": found.reads,
            "otherStages": found.skipped,
            "noEvents": found.strangers,
            "exitCode": int(report.exit),
        },
        "would": _sightings(found.would),
        "did": _sightings(found.did),
        "undecidable": [
            {"reason": why.lower(), "message": Undecidable[why].value, "count": count}
            for why, count in found.undecidable.most_common()
        ],
        "policies": [
            {"name": name, "matched": found.matched[name], "undecided": found.undecided[name]}
            for name in report.policies
        ],
        "plugins": plugins_data(report.plugins, report.unasked_plugins),
        "policyErrors": [policy_error_data(error) for error in report.policy_errors],
        "notices": [notice_data(notice) for notice in report.notices],
        "problems": [problem_data(problem) for problem in found.problems],
    }


def _sightings(found: Sightings) -> dict[str, Any]:
    return {
        **_sighted(found.total),
        **{
            f"by{by.capitalize()}": [
                {"name": name, **_sighted(one)} for name, one in largest(found.groups[by], None)
            ]
            for by in BY
        },
    }


def _sighted(one: Sighted) -> dict[str, Any]:
    numbers = {"denied": one.denied, "warned": one.warned, "audited": one.audited}
    return numbers | filled(
        first=one.first, last=one.last, examples=[_occurrence(example) for example in one.examples]
    )


def _occurrence(one: Occurrence) -> dict[str, Any]:
    return place_data(one.place) | filled(
        auditID=one.audit_id,
        time=one.time,
        user=one.user,
        operation=one.operation,
        object=one.title,
        effect=one.effect,
        policy=one.policy,
        binding=one.binding,
        field=one.field,
        rule=place_data(one.rule),
        message=one.message,
        error=one.is_error or None,
    )
