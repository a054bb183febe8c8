"""Policies of other engines as policies of Kubernetes: translated, and compared on their tests.

Read `kyverno/policies` (what a rule says), `kyverno/patterns` (its pattern language), then
`kyverno/translation`, the way from a rule to ValidatingAdmissionPolicies: `matching` for what it
applies to, `pattern_translation` and `conditions` for what it demands. `kyverno/cel_policies` has
the policies that are written in CEL, `kyverno/suites` runs the tests that come with policies
against what became of them.
"""

from celadon.migrate.kyverno.documents import shape_of, translate_document
from celadon.migrate.kyverno.suites import (
    SUITE_SHAPE,
    USER_SHAPE,
    VALUES_SHAPE,
    Case,
    judged_by,
    read_suite,
)
from celadon.migrate.losses import NotTranslated
from celadon.migrate.translations import Origin, Translation

__all__ = [
    "SUITE_SHAPE",
    "USER_SHAPE",
    "VALUES_SHAPE",
    "Case",
    "NotTranslated",
    "Origin",
    "Translation",
    "judged_by",
    "read_suite",
    "shape_of",
    "translate_document",
]
