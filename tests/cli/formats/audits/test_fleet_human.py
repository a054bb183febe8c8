"""The audit of a fleet for people."""

from __future__ import annotations

from celadon.cli.auditing.audit_findings import AuditedObject, Tally, Violation
from celadon.cli.auditing.audit_report import AuditReport
from celadon.cli.checking.check_report import Place
from celadon.cli.fleets.fleet_report import FleetReport
from celadon.cli.formats.audits.fleet_human import render
from celadon.cli.formats.check_human import Look


def test_names_of_sources_stand_out() -> None:
    web = AuditedObject(Place("a.yaml", 1), "v1", "Pod", "shop", "web", "", "")
    found = Violation(web, "p", "b", "", "spec", Place("p.yaml", 3), "no", "deny", is_error=False)
    total = Tally(1, denied=1)
    none: tuple[()] = ()
    one = AuditReport("CREATE", 1, 1, total, none, "policy", none, 1, (found,), none, none, none)
    report = FleetReport((("east", one),))
    assert render(report, Look()).startswith("== east\n\np/b\n  rule    p.yaml:3  spec\n")
    assert render(report, Look(color=True)).startswith("\033[1m== east\033[0m\n\np/b\n")
