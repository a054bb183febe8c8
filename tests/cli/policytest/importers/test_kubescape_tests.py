"""tests.json of Kubescape's library, in folders laid out as there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.case_results import FileResult
from celadon.cli.policytest.case_running import RunOptions, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from celadon.cli.policytest.importers.small_formats import changed
from tests.cli.files import Json, binding, config_map, policy, write

WITH_PARAMS = policy(
    expression="params.data.limit == object.data.x",
    paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
)


def ran(root: Path, *tests: Any, given: Json | None = None) -> FileResult:
    """What comes of the tests of a control."""
    templates, control = root / "test-resources", root / "controls" / "C-0001"
    templates.mkdir()
    control.mkdir(parents=True)
    write(control / "policy.yaml", given or policy())
    write(templates / "cm.yaml", config_map(x="no"))
    write(templates / "two.yaml", config_map("a"), config_map("b"))
    selector = {
        "objectSelector": {"matchExpressions": [{"key": "off", "operator": "DoesNotExist"}]}
    }
    bound = binding("placeholder", paramRef={"name": "placeholder"}, matchResources=selector)
    bound["apiVersion"] = "admissionregistration.k8s.io/v1alpha1"
    write(templates / "policy-binding.yaml", bound)
    write(templates / "default-control-configuration.yaml", config_map("default", limit="ok"))
    write(templates / "other-configuration.yaml", config_map("default", limit="no"))
    warns = binding("placeholder", paramRef={"name": "placeholder"}, actions="Warn")
    write(templates / "policy-binding-warn.yaml", warns)
    (control / "tests.json").write_text(json.dumps(list(tests), indent=1))
    found = given_tests([str(root)])
    assert not found.problems
    (only,) = run_tests(found.tests, RunOptions(), lambda _: None).tests
    return only


def case(expected: str, *changes: str, template: str = "cm.yaml") -> Json:
    return {
        "name": f"{template} {expected}",
        "template": template,
        "expected": expected,
        "field_change_list": list(changes),
    }


@pytest.mark.parametrize("given", [policy(), WITH_PARAMS])
@pytest.mark.parametrize(
    ("test", "status"),
    [
        (case("fail"), "passed"),
        (case("pass"), "failed"),
        (case("pass", "data.x=ok"), "passed"),
        (case("fail", "data.x=ok"), "failed"),
    ],
)
def test_expectations(tmp_path: Path, given: Json, test: Json, status: str) -> None:
    found = ran(tmp_path, test, given=given)
    assert not found.problems
    assert [(one.case.name, one.status.value) for one in found.cases] == [(test["name"], status)]


def test_a_control_that_is_not_bound_is_named(tmp_path: Path) -> None:
    """The object is allowed because the binding of the templates leaves it out."""
    (only,) = ran(tmp_path, case("pass", 'metadata.labels.off="yes"')).cases
    assert only.status.value == "failed"
    assert "object-selector" in [one.vacuity.value for one in only.doubts]


@pytest.mark.parametrize(
    ("test", "status"),
    [
        ({**case("fail"), "param_template": "other-configuration.yaml"}, "failed"),
        ({**case("pass"), "param_template": "other-configuration.yaml"}, "passed"),
        ({**case("warn"), "binding_template": "policy-binding-warn.yaml"}, "passed"),
        ({**case("warn", "data.x=ok"), "binding_template": "policy-binding-warn.yaml"}, "failed"),
        (case("warn"), "failed"),
    ],
)
def test_templates_of_a_test(tmp_path: Path, test: Json, status: str) -> None:
    """They are the test's alone."""
    found = ran(tmp_path, case("fail"), test, case("fail"), given=WITH_PARAMS)
    assert not found.problems
    assert [one.status.value for one in found.cases] == ["passed", status, "passed"]


def test_a_test_that_cannot_be_said_stops_no_other(tmp_path: Path) -> None:
    left_out, other = ran(tmp_path, {**case("pass"), "more": 1}, case("fail")).cases
    assert left_out.case.skip == "`more` has no equal in a PolicyTest"
    assert other.status.value == "passed"


def test_places(tmp_path: Path) -> None:
    places = [one.case.place.line for one in ran(tmp_path, case("fail"), case("pass")).cases]
    assert places == [2, 8]


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (case("maybe"), "`expected` must be one of pass, fail"),
        (case("pass", "data.x"), "no `=` in `data.x`"),
        (case("pass", template="none.yaml"), "none.yaml"),
        (case("pass", template="two.yaml"), "has several objects: one is expected"),
    ],
)
def test_what_cannot_be_said(tmp_path: Path, test: Json, text: str) -> None:
    found = ran(tmp_path, test)
    assert not found.cases
    assert text in " ".join(one.text() for one in found.problems)


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ({}, "a.b=1", {"a": {"b": 1}}),
        ({}, "a=text", {"a": "text"}),
        ({}, 'a={"b": "x=y"}', {"a": {"b": "x=y"}}),
        ({"a": [{"b": 1}]}, "a.[0].b=true", {"a": [{"b": True}]}),
        ({}, "a.[0].b=x", {"a": [{"b": "x"}]}),
        ({"a": [1]}, "a.[1]=2", {"a": [1, 2]}),
    ],
)
def test_changes(before: Json, change: str, after: Json) -> None:
    assert changed(before, [change]) == after


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("a.[2]=1", "there is no item 2"),
        ("a.b=1", "there is no field `b`"),
        ("a.[0].[1]=1", "there is no item 1"),
        ("-=1", "is no field and no index"),
    ],
)
def test_changes_that_do_not_fit(change: str, text: str) -> None:
    with pytest.raises(ValueError, match=text.replace("[", r"\[")):
        changed({"a": [1]}, [change])
