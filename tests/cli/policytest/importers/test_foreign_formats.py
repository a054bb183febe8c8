"""Formats are told apart by their shape."""

from __future__ import annotations

import json

import pytest

from celadon.cli.policytest.importers.foreign_formats import foreign_tests, has_foreign_name
from celadon.cli.reading.documents import Text
from tests.cli.files import Json

KYVERNO: Json = {"policies": [], "resources": [], "results": []}


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ({"apiVersion": "cli.kyverno.io/v1alpha1", "kind": "Test"}, 1),
        ({"apiVersion": "cli.kyverno.io/v1alpha1", "kind": "Values"}, 0),
        ({"name": "old", **KYVERNO}, 1),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, 0),
        ({"apiVersion": 1, "kind": "Test"}, 0),
        ({"validatingAdmissionPolicies": [], "testSuites": []}, 1),
        ({"policies": [], "mapTestSuites": []}, 1),
        ({"policies": []}, 0),
        ([{"template": "t.yaml", "expected": "pass"}], 1),
        ([{"template": "t.yaml"}], 0),
        ({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {}}, 1),
        ({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}, 0),
        ([1], 0),
        (1, 0),
    ],
)
def test_shapes(value: object, count: int) -> None:
    assert len(foreign_tests(Text("f.yaml", json.dumps(value)))) == count


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            {**KYVERNO, "results": [{"policy": "p", "resources": 5}]},
            "`results[0].resources` must be a list, not the number 5",
        ),
        (
            [{"template": "t.yaml", "expected": "pass", "field_change_list": True}],
            "`[0].field_change_list` must be a list, not true",
        ),
        (
            {"section": [{"tests": [{"input": 1.5}]}]},
            "`section[0].tests[0].input` must be a map, not the number 1.5",
        ),
        (
            {"kind": "AdmissionReview", "request": {"userInfo": "x"}},
            "`request.userInfo` must be a map, not text",
        ),
        (
            {"kind": "AdmissionReview", "request": {}, "response": {"status": [1]}},
            "`response.status` must be a map, not a list",
        ),
    ],
)
def test_what_has_no_such_parts_is_not_run(value: object, text: str) -> None:
    (found,) = foreign_tests(Text("f.yaml", json.dumps(value)))
    assert [one.message for one in found.test.problems] == [text]
    assert not found.test.cases


def test_what_cannot_be_read_is_no_test() -> None:
    assert not foreign_tests(Text("f.yaml", "a: [\n"))


@pytest.mark.parametrize(("file", "expected"), [("a/kyverno-test.yaml", True), ("b.yaml", False)])
def test_names(file: str, *, expected: bool) -> None:
    assert has_foreign_name(file) is expected
