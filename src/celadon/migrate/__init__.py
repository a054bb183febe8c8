"""Policies of other engines as policies of Kubernetes: translated, and compared on their tests.

Read `kyverno/policies` (what a rule says), `kyverno/patterns` (its pattern language), then
`kyverno/translation`, the way from a rule to ValidatingAdmissionPolicies: `matching` for what it
applies to, `pattern_translation` and `conditions` for what it demands. `kyverno/exceptions` are
match conditions of what they are for. `kyverno/cel_policies` has the policies that are written in
CEL, `kyverno/suites` runs the tests that come with policies against what became of them.
`gatekeeper/constraint_translation` is the way from templates and constraints,
`gatekeeper/known_rego` knows the public templates in Rego.
"""

from celadon.migrate.gatekeeper.constraint_documents import (
    exempt_namespaces,
    gatekeeper_shape,
    left_behind,
    translate_constraints,
)
from celadon.migrate.gatekeeper.gator_suites import GATOR_SHAPE, GatorCase, disagreement, is_suite
from celadon.migrate.gatekeeper.templates import is_constraint, is_template
from celadon.migrate.kyverno.documents import shape_of, translate_document
from celadon.migrate.kyverno.exceptions import PolicyException, is_exception, outcome_of
from celadon.migrate.kyverno.suites import (
    SUITE_SHAPE,
    USER_SHAPE,
    VALUES_SHAPE,
    Case,
    judged_by,
    patched_files,
    read_suite,
)
from celadon.migrate.losses import NotTranslated
from celadon.migrate.translations import Origin, Translation, renamed

__all__ = [
    "GATOR_SHAPE",
    "SUITE_SHAPE",
    "USER_SHAPE",
    "VALUES_SHAPE",
    "Case",
    "GatorCase",
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
    "outcome_of",
    "patched_files",
    "read_suite",
    "renamed",
    "shape_of",
    "translate_constraints",
    "translate_document",
]
