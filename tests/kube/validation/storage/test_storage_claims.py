"""What is said against changed claims."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.name_rules import dns1123_label
from celadon.kube.releases import answering_as
from celadon.kube.validation.field_checks import SPEC, holding
from celadon.kube.validation.persistent_volumes import claim_update
from celadon.kube.validation.pods.volumes import claim_spec
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


def of_class(made: Json) -> Json:
    """A claim to which its class was applied."""
    return {**made, "status": {**made["status"], "currentVolumeAttributesClassName": "a"}}


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
            of_class(claim(has="2Gi", volumeAttributesClassName="a")),
            [
                "spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when "
                "status.currentVolumeAttributesClassName is not nil"
            ],
        ),
        (
            claim(volumeAttributesClassName=""),
            of_class(claim(has="2Gi", volumeAttributesClassName="a")),
            [
                "spec.volumeAttributesClassName: Forbidden: update to empty string is forbidden "
                "when status.currentVolumeAttributesClassName is not nil"
            ],
        ),
        (claim(), claim(has="2Gi", volumeAttributesClassName="a"), []),
        (claim(volumeAttributesClassName="b"), claim(has="2Gi", volumeAttributesClassName="a"), []),
    ],
)
def test_changes(new: Json, old: Json, expected: list[str]) -> None:
    status = {"status": old.get("status", {})}
    made, was = ({**admitted(one), **status} for one in (new, old))
    assert [str(error) for error in holding(claim_update(made, was), None)] == expected


def test_the_release_decides_what_of_a_claim_may_change() -> None:
    smaller, bound = claim("1Gi"), claim("2Gi", has="1Gi")
    less = "spec.resources.requests.storage: Forbidden: field can not be less than"
    for release, limit in (("1.31", "previous value"), ("1.32", "status.capacity")):
        with answering_as(release):
            assert [str(one) for one in holding(claim_update(smaller, bound), None)][-1:] == [
                f"{less} {limit}"
            ]
    named = claim(volumeAttributesClassName="b")
    for release, differs in (("1.30", False), ("1.31", True)):
        with answering_as(release):
            found = list(map(str, claim_update(named, claim())))
        assert (
            any(text.startswith("spec: Forbidden: spec is immutable") for text in found) is differs
        )
    gone, had = claim(has="2Gi"), claim(has="2Gi", volumeAttributesClassName="a")
    with answering_as("1.33"):
        first, last = map(str, claim_update(gone, had))
    assert first.startswith("spec: Forbidden: spec is immutable")
    assert last == (
        "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"
    )


def test_a_class_moves_from_the_annotation_to_the_field() -> None:
    new, old = claim(storageClassName="a"), claim(notes={OLD_CLASS: "a"})
    assert update_complaints(new, old) == []


@pytest.mark.parametrize(
    ("noted", "named", "takes"),
    [(None, "a", True), ("a", "a", True), ("b", "a", False), ("", "", True), ("", "a", False)],
)
def test_a_claim_gets_only_the_class_that_its_annotation_names(
    noted: str | None, named: str, takes: bool
) -> None:
    notes = {} if noted is None else {OLD_CLASS: noted}
    found = update_complaints(claim(storageClassName=named, notes=notes), claim(notes=notes))
    assert [text[:23] for text in found] == ([] if takes else ["spec: Forbidden: spec i"])


def test_the_annotation_goes_only_with_a_class() -> None:
    assert update_complaints(claim(), claim(notes={OLD_CLASS: "a"})) == [
        f'metadata.annotations.{OLD_CLASS}: Invalid value: "": field is immutable'
    ]


def test_a_source_in_another_namespace_stands_alone() -> None:
    source = {"kind": "PersistentVolumeClaim", "name": "c"}
    given = claim(dataSource=source, dataSourceRef={**source, "name": "d", "namespace": "N"})
    assert list(map(str, claim_spec(SPEC, given["spec"]))) == [
        f'spec.dataSourceRef.namespace: Invalid value: "N": {dns1123_label("N")[0]}',
        "spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified",
    ]


def test_a_bound_claim_that_asks_for_nothing_any_more() -> None:
    new, old = claim(has="2Gi"), claim(has="2Gi")
    new["spec"]["resources"] = {"requests": {}}
    assert [str(one) for one in holding(claim_update(new, old), None)] == [
        "spec.resources[storage]: Required value",
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
    ]


def test_the_group_of_a_source_is_looked_at_if_there_was_none() -> None:
    def of_group(group: str | None) -> Json:
        source = {"kind": "PersistentVolumeClaim", "name": "c"}
        return claim(dataSource=source if group is None else {**source, "apiGroup": group})

    first, *_ = map(str, claim_update(of_group("a_b"), of_group(None)))
    assert first.startswith('spec.dataSource.apiGroup: Invalid value: "a_b"')
    (only,) = map(str, claim_update(of_group("a_b"), of_group("a")))
    assert only.startswith("spec: Forbidden: spec is immutable after creation")
