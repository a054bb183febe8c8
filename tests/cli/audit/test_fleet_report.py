"""What the reports of sources come to."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.audit.audit_report import AuditedPolicy, AuditReport, FailOn, FleetReport, Tally
from celadon.cli.check.check_report import Notice, NoticeReason, Place
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Problem


def source(total: Tally, **more: Any) -> AuditReport:
    policy = AuditedPolicy("p", Place(), (), (), total)
    given: dict[str, Any] = {
        "operation": "CREATE",
        "objects": total.matched,
        "judged": total.matched,
        "total": total,
        "policies": (policy,),
        "summary_by": "namespace",
        "groups": (("shop", total),),
        "violation_count": total.violating,
        "violations": (),
        "policy_errors": (),
        "notices": (),
        "problems": (),
        "fail_on": FailOn.DENY,
    }
    return AuditReport(**(given | more))


def test_sums() -> None:
    report = FleetReport(
        (("a", source(Tally(5, denied=1))), ("b", source(Tally(7, denied=2, warned=1))))
    )
    whole = Tally(12, denied=3, warned=1)
    assert (report.objects, report.violation_count, report.total) == (12, 4, whole)
    assert report.policies == (("p", whole),)
    assert report.groups == (("shop", whole),)


def test_a_notice_counts_if_it_holds_everywhere() -> None:
    def said(place: str, *texts: str) -> tuple[Notice, ...]:
        return tuple(Notice(NoticeReason.POLICY_UNMATCHED, Place(place), one) for one in texts)

    one, other = said("x", "nothing", "here"), said("y", "nothing")
    reports = (("a", source(Tally(), notices=one)), ("b", source(Tally(), notices=other)))
    report = FleetReport(reports, strict=True)
    assert [notice.message for notice in report.notices] == ["nothing"]
    assert report.exit is Exit.POLICY
    assert FleetReport(reports).exit is Exit.OK


@pytest.mark.parametrize(
    ("problem", "denied", "expected"),
    [(False, 0, Exit.OK), (False, 1, Exit.DENIED), (True, 1, Exit.USAGE)],
)
def test_the_worst_source_decides(problem: bool, denied: int, expected: Exit) -> None:
    problems = (Problem("f", 0, "x"),) if problem else ()
    good = source(Tally(1))
    report = FleetReport((("a", source(Tally(1, denied=denied), problems=problems)), ("b", good)))
    assert report.exit is expected
