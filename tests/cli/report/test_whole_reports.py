"""Reports that are made by hand, whole, in all forms: comparisons, claims, mutants and coverage.

`tests/cases/reports` has a file for each of them, and `pytest --update-golden` writes it anew, to
be read like code. What comes of files of policies is in `tests/cases/screens`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from celadon.cli.check.check_report import Place, PolicyError
from celadon.cli.diff import (
    BOUNDED,
    DIFFERS,
    SAME,
    STORED,
    UNDECIDED,
    DiffAnswer,
    DiffExample,
    DiffReport,
)
from celadon.cli.policytest.case_results import (
    AlterationKind,
    AlterationResult,
    Alterations,
    Coverage,
    Doubt,
    ExpectedOutcome,
    Fate,
    FileResult,
    Goal,
    Measured,
    RunReport,
    Vacuity,
)
from celadon.cli.proof_report import Against, ExampleRequest, Reason, SideVerdict
from celadon.cli.property_proofs import ClaimAnswer, ClaimExample, ClaimReport
from celadon.cli.reading.documents import Problem
from celadon.cli.report import report_model, sarif_junit_tap
from celadon.cli.report.case_view import RENDERERS, CaseView
from celadon.cli.report.proof_view import ClaimView, DiffView
from celadon.cli.report.report_model import ReportStyle, ReportView
from tests.paths import ROOT

FOLDER: Final = ROOT / "tests" / "cases" / "reports"
ERROR: Final = PolicyError(
    Place("bad.yaml", 4),
    "ValidatingAdmissionPolicy",
    "bad",
    "bad",
    "object.+: no viable alternative",
)
UNREAD: Final = Problem("gone.yaml", 0, "cannot be read", "look for it")
POD: Final = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
OLD_POD: Final = {**POD, "spec": {"hostPID": False}}
NAMESPACE: Final = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


def against(name: str, message: str, **more: Any) -> Against:
    place = more.pop("place", Place(f"{name}.yaml", 7))
    return Against(
        name, f"{name}-binding", "spec.validations[0].expression", place, message, **more
    )


DENIES: Final = SideVerdict(
    "denied", (against("limit", "too many\nof them", param="shop/most"), against("host", "no host"))
)
FAILS: Final = SideVerdict(
    "denied", (against("host", "no such key", is_error=True, place=Place()),)
)
WARNS: Final = SideVerdict("warned", (against("limit", "too many"),))
AUDITS, ADMITS = SideVerdict("audited", (against("limit", "too many"),)), SideVerdict("admitted")


def differs(operation: str, direction: str, example: DiffExample, **more: Any) -> DiffAnswer:
    kind = more.pop("kind", "Pod")
    return DiffAnswer(operation, "v1", kind, direction, DIFFERS, example, **more)


REMARK: Final = "refused for another reason, too: spec.containers: Required value"
COMPARED: Final = DiffReport(
    "old.yaml",
    "new.yaml",
    (
        differs(
            "CREATE",
            "looser",
            DiffExample(
                DENIES,
                ADMITS,
                ExampleRequest(POD, None, (NAMESPACE,), "jane", ("a", "b"), REMARK),
            ),
            place=Place("new.yaml", 3),
            subject="ValidatingAdmissionPolicy limit",
        ),
        differs("UPDATE", "looser", DiffExample(DENIES, ADMITS, ExampleRequest(POD, OLD_POD))),
        differs("UPDATE", "looser", DiffExample(WARNS, AUDITS, ExampleRequest(POD, OLD_POD))),
        differs("DELETE", "stricter",
                DiffExample(ADMITS, FAILS, ExampleRequest(None, OLD_POD, user="joe"))),
        differs(STORED, "stricter", DiffExample(ADMITS, DENIES, ExampleRequest(POD)), kind="Widget",
                place=Place("crd.yaml", 9)),
        DiffAnswer("CREATE", "v1", "Service", "looser", UNDECIDED,
                   reasons=(Reason("takes too long"), Reason("authorizer", Place("new.yaml", 5)))),
        DiffAnswer("CREATE", "v1", "Service", "stricter", UNDECIDED,
                   reasons=(Reason("takes too long"),)),
        DiffAnswer("UPDATE", "v1", "Service", "looser", UNDECIDED),
        DiffAnswer("CREATE", "v1", "Secret", "looser", SAME),
        DiffAnswer("CREATE", "v1", "Secret", "stricter", SAME),
        DiffAnswer("UPDATE", "v1", "Secret", "looser", SAME),
        DiffAnswer("UPDATE", "v1", "Secret", "stricter", BOUNDED, items=1,
                   bounded=("object.data",)),
        DiffAnswer("DELETE", "v1", "Secret", "looser", BOUNDED, items=2, bounded=("a", "b")),
        DiffAnswer("DELETE", "v1", "Secret", "stricter", BOUNDED, items=3, bounded=("b", "c")),
    ),
    ("`limit` has no binding: compared as if one denies everywhere",),
    (Reason("mutating policies differ: not looked at"),),
    (ERROR,),
    (UNREAD,),
)  # fmt: skip


def answer(name: str, verdict: str, **more: Any) -> ClaimAnswer:
    operation, kind = more.pop("operation", "CREATE"), more.pop("kind", "Pod")
    return ClaimAnswer(
        name, operation, "v1", kind, verdict, f"all that is admitted: {name}", **more
    )


CLAIMED: Final = ClaimReport(
    (
        answer("network", "counterexample", place=Place("props.yaml", 4),
               example=ClaimExample(
                   ADMITS, ExampleRequest(POD, None, (NAMESPACE,), "jane", ("a",), REMARK))),
        answer("pid", "counterexample", operation="UPDATE",
               example=ClaimExample(DENIES, ExampleRequest(POD, OLD_POD, user="joe"))),
        answer("images", "not decided", place=Place("props.yaml", 6),
               reasons=(Reason("distinct"),)),
        answer("names", "not decided", reasons=(Reason("one", Place("p.yaml", 2)), Reason("two"))),
        answer("labels", "proved"),
        answer("labels", "proved", operation="UPDATE"),
        answer("labels", "no counterexample", operation="DELETE", items=1, bounded=("a",)),
        answer("ports", "no counterexample", items=2, bounded=("a", "b")),
        answer("ports", "no counterexample", operation="UPDATE", items=2, bounded=("a", "b")),
        answer("ports", "no counterexample", operation="DELETE", items=3, bounded=("a", "b")),
    ),
    ("mutating policies are not looked at: they may change what is admitted",),
    (ERROR,),
    (UNREAD,),
)  # fmt: skip

LIMIT: Final = Measured("limit.yaml", 1, "ValidatingAdmissionPolicy", "limit")
FULL: Final = Measured("full.yaml", 2, "MutatingAdmissionPolicy", "full <&>")


def altered(fate: Fate, line: int, policy: Measured = LIMIT, **more: Any) -> AlterationResult:
    place, field = Place(policy.file, line), "spec.validations[0].expression"
    return AlterationResult(
        policy, AlterationKind.COMPARISON, place, field, "`a < 5` becomes `a <= 5`", fate, **more
    )


DIFF: Final = "--- limit.yaml\n+++ limit.yaml\n@@ -1 +1 @@\n-a < 5\n+a <= 5\n other\n"
ALTERED: Final = Alterations(
    (
        altered(Fate.KILLED, 3, killer="limit.policytest.yaml::one"),
        altered(Fate.SURVIVED, 4, requests=2, diff=DIFF, case="- name: a\n  expect: deny\n"),
        altered(Fate.SURVIVED, 5, requests=2, diff=DIFF),
        altered(Fate.SAME, 6, reason="both come to the same for any values"),
        altered(Fate.ALIKE, 7, reason="4 combinations of operation (2)", requests=4),
        altered(Fate.OPEN, 8, reason="object.spec.x, object.spec.y", requests=3, diff=DIFF),
        altered(Fate.UNREACHED, 9, diff=DIFF),
        altered(Fate.KILLED, 3, FULL, killer="full.policytest.yaml::two"),
    )
)


def goal(policy: Measured, line: int, expected: ExpectedOutcome, text: str = "") -> Goal:
    return Goal(policy, Place(policy.file, line), "validations[0]", text, 0, len(text), expected)


TRUE, FALSE, DECIDES = ExpectedOutcome.TRUE, ExpectedOutcome.FALSE, ExpectedOutcome.DECIDES
EVALUATED, RAISED = ExpectedOutcome.EVALUATED, ExpectedOutcome.ERROR
LONG: Final = " && ".join(f"object.spec.field{number} < 'y'" for number in range(9))
COVERED: Final = Coverage(
    (
        (goal(LIMIT, 3, EVALUATED, "a < 5"), 2),
        (goal(LIMIT, 3, TRUE, "a < 5"), 2),
        (goal(LIMIT, 3, FALSE, "a < 5"), 0),
        (goal(LIMIT, 3, RAISED, "a < 5"), 1),
        (goal(LIMIT, 4, TRUE, LONG), 0),
        (goal(LIMIT, 4, FALSE, LONG), 0),
        (goal(LIMIT, 4, DECIDES, "b"), 1),
        (goal(LIMIT, 5, EVALUATED, "c\n  <&"), 0),
        (goal(LIMIT, 5, TRUE, "c\n  <&"), 0),
        (goal(LIMIT, 5, RAISED, "c\n  <&"), 0),
        (goal(LIMIT, 6, TRUE), 0),
        (goal(FULL, 3, EVALUATED, "d"), 4),
    )
)
SOURCES: Final = {
    "limit.yaml": "kind: <&>\n\na < 5\nb\nc\nd\n",
    "full.yaml": "one\ntwo\nd",
}
DOUBT: Final = Doubt(
    Vacuity.NEVER_REACHED,
    "no case reaches policy `limit`",
    Place("limit.policytest.yaml", 2),
    "add one",
)
TESTED: Final = RunReport(
    (
        FileResult("limit", "limit.policytest.yaml", doubts=(DOUBT,), coverage=COVERED),
        FileResult("full", "full.policytest.yaml", problems=(UNREAD,)),
    ),
    deselected=3,
    stopped=True,
    coverage_wanted=80,
    alterations=ALTERED,
    killed_wanted=90,
)
LENIENT: Final = RunReport(
    (TESTED.tests[0],), coverage_wanted=10, alterations=ALTERED, killed_wanted=1
)
NOTHING: Final = RunReport((FileResult("limit", "limit.policytest.yaml", coverage=Coverage()),),
                           alterations=Alterations())  # fmt: skip
STRICT: Final = RunReport((TESTED.tests[0],), strict=True)

VIEWS: Final[dict[str, ReportView[Any]]] = {
    "compared": DiffView(COMPARED),
    "claimed": ClaimView(CLAIMED),
    "tested": CaseView(TESTED),
    "tested_leniently": CaseView(LENIENT),
    "tested_strictly": CaseView(STRICT),
    "nothing_tested": CaseView(NOTHING),
}


def _forms(name: str, view: ReportView[Any]) -> Iterator[tuple[str, str]]:
    for verbosity in (-1, 0, 1):
        yield f"text {verbosity}", view.text(ReportStyle(verbosity=verbosity))
    yield "colours", view.text(ReportStyle(color=True)).replace("\033", "ESC")
    yield "json", report_model.as_json(view)
    yield "github", sarif_junit_tap.as_github(view)
    yield "junit", sarif_junit_tap.as_junit(view)
    yield "tap", sarif_junit_tap.as_tap(view)
    if name == "compared":
        yield "sarif", sarif_junit_tap.as_sarif(view)
    if name == "tested":
        for suffix, render in RENDERERS.items():
            yield f"coverage {suffix}", render(COVERED, SOURCES)
            yield f"no coverage {suffix}", render(Coverage(), {})


@pytest.mark.parametrize("name", VIEWS)
def test_whole_reports(name: str, request: pytest.FixtureRequest) -> None:
    forms = _forms(name, VIEWS[name])
    written = "".join(f"=== {form}\n{text.rstrip()}\n" for form, text in forms)
    path = FOLDER / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(written, encoding="utf-8")
    assert written == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("report", "summary", "code"),
    [
        (DiffReport("", ""), "the same (proved)", 0),
        (DiffReport("", "", COMPARED.answers[:3]), "differs: 3 looser", 1),
        (DiffReport("", "", COMPARED.answers[3:5]), "differs: 2 stricter", 1),
        (DiffReport("", "", COMPARED.answers), "differs: 3 looser, 2 stricter", 1),
        (DiffReport("", "", COMPARED.answers[5:]), "not decided", 3),
        (DiffReport("", "", unseen=COMPARED.unseen), "not decided", 3),
        (DiffReport("", "", errors=(ERROR,)), "not decided", 3),
        (DiffReport("", "", COMPARED.answers[8:]),
         "no difference found, with at most 3 items in some lists", 0),
        (DiffReport("", "", COMPARED.answers, problems=(UNREAD,)),
         "differs: 3 looser, 2 stricter", 2),
        (ClaimReport(), "nothing was asked", 0),
        (ClaimReport(CLAIMED.answers),
         "2 proved, 4 no counterexample, 2 counterexample, 2 not decided", 1),
        (ClaimReport(CLAIMED.answers[2:5]), "1 proved, 2 not decided", 3),
        (ClaimReport(CLAIMED.answers[4:]), "2 proved, 4 no counterexample", 0),
        (ClaimReport(CLAIMED.answers[4:5], errors=(ERROR,)), "1 proved", 3),
        (ClaimReport(CLAIMED.answers[:1], problems=(UNREAD,)), "1 counterexample", 2),
    ],
)  # fmt: skip
def test_summaries_and_exit_codes(
    report: DiffReport | ClaimReport, summary: str, code: int
) -> None:
    assert (report.summary, report.exit) == (summary, code)
