"""Complaints about metadata, after the reference's table."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.policy_validation import (
    validate_meta_update,
    validate_object_meta,
)
from celadon.kube import name_rules
from celadon.kube.validation.object_meta import ANNOTATIONS_BYTES

OWNER = {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}
NAME = name_rules.dns1123_subdomain("A")[0]
KEY = name_rules.qualified_name("a b")[0]
VALUE = name_rules.label_value("a b")[0]


def owned(*changes: dict[str, Any]) -> dict[str, Any]:
    return {"name": "n", "ownerReferences": [{**OWNER, **change} for change in changes]}


ROWS: list[tuple[dict[str, Any], list[str]]] = [
    ({"name": "n", "finalizers": ["foo"], "labels": {"a/b": ""}}, []),
    ({}, ["metadata.name: Required value: name or generateName is required"]),
    ({"name": "A"}, [f'metadata.name: Invalid value: "A": {NAME}']),
    ({"name": "n", "generateName": "n-"}, []),
    (
        {"name": "n", "generateName": "A"},
        [f'metadata.generateName: Invalid value: "A": {NAME}'],
    ),
    ({"name": "n", "labels": {"a b": "c"}}, [f'metadata.labels: Invalid value: "a b": {KEY}']),
    ({"name": "n", "labels": {"a": "a b"}}, [f'metadata.labels: Invalid value: "a b": {VALUE}']),
    ({"name": "n", "annotations": {"A.Example.com/x": "any thing"}}, []),
    (
        {"name": "n", "annotations": {"A B": ""}},
        [f'metadata.annotations: Invalid value: "A B": {KEY}'],
    ),
    (
        {"name": "n", "annotations": {"a": "x" * ANNOTATIONS_BYTES}},
        ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    ),
    (
        owned({"uid": "", "kind": "", "name": "", "apiVersion": "a/b/c"}),
        [
            'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be '
            "empty",
            'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
            'metadata.ownerReferences.name: Invalid value: "": must not be empty',
            'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
        ],
    ),
    (
        owned({"kind": "Event"}),
        [
            'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event",'
            '"name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner'
        ],
    ),
    (
        owned({"controller": True}, {"controller": True, "name": "m"}),
        [
            'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"K","name":"n",'
            '"uid":"u","controller":true},{"apiVersion":"v1","kind":"K","name":"m","uid":"u",'
            '"controller":true}]: Only one reference can have Controller set to true. Found "true" '
            "in references for K/n and K/m"
        ],
    ),
    (
        {"name": "n", "finalizers": ["a b"]},
        [f'metadata.finalizers: Invalid value: "a b": {KEY}'],
    ),
    (
        {"name": "n", "finalizers": ["orphan", "foregroundDeletion"]},
        [
            'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan '
            "and foregroundDeletion cannot be both set"
        ],
    ),
]


@pytest.mark.parametrize(("meta", "messages"), ROWS)
def test_on_write(meta: dict[str, Any], messages: list[str]) -> None:
    assert [str(error) for error in validate_object_meta(meta)] == messages


UPDATES: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({"name": "My_Name"}, {"name": "My_Name"}, []),
    (
        {"name": "a%b"},
        {"name": "a%b"},
        ["metadata.name: Invalid value: \"a%b\": may not contain '%'"],
    ),
    ({"name": "n", "generateName": ".."}, {"name": "n"}, []),
    ({"name": "b"}, {"name": "a"}, ['metadata.name: Invalid value: "b": field is immutable']),
    (
        {"name": "n", "finalizers": ["a"]},
        {"name": "n", "finalizers": ["a", "b"], "deletionTimestamp": "t"},
        ["metadata.deletionTimestamp: Invalid value: null: field is immutable"],
    ),
]


@pytest.mark.parametrize(("meta", "old", "messages"), UPDATES)
def test_on_update(meta: dict[str, Any], old: dict[str, Any], messages: list[str]) -> None:
    found = validate_meta_update({**meta, "resourceVersion": "1"}, old)
    assert [str(error) for error in found] == messages
