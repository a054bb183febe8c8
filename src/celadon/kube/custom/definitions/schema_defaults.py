"""Defaults in the schemas of a CRD: they have no unknown fields and are valid themselves.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`, without the rules
of what is defaulted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celadon.kube import fieldpath
from celadon.kube.custom.definitions.given_schemas import GivenSchema
from celadon.kube.custom.openapi_validation import value_errors
from celadon.kube.custom.pruning import pruned
from celadon.kube.custom.rules.correlation import Unknown
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.schemas.schema_model import Absent, Schema


def default_errors(one: GivenSchema) -> list[FieldError]:
    """Of a whole schema."""
    return list(_node(one.schema, one.path))


def _node(schema: Schema, at: FieldPath) -> Iterator[FieldError]:
    if not isinstance(schema.default, Absent):
        yield from _default(schema.default, schema, at.child("default"))
    if schema.items is not None:
        yield from _node(schema.items, at.child("items"))
    for name, member in sorted(schema.properties.items()):
        yield from _node(member, at.child("properties").key(name))
    if schema.additional_properties is not None:
        yield from _node(schema.additional_properties, at.child("additionalProperties"))


def _default(value: Any, schema: Schema, at: FieldPath) -> Iterator[FieldError]:
    if isinstance(value, dict) and pruned(value, schema).dropped:
        yield fieldpath.invalid(at, value, "must not have unknown fields")
        return
    for error in value_errors(value, schema, Unknown()):
        yield FieldError(error.type, at.join(error.path), error.value, error.detail)
