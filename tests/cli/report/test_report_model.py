"""Every form of every report has its renderer, and every view what its renderers ask for."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest

from celadon.cli.check.check_report import Notice, NoticeReason, Place, PolicyError, UnaskedPlugin
from celadon.cli.report import report_model
from celadon.cli.report.report_model import (
    FINDING_FORMS,
    ReportForms,
    ReportStyle,
    ReportView,
    aligned,
    diff_lines,
    joined,
    notice_lines,
    plugin_lines,
    plural,
    policy_error_lines,
    yaml_text,
)

EVERY = [one for one in vars(report_model).values() if isinstance(one, ReportForms)]

ROWS = [
    pytest.param(forms, name, id=f"{forms.view}-{name}")
    for forms in EVERY
    for name in forms.names
    if name != forms.for_people
]
ASKED = {
    "json": {"data"},
    "yaml": {"data"},
    "github": {"findings", "problems"},
    "junit": {"cases", "problems"},
    "sarif": {"findings", "rules", "problems"},
    "tap": {"cases", "problems"},
}
"""The parts that forms are made of."""


@pytest.mark.parametrize(("forms", "name"), ROWS)
def test_a_form_has_its_renderer(forms: ReportForms, name: str) -> None:
    renderer = report_model._loaded(forms.functions[name])
    assert inspect.signature(renderer).return_annotation == "str"
    view = type(forms.view_of(None))
    for part in ASKED.get(name, ()):
        assert getattr(view, part) is not getattr(ReportView, part) or part == "problems"


@pytest.mark.parametrize("forms", EVERY, ids=lambda one: one.view)
def test_people_come_first(forms: ReportForms) -> None:
    view = type(forms.view_of(None))
    assert forms.for_people in ("table", "text")
    assert view.text is not ReportView.text
    assert view.command.startswith("celadon ")


def test_commands_with_findings_have_the_same_forms() -> None:
    """Whoever has one of them has all: a new one is at once for all of them."""
    for forms in EVERY:
        assert not FINDING_FORMS.keys() & forms.functions.keys() or (
            FINDING_FORMS.items() <= forms.functions.items()
        )


_FINDINGS = "github junit sarif tap"


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("CHECK", f"table json yaml {_FINDINGS}"),
        ("UPGRADE", f"table json yaml {_FINDINGS}"),
        ("UPGRADE_AUDIT", f"table json yaml {_FINDINGS}"),
        ("LINT", f"text json {_FINDINGS}"),
        ("LINT_STATISTICS", "text json"),
        ("DIFF", f"text json {_FINDINGS}"),
        ("CLAIMS", f"text json {_FINDINGS}"),
        ("PROOFS", f"text json {_FINDINGS}"),
        ("TEST", f"text json {_FINDINGS}"),
        ("EXPLANATION", "text json html"),
        ("AUDIT", f"table json jsonl {_FINDINGS} html policyreport openreports"),
        ("FLEET", "table json jsonl"),
        ("REPLAY", "table json html"),
        ("MIGRATION", "text json html"),
        ("MIGRATION_PLAN", "text json html"),
        ("BOOTSTRAP", "text json"),
    ],
)
def test_which_forms_a_report_has(name: str, forms: str) -> None:
    """In the order in which they are offered."""
    assert " ".join(getattr(report_model, name).names) == forms


@pytest.mark.parametrize(
    ("styles", "code"),
    [
        ("denied error invalid", "31;1"),
        ("warned warning", "33;1"),
        ("mutated", "35;1"),
        ("notice unasked", "36;1"),
        ("admitted", "32"),
        ("untouched unchanged dim", "2"),
        ("bold", "1"),
    ],
)
def test_colours(styles: str, code: str) -> None:
    for style in styles.split():
        assert ReportStyle(color=True).paint(style, "text") == f"\033[{code}mtext\033[0m"
        assert ReportStyle().paint(style, "text") == "text"


def test_blocks_and_tables() -> None:
    assert joined([]) == ""
    assert joined([["a", "b"], ["c"]]) == "a\nb\n\nc\n"
    assert aligned([("name", "n"), ("a", "10"), ("", "7")], {1}) == [
        "name   n",
        "a     10",
        "       7",
    ]
    assert aligned([("a", "b"), ("cc", "")], ()) == ["a   b", "cc"]


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "policy", "0 policies"),
        (1, "policy", "1 policy"),
        (2, "policy", "2 policies"),
        (1, "object", "1 object"),
        (2, "object", "2 objects"),
    ],
)
def test_plurals(number: int, noun: str, text: str) -> None:
    assert plural(number, noun) == text


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("ValidatingAdmissionPolicy", "policy "),
        ("MutatingAdmissionPolicyBinding", "binding"),
        ("ValidatingWebhookConfiguration", "webhook"),
    ],
)
def test_a_policy_that_cannot_be_used(kind: str, part: str) -> None:
    error = PolicyError(Place("p.yaml", 3), kind, "name", "policy", "it is wrong")
    assert list(policy_error_lines([error], ReportStyle())) == [
        ["error: it is wrong", f"  {part} p.yaml:3"]
    ]
    ((first, _),) = policy_error_lines([replace(error, help="do it")], ReportStyle())
    assert first == "error: it is wrong (do it)"


def test_notices() -> None:
    silence = next(iter(NoticeReason))
    notices = [Notice(silence, Place("a.yaml", 1), "one", "help"), Notice(silence, Place(), "two")]
    texts = ["{} a.yaml:1: one", "  help", "{} two"]
    for strict, word in ((False, "notice:"), (True, "strict:")):
        want = [[text.format(word) for text in texts]]
        assert list(notice_lines(notices, ReportStyle(), strict=strict)) == want
    assert list(notice_lines([], ReportStyle(), strict=True)) == []
    many = [Notice(silence, Place(), str(number)) for number in range(14)]
    ((*shown, last),) = notice_lines(many, ReportStyle(), strict=False)
    assert shown == [f"notice: {number}" for number in range(10)]
    assert last == f"notice: 4 more: {silence.value} (-v shows all)"
    for style, strict in ((ReportStyle(verbosity=1), False), (ReportStyle(), True)):
        assert sum(map(len, notice_lines(many, style, strict=strict))) == 14
    for strict, code in ((False, "36;1"), (True, "31;1")):
        ((first, *_),) = notice_lines(notices, ReportStyle(color=True), strict=strict)
        assert first.startswith(f"\033[{code}m")


@pytest.mark.parametrize(
    ("asked", "reasons", "verbosity", "lines"),
    [
        ("", "", 1, []),
        ("P Q", "", 0, []),
        ("P Q", "", 1, ["admission plugins asked: P, Q"]),
        ("", "abc", 0, ["admission plugins not fully asked: P0 (a), P1 (b), P2 (c)"]),
        (
            "",
            "abaabcd",
            0,
            [
                "admission plugins not fully asked: P0, P2, P3 (a), P1, P4 (b), P5 (c) and 1 more "
                "reason"
            ],
        ),
        (
            "",
            "abcde",
            0,
            ["admission plugins not fully asked: P0 (a), P1 (b), P2 (c) and 2 more reasons"],
        ),
        (
            "",
            "abcd",
            1,
            ["admission plugins not fully asked: P0 (a), P1 (b), P2 (c), P3 (d)"],
        ),
    ],
)
def test_plugins(asked: str, reasons: str, verbosity: int, lines: list[str]) -> None:
    unasked = [UnaskedPlugin(f"P{i}", why) for i, why in enumerate(reasons)]
    assert list(plugin_lines(asked.split(), unasked, ReportStyle(verbosity=verbosity))) == lines


def test_manifests_and_what_changed_in_them() -> None:
    """Nothing is written as an alias, nothing is sorted or folded."""
    shared = {"z": "ü", "a": "x " * 300}
    text = yaml_text({"two": [shared, shared], "one": shared})
    assert (text.count("ü"), text.count("\n"), "&" in text) == (3, 8, False)
    assert text.index("two") < text.index("one")
    before = dict.fromkeys("abcdefghi", 1)
    assert diff_lines(before, before | {"e": 2}) == [
        *("@@ -2,7 +2,7 @@", " b: 1", " c: 1", " d: 1"),
        *("-e: 1", "+e: 2", " f: 1", " g: 1", " h: 1"),
    ]
    assert diff_lines(before, before) == []
