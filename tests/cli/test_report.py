"""One report in every format."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
import yaml

from celadon.cli.check.check_report import (
    ClientWarning,
    Fault,
    Notice,
    NoticeReason,
    ObjectResult,
    Place,
    PolicyError,
    Report,
    State,
    Violation,
)
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Problem
from celadon.cli.report.check_view import CheckView
from celadon.cli.report.report_model import ReportStyle, as_json, as_yaml
from celadon.cli.report.sarif_junit_tap import as_github, as_junit

INVALID = ObjectResult(
    place=Place("d.yaml", 1),
    title="Pod shop/bad",
    api_version="v1",
    kind="Pod",
    namespace="shop",
    name="bad",
    operation="CREATE",
    state=State.INVALID,
    code=422,
    sentence='Pod "bad" is invalid: spec.containers: Required value',
    status={"code": 422},
    faults=(Fault(Place("d.yaml", 4), "spec.containers", "Required value"),),
)
KIND = "ValidatingAdmissionPolicy"
FIELD = "spec.validations[0].expression"
RULE = Violation(
    *("p", "b", "", FIELD, Place("p.yaml", 9), "no", ("Deny",)),
    is_error=False,
    denies=True,
    expression="",
)
OTHER = replace(
    RULE, policy="q", binding="c", param="shop/x", rule=Place("q.yaml", 4), message="two\nlines"
)
WARNING = replace(RULE, actions=("Warn",), denies=False)
DENIED = ObjectResult(
    place=Place("a.yaml", 3),
    title="Pod shop/web",
    api_version="v1",
    kind="Pod",
    namespace="shop",
    name="web",
    operation="CREATE",
    state=State.DENIED,
    code=422,
    sentence='pods "web" is forbidden: no, 100%',
    status={"code": 422},
    violations=(WARNING, RULE, OTHER),
    denial=RULE,
    policies=2,
)
SILENT = replace(WARNING, rule=Place("p.yaml", 12), actions=("Audit",))
ALSO = replace(WARNING, rule=Place("p.yaml", 14))
WARNED = ObjectResult(
    place=Place("b,c.yaml", 1),
    title="Pod shop/old",
    api_version="v1",
    kind="Pod",
    namespace="shop",
    name="old",
    operation="CREATE",
    state=State.WARNED,
    warnings=(ClientWarning("careful", (WARNING, ALSO)), ClientWarning("third", (ALSO,))),
    audit_annotations={"p/key": "value"},
    violations=(SILENT, WARNING, ALSO),
    policies=1,
)
REPORT = Report(
    objects=(DENIED, WARNED),
    policies=2,
    bindings=2,
    policy_errors=(PolicyError(Place("r.yaml", 7), KIND, "r", "r", "is invalid: x\ny"),),
    notices=(
        Notice(NoticeReason.POLICY_UNBOUND, Place("s.yaml", 1), "policy `s`: no binding", "bind"),
    ),
    problems=(Problem("t.yaml", 2, "unreadable", "mend it"),),
)


def test_human() -> None:
    assert CheckView(REPORT).text(ReportStyle(verbosity=1)) == (
        "error: is invalid: x\n"
        "y\n"
        "  policy  r.yaml:7\n"
        "\n"
        'denied: pods "web" is forbidden: no, 100%\n'
        "  rule    p.yaml:9  spec.validations[0].expression\n"
        "  object  a.yaml:3  Pod shop/web\n"
        "  also    q/c: two\n"
        "  rule    q.yaml:4  spec.validations[0].expression  params shop/x\n"
        "\n"
        "warning: careful\n"
        "  rule    p.yaml:9  spec.validations[0].expression\n"
        "  rule    p.yaml:14  spec.validations[0].expression\n"
        "  object  b,c.yaml:1  Pod shop/old\n"
        "\n"
        "warning: third\n"
        "  rule    p.yaml:14  spec.validations[0].expression\n"
        "  object  b,c.yaml:1  Pod shop/old\n"
        "\n"
        "notice: s.yaml:1: policy `s`: no binding\n"
        "  bind\n"
        "\n"
        "VERDICT  OBJECT        POLICIES\n"
        "denied   Pod shop/web         2\n"
        "warned   Pod shop/old         1\n"
        "  audit   p/key: value\n"
        "\n"
        "2 objects: 1 admitted (1 with warnings), 1 denied, 1 broken, 1 unreadable "
        "(2 policies, 2 bindings)\n"
    )


def test_human_in_colour() -> None:
    text = CheckView(REPORT).text(ReportStyle(color=True))
    assert "\033[31;1mdenied:\033[0m pods" in text
    assert "\033[33;1mwarned\033[0m   Pod shop/old" in text


def test_many_objects_are_not_all_listed() -> None:
    admitted = ObjectResult(Place("a", 1), "Pod a", "v1", "Pod", "", "a", "CREATE", State.ADMITTED)
    report = Report(objects=(admitted,) * 60 + (DENIED,))
    assert CheckView(report).text(ReportStyle()).count("Pod a") == 0
    assert CheckView(report).text(ReportStyle(verbosity=1)).count("Pod a") == 60


def test_data() -> None:
    document = json.loads(as_json(CheckView(REPORT)))
    assert document == yaml.safe_load(as_yaml(CheckView(REPORT))) == CheckView(REPORT).data()
    assert document["summary"] == {
        "objects": 2,
        "admitted": 1,
        "denied": 1,
        "invalid": 0,
        "warned": 1,
        "untouched": 0,
        "unchanged": 0,
        "unasked": 0,
        "policies": 2,
        "bindings": 2,
        "webhooks": 0,
        "generated": 0,
        "generatedRefused": 0,
        "exitCode": 2,
    }
    assert document["objects"][0]["violations"][2] == {
        "policy": "q",
        "binding": "c",
        "param": "shop/x",
        "field": "spec.validations[0].expression",
        "rule": {"file": "q.yaml", "line": 4},
        "message": "two\nlines",
        "validationActions": ["Deny"],
    }
    warned = document["objects"][1]
    assert warned["warnings"] == ["careful", "third"]
    assert [one.get("warning") for one in warned["violations"]] == [None, "careful", "careful"]
    assert document["problems"] == [
        {"file": "t.yaml", "line": 2, "message": "unreadable", "help": "mend it"}
    ]


def test_invalid_objects_in_every_format() -> None:
    report = Report(objects=(INVALID,))
    text = CheckView(report).text(ReportStyle())
    assert text.startswith(
        f"invalid: {INVALID.sentence}\n"
        "  field   d.yaml:4  spec.containers\n"
        "  object  d.yaml:1  Pod shop/bad\n"
    )
    assert text.endswith("1 object: 0 admitted, 0 denied, 1 invalid (0 policies, 0 bindings)\n")
    (found,) = CheckView(report).data()["objects"]
    assert (found["verdict"], found["allowed"]) == ("invalid", False)
    assert found["faults"] == [
        {"file": "d.yaml", "line": 4, "field": "spec.containers", "message": "Required value"}
    ]
    assert as_github(CheckView(report)) == (
        "::error file=d.yaml,line=4,title=Pod shop/bad invalid::spec.containers: Required value\n"
    )
    assert "field: d.yaml:4 spec.containers" in as_junit(CheckView(report))


def test_github() -> None:
    assert as_github(CheckView(REPORT)) == (
        "::error file=t.yaml,line=2,title=unreadable input::unreadable\n"
        "::error file=r.yaml,line=7,title=ValidatingAdmissionPolicy r::is invalid: x%0Ay\n"
        '::error file=a.yaml,line=3,title=Pod shop/web denied::pods "web" is forbidden: no, 100%25'
        "%0Arule: p.yaml:9%0Arule: q.yaml:4\n"
        "::warning file=b%2Cc.yaml,line=1,title=Pod shop/old::careful"
        "%0Arule: p.yaml:9%0Arule: p.yaml:14\n"
        "::warning file=b%2Cc.yaml,line=1,title=Pod shop/old::third%0Arule: p.yaml:14\n"
        "::notice file=s.yaml,line=1,title=policy-without-binding::policy `s`: no binding\n"
    )


def test_junit() -> None:
    suites = ElementTree.fromstring(as_junit(CheckView(REPORT)))
    assert suites.attrib == {"tests": "5", "failures": "1", "errors": "2"}
    kinds = [[child.tag for child in case] for case in suites.iter("testcase")]
    assert kinds == [["error"], ["error"], ["failure"], ["system-out"], ["skipped"]]
    assert [one.text for one in suites.iter("system-out")] == [
        f"careful\nrule: p.yaml:9 {FIELD}\nrule: p.yaml:14 {FIELD}\nthird\nrule: p.yaml:14 {FIELD}"
    ]
    assert "rule: p.yaml:9" in next(one.text or "" for one in suites.iter("failure"))
    strict = Report(objects=(WARNED,), notices=REPORT.notices, strict=True, fail_on_warning=True)
    assert ElementTree.fromstring(as_junit(CheckView(strict))).attrib["failures"] == "2"
    odd = Report(problems=(Problem("a\x00b", 0, "\ud800 <&>"),))
    assert ElementTree.fromstring(as_junit(CheckView(odd))).attrib["errors"] == "1"


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (Report(), Exit.OK),
        (Report(objects=(WARNED,)), Exit.OK),
        (Report(objects=(WARNED,), fail_on_warning=True), Exit.DENIED),
        (Report(objects=(DENIED,)), Exit.DENIED),
        (Report(objects=(INVALID,)), Exit.DENIED),
        (Report(objects=(DENIED,), policy_errors=REPORT.policy_errors), Exit.POLICY),
        (Report(notices=REPORT.notices), Exit.OK),
        (Report(notices=REPORT.notices, strict=True), Exit.POLICY),
        (REPORT, Exit.USAGE),
    ],
)
def test_exit(report: Report, code: Exit) -> None:
    assert report.exit is code
