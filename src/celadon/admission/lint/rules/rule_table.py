"""All rules, in the order of their codes. A new family is one line here."""

from __future__ import annotations

from typing import Final

from celadon.admission.lint.rules import (
    api_rules,
    binding_rules,
    effect_rules,
    expense_rules,
    mutation_rules,
    null_rules,
    static_rules,
    type_rules,
    value_rules,
    wording_rules,
)

RULES: Final = (
    *api_rules.RULES,
    *type_rules.RULES,
    *null_rules.RULES,
    *value_rules.RULES,
    *wording_rules.RULES,
    *binding_rules.RULES,
    *effect_rules.RULES,
    *expense_rules.RULES,
    *mutation_rules.RULES,
    *static_rules.RULES,
)
"""Every rule, by code."""
