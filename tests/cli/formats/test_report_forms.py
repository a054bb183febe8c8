"""Every row of the table of forms names a function that is there."""

from __future__ import annotations

import inspect

import pytest

from celadon.cli.formats.report_forms import EVERY, ReportForms

ROWS = [
    pytest.param(forms, name, id=f"{forms.functions[name]}-{name}")
    for forms in EVERY
    for name in forms.names
]


@pytest.mark.parametrize(("forms", "name"), ROWS)
def test_a_form_has_its_function(forms: ReportForms, name: str) -> None:
    signature = inspect.signature(forms.renderer(name), eval_str=False)
    kinds = [one.annotation for one in signature.parameters.values()]
    assert signature.return_annotation == "str"
    assert kinds[1:] == (["Look"] if name == forms.for_people else [])


@pytest.mark.parametrize("forms", EVERY, ids=lambda one: one.functions[one.for_people])
def test_all_forms_are_of_the_same_report(forms: ReportForms) -> None:
    signatures = [inspect.signature(forms.renderer(name)) for name in forms.names]
    reports = {next(iter(one.parameters.values())).annotation for one in signatures}
    assert len(reports) == 1
