"""Custom resources: what an API server does with objects whose kind a CRD defines.

Its schema comes from `celadon.kube.schemas`. Read in the order in which an object meets them:
`structural_schemas` (pruning and defaults), `openapi_validation`, `rule_validation`
(`x-kubernetes-validations`, compiled by `compiled_rules`), and `custom_kinds`, which puts them
together for one kind, or all definitions of a cluster. `definition_validation` and
`definition_rules` are about writing the CRD.
"""

from celadon.kube.crd.cel_values import typed as typed_value
from celadon.kube.crd.custom_kinds import (
    CustomKind,
    KindsOnDemand,
    RememberedKinds,
    custom_kinds,
    invalid_version,
    unsuitable,
)
from celadon.kube.crd.definition_parts import APPROVAL, APPROVAL_PLACE, trusts_nobody
from celadon.kube.crd.definition_validation import definition_errors
from celadon.kube.crd.rule_validation import (
    OLD_SELF,
    SELF,
    CompiledRule,
    EvaluatedRule,
    RuleOutcome,
    RuleValidator,
    rule_scopes,
)
from celadon.kube.crd.structural_schemas import (
    EITHER,
    EMBEDDED,
    INT_OR_STRING,
    PRESERVE,
)

__all__ = [
    "APPROVAL",
    "APPROVAL_PLACE",
    "EITHER",
    "EMBEDDED",
    "INT_OR_STRING",
    "OLD_SELF",
    "PRESERVE",
    "SELF",
    "CompiledRule",
    "CustomKind",
    "EvaluatedRule",
    "KindsOnDemand",
    "RememberedKinds",
    "RuleOutcome",
    "RuleValidator",
    "custom_kinds",
    "definition_errors",
    "invalid_version",
    "rule_scopes",
    "trusts_nobody",
    "typed_value",
    "unsuitable",
]
