"""What a registration object says where its document says nothing."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from celadon.admission.registration import registration_types
from celadon.admission.registration.decoding import decode_object

CLASSES = [
    one
    for _, one in inspect.getmembers(registration_types, dataclasses.is_dataclass)
    if one.__module__ == registration_types.__name__
]
KINDS = [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_what_is_absent_is_empty(cls: Any) -> None:
    for field in dataclasses.fields(cls):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if default is not dataclasses.MISSING and not dataclasses.is_dataclass(default):
            assert not default, field.name


@pytest.mark.parametrize("kind", KINDS)
def test_objects_without_a_spec(kind: str) -> None:
    value: Any = decode_object({"metadata": {}}, kind).value
    assert value.name == ""
    assert not any(
        getattr(value.spec, field.name)
        for field in dataclasses.fields(value.spec)
        if field.name not in {"failure_policy", "match_constraints", "match_resources"}
    )
