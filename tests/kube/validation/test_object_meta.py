"""Metadata of new and of changed objects, as all kinds have them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.object_meta import (
    Naming,
    validate_object_meta,
    validate_object_meta_update,
)
from tests.kube.validation.objects import complaints, obj

Json = dict[str, Any]


def owner(kind: str) -> Json:
    return {"apiVersion": "v1", "kind": kind, "name": "x", "uid": "u", "controller": True}


def told(meta: Json) -> list[str]:
    return [
        str(one) for one in validate_object_meta({"name": "a", **meta}, Naming(namespaced=None))
    ]


def test_generations_are_no_less_than_zero_and_do_not_go_back() -> None:
    assert told({"generation": 0}) == []
    assert told({"generation": -1}) == [
        "metadata.generation: Invalid value: -1: must be greater than or equal to 0"
    ]
    errors = validate_object_meta_update(
        {"name": "a", "generation": 1}, {"name": "a", "generation": 2}
    )
    assert [str(one) for one in errors] == [
        "metadata.generation: Invalid value: 1: must not be decremented"
    ]


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("labels", {"a b": "c"}, "metadata.labels"),
        ("labels", {"a": "b c"}, "metadata.labels"),
        ("annotations", {"a b": "c"}, "metadata.annotations"),
    ],
)
def test_names_and_values_are_judged_in_updates_too(field: str, value: Json, place: str) -> None:
    for old in ({}, value):
        given, before = {"name": "a", field: value}, {"name": "a", field: old}
        [error] = validate_object_meta_update(given, before)
        assert str(error).startswith(f'{place}: Invalid value: "')
        assert told({field: value}) == [str(error)]


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"manager": "é" * 64, "subresource": "x" * 256}, ""),
        ({"manager": "é" * 65}, "manager: Too long: may not be more than 128 bytes"),
        (
            {"manager": "m\x01"},
            'manager: Invalid value: "m\\x01": invalid character U+0001 (at position 1)',
        ),
        ({"subresource": "x" * 257}, "subresource: Too long: may not be more than 256 bytes"),
        ({"operation": ""}, 'operation: Invalid value: "": must be `Apply` or `Update`'),
        ({"fieldsType": "x"}, 'fieldsType: Invalid value: "x": must be `FieldsV1`'),
    ],
)
def test_managers(entry: Json, wrong: str) -> None:
    errors = [f"metadata.managedFields[0].{wrong}"] if wrong else []
    managers = [{"operation": "Apply", **entry}]
    assert told({"managedFields": managers}) == errors
    given = {"name": "a", "managedFields": managers}
    assert [str(one) for one in validate_object_meta_update(given, {"name": "a"})] == errors


def test_each_further_controller_stands_beside_the_first() -> None:
    found = told({"ownerReferences": [owner("A"), owner("B"), owner("C")]})
    assert [one.rpartition("references for ")[2] for one in found] == ["A/x and B/x", "A/x and C/x"]


@pytest.mark.parametrize(
    "value",
    [
        obj("storage.k8s.io/v1", "CSIDriver", spec={}),
        obj("policy/v1", "PodDisruptionBudget", spec={"maxUnavailable": 1}),
    ],
)
def test_kinds_without_rules_for_metadata_have_those_of_all(value: Json) -> None:
    assert complaints(value) == []
    bad = {**value, "metadata": {"name": "a", "annotations": {"a/b/c": "x"}}}
    (message,) = complaints(bad)
    assert message.startswith('metadata.annotations: Invalid value: "a/b/c": a valid label key')
