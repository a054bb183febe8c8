"""What is said against changed claims."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.storage import claim_update
from tests.kube.validation.objects import admitted, obj, update_complaints

Json = dict[str, Any]
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def claim(
    size: str = "2Gi", notes: Json | None = None, has: str | None = None, **spec: Any
) -> Json:
    given = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    made = obj("v1", "PersistentVolumeClaim", meta={"annotations": notes or {}}, spec=given)
    if has is not None:
        made["status"] = {"phase": "Bound", "capacity": {"storage": has}}
    return made


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (claim("3Gi"), claim(has="2Gi"), []),
        (claim("3Gi"), claim("5Gi", has="2Gi"), []),
        (
            claim("1Gi"),
            claim(has="2Gi"),
            [
                "spec.resources.requests.storage: Forbidden: field can not be less than "
                "status.capacity"
            ],
        ),
        (
            claim(notes={OLD_CLASS: "b"}),
            claim(notes={OLD_CLASS: "a"}),
            [f'metadata.annotations.{OLD_CLASS}: Invalid value: "b": field is immutable'],
        ),
        (
            claim(),
            claim(has="2Gi", volumeAttributesClassName="a"),
            [
                "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is "
                "forbidden"
            ],
        ),
        (
            claim(volumeAttributesClassName=""),
            claim(has="2Gi", volumeAttributesClassName="a"),
            [
                "spec.volumeAttributesClassName: Forbidden: update from non-nil value to an empty "
                "string is forbidden"
            ],
        ),
        (claim(volumeAttributesClassName="b"), claim(has="2Gi", volumeAttributesClassName="a"), []),
    ],
)
def test_changes(new: Json, old: Json, expected: list[str]) -> None:
    status = {"status": old.get("status", {})}
    made, was = ({**admitted(one), **status} for one in (new, old))
    assert [str(error) for error in claim_update(made, was)] == expected


def test_a_class_moves_from_the_annotation_to_the_field() -> None:
    new, old = claim(storageClassName="a"), claim(notes={OLD_CLASS: "a"})
    assert update_complaints(new, old) == []
