"""Linting of policies and bindings: pure rules over decoded and compiled documents.

    lint(documents, Settings(version="1.36"))      a list of `Finding`s

A door of its own, so that who judges requests does not load it. Read `findings` (what comes out),
then `lint_context` (what rules look at), `flow` (what an expression reads, and what it has made
sure of before), then any family of rules; `linter` has all rules in the order of their codes.
"""

from celadon.admission.lint.findings import (
    FieldPosition,
    Finding,
    Fix,
    Removal,
    Replacement,
    Severity,
)
from celadon.admission.lint.lint_context import LintMemory, Rule, Settings, matched_resources
from celadon.admission.lint.linter import RULES, TypedScope, TypedScopes, chosen, lint, policy_costs
from celadon.admission.lint.rules.effect_rules import LargeObject

__all__ = [
    "RULES",
    "FieldPosition",
    "Finding",
    "Fix",
    "LargeObject",
    "LintMemory",
    "Removal",
    "Replacement",
    "Rule",
    "Settings",
    "Severity",
    "TypedScope",
    "TypedScopes",
    "chosen",
    "lint",
    "matched_resources",
    "policy_costs",
]
