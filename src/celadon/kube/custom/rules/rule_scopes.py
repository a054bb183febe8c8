"""What the expressions at one node of a schema may name: `self`, and `oldSelf`, which is what the
node was before an update.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.cel import Environment
from celadon.cel.extend import types
from celadon.kube.schemas.schema_model import Schema
from celadon.kube.schemas.schema_types import SchemaType, declared_type

SELF: Final = "self"
"""The name of the node's value."""
OLD_SELF: Final = "oldSelf"
"""The name of what it was before."""
TYPE_NAME: Final = "selfType"
"""Upstream appends a number that changes with every CRD, so that nobody relies on the name."""


class RuleScopes:
    """Those of one node, whose values have the type `declared`; each is made once."""

    def __init__(self, declared: SchemaType) -> None:
        self.declared = declared
        self._known: dict[tuple[int, bool], tuple[Environment, Environment]] = {}

    def environment(self, base: Environment, *, optional: bool) -> Environment:
        """The base with both names; with `optional` a rule runs on creation, too, and `oldSelf` is
        an optional."""
        known = self._known.get((id(base), optional))
        if known is None:
            declared = self.declared
            old = types.optional_of(declared.type) if optional else declared.type
            made = base.extend({SELF: declared.type, OLD_SELF: old}, declared.objects)
            known = self._known[id(base), optional] = (base, made)
        return known[1]


def rule_scopes(schema: Schema, *, is_root: bool) -> RuleScopes | None:
    """Those of a node; None where it has no type."""
    declared = declared_type(schema, TYPE_NAME, is_root=is_root)
    return None if declared is None else RuleScopes(declared)
