"""Every form of every report has its renderer, and every view what its renderers ask for."""

from __future__ import annotations

import inspect

import pytest

from celadon.cli.report import report_model
from celadon.cli.report.report_model import FINDING_FORMS, ReportForms, ReportView

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
