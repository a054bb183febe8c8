"""Custom resources: what an API server does with objects whose kind a CRD defines.

Read in the order in which an object meets them: `structural` (the schema), `custom_defaults`,
`pruning`, `openapi_validation` (its texts are in `openapi_texts`, its formats in `string_formats`),
`list_types` (unique items), `rules` (`x-kubernetes-validations`), and `custom_kinds`, which puts
them together for one kind. `definitions` is about writing the CRD itself.
"""

from celadon.kube.custom.custom_kinds import CustomKind, custom_kinds
from celadon.kube.custom.definitions.definition_rules import rule_errors
from celadon.kube.custom.definitions.definition_validation import definition_errors
from celadon.kube.custom.published_schemas import structural_of
from celadon.kube.custom.rules.rule_validation import RuleOutcome
from celadon.kube.custom.rules.typed_data import typed as typed_value
from celadon.kube.custom.structural import Structural
from celadon.kube.custom.structural import decode as decode_schema

__all__ = [
    "CustomKind",
    "RuleOutcome",
    "Structural",
    "custom_kinds",
    "decode_schema",
    "definition_errors",
    "rule_errors",
    "structural_of",
    "typed_value",
]
