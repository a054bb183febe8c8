"""Policies of other engines as policies of Kubernetes: read, translated, and compared on their
tests.

Read `kyverno/policies` (what a rule says), `kyverno/patterns` (its pattern language), then
`kyverno/translation`, the way from a rule to ValidatingAdmissionPolicies: `matching` for what it
applies to, `pattern_translation` and `conditions` for what it demands. `kyverno/evaluation` is what
Kyverno itself would say of a pattern: the translation is compared with it. `kyverno/suites` runs
the tests that come with policies against what became of them."""

from celadon.migrate.kyverno.policies import POLICY_SHAPE, Policy, Rule, is_policy, read_policy
from celadon.migrate.kyverno.suites import (
    SUITE_SHAPE,
    USER_SHAPE,
    VALUES_SHAPE,
    Case,
    judged_by,
    read_suite,
)
from celadon.migrate.kyverno.translation import Translation, binding, translate
from celadon.migrate.losses import NotTranslated

__all__ = [
    "POLICY_SHAPE",
    "SUITE_SHAPE",
    "USER_SHAPE",
    "VALUES_SHAPE",
    "Case",
    "NotTranslated",
    "Policy",
    "Rule",
    "Translation",
    "binding",
    "is_policy",
    "judged_by",
    "read_policy",
    "read_suite",
    "translate",
]
