"""What an expression may cost, wherever Kubernetes evaluates it: policies and custom resources.

Cost units are those of the CEL cost model. As k8s.io/apiserver `pkg/apis/cel/config.go`.
"""

from __future__ import annotations

from typing import Final

PER_CALL_COST: Final = 1_000_000
"""Cost of one expression; each variable is a call of its own. About 0.1 s of a Go evaluator."""
RUNTIME_COST_BUDGET: Final = 10_000_000
"""Cost of all validation rules and message expressions of a custom resource, or of all validations
and message expressions of one (policy, binding, param); audit annotations get the same again."""
MESSAGE_EXPRESSION_BYTES: Final = 5 * 1024
"""A longer evaluated message, after trimming, is discarded."""
OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)
"""What a client is told when the budget is spent."""
