"""Resources inside custom resources: read, freed of unknown metadata, and validated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.kube.schemas.value_decoding import DecodeError
from tests.kube.crd.test_custom_kinds import OPEN, Json, gizmo, kind, struct

EMBEDDED: Json = {"type": "object", "x-kubernetes-embedded-resource": True, **OPEN}
TYPED: Json = {"apiVersion": "v1", "kind": "A"}
NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was "
    "invalid; correct the existing errors to complete validation"
)

INVALID: list[tuple[Any, list[str]]] = [
    (TYPED, []),
    (TYPED | {"metadata": {}}, []),
    (TYPED | {"metadata": None}, []),
    (TYPED | {"metadata": {"name": "Any_Name", "namespace": "n"}}, []),
    ({}, ["apiVersion: Required value", "kind: Required value"]),
    (
        {"apiVersion": "", "kind": ""},
        [
            'apiVersion: Invalid value: "": must not be empty',
            'kind: Invalid value: "": must not be empty',
        ],
    ),
    (
        {"apiVersion": 1, "kind": []},
        [
            "apiVersion: Invalid value: 1: must be a string",
            "kind: Invalid value: []: must be a string",
        ],
    ),
    (
        TYPED | {"apiVersion": "a/b/c"},
        ['apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ),
    (
        TYPED | {"kind": "A_b"},
        [
            'kind: Invalid value: "A_b": may have mixed case, but should otherwise match: a '
            "DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
            "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
            "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
        ],
    ),
    (
        TYPED | {"metadata": {"name": "a/b", "generateName": "%"}},
        [
            "metadata.generateName: Invalid value: \"%\": may not contain '%'",
            "metadata.name: Invalid value: \"a/b\": may not contain '/'",
        ],
    ),
    (
        TYPED | {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "B", "name": "b"}]}},
        ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
    ),
    (
        TYPED | {"metadata": {"managedFields": [{}, {"operation": "X", "fieldsType": "Y"}]}},
        [
            'metadata.managedFields[0].operation: Invalid value: "": must be `Apply` or `Update`',
            'metadata.managedFields[1].operation: Invalid value: "X": must be `Apply` or `Update`',
            'metadata.managedFields[1].fieldsType: Invalid value: "Y": must be `FieldsV1`',
        ],
    ),
    (
        TYPED | {"metadata": "x"},
        [
            'metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type '
            "v1.ObjectMeta"
        ],
    ),
    (
        TYPED | {"metadata": {"name": 1, "labels": {}}},
        [
            'metadata: Invalid value: {"labels":{},"name":1}: json: cannot unmarshal number into '
            "Go struct field ObjectMeta.name of type string"
        ],
    ),
]


@pytest.mark.parametrize(("value", "want"), INVALID)
def test_validation(value: Any, want: list[str]) -> None:
    known = kind(struct(r=EMBEDDED))
    errors = [f"spec.r.{one}" for one in want]
    new = gizmo({"r": value})
    assert [str(one) for one in known.validate(new).errors] == errors
    assert [str(one) for one in known.validate(new, new).errors] == errors
    assert known.validate_status(new, new).errors == []


def test_places() -> None:
    maps = {"type": "object", "additionalProperties": EMBEDDED}
    lists = {"type": "array", "items": EMBEDDED | {"properties": {"inner": EMBEDDED}}}
    known = kind(struct(m=maps, l=lists))
    new = gizmo({"m": {"k": {"kind": "A"}}, "l": [TYPED | {"inner": {"apiVersion": "v1"}}]})
    assert [str(one) for one in known.validate(new).errors] == [
        "spec.m[k].apiVersion: Required value",
        "spec.l[0].inner.kind: Required value",
    ]


def test_rules_are_not_asked_about_what_is_incomplete() -> None:
    ruled = struct(r=EMBEDDED) | {"x-kubernetes-validations": [{"rule": "false"}]}
    found = [str(one) for one in kind(ruled).validate(gizmo({"r": {"kind": "A"}})).errors]
    assert found == ["spec.r.apiVersion: Required value", NOT_CHECKED]


def test_unknown_metadata_is_dropped() -> None:
    known = kind(struct(r=EMBEDDED))
    meta = {"name": "n", "x": 1, "labels": {"a": "b"}, "creationTimestamp": None}
    given = gizmo({"r": TYPED | {"metadata": meta, "kept": 1}, "y": 1})
    found = known.prepare(given)
    assert found.value["spec"]["r"] == TYPED | {
        "metadata": {"name": "n", "labels": {"a": "b"}},
        "kept": 1,
    }
    assert [one.path for one in found.dropped] == ["spec.y", "spec.r.metadata.x"]
    assert given["spec"]["r"]["metadata"] is meta
    assert meta["x"] == 1


def test_unknown_metadata_below_a_map_is_named_by_its_key() -> None:
    maps = {"type": "object", "additionalProperties": EMBEDDED}
    given = gizmo({"m": {"k.k": TYPED | {"metadata": {"x": 1}}}})
    found = kind(struct(m=maps)).prepare(given)
    assert [one.path for one in found.dropped] == ["spec.m[k.k].metadata.x"]


def test_resources_without_metadata_do_not_hide_the_next() -> None:
    lists = {"type": "array", "items": EMBEDDED}
    unreadable = TYPED | {"metadata": 3}
    unknown = TYPED | {"metadata": {"name": "n", "x": 1}}
    found = kind(struct(l=lists)).prepare(gizmo({"l": [TYPED, unreadable, unknown]}))
    assert found.value["spec"]["l"] == [TYPED, unreadable, TYPED | {"metadata": {"name": "n"}}]
    assert [one.path for one in found.dropped] == ["spec.l[2].metadata.x"]


UNREADABLE: list[tuple[Any, str]] = [
    (TYPED | {"kind": 1}, "spec.r.kind: Invalid value: 1: must be a string"),
    (
        TYPED | {"metadata": 3},
        "spec.r.metadata: Invalid value: 3: json: cannot unmarshal number into Go value of type "
        "v1.ObjectMeta",
    ),
]


@pytest.mark.parametrize(("value", "want"), UNREADABLE)
def test_what_cannot_be_read(value: Any, want: str) -> None:
    known = kind(struct(r=EMBEDDED))
    with pytest.raises(DecodeError) as raised:
        known.require_readable(known.prepare(gizmo({"r": value})).value)
    assert str(raised.value) == want


def test_what_can_be_read() -> None:
    kind(struct(r=EMBEDDED)).require_readable(gizmo({"r": {"kind": "", "metadata": {}}}))
    kind(struct(r=struct())).require_readable(gizmo({"r": {"kind": 1}}))


def test_what_was_stored_loses_what_cannot_be_read() -> None:
    known = replace(kind(struct(r=EMBEDDED)), since=5)
    meta = {"name": "n", "labels": 3, "x": 1}
    stored = gizmo({"r": {"apiVersion": "v1", "kind": 1, "metadata": meta}})
    shown = known.shown(stored)
    assert shown["spec"]["r"] == {"apiVersion": "v1", "metadata": {"name": "n"}}
    shown = known.shown(gizmo({"r": TYPED | {"metadata": 3}}))
    assert shown["spec"]["r"] == TYPED
    assert meta == {"name": "n", "labels": 3, "x": 1}


def test_metadata_that_a_mutator_left_null_is_empty() -> None:
    mutated = gizmo({"r": TYPED | {"metadata": None}})
    stored = kind(struct(r=EMBEDDED)).read_back(mutated, is_mutated=True)
    assert stored["spec"]["r"] == TYPED | {"metadata": {}}
