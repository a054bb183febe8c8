"""Misspelt fields are read as what was meant: one finding each, and those about what is inside."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.lint.findings import Finding, Renamed, as_written, corrected
from celadon.admission.lint.linter import lint
from celadon.kube import GroupVersionKind
from tests.admission.lint.linting import SETTINGS, binding, policy

KIND = GroupVersionKind("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy")
VARIABLES = [{"name": "limit", "expression": "5"}]
GUARDED = [{"expression": "object.spec.replicas <= variables.limit", "message": "too many"}]


def findings(*given: dict[str, Any]) -> list[Finding]:
    return lint(given, SETTINGS)


def shown(*given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.code, one.spot.field) for one in findings(*given)]


def test_one_letter_is_one_finding() -> None:
    written = policy(variables=VARIABLES, validation=GUARDED)
    (found,) = findings(written, binding())
    assert (found.code, found.spot.field) == ("CEL002", "spec.validation")
    assert found.message == "there is no field `spec.validation`, did you mean `validations`?"
    assert shown(policy(variables=VARIABLES, validations=GUARDED), binding()) == []


def test_what_is_wrong_inside_is_found_where_it_is_written() -> None:
    inner = [{"expresion": "object.spec.replcas <= 5", "message": "no"}]
    found = [
        (one.code, one.spot.field, one.spot.offset) for one in findings(policy(validation=inner))
    ]
    assert found == [
        ("CEL002", "spec.validation", None),
        ("CEL002", "spec.validation[0].expresion", None),
        ("CEL011", "spec.validation[0].expresion", 11),
    ]


def test_fixes_are_made_where_it_is_written() -> None:
    wrong = binding()
    wrong["spec"]["validationAction"] = ["Deny", "Warn"]
    del wrong["spec"]["validationActions"]
    (fix,) = [one.fix for one in findings(wrong) if one.fix is not None]
    assert fix.spot.path.steps[:2] == ("spec", "validationAction")


@pytest.mark.parametrize(
    "spec",
    [
        {"rules": [], "validations": []},  # like nothing that there is
        {"validation": [], "validations": [{"expression": "true"}]},  # there already
    ],
)
def test_what_cannot_have_been_meant(spec: dict[str, Any]) -> None:
    document = policy(**spec)
    found = corrected(document, KIND)
    assert found.document is document
    assert [one.steps for one in found.unknown] == [("spec", next(iter(spec)))]
    assert found.renamed == ()


def test_type_errors_do_not_depend_on_use() -> None:
    unused = [{"name": "who", "expression": "object.metadata.lables"}]
    assert ("CEL011", "spec.variables[0].expression") in shown(policy(variables=unused))


def test_paths_go_back_step_by_step() -> None:
    renamed = [Renamed(("a", "bs"), "b"), Renamed(("a", "bs", 0, "cs"), "c")]
    assert as_written(("a", "bs", 0, "cs", "d"), renamed) == ("a", "b", 0, "c", "d")
    assert as_written(("a", "x"), renamed) == ("a", "x")
