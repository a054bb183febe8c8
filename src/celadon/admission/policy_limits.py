"""Every budget and limit of admission policies, with unit and source.

Cost units are those of the CEL cost model. Sources: k8s.io/apiserver `pkg/apis/cel/config.go`,
`pkg/admission/plugin/policy/validating`, `pkg/endpoints/filters/warning.go` and k8s.io/kubernetes
`pkg/apis/admissionregistration/validation`.
"""

from __future__ import annotations

from typing import Final

# Those that hold for the expressions of custom resources too stand in `kube`.
from celadon.kube.library import MESSAGE_EXPRESSION_BYTES as MESSAGE_EXPRESSION_BYTES
from celadon.kube.library import PER_CALL_COST as PER_CALL_COST
from celadon.kube.library import RUNTIME_COST_BUDGET as RUNTIME_COST_BUDGET

MATCH_CONDITIONS_COST_BUDGET: Final = 2_500_000
"""Cost of all match conditions of one (policy, binding, param) or one webhook."""

AUDIT_ANNOTATION_BYTES: Final = 10 * 1024
"""Published annotation values are cut to this many bytes of UTF-8."""

VALUE_EXPRESSION_BYTES: Final = 5 * 1024
"""Source of an audit annotation's value expression, after trimming."""

AUDIT_ANNOTATIONS: Final = 20
"""Audit annotations of one policy."""

MATCH_CONDITIONS: Final = 64
"""Match conditions of one policy or webhook."""

WARNING_TOTAL_RUNES: Final = 4 * 1024
"""Text of all warnings of one response before truncation sets in."""

WARNING_ITEM_RUNES: Final = 256
"""One warning once truncation has set in."""

CANDIDATE_CACHE_ENTRIES: Final = 1024
"""Resource and operation combinations an engine remembers candidates for; ours, not upstream's."""

PARAM_SELECTION_ENTRIES: Final = 64
"""Namespaces for which a binding remembers what its selector of params takes; ours."""

UNBOUNDED_SIZE: Final = 1 << 40
"""A request size (bytes of JSON) nothing reaches: expressions within budget here need no check."""
