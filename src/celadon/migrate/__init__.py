"""Policies of other engines as policies of Kubernetes: translated, and compared on their tests.

Read `kyverno/policies` (what a rule says), `kyverno/patterns` (its pattern language), then
`kyverno/translation`, the way from a rule to ValidatingAdmissionPolicies: `match_and_exclude` for
what it applies to, `validate_rules` for what it demands (`pattern_translation`, `conditions`, and
JMESPath in `jmespath_expressions` and `jmespath_functions`), `mutate_rules` for what it changes.
`kyverno/cel_policies` has the policies that are written in CEL. `gatekeeper/constraint_translation`
is the way from templates and constraints, `gatekeeper/mutators` from mutators,
`gatekeeper/rego_general` knows the public templates in Rego, and `gatekeeper/azure_definitions`
what Azure makes constraints of. `suites` runs the tests that come with policies against what became
of them.
"""

from celadon.migrate.gatekeeper.azure_definitions import AzurePolicies
from celadon.migrate.gatekeeper.constraint_translation import (
    exempt_namespaces,
    gatekeeper_shape,
    left_behind,
    translate_constraints,
)
from celadon.migrate.gatekeeper.mutators import translate_mutators
from celadon.migrate.gatekeeper.templates import is_constraint, is_template
from celadon.migrate.kyverno.policies import PolicyException, is_exception, outcome_of
from celadon.migrate.kyverno.translation import shape_of, translate_document
from celadon.migrate.suites import (
    GATOR_SHAPE,
    SUITE_SHAPE,
    USER_SHAPE,
    VALUES_SHAPE,
    Case,
    GatorCase,
    disagreement,
    is_suite,
    judged_by,
    patched_files,
    read_suite,
)
from celadon.migrate.translations import Merged, NotTranslated, Origin, Translation, merged, renamed

__all__ = [
    "GATOR_SHAPE",
    "SUITE_SHAPE",
    "USER_SHAPE",
    "VALUES_SHAPE",
    "AzurePolicies",
    "Case",
    "GatorCase",
    "Merged",
    "NotTranslated",
    "Origin",
    "PolicyException",
    "Translation",
    "disagreement",
    "exempt_namespaces",
    "gatekeeper_shape",
    "is_constraint",
    "is_exception",
    "is_suite",
    "is_template",
    "judged_by",
    "left_behind",
    "merged",
    "outcome_of",
    "patched_files",
    "read_suite",
    "renamed",
    "shape_of",
    "translate_constraints",
    "translate_document",
    "translate_mutators",
]
