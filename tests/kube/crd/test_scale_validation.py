"""What may stand where the scale of a custom resource has its counts and its selector."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.custom_kinds import scale_status_errors, wanted_count_errors
from celadon.kube.fieldpath import FieldPath
from celadon.kube.resources.api_resources import ScalePaths
from tests.kube.crd.test_custom_kinds import OPEN, gizmo, scaled_kind, struct

PATHS = ScalePaths(("spec", "a", "n"), ("status", "n"), ("status", "sel"))

WANTED: list[tuple[Any, str]] = [
    ({}, ""),
    ({"a": {}}, ""),
    ({"a": None}, ""),
    ({"a": {"n": 0}}, ""),
    ({"a": {"n": 2**31 - 1}}, ""),
    ({"a": {"n": 2**31}}, "2147483648: should be less than or equal to 2147483647"),
    ({"a": {"n": -1}}, "-1: should be a non-negative integer"),
    (
        {"a": {"n": "${X}"}},
        "0: .spec.a.n accessor error: ${X} is of the type string, expected int64",
    ),
    ({"a": {"n": 5.0}}, "0: .spec.a.n accessor error: 5 is of the type float64, expected int64"),
    ({"a": {"n": True}}, "0: .spec.a.n accessor error: true is of the type bool, expected int64"),
    ({"a": {"n": None}}, "0: .spec.a.n accessor error: <nil> is of the type <nil>, expected int64"),
    (
        {"a": {"n": {"b": [1]}}},
        "0: .spec.a.n accessor error: map[b:[1]] is of the type map[string]interface {}, "
        "expected int64",
    ),
    (
        {"a": [1, "x"]},
        "0: .spec.a.n accessor error: [1 x] is of the type []interface {}, "
        "expected map[string]interface{}",
    ),
    (
        "...",
        "0: .spec.a accessor error: ... is of the type string, expected map[string]interface{}",
    ),
]


@pytest.mark.parametrize(("spec", "want"), WANTED)
def test_wanted_counts(spec: Any, want: str) -> None:
    found = [str(one) for one in wanted_count_errors(gizmo(spec), PATHS)]
    assert found == ([f".spec.a.n: Invalid value: {want}"] if want else [])


STATUS: list[tuple[Any, list[str]]] = [
    ({"n": 3, "sel": "a=b"}, []),
    ({"n": -3}, [".status.n: Invalid value: -3: should be a non-negative integer"]),
    (
        {"sel": 7},
        [
            '.status.sel: Invalid value: "": .status.sel accessor error: 7 is of the type int64, '
            "expected string"
        ],
    ),
    (
        [],
        [
            ".status.n: Invalid value: 0: .status.n accessor error: [] is of the type "
            "[]interface {}, expected map[string]interface{}",
            '.status.sel: Invalid value: "": .status.sel accessor error: [] is of the type '
            "[]interface {}, expected map[string]interface{}",
        ],
    ),
]


@pytest.mark.parametrize(("status", "want"), STATUS)
def test_status(status: Any, want: list[str]) -> None:
    found = [str(one) for one in scale_status_errors(gizmo({}, status=status), PATHS)]
    assert found == want


def test_without_a_scale_nothing_is_said() -> None:
    obj = gizmo("...", status="...")
    assert [*wanted_count_errors(obj, None), *scale_status_errors(obj, None)] == []
    assert (
        list(
            scale_status_errors(
                gizmo({}, status={"n": 1}), ScalePaths(status_replicas=("status", "n"))
            )
        )
        == []
    )


def test_paths_lead_through_the_object() -> None:
    (found,) = wanted_count_errors(gizmo({"a": {"n": -1}}), PATHS)
    assert found.path == FieldPath("spec", "a", "n")


def test_scales_are_validated_after_the_schema_and_before_lists() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}
    known = scaled_kind(struct(n={"type": "integer"}, s=numbers))
    new = gizmo({"n": "x", "s": [1, 1]}, status={"n": -1})
    want = [
        'spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"',
        ".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected "
        "int64",
        ".status.n: Invalid value: -1: should be a non-negative integer",
        "spec.s[1]: Duplicate value: 1",
    ]
    assert [str(one) for one in known.validate(new).errors] == want
    assert [str(one) for one in known.validate(new, gizmo({})).errors] == want


def test_writes_to_the_status_look_at_the_status_only() -> None:
    known = scaled_kind(OPEN)
    new = gizmo({"n": "x"}, status={"n": -1})
    assert [str(one) for one in known.validate_status(new, gizmo({"n": "x"})).errors] == [
        ".status.n: Invalid value: -1: should be a non-negative integer"
    ]
