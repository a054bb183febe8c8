"""The audit of a fleet for programs: one JSON document, or a line of JSON for each violation."""

from __future__ import annotations

import json
from typing import Any, Final

from celadon.cli.auditing.audit_findings import Violation
from celadon.cli.fleets.fleet_report import FleetReport
from celadon.cli.formats.audits.audit_data import document, tally_data, violation_data
from celadon.cli.formats.check_data import API_VERSION, notice_data, problem_data

KIND: Final = "FleetAuditReport"


def render_json(report: FleetReport) -> str:
    """Two spaces of indentation, text as it is."""
    return json.dumps(_document(report), indent=2, ensure_ascii=False) + "\n"


def render_end(report: FleetReport) -> str:
    """The last line of JSON lines: the report without the violations, which stand before it."""
    made = _document(report)
    for one in made["sources"]:
        del one["results"], one["summary"]["violationsOmitted"]
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n"


def fleet_violation_line(source: str, violation: Violation) -> str:
    """One of the lines before it."""
    made = {"source": source, **violation_data(violation)}
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n"


def _document(report: FleetReport) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "summary": {
            "sources": len(report.sources),
            "objects": report.objects,
            **tally_data(report.total),
            "violations": report.found,
            "exitCode": int(report.exit),
        },
        "policies": [{"name": name, **tally_data(one)} for name, one in report.policies],
        "groups": [{"name": name, **tally_data(one)} for name, one in report.groups],
        "sources": [{"name": name, **_source(document(one))} for name, one in report.sources],
        "notices": [notice_data(notice) for notice in report.notices],
        "problems": [problem_data(problem) for problem in report.problems],
    }


def _source(made: dict[str, Any]) -> dict[str, Any]:
    """The report of a source inside that of the fleet, which says its kind."""
    del made["apiVersion"], made["kind"]
    return made
