"""Formats are told apart by their shape."""

from __future__ import annotations

import json

import pytest

from celadon.cli.policytest.importers.foreign_formats import foreign_tests, has_foreign_name
from celadon.cli.reading.sources import Text
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


def test_what_cannot_be_read_is_no_test() -> None:
    assert not foreign_tests(Text("f.yaml", "a: [\n"))


@pytest.mark.parametrize(("file", "expected"), [("a/kyverno-test.yaml", True), ("b.yaml", False)])
def test_names(file: str, *, expected: bool) -> None:
    assert has_foreign_name(file) is expected
