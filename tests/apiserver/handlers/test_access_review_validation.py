"""What is wrong with access reviews, to the letter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from celadon.apiserver.handlers.reviews import (
    readable,
    validate_local_review,
    validate_self_review,
    validate_subject_review,
)
from celadon.kube import FieldError
from celadon.kube.releases import answering_as

Validate = Callable[[dict[str, Any]], list[FieldError]]
SELECTOR = "spec.resourceAttributes"
RESOURCE = {"resourceAttributes": {"verb": "get"}}
MANAGED = [{"manager": "m", "operation": "Update"}]


def selecting(kind: str, **selector: Any) -> dict[str, Any]:
    return {"spec": {"resourceAttributes": {kind: selector}}}


ROWS: list[tuple[Validate, dict[str, Any], list[str]]] = [
    (validate_self_review, {"spec": RESOURCE, "metadata": {"managedFields": MANAGED}}, []),
    (
        validate_self_review,
        {"spec": RESOURCE, "metadata": {"managedFields": MANAGED, "name": "x"}},
        [
            'metadata: Invalid value: {"name":"x","managedFields":[{"manager":"m",'
            '"operation":"Update"}]}: must be empty'
        ],
    ),
    (
        validate_self_review,
        {
            "spec": RESOURCE,
            "metadata": {
                "labels": {"b": "1", "a": "2"},
                "ownerReferences": [{"uid": "u", "kind": "K", "apiVersion": "v1"}],
                "name": "x",
            },
        },
        [
            'metadata: Invalid value: {"name":"x","labels":{"a":"2","b":"1"},"ownerReferences":'
            '[{"apiVersion":"v1","kind":"K","uid":"u"}]}: must be empty'
        ],
    ),
    (
        validate_self_review,
        {},
        [
            "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
            "resourceAttributes must be specified"
        ],
    ),
    (
        validate_subject_review,
        {"spec": {**RESOURCE, "nonResourceAttributes": {"path": "/"}}},
        [
            'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: cannot be '
            "specified in combination with resourceAttributes",
            'spec.user: Invalid value: "": at least one of user or group must be specified',
        ],
    ),
    (validate_subject_review, {"spec": {**RESOURCE, "groups": ["g"]}}, []),
    (
        validate_local_review,
        {"metadata": {"namespace": "a", "labels": {"x": "y"}}, "spec": {**RESOURCE, "user": "u"}},
        [
            'metadata: Invalid value: {"namespace":"a","labels":{"x":"y"}}: must be empty except '
            "for namespace",
            'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
        ],
    ),
    (
        validate_local_review,
        {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}, "user": "u"}},
        [
            'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on '
            "this kind of request"
        ],
    ),
    (
        validate_self_review,
        selecting("fieldSelector"),
        [
            f"{SELECTOR}.fieldSelector.requirements: Required value: when {SELECTOR}.fieldSelector "
            "is specified, requirements or rawSelector is required"
        ],
    ),
    (
        validate_self_review,
        selecting("labelSelector", rawSelector="a", requirements=[{"key": "a", "operator": "New"}]),
        [
            f'{SELECTOR}.labelSelector.rawSelector: Invalid value: "a": may not specified at the '
            "same time as requirements"
        ],
    ),
    (
        validate_self_review,
        selecting(
            "fieldSelector",
            requirements=[{"operator": "In"}, {"key": "a", "operator": "Exists", "values": ["x"]}],
        ),
        [
            f"{SELECTOR}.fieldSelector.requirements[0].key: Required value: must be specified",
            f"{SELECTOR}.fieldSelector.requirements[0].values: Required value: must be specified "
            "when `operator` is 'In' or 'NotIn'",
            f"{SELECTOR}.fieldSelector.requirements[1].values: Forbidden: may not be specified "
            "when `operator` is 'Exists' or 'DoesNotExist'",
        ],
    ),
]


@pytest.mark.parametrize(("validate", "review", "errors"), ROWS)
def test_errors(validate: Validate, review: dict[str, Any], errors: list[str]) -> None:
    assert [str(error) for error in validate(review)] == errors


def test_label_requirements_are_checked_as_labels() -> None:
    bad = selecting("labelSelector", requirements=[{"key": "-", "operator": "In", "values": ["-"]}])
    fields = [error.field for error in validate_self_review(bad)]
    at = f"{SELECTOR}.labelSelector.requirements[0]"
    assert fields == [f"{at}.key", f"{at}.values[0]"]


@pytest.mark.parametrize(
    ("release", "gates", "is_kept"),
    [("1.31", {}, False), ("1.31", {"AuthorizeWithSelectors": True}, True), ("1.32", {}, True)],
)
def test_selectors_of_1_31_need_a_gate(
    release: str, gates: dict[str, bool], *, is_kept: bool
) -> None:
    review = selecting("fieldSelector")
    with answering_as(release):
        assert bool(validate_self_review(readable(review, gates))) == is_kept


def test_metadata_before_values_were_shown_as_json() -> None:
    with answering_as("1.33"):
        (error,) = validate_self_review({"spec": RESOURCE, "metadata": {"name": "x"}})
        text = str(error)
    assert text == (
        'metadata: Invalid value: v1.ObjectMeta{Name:"x", GenerateName:"", Namespace:"", '
        'SelfLink:"", UID:"", ResourceVersion:"", Generation:0, CreationTimestamp:time.Date(1, '
        "time.January, 1, 0, 0, 0, 0, time.UTC), DeletionTimestamp:<nil>, "
        "DeletionGracePeriodSeconds:(*int64)(nil), Labels:map[string]string(nil), "
        "Annotations:map[string]string(nil), OwnerReferences:[]v1.OwnerReference(nil), "
        "Finalizers:[]string(nil), ManagedFields:[]v1.ManagedFieldsEntry(nil)}: must be empty"
    )


def test_the_time_of_what_the_server_wrote_down_is_in_utc() -> None:
    managed = [{**MANAGED[0], "time": "2026-11-30T14:12:42Z"}]
    review = {"spec": RESOURCE, "metadata": {"name": "x", "managedFields": managed}}
    with answering_as("1.33"):
        (error,) = validate_self_review(review)
        text = str(error)
    assert "Time:time.Date(2026, time.November, 30, 14, 12, 42, 0, time.UTC)" in text
    assert '"time":"2026-11-30T14:12:42Z"' in str(validate_self_review(review)[0])
