"""Defaults in the schemas of a CRD: they have no unknown fields, are valid themselves, and keep to
the rules beside them and below.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`. A default is
judged twice by its rules: as an object that stays what it is, and as a new one. Rules of what is
around a default know nothing of it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

from celadon.cel import Environment
from celadon.kube import fieldpath
from celadon.kube.custom.definitions.given_schemas import GivenSchema
from celadon.kube.custom.definitions.schema_tree import every_schema
from celadon.kube.custom.openapi_validation import value_errors
from celadon.kube.custom.pruning import pruned_part
from celadon.kube.custom.rules.correlation import Unknown
from celadon.kube.custom.rules.rule_validation import rule_validator
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.library.releases import DEFAULT, environment
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.schemas.schema_model import Absent, Schema
from celadon.kube.well_known_values import OBJECT_FIELDS
from celadon.records import dataclass

_UNKNOWN_FIELDS: Final = "must not have unknown fields"


def default_errors(
    one: GivenSchema, version: str = DEFAULT, *, pruned: bool = True
) -> list[FieldError]:
    """Of a whole schema, on a server of release `version`. Without `pruned` unknown fields are let
    pass."""
    check = _Check(environment(version), pruned)
    check.visit(one.schema, one.path, is_root=True)
    return check.found


def has_unpruned_defaults(given: JsonObject) -> bool:
    """Whether a default in a schema has unknown fields."""
    if not any(node.get("default") is not None for node in every_schema(given)):
        return False
    check = _Check(None, pruned=True)
    check.visit(decode_schema(given), FieldPath(), is_root=True)
    return any(error.detail == _UNKNOWN_FIELDS for error in check.found)


@dataclass(slots=True)
class _Check:
    """One walk through a schema. `rules_of` None is for those who ask about unknown fields only.
    `spent` is what the rules have cost, for all defaults together."""

    rules_of: Environment | None
    pruned: bool
    found: list[FieldError] = field(default_factory=list)
    spent: int = 0

    def visit(
        self, schema: Schema, at: FieldPath, *, is_root: bool = False, in_metadata: bool = False
    ) -> None:
        is_resource = is_root or schema.embedded_resource
        in_metadata = in_metadata and not is_resource
        if not isinstance(schema.default, Absent):
            place = at.child("default")
            self._default(schema, place, is_resource=is_resource, in_metadata=in_metadata)
        if schema.items is not None:
            self.visit(schema.items, at.child("items"), in_metadata=in_metadata)
        for name, member in sorted(schema.properties.items()):
            below = at.child("properties").key(name)
            is_meta = in_metadata or (is_resource and name in OBJECT_FIELDS)
            self.visit(member, below, in_metadata=is_meta)

    def _default(
        self, schema: Schema, at: FieldPath, *, is_resource: bool, in_metadata: bool
    ) -> None:
        value: Any = schema.default
        if self.pruned and not in_metadata and pruned_part(value, schema) != value:
            self.found.append(fieldpath.invalid(at, _by_key(value), _UNKNOWN_FIELDS))
        if self.rules_of is None:
            return
        errors = value_errors(value, schema, Unknown()) or self._rules(
            schema, value, is_resource=is_resource
        )
        self.found += [_placed(at, error) for error in errors]

    def _rules(self, schema: Schema, value: Any, *, is_resource: bool) -> list[FieldError]:
        assert self.rules_of is not None, "the caller has looked"
        rules = rule_validator(schema, self.rules_of, is_root=is_resource)
        if rules is None:
            return []
        outcome = rules.errors(value, value, spent=self.spent, ratchets=False)
        if not outcome.errors:
            outcome = rules.errors(value, Unknown(), spent=self.spent, ratchets=False)
        self.spent = outcome.cost
        return outcome.errors


def _placed(at: FieldPath, error: FieldError) -> FieldError:
    return FieldError(error.type, at.join(error.path), error.value, error.detail)


def _by_key(value: Any) -> Any:
    """As Go shows it: the members of maps in the order of their keys."""
    if isinstance(value, dict):
        return {key: _by_key(one) for key, one in sorted(value.items())}
    return [_by_key(one) for one in value] if isinstance(value, list) else value
