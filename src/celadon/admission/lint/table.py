"""All rules, in the order of their codes. A new family is one line here."""

from __future__ import annotations

from typing import Final

from celadon.admission.lint import (
    api_rules,
    binding_rules,
    cost_rules,
    effect_rules,
    null_rules,
    text_rules,
    type_rules,
    value_rules,
)

RULES: Final = (
    *api_rules.RULES,
    *type_rules.RULES,
    *null_rules.RULES,
    *value_rules.RULES,
    *text_rules.RULES,
    *binding_rules.RULES,
    *effect_rules.RULES,
    *cost_rules.RULES,
)
